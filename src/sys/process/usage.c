/*
 * With a control group the kernel has the sums; the number of descriptors is counted by process in
 * any case.  Without one, the processes are those that descend from the main process or are of its
 * session, from one snapshot of /proc.
 */
#include "sys/process/usage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/process/cgroup.h"

/* The parents of a process, at most. */
#define ANCESTORS_MAX 4096

static bool usage_is_descendant(const struct snapshot *s, const struct snapshot_entry *e,
				pid_t ancestor)
{
	for (int i = 0; e && i < ANCESTORS_MAX; i++) {
		if (e->info.parent == ancestor)
			return true;
		e = snapshot_find(s, e->info.parent);
	}
	return false;
}

/* The processes of a daemon with a keeper are beside it, and outlive it: @daemon may have been replaced. */
static pid_t usage_ancestor(const struct snapshot *s, const struct snapshot_entry *main,
			    pid_t daemon)
{
	const struct snapshot_entry *e = snapshot_find(s, daemon);

	e = snapshot_find(s, e ? e->info.parent : main->info.parent);
	return e && strcmp(e->info.name, PROC_KEEPER) == 0 ? e->pid : daemon;
}

void usage_add(uint64_t *sum, uint64_t value)
{
	*sum = *sum == USAGE_UNKNOWN || value == USAGE_UNKNOWN ? USAGE_UNKNOWN : *sum + value;
}

static int usage_count_descriptor(int dir, const char *name, void *arg)
{
	++*(uint64_t *)arg;
	return 0;
}

struct sum {
	const struct snapshot *snapshot;
	struct usage usage;
};

static void usage_add_process(pid_t pid, void *arg)
{
	struct sum *sum = arg;
	const struct snapshot_entry *e = snapshot_find(sum->snapshot, pid);
	struct proc_info info = e ? e->info : (struct proc_info){ .parent = 0 };
	uint64_t n = 0;
	int r = proc_each_descriptor(pid, usage_count_descriptor, &n);

	sum->usage.processes++;
	usage_add(&sum->usage.descriptors, r == 0 || r == -ENOENT ? n : USAGE_UNKNOWN);
	if (!e)
		(void)proc_read(pid, &info);
	sum->usage.cpu_usec += info.cpu_usec;
	sum->usage.memory += info.memory;
}

/* The descriptor of the control group of @pid, if that is called @name. */
static int usage_open_group(pid_t pid, const char *name)
{
	char path[CGROUP_PATH_MAX];
	const char *last;
	int r = cgroup_of(pid, path);

	if (r < 0)
		return r;
	last = strrchr(path, '/');
	return last && strcmp(last + 1, name) == 0 ? cgroup_open(path) : -ENOENT;
}

int usage_of(const struct snapshot *s, pid_t main, pid_t daemon, const char *group,
	     struct usage *ret)
{
	cleanup(closep) int fd = -1;
	struct sum sum = { .snapshot = s };
	const struct snapshot_entry *e = snapshot_find(s, main);

	if (!e || !usage_is_descendant(s, e, usage_ancestor(s, e, daemon)))
		return -ESRCH;
	fd = usage_open_group(main, group);
	if (fd >= 0 && cgroup_processes(fd, ".", usage_add_process, &sum) == 0) {
		/* The counters of the kernel include processes that have ended. */
		char text[1024];

		if (cgroup_read(fd, ".", "cpu.stat", text, sizeof(text)) == 0)
			(void)sscanf(text, "usage_usec %" SCNu64, &sum.usage.cpu_usec);
		if (cgroup_read(fd, ".", "memory.current", text, sizeof(text)) == 0)
			(void)sscanf(text, "%" SCNu64, &sum.usage.memory);
		*ret = sum.usage;
		return 0;
	}
	sum.usage = (struct usage){ 0 };
	for (size_t i = 0; i < s->n; i++) {
		const struct snapshot_entry *other = &s->entries[i];

		if (other == e || other->info.session == main ||
		    usage_is_descendant(s, other, main))
			usage_add_process(other->pid, &sum);
	}
	*ret = sum.usage;
	return 0;
}

int usage_of_one(pid_t main, pid_t daemon, const char *group, struct usage *ret)
{
	cleanup(snapshot_done) struct snapshot s = { .n = 0 };
	cleanup(closep) int fd = usage_open_group(main, group);
	int r = fd >= 0 ? snapshot_take_line(&s, main) : snapshot_take(&s);

	return r < 0 ? r : usage_of(&s, main, daemon, group, ret);
}
