#include "sys/process/children.h"

#include "sys/process/proc.h"

/*
 * Linux appends each new child to this list, forked or inherited; a child leaves the list when it
 * is reaped, which only this process does.  A file that was read to the end after N children stays
 * at that position: the next read returns child N + 1, and Linux only walks N links to find it.  So
 * a file at position N shows cheaply whether there are more than N children.
 *
 * When a service restarts again and again, one or two children are gone at each check.  So several
 * files are kept open, each at the position where one of the last readings ended.
 */

/* The position of a file that has not been read to the end. */
#define NOWHERE UINT_MAX

/* In a PID namespace, /proc may be that of another one, with other numbers. */
static bool children_has_own_proc(void)
{
	char text[16] = "";

	return readlink("/proc/self", text, sizeof(text) - 1) > 0 && atoi(text) == getpid();
}

int children_open(struct children *children, pid_t parent)
{
	char path[64];
	int r = children_has_own_proc() ? 0 : -ENOENT;

	*children = (struct children){ .live = false };
	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)parent);
	for (unsigned i = 0; i < CHILDREN_PLACES; i++)
		children->places[i] = (struct children_place){ .fd = -1, .n = NOWHERE };
	for (unsigned i = 0; i < CHILDREN_PLACES && r == 0; i++) {
		children->places[i].fd = open(path, O_RDONLY | O_CLOEXEC);
		r = children->places[i].fd < 0 ? -errno : 0;
	}
	if (r < 0)
		children_close(children);
	return r;
}

void children_close(struct children *children)
{
	for (unsigned i = 0; i < CHILDREN_PLACES; i++)
		children->places[i].fd = fd_close(children->places[i].fd);
}

struct reading {
	unsigned n;
	pid_t self;
	void (*each)(pid_t pid, void *arg);
	void *arg;
};

static void children_on_child(pid_t pid, void *arg)
{
	struct reading *reading = arg;

	reading->n++;
	if (pid != reading->self)
		reading->each(pid, reading->arg);
}

/* Return: more than 0 if a child follows the position. */
static ssize_t children_read_further(const struct children_place *place)
{
	char text[16];

	return read(place->fd, text, sizeof(text));
}

int children_read(struct children *children, void (*each)(pid_t pid, void *arg), void *arg)
{
	struct children_place *place = &children->places[children->next];
	struct reading reading = { .self = getpid(), .each = each, .arg = arg };
	int r;

	/* Another implementation of /proc may show the list as it was when it was opened. */
	if (!children->live)
		children->live = place->n != NOWHERE && children_read_further(place) > 0;
	place->n = NOWHERE;
	r = proc_read_pids(place->fd, children_on_child, &reading);
	if (r < 0)
		return r;
	place->n = reading.n;
	if (children->live)
		children->next = (children->next + 1) % CHILDREN_PLACES;
	return (int)reading.n;
}

bool children_exceed(struct children *children, unsigned n)
{
	for (unsigned i = 0; children->live && n != NOWHERE && i < CHILDREN_PLACES; i++) {
		struct children_place *place = &children->places[i];

		if (place->n != n)
			continue;
		if (children_read_further(place) == 0)
			return false;
		place->n = NOWHERE;
		children->next = i;
		return true;
	}
	return true;
}
