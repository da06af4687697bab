#pragma once

/*
 * What a node is made of, for the files of the library.
 *
 * Locks: the tree's, then a node's waiters'; those of records are taken alone.  No lock is held
 * while a function of the user runs.
 */

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "swansong/atomic-private.h"
#include "swansong/latch-private.h"
#include "swansong/waiter-private.h"

#define CACHE_LINE 64

struct percpu;
struct records;
struct tally;

/* What a tree is attached to; see attach.c.  Both are called once, in this order. */
struct attachment {
	struct tally *tally; /* constant */
	/* There is no reference to the root any more, which is stopped; the caller has a pin. */
	void (*abandoned)(struct attachment *a);
	/* There is nothing of the tree any more; with no lock held. */
	void (*ended)(struct attachment *a);
};

/* One for all nodes below a root; owned by the root, which outlives them. */
struct tree {
	/* The shape of the tree, and stopping: never guards. */
	alignas(CACHE_LINE) struct lock lock;
	struct records *records;       /* NULL, and once there for ever; see count_track() */
	struct attachment *attachment; /* constant; NULL, or not ours */
};

/* Programs know the entry and home: where they are is a part of the ABI (swansong/guard.h). */
struct swansong {
	/* Read by every guard and every interrupt, hardly ever written. */
	alignas(CACHE_LINE) uint32_t entry; /* enum count_entry; written under the lock */
	struct latch stopped;		    /* set by a stop, or when the node is gone */
	struct swansong *parent;	    /* constant; NULL in a root */
	struct tree *tree;		    /* constant */
	struct percpu *percpu;		    /* NULL, and once there for ever */
	struct tally *tally;		    /* constant; NULL, or that of the attachment */
	struct swansong *next_dead;

	/* Written by every guard on this node.  The waiters are cold. */
	alignas(CACHE_LINE) uint64_t home;
	struct waiters waiters;

	/* Written by guards only after the stop. */
	alignas(CACHE_LINE) _Atomic uint64_t total;
	_Atomic uint64_t handles; /* references of users */
	_Atomic uint64_t pins;	  /* 1 for all handles, 1 for each completion and each child */
	_Atomic uint64_t weak;	  /* 1 for the living node, 1 for each interrupt */
	struct list children;	  /* these two under the tree's lock */
	struct list sibling;
};

_Static_assert(sizeof(struct swansong) <= 4 * CACHE_LINE, "a node is at most 256 bytes");

/* What changes of the counts leave to be done once no lock is held. */
struct aftermath {
	struct list ready;     /* of struct waiter: completions with a function */
	struct swansong *dead; /* nodes that nothing keeps any more, by next_dead */
};

static inline void aftermath_init(struct aftermath *after)
{
	list_init(&after->ready);
	after->dead = NULL;
}

/* Whether @n is @top, or below it; there is no lock to it, as a node never moves. */
static inline bool node_is_within(const struct swansong *n, const struct swansong *top)
{
	while (n && n != top)
		n = n->parent;
	return n;
}

/* swansong_new() with an attachment, or NULL. */
int node_new_root(struct attachment *attachment, struct swansong **ret);

/* swansong_guard_count(), also of a node that nobody has a reference to. */
uint64_t node_guard_count(struct swansong *s);

/* Buries the dead and calls the functions.  No lock may be held. */
void node_settle(struct aftermath *after);

/*
 * Has all guards of the tree of @s recorded from now on.  Takes @records over and returns NULL, or
 * returns @records if there are some.
 */
struct records *node_track(struct swansong *s, struct records *records);

/* Those of the tree, or NULL. */
struct records *node_records(struct swansong *s);

/* Drops a pin (count_pin()), or the hold on a dead node's memory that an interrupt has. */
void node_unpin(struct swansong *n);
void node_release(struct swansong *n);
