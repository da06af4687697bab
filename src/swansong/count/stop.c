/*
 * A stop latches all nodes from the top down, and then has them counted from the bottom up
 * (count.c).  Nothing here recurses: walks go along children, siblings and parents.
 *
 * Portions.  A walk passes the lock on when other threads wait for it.  At that time some nodes are
 * latched and some are counted, and:
 *
 *  - A child of a latched node is born stopped, whether its parent is counted or not: its guards go
 *    into the total of a parent that still has BIAS, as do those of a child that the walk has
 *    counted.
 *  - A child that exists when its parent is latched is in the parent's list, and the walk comes to
 *    it.
 *  - Another stop, of a node above or below, goes through the same nodes until it is done itself.
 *    It leaves out only the nodes below a counted node: all of those are counted.  Each of the two
 *    stops finds done what the other has done.  So each returns when all its nodes are latched and
 *    counted.
 *  - A node that leaves the tree moves the walks that are at it.  Walks are on the stacks of
 *    threads: a fork waits for the end of works, and forgets the other walks in the new process.
 *
 * Signal handlers.  A handler may have interrupted this thread anywhere in the library, with the
 * lock held, or in malloc(3).  So node_stop_anywhere() waits for no lock of its own thread and
 * frees nothing:
 *
 *  - If its thread holds the lock, it latches the node, puts it on the list "deferred" and marks
 *    the lock.  The thread that leaves a marked lock, which is this thread when the handler has
 *    returned, stops the nodes of the list.
 *  - Objects that would be freed are put on the lists "dead" and "over", which the next drop of a
 *    reference empties.  That drop comes, as the caller has a reference.  The objects on the lists
 *    keep the tree.
 *
 * A list grows by one object, or is taken away as a whole: each is a single atomic operation.
 */
#include "swansong/count/stop-private.h"

#include "swansong/count/life-private.h"

void walk_begin(struct walk *w, struct swansong *top)
{
	*w = (struct walk){ .top = top, .at = top };
	list_init(&w->link);
}

/* Passes the lock on, if other threads wait for it and this thread has had it for a while. */
static void walk_pass(struct walk *w)
{
	struct tree *tree = w->top->tree;

	if (!tree_portion_ends(tree, w->since_usec))
		return;
	list_append(&tree->walks, &w->link);
	lock_pass(&tree->lock);
	list_remove(&w->link);
	w->since_usec = clock_now_usec();
}

void walk_on(struct walk *w, bool below)
{
	if (w->up)
		walk_up(w);
	else if (below && !list_is_empty(&w->at->children))
		w->at = list_entry(w->at->children.next, struct swansong, sibling);
	else
		w->up = true;
	if (w->at)
		walk_pass(w);
}

/* Under the lock: stops the subtree of @top, which is not stopped. */
static void node_stop(struct swansong *top, struct aftermath *after)
{
	struct tree *tree = top->tree;
	struct walk w;

	tree_begin_work(tree);
	if (!top->parent && top->tally)
		tally_gather(top->tally); /* before any thread can find the root complete */
	for (walk_begin(&w, top); w.at; walk_on(&w, !count_is_stopped(w.at)))
		if (!w.up)
			node_latch(w.at, after);
	for (walk_begin(&w, top); w.at; walk_on(&w, !count_is_stopped(w.at)))
		if (w.up && !count_is_stopped(w.at))
			count_stop(w.at, w.at != top, after);
		else if (w.up && w.at != top)
			count_forward(w.at);
	tree_end_work(tree);
}

static void walk_push_node(_Atomic(struct swansong *) *list, struct swansong *n)
{
	n->next_dead = shared_load(list, relaxed); /* a guess, which the exchange checks */
	/* Release: the node. */
	while (!shared_replace(list, &n->next_dead, n, release, relaxed))
		;
}

/* node_settle() for a signal handler: frees nothing. */
static void node_settle_later(struct tree *tree, struct aftermath *after)
{
	struct list over;
	struct waiter *w;

	list_init(&over);
	aftermath_resolve(after);
	waiters_run(&after->ready, &over);
	list_for_each_taken (w, &over, link) {
		w->link.next = shared_load(&tree->over, relaxed); /* a guess, too */
		while (!shared_replace(&tree->over, &w->link.next, &w->link, release, relaxed))
			;
	}
	while (after->dead) {
		struct swansong *n = after->dead;

		after->dead = n->next_dead;
		walk_push_node(&tree->dead, n);
	}
}

void tree_settle(struct tree *tree)
{
	struct aftermath after;
	struct list *over = NULL;

	aftermath_init(&after);
	/* Relaxed: most calls find nothing.  Acquire: the nodes, and the waiters. */
	if (shared_load(&tree->over, relaxed))
		over = shared_swap(&tree->over, NULL, acquire);
	if (shared_load(&tree->dead, relaxed))
		after.dead = shared_swap(&tree->dead, NULL, acquire);
	node_settle(&after);
	while (over) {
		struct waiter *w = list_entry(over, struct waiter, link);

		over = over->next;
		w->end(w);
	}
}

void node_stop_anywhere(struct swansong *s)
{
	struct tree *tree = s->tree;
	struct aftermath after;

	aftermath_init(&after);
	if (!lock_take_or_mark(&tree->lock)) {
		/* A thread that has latched it before is about to stop it, or has. */
		if (latch_set(&s->stopped)) {
			count_pin(s);
			walk_push_node(&tree->deferred, s);
		}
		return;
	}
	if (!count_is_stopped(s))
		node_stop(s, &after);
	tree_leave(tree);
	node_settle_later(tree, &after);
}

void node_shut_down(struct swansong *s)
{
	node_stop_anywhere(s);
	tree_settle(s->tree);
}

void tree_catch_up(struct tree *tree)
{
	/* Acquire: the nodes. */
	struct swansong *n = shared_swap(&tree->deferred, NULL, acquire);

	while (n) {
		struct swansong *next = n->next_dead;

		node_shut_down(n);
		node_unpin(n);
		n = next;
	}
}
