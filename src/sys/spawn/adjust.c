/*
 * The attributes are inherited by each thread and process, so that a new value is set for all of them.  The kernel
 * does that for a process group; the OOM score is that of one process.
 */
#include "sys/spawn/adjust.h"

#include <linux/ioprio.h>

static int adjust_oom_score(pid_t pid, int value)
{
	cleanup(closep) int fd = -1;
	char path[48];

	(void)snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 || dprintf(fd, "%d", value) < 0 ? -1 : 0;
}

static int adjust_own_oom_score(void)
{
	cleanup(closep) int fd = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
	char text[16] = "";
	int value = 0;

	if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0)
		(void)sscanf(text, "%d", &value);
	return value;
}

int adjust_process(pid_t pid, const struct attributes *from, const struct attributes *to,
		   const char **key)
{
	pid_t group = getpgid(pid);
	int value = to->nice;

	if (group < 0)
		return -ESRCH;
	*key = "nice";
	if (value != from->nice &&
	    setpriority(PRIO_PGRP, (id_t)group,
			value == ATTRIBUTE_KEEP ? getpriority(PRIO_PROCESS, 0) : value) < 0)
		return -errno;
	*key = "io-class";
	value = to->io_priority;
	if (value != from->io_priority &&
	    syscall(SYS_ioprio_set, IOPRIO_WHO_PGRP, group,
		    value == ATTRIBUTE_KEEP ? syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0)
					    : value) < 0)
		return -errno;
	*key = "oom-score-adjust";
	value = to->oom_score_adjust;
	if (value != from->oom_score_adjust &&
	    adjust_oom_score(pid, value == ATTRIBUTE_KEEP ? adjust_own_oom_score() : value) < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	return 0;
}
