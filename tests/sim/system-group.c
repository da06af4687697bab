/*
 * The functions about control groups that the daemon calls, on the groups of the world.  The descriptor of a
 * group has its number.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/process/cgroup.h"
#include "tests/sim/descriptors.h"
#include "tests/sim/group.h"
#include "tests/sim/kernel.h"
#include "tests/sim/system.h"

#define WRAP(result, name, ...)            \
	result __wrap_##name(__VA_ARGS__); \
	result __wrap_##name(__VA_ARGS__)

/* Prints the path of a group below that of the descriptor @top. */
static void group_path(int top, const char *path, char ret[static GROUPS_PATH])
{
	const struct descriptor *d = descriptors_find(top);
	const struct group *above = d ? groups_at((int)d->number) : NULL;
	int n = snprintf(ret, GROUPS_PATH, "%s", above ? above->path : "?");

	if (strcmp(path, ".") != 0)
		(void)snprintf(ret + n, GROUPS_PATH - (size_t)n, "/%s", path);
}

static int group_find(int top, const char *path)
{
	char full[GROUPS_PATH];

	group_path(top, path, full);
	return groups_find(full);
}

static int group_open(int i)
{
	int error = kernel_fails(FAULT_OPEN), fd;

	if (i < 0)
		return -ENOENT;
	if (error)
		return -error;
	fd = descriptors_open(DESCRIPTOR_GROUP);
	descriptors_find(fd)->number = (unsigned)i;
	return fd;
}

WRAP(int, cgroup_of, pid_t pid, char buf[static CGROUP_PATH_MAX])
{
	const struct row *row = kernel_find(pid);
	int i = pid == kernel.daemon ? kernel.daemon_group : row ? row->control_group : -1;
	const struct group *group = groups_at(i);
	int error = kernel_fails(FAULT_OPEN);

	if (error)
		return -error;
	if (!group)
		return -ENOENT;
	(void)snprintf(buf, CGROUP_PATH_MAX, "%s", group->path);
	return 0;
}

WRAP(int, cgroup_open, const char *path)
{
	return group_open(groups_find(path));
}

WRAP(bool, cgroup_is_delegated, int group, const char *path)
{
	return true;
}

WRAP(bool, cgroup_is_machine_root, int group)
{
	return false;
}

WRAP(int, cgroup_make, int top, const char *path)
{
	int error = kernel_fails(FAULT_GROUP);
	char full[GROUPS_PATH];

	if (error)
		return -error;
	group_path(top, path, full);
	return groups_find(full) >= 0 || groups_make(full) >= 0 ? 0 : -ENOSPC;
}

WRAP(int, cgroup_open_below, int top, const char *path)
{
	return group_open(group_find(top, path));
}

WRAP(int, cgroup_remove, int top, const char *path)
{
	int group = group_find(top, path);

	if (group < 0)
		return 0;
	if (groups_at(group)->processes > 0)
		return -EBUSY;
	for (int i = GROUPS_MAX - 1; i >= 0; i--)
		if (i != group && groups_at(i) && groups_is_within(i, group))
			groups_remove(i);
	groups_remove(group);
	return 0;
}

WRAP(int, cgroup_is_populated, int top, const char *path)
{
	int i = group_find(top, path), error = kernel_fails(FAULT_OPEN);

	if (error)
		return -error;
	return i >= 0 && groups_at(i)->processes > 0;
}

WRAP(bool, cgroup_lists, int top, const char *path, const char *file, const char *word)
{
	return false;
}

WRAP(int, cgroup_read, int top, const char *path, const char *file, char *buf, size_t size)
{
	return -ENOENT;
}

WRAP(int, cgroup_write, int top, const char *path, const char *file, const char *value)
{
	int i = group_find(top, path);

	if (i < 0)
		return -ENOENT;
	if (strcmp(file, "cgroup.procs") == 0) {
		groups_leave(kernel.daemon_group);
		kernel.daemon_group = i;
		groups_enter(i);
	}
	return 0;
}

WRAP(int, cgroup_processes, int top, const char *path, void (*each)(pid_t pid, void *arg),
     void *arg)
{
	int group = group_find(top, path), error = kernel_fails(FAULT_OPEN);

	if (group < 0 || error)
		return error ? -error : -ENOENT;
	for (size_t i = 0; i < kernel.n_rows; i++)
		if (row_is_alive(&kernel.rows[i]) && kernel.rows[i].control_group == group)
			each(kernel.rows[i].pid, arg);
	return 0;
}

WRAP(int, cgroup_children, int top, void (*each)(const char *name, void *arg), void *arg)
{
	int group = group_find(top, ".");

	for (int i = 0; group >= 0 && i < GROUPS_MAX; i++) {
		const char *name = groups_at(i) ? strrchr(groups_at(i)->path, '/') : NULL;
		size_t length = strlen(groups_at(group)->path);

		if (i != group && name && groups_is_within(i, group) &&
		    name == groups_at(i)->path + length)
			each(name + 1, arg);
	}
	return group < 0 ? -ENOENT : 0;
}

WRAP(void, cgroup_signal, pid_t pid, const char *full_path, int signo)
{
	const struct row *row = kernel_find(pid);

	if (row && row_is_alive(row) && groups_find(full_path) == row->control_group)
		(void)kernel_kill(pid, signo);
}

WRAP(int, cgroup_kill, int top, const char *path)
{
	int group = group_find(top, path), error = kernel_fails(FAULT_OPEN);

	if (group < 0 || error)
		return error ? -error : -ENOENT;
	for (size_t i = 0; i < kernel.n_rows; i++) {
		struct row *row = &kernel.rows[i];

		if (row_is_alive(row) && groups_is_within(row->control_group, group))
			kernel_deliver(row, SIGKILL, true);
	}
	for (int i = 0; i < GROUPS_MAX; i++)
		if (groups_at(i) && groups_is_within(i, group))
			groups_at(i)->spent = true;
	return 0;
}

/* --- watches, and the lock of a group --- */

WRAP(int, inotify_init1, int flags)
{
	errno = kernel_fails(FAULT_OPEN);
	return errno ? -1 : descriptors_open(DESCRIPTOR_WATCHES);
}

/* "/proc/self/fd/N/GROUP/cgroup.events" */
WRAP(int, inotify_add_watch, int fd, const char *path, uint32_t mask)
{
	char name[GROUPS_PATH] = "";
	int top = -1, group = -1;

	if (sscanf(path, "/proc/self/fd/%d/%127[^/]", &top, name) == 2)
		group = group_find(top, name);
	errno = kernel_fails(FAULT_WATCH);
	if (!errno && group >= 0)
		return groups_watch(group);
	errno = errno ? errno : ENOENT;
	return -1;
}

WRAP(int, inotify_rm_watch, int fd, int watch)
{
	groups_unwatch(watch);
	return 0;
}

ssize_t system_read_watch(void *buf, size_t size)
{
	const struct inotify_event event = { .wd = groups_next_change(), .mask = IN_MODIFY };

	errno = EAGAIN;
	if (event.wd == 0 || size < sizeof(event))
		return -1;
	memcpy(buf, &event, sizeof(event));
	return (ssize_t)sizeof(event);
}

int __real_flock(int fd, int operation);
WRAP(int, flock, int fd, int operation)
{
	struct descriptor *d = descriptors_find(fd);
	int other = 0;

	if (!d)
		return __real_flock(fd, operation);
	while ((other = descriptors_next(DESCRIPTOR_GROUP, other))) {
		const struct descriptor *o = descriptors_find(other);

		if (o == d || o->number != d->number || !o->locked)
			continue;
		errno = EWOULDBLOCK;
		return -1;
	}
	d->locked = true;
	return 0;
}

int __real_fstatat(int top, const char *path, struct stat *ret, int flags);
WRAP(int, fstatat, int top, const char *path, struct stat *ret, int flags)
{
	int group = group_find(top, path);

	if (!descriptors_find(top))
		return __real_fstatat(top, path, ret, flags);
	errno = ENOENT;
	*ret = (struct stat){ .st_ino = (ino_t)group + 1 };
	return group < 0 ? -1 : 0;
}
