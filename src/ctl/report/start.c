#include "ctl/report/start.h"

#include <limits.h>
#include <unistd.h>

#include "proto/history/starts.h"

int start_run(struct ctl *ctl, const char *node,
	      int (*show)(struct ctl *ctl, const struct report *report))
{
	cleanup(message_reply_done) struct message_reply reply = {};
	cleanup(report_done) struct report report = {};
	char host[HOST_NAME_MAX + 1] = "";
	int r = session_call(ctl, METHOD_EVENTS, json_pack("{s:s*}", "node", node), &reply);

	if (r != CTL_DONE)
		return r;
	(void)gethostname(host, sizeof(host) - 1);
	r = starts_report(reply.parameters, host, &report);
	if (r < 0)
		return ctl_fail(ctl, r);
	if (report.n > 0)
		return show(ctl, &report);
	log_line(&ctl->log, LOG_ERR, "the daemon remembers no start");
	return CTL_FAILED;
}
