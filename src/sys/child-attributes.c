#include "sys/child-attributes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * As after vfork the child has our memory, but is a process of its own: limits, nice value and the
 * others are its alone.  The kernel knows that of the OOM score, too, which processes with the same
 * memory otherwise share.
 */

/* The digits of @number in front of @end.  Return: where they begin. */
static char *write_number(char *end, int number)
{
	unsigned rest = number < 0 ? 0u - (unsigned)number : (unsigned)number;

	do {
		*--end = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if (number < 0)
		*--end = '-';
	return end;
}

static int set_oom_score(int adjust)
{
	char text[16], *end = text + sizeof(text), *begin = write_number(end, adjust);
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	ssize_t n;
	int error;

	if (fd < 0)
		return -1;
	n = write(fd, begin, (size_t)(end - begin));
	error = errno;
	(void)close(fd);
	errno = error;
	return n < 0 ? -1 : 0;
}

static int set_io_priority(int priority)
{
	return (int)syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, priority);
}

static int set_limits(const struct attributes *attributes, int *limit)
{
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		*limit = i;
		if (limit_is_set(&attributes->limits[i]) &&
		    setrlimit((__rlimit_resource_t)i, &attributes->limits[i]) < 0)
			return -1;
	}
	return 0;
}

enum spawn_step child_attributes_before_user(const struct attributes *a, int *limit)
{
	if (a->oom_score_adjust != ATTRIBUTE_KEEP && set_oom_score(a->oom_score_adjust) < 0)
		return SPAWN_STEP_OOM_SCORE;
	if (a->nice != ATTRIBUTE_KEEP && setpriority(PRIO_PROCESS, 0, a->nice) < 0)
		return SPAWN_STEP_NICE;
	if (a->io_priority != ATTRIBUTE_KEEP && set_io_priority(a->io_priority) < 0)
		return SPAWN_STEP_IO_CLASS;
	if (CPU_COUNT(&a->cpus) > 0 && sched_setaffinity(0, sizeof(a->cpus), &a->cpus) < 0)
		return SPAWN_STEP_CPUS;
	/* Last, as they may leave no room for the others. */
	return set_limits(a, limit) < 0 ? SPAWN_STEP_LIMIT : SPAWN_STEP_NONE;
}
