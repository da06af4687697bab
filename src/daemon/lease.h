#pragma once

/*
 * A guard that somebody outside holds on a node: until he lets go of it, until it expires, or until
 * the end of a budget takes it away from him.
 */

#include <stdint.h>

#include "base/list.h"
#include "daemon/node.h"
#include "swansong/guard.h"
#include "sys/unixsock.h"

#define LEASE_WHY_MAX	200 /* bytes of a reason; a longer one is refused */
#define LEASES_MAX	16384
#define LEASES_PER_USER 4096 /* whoever it is: it is what runs wild that is stopped by it */

struct lease_user;

/* How a holder may lose it. */
enum lease_end {
	LEASE_EXPIRED,
	LEASE_REVOKED, /* by force */
};

struct lease {
	struct list of_node, of_holder;
	struct node *node; /* NULL: lost */
	struct swansong_guard guard;
	uint64_t id;
	unsigned generation;
	uint64_t since_usec;
	uint64_t ttl_usec, until_usec; /* USEC_INFINITY: it does not expire */
	uint64_t limit_usec;	 /* of an earlier generation: when its budget is spent; likewise */
	sd_event_source *expiry; /* NULL: there is neither */
	struct unix_peer peer;
	struct lease_user *user;
	char command[64]; /* of the holder when it took the guard */
	char why[LEASE_WHY_MAX + 1];

	/*
	 * Its guard is gone.  The lease itself stays the holder's, who may free it here.  Or NULL.
	 */
	void (*lost)(struct lease *lease, enum lease_end how, void *arg);
	void *arg;
};

/* What somebody asks for. */
struct lease_wish {
	const struct unix_peer *peer;
	const char *why;   /* "": none; at most LEASE_WHY_MAX bytes */
	uint64_t ttl_usec; /* USEC_INFINITY: until it is released */
	bool late;	   /* also on a stopped node that is not yet Complete */
};

enum lease_refusal {
	LEASE_TAKEN,
	LEASE_STOPPED,	 /* the node is */
	LEASE_USER_FULL, /* LEASES_PER_USER */
	LEASE_FULL,	 /* LEASES_MAX */
};

/*
 * Takes a guard on the node's present generation.  Return: 0; a lease_refusal; -errno.  With
 * anything but 0 there is no guard.
 */
int lease_new(struct lease **ret, struct node *node, const struct lease_wish *wish);

/* It is about to be taken away by force: for whoever wants to know what a stop has cost. */
void lease_note_loss(const struct lease *lease);

/* Drops the guard. */
struct lease *lease_free(struct lease *lease);

/* Takes the guard away from its holder, who is told. */
void lease_lose(struct lease *lease, enum lease_end how);

/* The same for all of @node. */
void lease_lose_all(struct node *node);

/*
 * The next generation of a stopped @node is about to begin: what is held on this one is still
 * revoked at the end of its budget.  Return: 0 or -errno.
 */
int lease_keep_budget(struct node *node);

/* When it goes by force; USEC_INFINITY: never, so far. */
uint64_t lease_kill_time(const struct lease *lease);

/* Has the node been stopped since, or was it then? */
bool lease_is_stopped(const struct lease *lease);

/* "pid 812 (pg_dump): nightly".  Returns @buf. */
#define LEASE_TEXT_MAX (LEASE_WHY_MAX + 96)
char *lease_text(char buf[static LEASE_TEXT_MAX], const struct lease *lease);
