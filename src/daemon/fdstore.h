#pragma once

/*
 * Descriptors that a service has left with us, to have them back in its next run (FDSTORE=1): each
 * with a name, in the order in which they came.
 */

#include "daemon/context.h"

struct fdstore {
	struct context *ctx;
	struct list entries;
	size_t n, max;
	size_t names_size; /* of all names, with one more byte for each */
};

struct fdstore_entry {
	struct list in_store;
	struct fdstore *store;
	int fd;
	sd_event_source *hangup; /* NULL: kept until it is removed */
	char name[];
};

void fdstore_init(struct fdstore *store, struct context *ctx, size_t max);

/*
 * Takes @fd over, whatever comes of it.  With @poll it is dropped when its other end is gone.  What
 * is in it already, the same open file, is not kept twice.
 *
 * Return: 0; 1 if it was in it; -ENOBUFS if it is full; -ENOMEM.
 */
int fdstore_add(struct fdstore *store, int fd, const char *name, bool poll);

/* Drops all that are called @name.  Return: how many. */
size_t fdstore_remove(struct fdstore *store, const char *name);

/* Moves what @from has, as far as there is room; the first that came go first. */
void fdstore_move(struct fdstore *store, struct fdstore *from);

void fdstore_clear(struct fdstore *store);
