#include "sys/process/children.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/macro.h"
#include "sys/process/proc.h"

/*
 * Linux appends to this list, whether somebody was forked or has lost its parent, and a child
 * leaves it by being collected, which is our doing.  Who has read a file of it to the end after N
 * children stands there; whatever is read next is the child N + 1, and all that Linux does to find
 * it is to walk N links.  So that there are no more than N is seen by whoever stands at N, who
 * stays there.
 *
 * Of a service that is started again and again one child is gone, or two, each time when somebody
 * asks: for that there are some places, each where the list ended at one of its last readings.
 */

/* Of a place that has not been read to the end. */
#define NOWHERE UINT_MAX

int children_open(struct children *children)
{
	char path[64];
	int r = 0;

	*children = (struct children){ .live = false };
	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
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
	void (*each)(pid_t pid, void *arg);
	void *arg;
};

static void on_child(pid_t pid, void *arg)
{
	struct reading *reading = arg;

	reading->n++;
	reading->each(pid, reading->arg);
}

static int read_all(int fd, struct reading *reading)
{
	char buf[4096];
	pid_t rest = 0;
	ssize_t n;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		proc_pids(buf, (size_t)n, &rest, on_child, reading);
	return n < 0 ? -errno : 0;
}

/* Return: more than 0 if there is somebody behind it. */
static ssize_t look_behind(const struct children_place *place)
{
	char text[16];

	return read(place->fd, text, sizeof(text));
}

int children_read(struct children *children, void (*each)(pid_t pid, void *arg), void *arg)
{
	struct children_place *place = &children->places[children->next];
	struct reading reading = { .each = each, .arg = arg };
	int r;

	/* A /proc by another hand may give what the list was when it was opened. */
	if (!children->live)
		children->live = place->n != NOWHERE && look_behind(place) > 0;
	place->n = NOWHERE;
	r = read_all(place->fd, &reading);
	if (r < 0)
		return r;
	place->n = reading.n;
	if (children->live)
		children->next = (children->next + 1) % CHILDREN_PLACES;
	return (int)reading.n;
}

bool children_exceed(struct children *children, unsigned n)
{
	for (unsigned i = 0; children->live && i < CHILDREN_PLACES; i++) {
		struct children_place *place = &children->places[i];

		if (place->n != n)
			continue;
		if (look_behind(place) == 0)
			return false;
		place->n = NOWHERE;
		children->next = i;
		return true;
	}
	return true;
}
