/*
 * The facts for a report of a problem are collected by a script, which runs this program for each of
 * its parts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "ctl/commands/cmd.h"

int cmd_support_dump(struct ctl *ctl, int argc, char **argv)
{
	const char *chosen = getenv("SWANSONG_SUPPORT_DUMP");
	const char *script = chosen ? chosen : PKGLIBEXECDIR "/support-dump";
	char *const args[] = { (char *)script, argv[0], NULL };
	cleanup(freep) char *self = realpath("/proc/self/exe", NULL);

	if ((self && setenv("SWANSONGCTL", self, true) < 0) ||
	    (ctl->options.socket && setenv("SWANSONG_SOCKET", ctl->options.socket, true) < 0))
		return ctl_fail(ctl, -errno);
	(void)execv(script, args);
	return ctl_refuse(ctl, CTL_FAILED, "cannot run %s: %s", script, strerror(errno));
}
