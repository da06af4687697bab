#pragma once

/*
 * The children of this process, by the list of its first thread that Linux keeps: whom that has
 * started, and who fell to it when a parent died.  To read the list takes a while for each of them;
 * to see that nobody is new among so many, a tenth of that.
 */

#include <stdbool.h>
#include <sys/types.h>

#define CHILDREN_PLACES 4

struct children {
	struct children_place {
		int fd;
		unsigned n; /* so many children are before it */
	} places[CHILDREN_PLACES];
	unsigned next; /* of the places: who reads the list */
	bool live;     /* who stands at the end of the list does see what is added */
};

/* Opens all files now.  Return: 0; -ENOENT on a kernel without the list; or -errno. */
int children_open(struct children *children);
void children_close(struct children *children);

/* Calls @each for every child, also uncollected ones.  Return: their number or -errno. */
int children_read(struct children *children, void (*each)(pid_t pid, void *arg), void *arg);

/* Returns true if there are more than @n children, or if that takes reading the list. */
bool children_exceed(struct children *children, unsigned n);
