#pragma once

/*
 * A lease: a guard on a node that a client or a service holds, until it is released, expires, or is
 * revoked at the end of a budget.
 */

#include "daemon/node/node.h"
#include <swansong/guard.h>
#include "sys/ipc/unixsock.h"

#define LEASE_WHY_MAX	200 /* bytes of a reason; a longer one is refused */
#define LEASES_MAX	16384
#define LEASES_PER_USER 4096 /* bounds a client that misbehaves, whichever user it runs as */

/* The reasons for which a holder may lose its lease. */
enum lease_end {
	LEASE_EXPIRED,
	LEASE_REVOKED, /* at the end of a budget */
};

struct lease {
	struct list of_node, of_holder;
	struct node *node; /* NULL: lost */
	struct swansong_guard guard;
	uint64_t id;
	unsigned generation;
	uint64_t since_usec;
	uint64_t ttl_usec, until_usec; /* USEC_INFINITY: it does not expire */
	uint64_t limit_usec;	       /* end of an earlier generation's budget; likewise */
	struct alarm expiry;	       /* at the earlier of the two */
	struct ucred peer;
	struct lease_user *user;
	unsigned place;	  /* of its row in the roster */
	char command[64]; /* of the holder at the time of the request */
	char why[LEASE_WHY_MAX + 1];

	/* Called, if set, when the guard is gone; it may free the lease. */
	void (*lost)(struct lease *lease, enum lease_end how, void *arg);
	void *arg;
};

struct lease_wish {
	const struct ucred *peer;
	const char *why;		 /* "": none; at most LEASE_WHY_MAX bytes */
	uint64_t ttl_usec;		 /* USEC_INFINITY: until it is released */
	bool late;			 /* accepts a stopped node that is not yet Complete */
	const struct roster_row *former; /* the lease of before a fault, which is never refused; or NULL */
	bool followed;			 /* before a fault a call waited for its end */
};

enum lease_refusal {
	LEASE_TAKEN,
	LEASE_STOPPED,	 /* the node is stopped */
	LEASE_USER_FULL, /* LEASES_PER_USER */
	LEASE_FULL,	 /* LEASES_MAX */
};

/* Takes a guard on the present generation of @node.  Return: 0; a lease_refusal; -errno. */
int lease_new(struct lease **ret, struct node *node, const struct lease_wish *wish);

/*
 * Writes the row of @lease.  @kind: ROSTER_LEASE or ROSTER_LEASE_FD; @fd is that of the kind; @followed: a
 * call waits for its end.
 */
void lease_enter(struct lease *lease, enum roster_kind kind, int fd, bool followed);

/* The reverse of lease_enter(). */
struct lease_wish lease_former_wish(const struct roster_row *row, struct ucred *peer);

/* Makes new guards have other ids than those of before a fault. */
void lease_keep_ids(struct context *ctx);

/* Releases the guard, if it is still held, and frees the lease. */
struct lease *lease_free(struct lease *lease);

/* Revokes the guard.  The revocation is logged, with ": reason" or "", and listed as forced. */
void lease_revoke(struct lease *lease, const char *reason);

/* Takes all leases of @node from their holders, without a log line. */
void lease_lose_all(struct node *node);

/* Keeps the deadline of this generation for its leases: the next generation is about to begin. */
void lease_keep_budget(struct node *node);

/* Returns the time of its revocation; USEC_INFINITY if none is set. */
uint64_t lease_kill_time(const struct lease *lease);

/* Returns true if the generation that the lease is on has been stopped. */
bool lease_is_stopped(const struct lease *lease);
