#pragma once

/*
 * The structs of a node and of a tree, for the files of the library.
 *
 * Locks: that of the tree.  Locks of records are taken alone, except at a fork.  No lock is held
 * while a function of the user runs.
 */

#include <stdalign.h>

#include "swansong/base/fork-private.h"
#include "swansong/base/lock-private.h"
#include "swansong/base/waiter-private.h"

#define CACHE_LINE 64

/* The attachment of a tree; see attach.c.  The functions are called once each, in this order. */
struct attachment {
	struct tally *tally; /* constant */
	/* The root, which is stopped, has lost its last reference; the caller has a pin. */
	void (*abandoned)(struct attachment *a);
	/* The last node of the tree is gone; called with no lock held. */
	void (*ended)(struct attachment *a);
};

/* The data that all nodes below a root share; owned by the root, which outlives them. */
struct tree {
	/*
	 * Covers the shape of the tree, stopping, and waiters; guards only take it at the end of a
	 * wait and when they bury a node.  A thread that needs it for long passes it on: see
	 * tree_portion_ends().
	 */
	alignas(CACHE_LINE) struct lock lock;
	struct records *records;       /* NULL; once set, it stays; see count_track() */
	struct attachment *attachment; /* constant; NULL, or owned by attach.c */

	/* Left by signal handlers, see stop.c; linked by next_dead and by next. */
	_Atomic(struct swansong *) deferred; /* to be stopped by the thread that holds the lock */
	_Atomic(struct swansong *) dead;
	_Atomic(struct list *) over;	     /* waiters to be released */
	void (*catch_up)(struct tree *tree); /* constant */

	/* Under the lock, down to works_end.  Walks: those that have passed the lock on. */
	struct list walks;
	unsigned int works; /* stops and resolutions that are under way */
	bool is_forking;
	struct condition works_end;

	struct forkable forkable;
	_Atomic uint64_t holds; /* of the memory: 1 for the nodes, 1 for each interrupt */
};

/*
 * A node takes three cache lines, the last one in part: a node, the room to begin at a line, and
 * the overhead of malloc(3) are 240 bytes together.  Programs know the places of entry and home,
 * which are a part of the ABI (swansong/guard.h).
 */
struct swansong {
	/* Read by every guard and every interrupt, rarely written. */
	uint32_t entry;		    /* enum count_entry; written under the lock */
	struct latch stopped;	    /* set by a stop, or when the node ends */
	uint32_t shift;		    /* constant; offset from the beginning of its memory */
	struct swansong *parent;    /* constant; NULL in a root */
	struct tree *tree;	    /* constant */
	struct percpu *percpu;	    /* NULL; once set, it stays */
	struct tally *tally;	    /* constant; NULL, or that of the attachment */
	struct swansong *next_dead; /* also links nodes to be stopped, which are pinned */
	uint64_t room;

	/* Written by every guard on this node: home before the stop, total after it. */
	uint64_t home;
	_Atomic uint64_t total;
	struct waiters waiters; /* under the tree's lock, as are watchers */
	struct list watchers;	/* waiters for the stop */
	uint64_t more_room;

	_Atomic uint64_t handles; /* references of users */
	_Atomic uint64_t pins;	  /* 1 for all handles, 1 for each completion and each child */
	_Atomic uint64_t weak;	  /* 1 for the living node, 1 for each interrupt */
	struct list children;	  /* under the tree's lock, as is sibling */
	struct list sibling;
};

_Static_assert(offsetof(struct swansong, home) == CACHE_LINE, "the second line");
_Static_assert(offsetof(struct swansong, handles) == 2 * CACHE_LINE, "the third line");
_Static_assert(sizeof(struct swansong) <= 184, "and no more");

/* Work that follows from changes of the counts, to be done once no lock is held. */
struct aftermath {
	struct tree *tree;     /* the tree of @ending, with a hold; NULL if @ending is empty */
	struct list ending;    /* waiters to be resolved; under the tree's lock */
	struct list ready;     /* waiters whose function is to be called */
	struct swansong *dead; /* nodes to be buried, linked by next_dead */
};

static inline void aftermath_init(struct aftermath *after)
{
	after->tree = NULL;
	list_init(&after->ending);
	list_init(&after->ready);
	after->dead = NULL;
}

/*
 * A walk through the subtree of a node: it visits each node on its way down, and again on its way
 * up.  It passes the tree's lock on when other threads wait for it; a node that is buried meanwhile
 * is left out.
 */
struct walk {
	struct list link;
	struct swansong *top;
	struct swansong *at; /* NULL when it is over */
	bool up;
	struct swansong *mark; /* NULL, or a node on the way from the top; reset when left */
	uint64_t since_usec;   /* when this thread took the lock; 0 at first */
};

/* Under the lock: a stop or a resolution begins, or ends.  A fork waits until all have ended. */
static inline void tree_begin_work(struct tree *tree)
{
	tree->works++;
}
void tree_end_work(struct tree *tree);

/*
 * Under the lock: returns true if the lock is to be passed on, since other threads wait for it and
 * this thread has had it for the time of a portion.
 */
bool tree_portion_ends(struct tree *tree, uint64_t since_usec);

/* Under the lock: moves the list @waiters to the list that aftermath_resolve() resolves. */
static inline void aftermath_take(struct aftermath *after, struct tree *tree, struct list *waiters)
{
	if (list_is_empty(waiters))
		return;
	if (!after->tree) {
		after->tree = tree;
		(void)shared_add(&tree->holds, 1, relaxed); /* the node has a hold meanwhile */
		tree_begin_work(tree);
	}
	list_move(&after->ending, waiters);
}

/* Resolves the waiters of @after.  With no lock held; a signal handler may call it. */
void aftermath_resolve(struct aftermath *after);

/* Under the lock: goes on to the next sibling, or to the parent, without the nodes below. */
void walk_up(struct walk *w);

/* Under the lock: moves the walks that are at @n, which has no children and is about to leave. */
void walks_leave(struct tree *tree, const struct swansong *n);

/*
 * Leaves the tree's lock, and then stops the nodes that signal handlers have deferred meanwhile.
 * No other lock may be held.
 */
static inline void tree_leave(struct tree *tree)
{
	if (lock_leave(&tree->lock))
		tree->catch_up(tree); /* the nodes to be stopped keep the tree */
}

/* Returns true if @n is @top or below it.  No lock is needed, as a node never moves. */
static inline bool node_is_within(const struct swansong *n, const struct swansong *top)
{
	while (n && n != top)
		n = n->parent;
	return n;
}

/* Returns the records of the tree of @s, or NULL. */
static inline struct records *node_records(struct swansong *s)
{
	struct records *records;

	lock_take(&s->tree->lock);
	records = s->tree->records;
	tree_leave(s->tree);
	return records;
}
