#pragma once

/*
 * The children of a process, from the list that Linux keeps for its first thread: processes that it
 * started, or that were started for it, and orphans that it inherited.  Reading the list costs time
 * for each child; a check that no child is new costs a tenth of that.
 */

#include "base/std.h"

#define CHILDREN_PLACES 4

struct children {
	struct children_place {
		int fd;
		unsigned n; /* the number of children before it */
	} places[CHILDREN_PLACES];
	unsigned next; /* the place that reads the list next */
	bool live;     /* a file at the end of the list shows children that are added later */
};

/*
 * Opens all files for @parent.  Return: 0; -ENOENT on a kernel without the list, or if /proc is of
 * another namespace; -errno.
 */
int children_open(struct children *children, pid_t parent);
void children_close(struct children *children);

/* Calls @each for every child but this process, zombies included.  Return: their number or -errno. */
int children_read(struct children *children, void (*each)(pid_t pid, void *arg), void *arg);

/* Returns true if there are more than @n children, or if only reading the list would show it. */
bool children_exceed(struct children *children, unsigned n);
