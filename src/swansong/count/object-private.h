#pragma once

/*
 * What a node is made of, for the files of the library.
 *
 * Locks: the tree's; those of records are taken alone.  No lock is held while a function of the user
 * runs.
 */

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "swansong/base/atomic-private.h"
#include "swansong/base/fork-private.h"
#include "swansong/base/latch-private.h"
#include "swansong/base/lock-private.h"
#include "swansong/base/waiter-private.h"

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
	/*
	 * The shape of the tree, stopping, and waiters: never guards, but for the end of a wait.  A
	 * thread that holds it for long passes it on: tree_portion_ends().
	 */
	alignas(CACHE_LINE) struct lock lock;
	struct records *records;       /* NULL, and once there for ever; see count_track() */
	struct attachment *attachment; /* constant; NULL, or not ours */

	/* What a signal handler has left to others, see node.c; by next_dead and by next. */
	_Atomic(struct swansong *) deferred; /* to be stopped by the thread that holds the lock */
	_Atomic(struct swansong *) dead;
	_Atomic(struct list *) over;	     /* of struct waiter */
	void (*catch_up)(struct tree *tree); /* constant */

	/* Under the lock.  Walks: those that have passed it on. */
	struct list walks;
	unsigned int works; /* stops, and resolutions, that have begun */
	bool is_forking;
	struct condition works_end;

	struct forkable forkable;
	_Atomic uint64_t holds; /* 1 for the nodes, 1 for each interrupt: of the memory */
};

/*
 * Three lines of the cache, the last one without its end: so a node, the room that it takes to begin
 * at a line, and what malloc(3) adds are 240 bytes.  Programs know the entry and home: where they are
 * is a part of the ABI (swansong/guard.h).
 */
struct swansong {
	/* Read by every guard and every interrupt, hardly ever written. */
	uint32_t entry;		    /* enum count_entry; written under the lock */
	struct latch stopped;	    /* set by a stop, or when the node is gone */
	uint32_t shift;		    /* constant; from the beginning of its memory */
	struct swansong *parent;    /* constant; NULL in a root */
	struct tree *tree;	    /* constant */
	struct percpu *percpu;	    /* NULL, and once there for ever */
	struct tally *tally;	    /* constant; NULL, or that of the attachment */
	struct swansong *next_dead; /* also of those to be stopped, which are pinned */
	uint64_t room;

	/* Written by every guard on this node: home before the stop, total after it.  The rest is cold. */
	uint64_t home;
	_Atomic uint64_t total;
	struct waiters waiters; /* under the tree's lock */
	struct list watchers;	/* those of the stop; the same */
	uint64_t more_room;

	_Atomic uint64_t handles; /* references of users */
	_Atomic uint64_t pins;	  /* 1 for all handles, 1 for each completion and each child */
	_Atomic uint64_t weak;	  /* 1 for the living node, 1 for each interrupt */
	struct list children;	  /* these two under the tree's lock */
	struct list sibling;
};

_Static_assert(offsetof(struct swansong, home) == CACHE_LINE, "the second line");
_Static_assert(offsetof(struct swansong, handles) == 2 * CACHE_LINE, "the third line");
_Static_assert(sizeof(struct swansong) <= 184, "and no more");

/* What changes of the counts leave to be done once no lock is held. */
struct aftermath {
	struct tree *tree;     /* of the waiters to be resolved, held; NULL: none */
	struct list ending;    /* those waiters, under the lock of the tree */
	struct list ready;     /* of struct waiter: those that have a function to be called */
	struct swansong *dead; /* nodes that nothing keeps any more, by next_dead */
};

static inline void aftermath_init(struct aftermath *after)
{
	after->tree = NULL;
	list_init(&after->ending);
	list_init(&after->ready);
	after->dead = NULL;
}

/*
 * A walk through the subtree of a node: it comes to each node on its way down, and again on its way up.
 * It passes the tree's lock on when others wait for that; a node that is buried meanwhile is left out.
 */
struct walk {
	struct list link;
	struct swansong *top;
	struct swansong *at; /* NULL when it is over */
	bool up;
	struct swansong
		*mark; /* NULL, or a node on the way from the top; forgotten when it is left */
	uint64_t since_usec; /* it has the lock; 0 at first */
};

/* Under the lock: a work begins, or ends.  A fork waits for the end of all works. */
static inline void tree_begin_work(struct tree *tree)
{
	tree->works++;
}
void tree_end_work(struct tree *tree);

/* Under the lock: the lock is to be passed on, as others wait, and a portion has taken its time. */
bool tree_portion_ends(struct tree *tree, uint64_t since_usec);

/* Under the lock: moves the list @waiters to those that aftermath_resolve() resolves. */
static inline void aftermath_take(struct aftermath *after, struct tree *tree, struct list *waiters)
{
	if (list_is_empty(waiters))
		return;
	if (!after->tree) {
		after->tree = tree;
		(void)shared_add(&tree->holds, 1, relaxed); /* the node has another */
		tree_begin_work(tree);
	}
	list_move(&after->ending, waiters);
}

/* With no lock held; also in a signal handler. */
void aftermath_resolve(struct aftermath *after);

/* Goes on to the node beside or above, as there is nothing below. */
void walk_up(struct walk *w);

/* Under the lock: @n, which has no children, is about to leave its tree. */
void walks_leave(struct tree *tree, const struct swansong *n);

/* Leaves the lock, and stops what signal handlers have found meanwhile; no other lock may be held. */
static inline void tree_leave(struct tree *tree)
{
	if (lock_leave(&tree->lock))
		tree->catch_up(tree); /* what is to be stopped keeps the tree */
}

/* Whether @n is @top, or below it; there is no lock to it, as a node never moves. */
static inline bool node_is_within(const struct swansong *n, const struct swansong *top)
{
	while (n && n != top)
		n = n->parent;
	return n;
}

/* Those of the tree, or NULL. */
static inline struct records *node_records(struct swansong *s)
{
	struct records *records;

	lock_take(&s->tree->lock);
	records = s->tree->records;
	tree_leave(s->tree);
	return records;
}
