/*
 * Processes begin and end while /proc is read: a process that ends meanwhile is left out.  Entries are
 * sorted by pid.
 */
#include "sys/process/snapshot.h"

static int snapshot_add_process(pid_t pid, void *arg)
{
	struct snapshot_entry entry = { .pid = pid };
	struct snapshot *s = arg;

	if (proc_read(pid, &entry.info) < 0)
		return 0;
	return array_append(s->entries, s->n, entry);
}

static int snapshot_compare_pids(const void *a, const void *b)
{
	const struct snapshot_entry *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

int snapshot_take(struct snapshot *ret)
{
	int r;

	*ret = (struct snapshot){ .n = 0 };
	r = proc_each(snapshot_add_process, ret);
	array_sort(ret->entries, ret->n, snapshot_compare_pids);
	return r;
}

int snapshot_take_line(struct snapshot *ret, pid_t pid)
{
	int r = 0;

	*ret = (struct snapshot){ .n = 0 };
	for (size_t n = 0; r == 0 && pid > 0; n++) {
		r = snapshot_add_process(pid, ret);
		pid = ret->n > n ? ret->entries[n].info.parent : 0;
	}
	array_sort(ret->entries, ret->n, snapshot_compare_pids);
	return r;
}

static void snapshot_on_child(pid_t pid, void *arg)
{
	(void)snapshot_add_process(pid, arg);
}

int snapshot_add_descendants(struct snapshot *s, pid_t pid)
{
	size_t next = s->n;
	int r = proc_each_child(pid, snapshot_on_child, s);

	/* A child that has ended has no children. */
	for (; r == 0 && next < s->n; next++)
		(void)proc_each_child(s->entries[next].pid, snapshot_on_child, s);
	array_sort(s->entries, s->n, snapshot_compare_pids);
	return r;
}

void snapshot_done(struct snapshot *s)
{
	free(s->entries);
	*s = (struct snapshot){ .n = 0 };
}

struct snapshot_entry *snapshot_find(const struct snapshot *s, pid_t pid)
{
	const struct snapshot_entry key = { .pid = pid };

	return s->n ? bsearch(&key, s->entries, s->n, sizeof(key), snapshot_compare_pids) : NULL;
}
