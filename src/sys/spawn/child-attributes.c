#include "sys/spawn/child-attributes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * As after vfork the child shares the parent's memory, but is a process of its own: limits, nice
 * value and the other attributes are its own.  That includes the OOM score: processes with the same
 * memory share it otherwise, but not a child of vfork.
 *
 * The set of capabilities is for the program, under every user.  Root would gain the whole bounding
 * set by the exec, so the bounding set is reduced to the capabilities.  Another user would lose all
 * but the ambient set, so they are added to the ambient set; before that, they must survive the
 * change of user.
 */

/* Writes the digits of @number before @end.  Returns their beginning. */
static char *attributes_write_number(char *end, int number)
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

static int attributes_set_oom_score(int adjust)
{
	char text[16], *end = text + sizeof(text), *begin = attributes_write_number(end, adjust);
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

static int attributes_set_io_priority(int priority)
{
	return (int)syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, priority);
}

static int attributes_set_limits(const struct attributes *attributes, int *limit)
{
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		*limit = i;
		if (attribute_limit_is_set(&attributes->limits[i]) &&
		    syscall(SYS_prlimit64, 0, i, &attributes->limits[i], NULL) < 0)
			return -1;
	}
	return 0;
}

/* Only the capabilities in @set can be gained again, even by the exec of a privileged program. */
static int attributes_bound_capabilities(uint64_t set)
{
	for (int cap = 0; cap < 64; cap++) {
		int has = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);

		if (has < 0) /* the kernel knows no more */
			break;
		if (has && !(set >> cap & 1) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			return -1;
	}
	return prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
}

void attributes_drop_inheritable(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) < 0)
		return;
	for (int cap = 0; cap < 64; cap++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, cap, 0, 0) <= 0)
			data[cap / 32].inheritable &= ~(1u << cap % 32);
	(void)syscall(SYS_capset, &header, data);
}

static int attributes_set_capabilities(uint64_t set)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	for (int i = 0; i < 2; i++) {
		uint32_t half = (uint32_t)(set >> 32 * i);

		data[i] = (struct __user_cap_data_struct){ half, half, half };
	}
	if (syscall(SYS_capset, &header, data) < 0 ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return -1;
	for (int cap = 0; cap < 64; cap++) {
		if ((set >> cap & 1) && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
			return -1;
	}
	return 0;
}

enum spawn_step child_attributes_before_user(const struct attributes *a, int *limit)
{
	if (a->oom_score_adjust != ATTRIBUTE_KEEP &&
	    attributes_set_oom_score(a->oom_score_adjust) < 0)
		return SPAWN_STEP_OOM_SCORE;
	if (a->nice != ATTRIBUTE_KEEP && setpriority(PRIO_PROCESS, 0, a->nice) < 0)
		return SPAWN_STEP_NICE;
	if (a->io_priority != ATTRIBUTE_KEEP && attributes_set_io_priority(a->io_priority) < 0)
		return SPAWN_STEP_IO_CLASS;
	if (CPU_COUNT(&a->cpus) > 0 && sched_setaffinity(0, sizeof(a->cpus), &a->cpus) < 0)
		return SPAWN_STEP_CPUS;
	if (a->capabilities != CAPABILITIES_KEEP &&
	    attributes_bound_capabilities(a->capabilities) < 0)
		return SPAWN_STEP_CAPABILITIES;
	/* Last, as the limits may prevent the other steps. */
	return attributes_set_limits(a, limit) < 0 ? SPAWN_STEP_LIMIT : SPAWN_STEP_NONE;
}

enum spawn_step child_attributes_as_user(const struct attributes *a)
{
	if (a->capabilities != CAPABILITIES_KEEP &&
	    attributes_set_capabilities(a->capabilities) < 0)
		return SPAWN_STEP_CAPABILITIES;
	if (a->no_new_privileges && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return SPAWN_STEP_NO_NEW_PRIVILEGES;
	return SPAWN_STEP_NONE;
}
