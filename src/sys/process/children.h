#pragma once

/*
 * The children of this process, from the list that Linux keeps for its first thread: processes that
 * it started, and orphans that it inherited.  Reading the list costs time for each child; a check
 * that no child is new costs a tenth of that.
 */

#include <stdbool.h>
#include <sys/types.h>

#define CHILDREN_PLACES 4

struct children {
	struct children_place {
		int fd;
		unsigned n; /* the number of children before it */
	} places[CHILDREN_PLACES];
	unsigned next; /* the place that reads the list next */
	bool live;     /* a file at the end of the list shows children that are added later */
};

/* Opens all files.  Return: 0; -ENOENT on a kernel without the list; -errno. */
int children_open(struct children *children);
void children_close(struct children *children);

/* Calls @each for every child, zombies included.  Return: their number or -errno. */
int children_read(struct children *children, void (*each)(pid_t pid, void *arg), void *arg);

/* Returns true if there are more than @n children, or if only reading the list would show it. */
bool children_exceed(struct children *children, unsigned n);
