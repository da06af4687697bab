/*
 * A stop latches all nodes from the top down, and then has them counted from the bottom up (count.c).
 * Nothing here recurses: walks go along children, siblings and parents.
 *
 * Signal handlers.  One may have interrupted this thread anywhere in the library, with the lock held, or in
 * malloc(3).  So node_stop_anywhere() waits for no lock of its own thread and frees nothing:
 *
 *  - If its thread holds the lock, it latches the node, puts it on the list "deferred" and marks the
 *    lock.  Whoever leaves a lock that is marked, which is this thread when the handler has returned,
 *    stops the nodes of the list.
 *  - What would be freed is put on the lists "dead" and "over", which the next drop of a reference
 *    empties.  There is one, as the caller has a reference.  What is on them keeps the tree.
 *
 * Lists only grow by one, or are taken away as a whole, so that no step of theirs can be torn.
 */
#include "swansong/count/stop-private.h"

#include "swansong/count/count-private.h"
#include "swansong/count/life-private.h"

/* Under the lock: the subtree of @top, which is not stopped. */
static void node_stop(struct swansong *top, struct aftermath *after)
{
	struct swansong *n, *beside;

	if (!top->parent && top->tally)
		tally_gather(top->tally); /* before anybody can find the root complete */
	for (n = top; n; n = node_next(n, top))
		node_latch(n, after);

	for (n = node_lowest(top); n != top; n = beside ? node_lowest(beside) : n->parent) {
		if (count_is_stopped(n))
			count_forward(n);
		else
			count_stop(n, true, after);
		beside = node_beside(n);
	}
	count_stop(top, false, after);
}

static void nodes_push(_Atomic(struct swansong *) *list, struct swansong *n)
{
	n->next_dead = shared_load(list, relaxed); /* a guess, to be exchanged */
	/* Release: the node. */
	while (!shared_replace(list, &n->next_dead, n, release, relaxed))
		;
}

static void waiters_push(_Atomic(struct list *) *list, struct waiter *w)
{
	w->link.next = shared_load(list, relaxed); /* the same */
	while (!shared_replace(list, &w->link.next, &w->link, release, relaxed))
		;
}

static void node_defer_stop(struct swansong *s)
{
	/* Who has latched it before is about to stop it, or has. */
	if (!latch_set(&s->stopped))
		return;
	count_pin(s);
	nodes_push(&s->tree->deferred, s);
}

/* In place of node_settle(). */
static void node_settle_later(struct tree *tree, struct aftermath *after)
{
	struct list over;

	list_init(&over);
	waiters_run(&after->ready, &over);
	while (!list_is_empty(&over))
		waiters_push(&tree->over, list_entry(list_take(&over), struct waiter, link));
	while (after->dead) {
		struct swansong *n = after->dead;

		after->dead = n->next_dead;
		nodes_push(&tree->dead, n);
	}
}

void tree_settle(struct tree *tree)
{
	struct aftermath after;
	struct list *over = NULL;

	aftermath_init(&after);
	/* Relaxed: most find nothing.  Acquire: the nodes, and the waiters. */
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
		node_defer_stop(s);
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
