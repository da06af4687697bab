/*
 * The descendants are the closure of "its parent is a descendant" over a snapshot of /proc.  A
 * parent is mostly older than its child and comes first; then two passes suffice.
 */
#include "sys/process/descendants.h"

#include "sys/process/snapshot.h"

static bool descendants_is_among(const struct descendants *list, pid_t pid)
{
	for (size_t i = 0; list && i < list->n; i++)
		if (list->pids[i] == pid)
			return true;
	return false;
}

static bool descendants_has_our_parent(const struct snapshot *s, const struct proc_info *info)
{
	const struct snapshot_entry *parent;

	if (info->parent == getpid())
		return true;
	parent = snapshot_find(s, info->parent);
	return parent && parent->marked;
}

static int descendants_take(struct snapshot *s, const struct descendants *inherited)
{
	int r = snapshot_take(s);
	bool again;

	if (r < 0)
		return r;
	do {
		again = false;
		for (size_t i = 0; i < s->n; i++) {
			struct snapshot_entry *e = &s->entries[i];

			if (e->marked || descendants_is_among(inherited, e->pid) ||
			    !descendants_has_our_parent(s, &e->info))
				continue;
			e->marked = again = true;
		}
	} while (again);
	return 0;
}

int descendants_inherit(struct descendants *inherited)
{
	cleanup(snapshot_done) struct snapshot s = { .n = 0 };
	int r;

	*inherited = (struct descendants){ 0 };
	r = descendants_take(&s, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	inherited->pids = malloc((s.n + 1) * sizeof(*inherited->pids));
	if (!inherited->pids)
		return -ENOMEM;
	for (size_t i = 0; i < s.n; i++)
		if (s.entries[i].marked)
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
	cleanup(snapshot_done) struct snapshot s = { .n = 0 };
	int r = descendants_take(&s, inherited);

	for (size_t i = 0; r == 0 && i < s.n; i++)
		if (s.entries[i].marked && s.entries[i].info.state != 'Z')
			each(s.entries[i].pid, s.entries[i].info.name, arg);
	return r;
}

/* The pid may have been reused, or its process have a new parent: it is read after the pidfd is open. */
static void descendants_signal_exactly(const struct snapshot *s, pid_t pid, int signo)
{
	cleanup(closep) int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct proc_info now;

	if (proc_read(pid, &now) < 0 || !descendants_has_our_parent(s, &now))
		return;
	if (fd < 0)
		(void)kill(pid, signo);
	else
		(void)syscall(SYS_pidfd_send_signal, fd, signo, NULL, 0);
}

/*
 * A group may be signalled if its number is that of a child or of no process; else it was reused.
 */
static bool descendants_has_group(pid_t group)
{
	siginfo_t info = { 0 };

	if (group <= 0 || kill(-group, 0) < 0)
		return false;
	return waitid(P_PID, (id_t)group, &info, WEXITED | WNOHANG | WNOWAIT) == 0 ||
	       kill(group, 0) < 0;
}

void descendants_resume(const struct descendants *inherited)
{
	cleanup(snapshot_done) struct snapshot s = { .n = 0 };

	(void)descendants_take(&s, inherited);
	for (size_t i = 0; i < s.n; i++)
		if (s.entries[i].marked && s.entries[i].info.state == 'T')
			descendants_signal_exactly(&s, s.entries[i].pid, SIGCONT);
}

void descendants_signal(pid_t group, int signo, const struct descendants *inherited)
{
	cleanup(snapshot_done) struct snapshot s = { .n = 0 };
	bool grouped;

	if (getpid() == 1) {
		(void)kill(-1, signo);
		return;
	}
	grouped = descendants_has_group(group);
	/* The list is made before any process gets the signal and exits. */
	(void)descendants_take(&s, inherited);
	if (grouped)
		(void)kill(-group, signo);
	for (size_t i = 0; i < s.n; i++)
		if (s.entries[i].marked && !(grouped && s.entries[i].info.group == group))
			descendants_signal_exactly(&s, s.entries[i].pid, signo);
}
