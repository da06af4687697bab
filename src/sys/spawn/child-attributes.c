#include "sys/spawn/child-attributes.h"

#include <linux/capability.h>
#include <linux/ioprio.h>

#include "sys/spawn/raw.h"

/*
 * The child may share the parent's memory, but is a process of its own: limits, nice value and the
 * other attributes are its own.  Only the OOM score belongs to all processes with one memory, so a
 * child that sets it gets a copy of the memory (sys/spawn/spawn.c).
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

/* Without the right to lower it, that of the parent. */
static long attributes_set_oom_score(int adjust, unsigned *lowered)
{
	char text[16], *end = text + sizeof(text), *begin = attributes_write_number(end, adjust);
	long fd, r;

	fd = r = raw(SYS_openat, AT_FDCWD, "/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return r;
	r = raw(SYS_write, fd, begin, end - begin);
	(void)raw(SYS_close, fd);
	if (r != -EACCES)
		return r;
	*lowered |= SPAWN_OOM_SCORE_KEPT;
	return 0;
}

/* Without the right to raise a hard limit, the nearest to what is wanted. */
static long attributes_set_limit(int resource, struct rlimit limit, unsigned *lowered)
{
	long r = raw(SYS_prlimit64, 0, resource, &limit, NULL);
	struct rlimit present;

	if (r != -EPERM)
		return r;
	r = raw(SYS_prlimit64, 0, resource, NULL, &present);
	if (r < 0)
		return r;
	limit.rlim_max = MIN(limit.rlim_max, present.rlim_max);
	limit.rlim_cur = MIN(limit.rlim_cur, limit.rlim_max);
	*lowered |= 1U << resource;
	return raw(SYS_prlimit64, 0, resource, &limit, NULL);
}

/* Only the capabilities in @set can be gained again, even by the exec of a privileged program. */
static long attributes_bound_capabilities(uint64_t set)
{
	for (int cap = 0; cap < 64; cap++) {
		long has = raw(SYS_prctl, PR_CAPBSET_READ, cap), r = 0;

		if (has < 0) /* the kernel knows no more */
			break;
		if (has && !(set >> cap & 1))
			r = raw(SYS_prctl, PR_CAPBSET_DROP, cap);
		if (r < 0)
			return r;
	}
	return raw(SYS_prctl, PR_SET_KEEPCAPS, 1);
}

uint64_t attributes_read_permitted(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	(void)syscall(SYS_capget, &header, data);
	return data[0].permitted | (uint64_t)data[1].permitted << 32;
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

static long attributes_set_capabilities(uint64_t set)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	long r;

	for (int i = 0; i < 2; i++) {
		uint32_t half = (uint32_t)(set >> 32 * i);

		data[i] = (struct __user_cap_data_struct){ half, half, half };
	}
	r = raw(SYS_capset, &header, data);
	if (r == 0)
		r = raw(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL);
	for (int cap = 0; r == 0 && cap < 64; cap++)
		if (set >> cap & 1)
			r = raw(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap);
	return r;
}

/* Each step is noted before it is taken, as it may last. */
long child_attributes_before_user(const struct attributes *a, volatile enum spawn_step *step,
				  unsigned *lowered)
{
	long r = 0;

	*step = SPAWN_STEP_OOM_SCORE;
	if (a->oom_score_adjust != ATTRIBUTE_KEEP)
		r = attributes_set_oom_score(a->oom_score_adjust, lowered);
	if (r < 0)
		return r;
	*step = SPAWN_STEP_NICE;
	if (a->nice != ATTRIBUTE_KEEP)
		r = raw(SYS_setpriority, PRIO_PROCESS, 0, a->nice);
	if (r == -EACCES) {
		*lowered |= SPAWN_NICE_KEPT;
		r = 0;
	}
	if (r < 0)
		return r;
	*step = SPAWN_STEP_IO_CLASS;
	if (a->io_priority != ATTRIBUTE_KEEP)
		r = raw(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, a->io_priority);
	if (r < 0)
		return r;
	*step = SPAWN_STEP_CPUS;
	if (CPU_COUNT(&a->cpus) > 0)
		r = raw(SYS_sched_setaffinity, 0, sizeof(a->cpus), &a->cpus);
	if (r < 0)
		return r;
	*step = SPAWN_STEP_CAPABILITIES;
	if (a->capabilities != CAPABILITIES_KEEP)
		r = attributes_bound_capabilities(a->capabilities);
	if (r < 0)
		return r;
	/* Last, as the limits may prevent the other steps. */
	*step = SPAWN_STEP_LIMIT;
	r = 0;
	for (int i = 0; r == 0 && i < RLIM_NLIMITS; i++)
		if (attribute_limit_is_set(&a->limits[i]))
			r = attributes_set_limit(i, a->limits[i], lowered);
	return r;
}

long child_attributes_as_user(const struct attributes *a, volatile enum spawn_step *step)
{
	long r = 0;

	*step = SPAWN_STEP_CAPABILITIES;
	if (a->capabilities != CAPABILITIES_KEEP)
		r = attributes_set_capabilities(a->capabilities);
	if (r < 0)
		return r;
	*step = SPAWN_STEP_NO_NEW_PRIVILEGES;
	return a->no_new_privileges ? raw(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1) : 0;
}
