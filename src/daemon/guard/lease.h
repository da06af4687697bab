#pragma once

/*
 * A guard that is held on a node from outside: until it is released, until it expires, or until it is
 * revoked at the end of a budget.
 */

#include <stdint.h>

#include "base/list.h"
#include "daemon/node/node.h"
#include <swansong/guard.h>
#include "sys/ipc/unixsock.h"

#define LEASE_WHY_MAX	200 /* bytes of a reason; a longer one is refused */
#define LEASES_MAX	16384
#define LEASES_PER_USER 4096 /* bounds a client that misbehaves, whichever user it runs as */

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
	uint64_t limit_usec; /* of an earlier generation: when its budget is spent; likewise */
	struct alarm expiry; /* the earlier of the two */
	struct unix_peer peer;
	struct lease_user *user;
	char command[64]; /* of the holder when it took the guard */
	char why[LEASE_WHY_MAX + 1];

	/* The guard is gone; the lease may be freed here.  May be NULL. */
	void (*lost)(struct lease *lease, enum lease_end how, void *arg);
	void *arg;
};

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

/* Takes a guard on the present generation.  Return: 0; a lease_refusal; -errno. */
int lease_new(struct lease **ret, struct node *node, const struct lease_wish *wish);

/* Drops the guard. */
struct lease *lease_free(struct lease *lease);

/* Takes the guard by force: logged, with ": reason" or "", and counted as the cost of a stop. */
void lease_revoke(struct lease *lease, const char *reason);

/* The same for all guards of @node, without a word. */
void lease_lose_all(struct node *node);

/* Before the next generation: leases on the present one are still revoked at its deadline. */
void lease_keep_budget(struct node *node);

/* When it goes by force; USEC_INFINITY: never, so far. */
uint64_t lease_kill_time(const struct lease *lease);

/* Has the node been stopped since, or was it then? */
bool lease_is_stopped(const struct lease *lease);
