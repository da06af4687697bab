#include "sys/process/usage.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "sys/process/cgroup.h"
#include "sys/process/proc.h"

/* The parents of a process, at most. */
#define ANCESTORS_MAX 4096

struct entry {
	pid_t pid, parent, session;
	uint64_t cpu_usec, memory;
};

struct usage_snapshot {
	struct entry *entries; /* by pid */
	size_t n, room;
};

DEFINE_CLEANUP(struct usage_snapshot *, usage_snapshot_free)

static void closedirp(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir);
}

/*
 * "PID (NAME) S PPID PGRP SESSION TTY TPGID FLAGS MINFLT CMINFLT MAJFLT CMAJFLT UTIME STIME CUTIME
 * CSTIME PRIORITY NICE THREADS 0 START VSIZE RSS": times of waited-for children are the process's.
 */
static int read_entry(pid_t pid, struct entry *ret)
{
	uint64_t tick_usec = USEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t user, system, children_user, children_system, pages;
	struct entry e = { .pid = pid };
	const char *rest;
	char text[1024];
	int r = proc_read_text(pid, "stat", text, sizeof(text));

	if (r < 0)
		return r;
	rest = strrchr(text, ')');
	if (!rest || sscanf(rest,
			    ") %*c %d %*d %d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
			    " %" SCNu64 " %" SCNu64 " %*d %*d %*d %*d %*u %*u %" SCNu64,
			    &e.parent, &e.session, &user, &system, &children_user, &children_system,
			    &pages) != 7)
		return -EIO;
	e.cpu_usec = (user + system + children_user + children_system) * tick_usec;
	e.memory = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	*ret = e;
	return 0;
}

static int add_entry(struct usage_snapshot *s, pid_t pid)
{
	struct entry e;

	if (read_entry(pid, &e) < 0)
		return 0;
	if (s->n == s->room) {
		size_t room = s->room ? 2 * s->room : 256;
		struct entry *more = reallocarray(s->entries, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		s->entries = more;
		s->room = room;
	}
	s->entries[s->n++] = e;
	return 0;
}

static int compare_pids(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

int usage_snapshot_new(struct usage_snapshot **ret)
{
	cleanup(usage_snapshot_freep) struct usage_snapshot *s = calloc(1, sizeof(*s));
	cleanup(closedirp) DIR *dir = opendir("/proc");
	const struct dirent *d;

	if (!s)
		return -ENOMEM;
	if (!dir)
		return -errno;
	while ((d = readdir(dir))) {
		pid_t pid = (pid_t)strtol(d->d_name, NULL, 10);

		if (pid > 0 && add_entry(s, pid) < 0)
			return -ENOMEM;
	}
	if (s->n > 0)
		qsort(s->entries, s->n, sizeof(*s->entries), compare_pids);
	*ret = take(s);
	return 0;
}

struct usage_snapshot *usage_snapshot_free(struct usage_snapshot *s)
{
	if (s)
		free(s->entries);
	free(s);
	return NULL;
}

static const struct entry *find(const struct usage_snapshot *s, pid_t pid)
{
	const struct entry key = { .pid = pid };

	return s->n ? bsearch(&key, s->entries, s->n, sizeof(key), compare_pids) : NULL;
}

static bool descends(const struct usage_snapshot *s, const struct entry *e, pid_t ancestor)
{
	for (int i = 0; e && i < ANCESTORS_MAX; i++) {
		if (e->parent == ancestor)
			return true;
		e = find(s, e->parent);
	}
	return false;
}

static void add(uint64_t *sum, uint64_t value)
{
	*sum = *sum == USAGE_UNKNOWN || value == USAGE_UNKNOWN ? USAGE_UNKNOWN : *sum + value;
}

static uint64_t count_descriptors(pid_t pid)
{
	cleanup(closedirp) DIR *dir = NULL;
	const struct dirent *d;
	char path[64];
	uint64_t n = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? 0 : USAGE_UNKNOWN;
	while ((d = readdir(dir)))
		n += d->d_name[0] != '.';
	return n;
}

struct sum {
	const struct usage_snapshot *snapshot;
	struct usage usage;
};

static void add_process(pid_t pid, void *arg)
{
	struct sum *sum = arg;
	const struct entry *e = find(sum->snapshot, pid);

	sum->usage.processes++;
	add(&sum->usage.descriptors, count_descriptors(pid));
	if (!e)
		return;
	sum->usage.cpu_usec += e->cpu_usec;
	sum->usage.memory += e->memory;
}

/* The descriptor of the control group of @pid, if that is called @name. */
static int open_group(pid_t pid, const char *name)
{
	char path[CGROUP_PATH_MAX];
	const char *last;
	int r = cgroup_of(pid, path);

	if (r < 0)
		return r;
	last = strrchr(path, '/');
	return last && strcmp(last + 1, name) == 0 ? cgroup_open(path) : -ENOENT;
}

/* The counters of the kernel include processes that have ended. */
static void take_counts(int group, struct usage *usage)
{
	char text[1024];

	if (cgroup_read(group, ".", "cpu.stat", text, sizeof(text)) == 0)
		(void)sscanf(text, "usage_usec %" SCNu64, &usage->cpu_usec);
	if (cgroup_read(group, ".", "memory.current", text, sizeof(text)) == 0)
		(void)sscanf(text, "%" SCNu64, &usage->memory);
}

int usage_of(const struct usage_snapshot *s, pid_t main, pid_t ancestor, const char *group,
	     struct usage *ret)
{
	cleanup(closep) int fd = -1;
	struct sum sum = { .snapshot = s };
	const struct entry *e = find(s, main);

	if (!e || !descends(s, e, ancestor))
		return -ESRCH;
	fd = open_group(main, group);
	if (fd >= 0 && cgroup_processes(fd, ".", add_process, &sum) == 0) {
		take_counts(fd, &sum.usage);
		*ret = sum.usage;
		return 0;
	}
	sum.usage = (struct usage){ 0 };
	for (size_t i = 0; i < s->n; i++) {
		const struct entry *other = &s->entries[i];

		if (other == e || other->session == main || descends(s, other, main))
			add_process(other->pid, &sum);
	}
	*ret = sum.usage;
	return 0;
}
