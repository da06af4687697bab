#pragma once

/*
 * The roster: main processes that can go on after a fault of the daemon, the store of its logger, the
 * pipes of its streams, its listening sockets, and its configuration, in a file that its next image has
 * (sys/spawn/crash.h).  A row is written and removed by one call of the kernel.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/base/settings.h"

#define ROSTER_NAME_MAX 255
#define ROSTER_CONFIGURATION "configuration" /* the texts of its files */

struct roster_row {
	int64_t number;			/* a pid, or a descriptor; 0: no row */
	uint64_t detail;		/* of a process: its start */
	char path[CONFIG_NAME_MAX + 1]; /* of the node of a process; "": a descriptor */
	char name[ROSTER_NAME_MAX +
		  1]; /* of a descriptor; of the notification socket of a process; or "" */
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
 * Writes a row for @fd, which the next image gets.  A child gets none that it is not given
 * (sys/spawn/child.c).  @roster may be NULL.
 */
void roster_enter_descriptor(struct roster *roster, unsigned *place, int fd, uint64_t detail,
			     const char *name);

/*
 * Hands over the descriptor @name of the former image.  Return: it, or -ENOENT.  @roster and @detail may
 * be NULL.
 */
int roster_take_descriptor(struct roster *roster, const char *name, uint64_t *detail);

/* Returns the name of the notification socket of the process that @node has had, or NULL.  Likewise. */
const char *roster_find_notify(const struct roster *roster, const char *node);

/* Returns the rows of the former image, and their number.  @roster may be NULL. */
const struct roster_row *roster_former(const struct roster *roster, size_t *n);

/* Forgets the rows of the former image, and closes the descriptors that were not taken.  Likewise. */
void roster_settle(struct roster *roster);
