/*
 * The shape of the tree: who is below whom, and how a stop goes through it.
 *
 * All nodes below a root share the lock of a tree.  It covers the lists of children and siblings
 * and is held for the whole of a stop, so that a child is either there when its parent is stopped,
 * or born stopped.  Guards take it only when they bury the node that they alone kept.
 *
 * Nothing here recurses: walks go along children, siblings and parents, and burying a node may kill
 * its parent, which is buried in the next turn.
 */
#include "swansong/node.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "swansong/count-private.h"
#include "swansong/misuse-private.h"
#include "swansong/node-private.h"
#include "swansong/percpu-private.h"
#include "swansong/record-private.h"

static void node_free(struct swansong *n)
{
	latch_done(&n->stopped);
	lock_destroy(&n->waiters.lock);
	if (!MISUSE_IS_CAUGHT)
		free(n);
}

void node_release(struct swansong *n)
{
	/* Release: the other's use of the node.  Acquire: before it is freed. */
	if (shared_sub(&n->weak, 1, acq_rel) == 1)
		node_free(n);
}

static void tree_free(struct tree *tree)
{
	struct attachment *attachment = tree->attachment;

	lock_destroy(&tree->lock);
	(void)records_free(tree->records);
	free(tree);
	if (attachment)
		attachment->ended(attachment);
}

static void node_bury(struct swansong *n, struct aftermath *after)
{
	struct swansong *parent = n->parent;
	struct tree *tree = n->tree;

	if (parent) {
		lock_take(&tree->lock);
		list_remove(&n->sibling);
		lock_leave(&tree->lock);
	}
	count_bury(n);
	latch_set(&n->stopped);
	node_release(n);

	if (parent) {
		count_unpin(parent, after);
	} else if (!MISUSE_IS_CAUGHT) {
		tree_free(tree);
	}
}

void node_settle(struct aftermath *after)
{
	while (after->dead) {
		struct swansong *n = after->dead;

		after->dead = n->next_dead;
		node_bury(n, after);
	}
	waiters_run(&after->ready);
}

void node_unpin(struct swansong *n)
{
	struct aftermath after;

	aftermath_init(&after);
	count_unpin(n, &after);
	node_settle(&after);
}

static struct swansong *node_alloc(struct swansong *parent, struct tree *tree)
{
	struct swansong *n = aligned_alloc(alignof(struct swansong), sizeof(*n));

	if (!n)
		return NULL;
	*n = (struct swansong){
		.stopped = LATCH_INITIALIZER(false),
		.parent = parent,
		.tree = tree,
		.tally = tree->attachment ? tree->attachment->tally : NULL,
		.handles = 1,
		.weak = 1,
	};
	waiters_init(&n->waiters);
	list_init(&n->children);
	list_init(&n->sibling);
	return n;
}

/* From its beginning, if there is memory for it. */
static void node_record(struct swansong *root)
{
	struct records *records = records_new();

	if (records)
		(void)records_free(node_track(root, records));
}

int node_new_root(struct attachment *attachment, struct swansong **ret)
{
	cleanup(freep) struct tree *tree = NULL;
	struct swansong *n;

	tree = aligned_alloc(alignof(struct tree), sizeof(*tree));
	if (!tree)
		return -ENOMEM;
	*tree = (struct tree){ .lock = LOCK_INITIALIZER, .attachment = attachment };

	n = node_alloc(NULL, tree);
	if (!n)
		return -ENOMEM;
	(void)take(tree);
	count_init(n, false);
	if (MISUSE_IS_CAUGHT)
		node_record(n);
	*ret = n;
	return 0;
}

int swansong_new(struct swansong **ret)
{
	return node_new_root(NULL, ret);
}

int swansong_child(struct swansong *parent, struct swansong **ret)
{
	struct swansong *n;
	bool stopped;

	misuse_of_node(parent);
	n = node_alloc(parent, parent->tree);
	if (!n)
		return -ENOMEM;

	lock_take(&n->tree->lock);
	stopped = count_is_stopped(parent);
	count_init(n, stopped);
	if (n->tree->records)
		count_track(n);
	if (stopped)
		latch_set(&n->stopped);
	list_append(&parent->children, &n->sibling);
	lock_leave(&n->tree->lock);

	count_pin(parent);
	*ret = n;
	return 0;
}

struct swansong *swansong_ref(struct swansong *s)
{
	misuse_of_node(s);
	(void)shared_add(&s->handles, 1, relaxed); /* the caller's own stays meanwhile */
	return s;
}

static void root_abandon(struct swansong *root)
{
	struct attachment *attachment = root->tree->attachment;

	swansong_shut_down(root);
	if (attachment)
		attachment->abandoned(attachment);
}

struct swansong *swansong_unref(struct swansong *s)
{
	if (!s)
		return NULL;
	misuse_of_node(s);
	/* Release: what was done by this handle.  Acquire: the last one speaks for all of them. */
	if (shared_sub(&s->handles, 1, acq_rel) == 1) {
		if (!s->parent)
			root_abandon(s);
		node_unpin(s);
	}
	return NULL;
}

static struct swansong *node_beside(const struct swansong *n)
{
	if (n->sibling.next == &n->parent->children)
		return NULL;
	return list_entry(n->sibling.next, struct swansong, sibling);
}

static struct swansong *node_first_child(const struct swansong *n)
{
	if (list_is_empty(&n->children))
		return NULL;
	return list_entry(n->children.next, struct swansong, sibling);
}

/* The node after @n and all below it, parents first. */
static struct swansong *node_after(const struct swansong *n, const struct swansong *top)
{
	for (; n != top; n = n->parent) {
		struct swansong *beside = node_beside(n);

		if (beside)
			return beside;
	}
	return NULL;
}

/* The node after @n, parents first; what is below a stopped node is left out. */
static struct swansong *node_next(const struct swansong *n, const struct swansong *top)
{
	struct swansong *child = count_is_stopped(n) ? NULL : node_first_child(n);

	return child ? child : node_after(n, top);
}

/* The node where a walk of the subtree of @n begins that has children first. */
static struct swansong *node_lowest(struct swansong *n)
{
	struct swansong *child;

	while (!count_is_stopped(n) && (child = node_first_child(n)))
		n = child;
	return n;
}

/* Under the lock: the subtree of @top, which is not stopped. */
static void node_stop(struct swansong *top, struct aftermath *after)
{
	struct swansong *n, *beside;

	if (!top->parent && top->tally)
		tally_gather(top->tally); /* before anybody can find the root complete */
	for (n = top; n; n = node_next(n, top))
		latch_set(&n->stopped);

	for (n = node_lowest(top); n != top; n = beside ? node_lowest(beside) : n->parent) {
		if (count_is_stopped(n))
			count_forward(n);
		else
			count_stop(n, true, after);
		beside = node_beside(n);
	}
	count_stop(top, false, after);
}

void swansong_shut_down(struct swansong *s)
{
	struct aftermath after;

	misuse_if(!s, "there is no node"); /* there may be no reference, in the last unref() */
	aftermath_init(&after);
	lock_take(&s->tree->lock);
	if (!count_is_stopped(s))
		node_stop(s, &after);
	lock_leave(&s->tree->lock);
	node_settle(&after);
}

int swansong_percpu_enable(struct swansong *s)
{
	struct percpu *percpu;

	misuse_of_node(s);
	percpu = percpu_new();
	if (!percpu)
		return -ENOMEM;
	lock_take(&s->tree->lock);
	percpu = count_spread(s, percpu);
	lock_leave(&s->tree->lock);
	(void)percpu_free(percpu);
	return 0;
}

enum swansong_state swansong_state(const struct swansong *s)
{
	misuse_of_node(s);
	if (!latch_is_set(&s->stopped))
		return SWANSONG_RUNNING;
	return count_is_complete(s) ? SWANSONG_COMPLETE : SWANSONG_SHUTTING_DOWN;
}

uint64_t node_guard_count(struct swansong *s)
{
	uint64_t sum = 0;

	lock_take(&s->tree->lock);
	for (struct swansong *n = s; n; n = node_next(n, s))
		sum += count_guards(n);
	lock_leave(&s->tree->lock);
	return sum;
}

uint64_t swansong_guard_count(struct swansong *s)
{
	misuse_of_node(s);
	return node_guard_count(s);
}

struct records *node_track(struct swansong *s, struct records *records)
{
	struct tree *tree = s->tree;
	struct swansong *root = s;

	while (root->parent)
		root = root->parent;
	lock_take(&tree->lock);
	if (!tree->records) {
		tree->records = take(records);
		for (struct swansong *n = root, *child; n;
		     n = child ? child : node_after(n, root)) {
			count_track(n);
			child = node_first_child(n);
		}
	}
	lock_leave(&tree->lock);
	return records;
}

struct records *node_records(struct swansong *s)
{
	struct records *records;

	lock_take(&s->tree->lock);
	records = s->tree->records;
	lock_leave(&s->tree->lock);
	return records;
}
