#pragma once

/* A guard that somebody outside holds on a node, for as long as their connection lives. */

#include <stdint.h>

#include "base/list.h"
#include "daemon/node.h"
#include "swansong/guard.h"
#include "sys/unixsock.h"

#define LEASE_WHY_MAX 200 /* bytes of a reason; a longer one is refused */

struct lease {
	struct list of_node;
	struct node *node; /* NULL: revoked */
	struct swansong_guard guard;
	uint64_t id;
	unsigned generation;
	uint64_t since_usec;
	struct unix_peer peer;
	char command[64]; /* of the holder when it took the guard */
	char why[LEASE_WHY_MAX + 1];

	void (*on_revoked)(struct lease *lease, void *arg);
	void *arg;
};

/*
 * Takes a guard on the node's present generation.  Whether that is allowed is the caller's to know.
 * Return: 0 or -ENOMEM.
 */
int lease_new(struct lease **ret, struct node *node, const struct unix_peer *peer, const char *why);

/* Drops the guard. */
struct lease *lease_free(struct lease *lease);

/* Takes the guard away from its holder and tells it.  The lease itself stays the holder's. */
void lease_revoke(struct lease *lease);
