#pragma once

/*
 * The roster: main processes that can go on after a fault of the daemon, its logger, and its listening
 * sockets, in a file that its next image has (sys/spawn/crash.h).  A row is written and removed by one
 * call of the kernel.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/base/settings.h"

#define ROSTER_NAME_MAX 255

struct roster_row {
	int64_t number;			/* a pid, or the descriptor of a socket; 0: no row */
	uint64_t started_usec;		/* of a process */
	char path[CONFIG_NAME_MAX + 1]; /* of the node of a process; "": the logger, or a socket */
	char name[ROSTER_NAME_MAX +
		  1]; /* of a socket; of the notification socket of a process; or "" */
};

struct roster;

/*
 * Makes an object for @fd, which stays with the caller, and reads and removes the rows that a former
 * image has written.  Return: 0 or -errno.
 */
int roster_new(struct roster **ret, int fd);
struct roster *roster_free(struct roster *roster);

/*
 * Writes @row, or removes the one that was written, with NULL.  *place, at first 0, belongs to the
 * owner of the row.  Without memory there is none.  @roster may be NULL.
 */
void roster_write(struct roster *roster, unsigned *place, const struct roster_row *row);

/*
 * Writes a row for the socket @fd, which the next image gets.  A child gets none that it is not given
 * (sys/spawn/child.c).  @roster may be NULL.
 */
void roster_enter_socket(struct roster *roster, unsigned *place, int fd, const char *name);

/*
 * Hands over the socket @name of the former image.  Return: a descriptor, or -ENOENT.  @roster may be
 * NULL.
 */
int roster_take_socket(struct roster *roster, const char *name);

/* Returns the name of the notification socket of the process that @node has had, or NULL.  Likewise. */
const char *roster_find_notify(const struct roster *roster, const char *node);

/* Returns the rows of the former image, and their number.  @roster may be NULL. */
const struct roster_row *roster_former(const struct roster *roster, size_t *n);

/* Forgets the rows of the former image, and closes the sockets that were not taken.  Likewise. */
void roster_settle(struct roster *roster);
