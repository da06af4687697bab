#pragma once

/*
 * The descriptors that a service has stored for its next run (FDSTORE=1), in the order in which
 * they came.  Each has a name of less than FDNAME_MAX bytes.
 */

#include "daemon/loop/context.h"

struct fdstore {
	struct context *ctx;
	const char *node; /* the path of the service */
	struct list entries;
	size_t n, max;
};

struct fdstore_entry {
	struct list in_store;
	struct fdstore *store;
	int fd;
	sd_event_source *hangup; /* NULL: kept until it is removed */
	unsigned place;		 /* of its row in the roster */
	char name[];
};

/* Makes an empty store; @node stays valid.  It takes over the descriptors of before a fault. */
void fdstore_init(struct fdstore *store, struct context *ctx, const char *node, size_t max);

/*
 * Takes @fd over.  With @poll it is removed when its other end is closed.
 *
 * Return: 0.  Else @fd is still the caller's, and the result is 1 if the same open file is stored already;
 * -ENOBUFS if the store is full; -ENOMEM.
 */
int fdstore_add(struct fdstore *store, int fd, const char *name, bool poll);

/* Removes all descriptors with the name @name.  Returns their number. */
size_t fdstore_remove(struct fdstore *store, const char *name);

/* Moves descriptors from @from while there is room, the oldest ones first. */
void fdstore_move(struct fdstore *store, struct fdstore *from);

void fdstore_clear(struct fdstore *store);
