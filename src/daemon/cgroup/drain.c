/*
 * Processes of an earlier daemon that was killed get SIGTERM, and SIGKILL after a timeout.  The
 * group is watched like that of a service; a timer repeats the kill until it is empty.
 */
#include "daemon/cgroup/drain.h"

#include <signal.h>

#include "base/clock.h"
#include "base/macro.h"
#include "sys/process/cgroup.h"

/* Time for the processes to end, and between two kills. */
#define DRAIN_TIMEOUT_USEC (10 * USEC_PER_SEC)
#define KILL_AGAIN_USEC	   USEC_PER_SEC

static void cgroup_drain_count_process(pid_t pid, void *arg)
{
	(*(unsigned *)arg)++;
}

static void drain_group(const char *name, void *arg)
{
	struct cgroups *c = arg;
	char path[CONFIG_NAME_MAX + 1];
	unsigned n = 0;

	if (cgroup_is_populated(c->top, name) <= 0)
		return;
	(void)cgroup_processes(c->top, name, cgroup_drain_count_process, &n);
	log_node(c->ctx->log, LOG_WARNING, cgroups_node_of_name(name, path) == 0 ? path : name,
		 "ending %u processes of an earlier swansongd before any start", n);
	(void)cgroup_write(c->top, name, "cgroup.freeze", "0");
	cgroups_signal(c, name, SIGTERM);
	cgroups_signal(c, name, SIGCONT);
}

static void cgroup_drain_remove_group(const char *name, void *arg)
{
	const struct cgroups *c = arg;

	(void)cgroup_remove(c->top, name);
}

static void cgroup_drain_check(struct cgroups *c)
{
	if (!c->draining || cgroups_is_populated(c, ".") != 0)
		return;
	c->draining = false;
	cgroups_unwatch(c, &c->drain);
	alarm_stop(&c->ctx->alarms, &c->drain_timer);
	(void)cgroup_children(c->top, cgroup_drain_remove_group, c);
	log_line(c->ctx->log, LOG_NOTICE, "the processes of the earlier swansongd have ended");
	context_update_soon(c->ctx);
}

static void cgroup_drain_on_timer(struct alarm *alarm)
{
	struct cgroups *c = container_of(alarm, struct cgroups, drain_timer);

	if (!c->killing)
		log_line(c->ctx->log, LOG_WARNING,
			 "killing the processes of the earlier swansongd");
	c->killing = true;
	(void)cgroups_kill(c, ".");
	alarm_set(&c->ctx->alarms, &c->drain_timer, clock_now_usec() + KILL_AGAIN_USEC);
	cgroup_drain_check(c);
}

static void cgroup_drain_on_changed(struct cgroup_watch *watch)
{
	cgroup_drain_check(container_of(watch, struct cgroups, drain));
}

void cgroup_drain_begin(struct cgroups *c)
{
	if (!c)
		return;
	c->drain.changed = cgroup_drain_on_changed;
	if (cgroup_is_populated(c->top, ".") <= 0) {
		(void)cgroup_children(c->top, cgroup_drain_remove_group, c);
		return;
	}
	c->drain_timer.fn = cgroup_drain_on_timer;
	alarm_set(&c->ctx->alarms, &c->drain_timer, clock_now_usec() + DRAIN_TIMEOUT_USEC);
	c->draining = true;
	(void)cgroup_children(c->top, drain_group, c);
	/* Without a watch the timer finds out. */
	(void)cgroups_watch(c, ".", &c->drain);
	cgroup_drain_check(c);
}
