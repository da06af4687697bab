/*
 * With a control group the kernel has the sums; the number of descriptors is counted by process in
 * any case.  Without one, the processes are those that descend from the main process or, in a snapshot of
 * all of /proc, are of its session.
 */
#include "sys/process/usage.h"

#include "sys/process/cgroup.h"

/* The number of ancestors that are looked at, at most. */
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

/* Calls @each for the processes of @main: those of the control group @fd, or else of /proc. */
static void usage_each(const struct snapshot *s, pid_t main, int fd,
		       void (*each)(pid_t pid, void *arg), void *arg)
{
	if (fd >= 0 && cgroup_processes(fd, ".", each, arg) == 0)
		return;
	for (size_t i = 0; i < s->n; i++) {
		const struct snapshot_entry *e = &s->entries[i];

		if (e->pid == main || e->info.session == main || usage_is_descendant(s, e, main))
			each(e->pid, arg);
	}
}

int usage_of(const struct snapshot *s, pid_t main, pid_t daemon, const char *group,
	     struct usage *ret)
{
	cleanup(closep) int fd = -1;
	struct sum sum = { .snapshot = s };
	const struct snapshot_entry *e = snapshot_find(s, main);
	char text[1024];

	if (!e || !usage_is_descendant(s, e, usage_ancestor(s, e, daemon)))
		return -ESRCH;
	fd = usage_open_group(main, group);
	usage_each(s, main, fd, usage_add_process, &sum);
	/* The counters of the kernel include processes that have ended. */
	if (fd >= 0 && cgroup_read(fd, ".", "cpu.stat", text, sizeof(text)) == 0)
		(void)sscanf(text, "usage_usec %" SCNu64, &sum.usage.cpu_usec);
	if (fd >= 0 && cgroup_read(fd, ".", "memory.current", text, sizeof(text)) == 0)
		(void)sscanf(text, "%" SCNu64, &sum.usage.memory);
	*ret = sum.usage;
	return 0;
}

static void usage_add_proportional(pid_t pid, void *arg)
{
	uint64_t *sum = arg, kilobytes = 0;
	char text[1024];
	const char *line;

	if (proc_read_text(pid, "smaps_rollup", text, sizeof(text)) == 0 &&
	    (line = strstr(text, "\nPss:")))
		(void)sscanf(line, " Pss: %" SCNu64, &kilobytes);
	*sum += kilobytes * 1024;
}

int usage_proportional(pid_t main, const char *group, uint64_t *ret)
{
	cleanup(snapshot_done) struct snapshot s = { .n = 0 };
	cleanup(closep) int fd = usage_open_group(main, group);
	int r = fd >= 0 ? 0 : snapshot_take(&s);

	*ret = 0;
	if (r == 0)
		usage_each(&s, main, fd, usage_add_proportional, ret);
	return r;
}

int usage_of_one(pid_t main, pid_t daemon, const char *group, struct usage *ret)
{
	cleanup(snapshot_done) struct snapshot s = { .n = 0 };
	cleanup(closep) int fd = usage_open_group(main, group);
	int r = snapshot_take_line(&s, main);

	if (r == 0 && fd < 0 && snapshot_add_descendants(&s, main) < 0) {
		snapshot_done(&s);
		r = snapshot_take(&s);
	}
	return r < 0 ? r : usage_of(&s, main, daemon, group, ret);
}

int usage_watch_pressure(int dir, const char *path, uint64_t stall_usec)
{
	cleanup(closep) int fd = openat(dir, path, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || dprintf(fd, "some %" PRIu64 " %" PRIu64 "\n", stall_usec, USAGE_PRESSURE_USEC) < 0)
		return -errno;
	return take_fd(fd);
}

int usage_read_pressure(int fd, uint64_t *ret)
{
	char text[256];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	const char *total;

	if (n < 0)
		return -errno;
	text[n] = '\0';
	total = strstr(text, " total=");
	if (!total)
		return -EIO;
	*ret = strtoull(total + strlen(" total="), NULL, 10);
	return 0;
}
