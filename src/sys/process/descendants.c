#include "sys/process/descendants.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "sys/process/proc.h"

/*
 * A snapshot of /proc, and then the closure of "its parent is a descendant" over it.  A parent is
 * mostly older than its child and comes first; then two passes suffice.  Zombies are included: a
 * process that looks dead may have other threads that live.
 */

struct entry {
	pid_t pid;
	bool ours;
	struct proc_info info;
};

struct snapshot {
	struct entry *entries;
	size_t n, room;
};

static void snapshot_done(struct snapshot *s)
{
	free(s->entries);
}

static void close_directory(DIR **directory)
{
	if (*directory)
		(void)closedir(*directory);
}

static int snapshot_add(struct snapshot *s, pid_t pid)
{
	struct entry entry = { .pid = pid };

	if (proc_read(pid, &entry.info) < 0)
		return 0;
	if (s->n == s->room) {
		size_t room = s->room ? 2 * s->room : 64;
		struct entry *more = realloc(s->entries, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		s->entries = more;
		s->room = room;
	}
	s->entries[s->n++] = entry;
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static int snapshot_take(struct snapshot *s)
{
	cleanup(close_directory) DIR *directory = opendir("/proc");
	const struct dirent *d;

	if (!directory)
		return -errno;
	while ((d = readdir(directory))) {
		pid_t pid = (pid_t)atoi(d->d_name);

		if (pid > 0 && snapshot_add(s, pid) < 0)
			return -ENOMEM;
	}
	if (s->n > 0)
		qsort(s->entries, s->n, sizeof(*s->entries), by_pid);
	return 0;
}

static bool is_among(const struct descendants *list, pid_t pid)
{
	for (size_t i = 0; list && i < list->n; i++)
		if (list->pids[i] == pid)
			return true;
	return false;
}

static bool has_our_parent(const struct snapshot *s, const struct entry *e)
{
	const struct entry key = { .pid = e->info.parent };
	const struct entry *parent;

	if (key.pid == getpid())
		return true;
	parent = bsearch(&key, s->entries, s->n, sizeof(key), by_pid);
	return parent && parent->ours;
}

static void snapshot_mark(struct snapshot *s, const struct descendants *inherited)
{
	bool again;

	do {
		again = false;
		for (size_t i = 0; i < s->n; i++) {
			struct entry *e = &s->entries[i];

			if (e->ours || is_among(inherited, e->pid) || !has_our_parent(s, e))
				continue;
			e->ours = again = true;
		}
	} while (again);
}

static int snapshot_descendants(struct snapshot *s, const struct descendants *inherited)
{
	int r = snapshot_take(s);

	if (r < 0)
		return r;
	snapshot_mark(s, inherited);
	return 0;
}

int descendants_inherit(struct descendants *inherited)
{
	cleanup(snapshot_done) struct snapshot s = { 0 };
	int r;

	*inherited = (struct descendants){ 0 };
	r = snapshot_descendants(&s, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	inherited->pids = malloc((s.n + 1) * sizeof(*inherited->pids));
	if (!inherited->pids)
		return -ENOMEM;
	for (size_t i = 0; i < s.n; i++)
		if (s.entries[i].ours)
			inherited->pids[inherited->n++] = s.entries[i].pid;
	return 0;
}

void descendants_done(struct descendants *inherited)
{
	free(inherited->pids);
	*inherited = (struct descendants){ 0 };
}

int descendants_each(const struct descendants *inherited,
		     void (*each)(pid_t pid, const char *name, void *arg), void *arg)
{
	cleanup(snapshot_done) struct snapshot s = { 0 };
	int r = snapshot_descendants(&s, inherited);

	for (size_t i = 0; r == 0 && i < s.n; i++)
		if (s.entries[i].ours && s.entries[i].info.state != 'Z')
			each(s.entries[i].pid, s.entries[i].info.name, arg);
	return r;
}

/*
 * The pid may have been reused: after the pidfd is open, the parent must be the same, or this
 * process.
 */
static void signal_exactly(const struct entry *e, int signo)
{
	cleanup(closep) int fd = (int)syscall(SYS_pidfd_open, e->pid, 0);
	struct proc_info now;

	if (proc_read(e->pid, &now) < 0 || (now.parent != e->info.parent && now.parent != getpid()))
		return;
	if (fd < 0)
		(void)kill(e->pid, signo);
	else
		(void)syscall(SYS_pidfd_send_signal, fd, signo, NULL, 0);
}

/*
 * A group may be signalled if its number is that of a child or of no process; else it was reused.
 */
static bool has_group(pid_t group)
{
	siginfo_t info = { 0 };

	if (group <= 0 || kill(-group, 0) < 0)
		return false;
	return waitid(P_PID, (id_t)group, &info, WEXITED | WNOHANG | WNOWAIT) == 0 ||
	       kill(group, 0) < 0;
}

void descendants_resume(const struct descendants *inherited)
{
	cleanup(snapshot_done) struct snapshot s = { 0 };

	(void)snapshot_descendants(&s, inherited);
	for (size_t i = 0; i < s.n; i++)
		if (s.entries[i].ours && s.entries[i].info.state == 'T')
			signal_exactly(&s.entries[i], SIGCONT);
}

void descendants_signal(pid_t group, int signo, const struct descendants *inherited)
{
	cleanup(snapshot_done) struct snapshot s = { 0 };
	bool grouped;

	if (getpid() == 1) {
		(void)kill(-1, signo);
		return;
	}
	grouped = has_group(group);
	/* Before any process gets the signal and exits. */
	(void)snapshot_descendants(&s, inherited);
	if (grouped)
		(void)kill(-group, signo);
	for (size_t i = 0; i < s.n; i++)
		if (s.entries[i].ours && !(grouped && s.entries[i].info.group == group))
			signal_exactly(&s.entries[i], signo);
}
