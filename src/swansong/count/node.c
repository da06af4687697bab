/*
 * The shape of the tree: parents, children and siblings.
 *
 * All nodes below a root share the lock of a tree.  It covers the lists of children, and is held
 * when a node is latched, so that a child is either there when its parent is stopped, or born
 * stopped.  A stop of many nodes passes it on in between (stop.c).  A guard takes it only when its
 * drop buries the node that it alone kept, and when its drop ends a wait.
 */
#include <swansong/node.h>

#include "swansong/base/record-private.h"
#include "swansong/count/misuse-private.h"
#include "swansong/count/node-private.h"

static struct swansong *node_alloc(struct swansong *parent, struct tree *tree)
{
	uint32_t shift;
	struct swansong *n = node_memory(&shift);

	if (!n)
		return NULL;
	*n = (struct swansong){
		.stopped = LATCH_INITIALIZER(false),
		.shift = shift,
		.parent = parent,
		.tree = tree,
		.tally = tree->attachment ? tree->attachment->tally : NULL,
		.handles = 1,
		.weak = 1,
	};
	waiters_init(&n->waiters);
	list_init(&n->watchers);
	list_init(&n->children);
	list_init(&n->sibling);
	return n;
}

static void node_before_fork(struct forkable *f)
{
	struct tree *tree = container_of(f, struct tree, forkable);

	lock_take(&tree->lock);
	tree->is_forking = true;
	while (tree->works > 0)
		(void)condition_sleep(&tree->works_end, &tree->lock, USEC_INFINITY);
	tree->is_forking = false;
	if (tree->records)
		records_hold(tree->records);
}

static void node_after_fork(struct forkable *f, bool in_child)
{
	struct tree *tree = container_of(f, struct tree, forkable);

	if (tree->records)
		records_release(tree->records);
	if (in_child) { /* threads that waited or walked are not in the child */
		list_init(&tree->walks);
		tree->lock = (struct lock)LOCK_INITIALIZER;
	} else {
		(void)lock_leave(&tree->lock); /* signals were blocked: it is not marked */
	}
}

int node_new_root(struct attachment *attachment, struct swansong **ret)
{
	cleanup(freep) struct tree *tree = NULL;
	struct swansong *n;

	tree = aligned_alloc(alignof(struct tree), sizeof(*tree));
	if (!tree)
		return -ENOMEM;
	*tree = (struct tree){
		.lock = LOCK_INITIALIZER,
		.attachment = attachment,
		.forkable = { .hold = node_before_fork, .release = node_after_fork },
		.catch_up = tree_catch_up,
		.holds = 1,
	};
	list_init(&tree->walks);

	n = node_alloc(NULL, tree);
	if (!n)
		return -ENOMEM;
	if (fork_add(&tree->forkable) < 0) {
		node_free_memory(n);
		return -ENOMEM;
	}
	(void)take(tree);
	count_init(n, false);
	if (MISUSE_IS_CAUGHT) { /* the guards of the tree, from its beginning, if there is memory */
		struct records *records = records_new();

		if (records)
			(void)records_free(node_track(n, records));
	}
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
	stopped = latch_is_set(&parent->stopped);
	count_init(n, stopped);
	if (n->tree->records)
		count_track(n);
	if (stopped)
		latch_set(&n->stopped);
	list_append(&parent->children, &n->sibling);
	tree_leave(n->tree);

	count_pin(parent);
	*ret = n;
	return 0;
}

struct swansong *swansong_ref(struct swansong *s)
{
	misuse_of_node(s);
	(void)shared_add(&s->handles, 1, relaxed); /* the caller has a reference meanwhile */
	return s;
}

void swansong_shut_down(struct swansong *s)
{
	int error = errno;

	misuse_of_node(s);
	node_stop_anywhere(s);
	errno = error;
}

struct swansong *swansong_unref(struct swansong *s)
{
	if (!s)
		return NULL;
	misuse_of_node(s);
	tree_settle(s->tree);
	/* Release: everything done with this reference.  Acquire: the last one stands for all. */
	if (shared_sub(&s->handles, 1, acq_rel) == 1) {
		if (!s->parent) {
			struct attachment *attachment = s->tree->attachment;

			node_shut_down(s);
			if (attachment)
				attachment->abandoned(attachment);
		}
		node_unpin(s);
	}
	return NULL;
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
	tree_leave(s->tree);
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
	struct walk w;
	bool shown;

	lock_take(&s->tree->lock);
	for (walk_begin(&w, s); w.at; walk_on(&w, true)) {
		if (w.up)
			continue;
		sum += count_guards(w.at, &shown);
		/* A stopped node counts as one guard in its parent, if the walk has found that stopped. */
		sum -= w.mark && shown;
		if (!w.mark && count_is_stopped(w.at))
			w.mark = w.at;
	}
	tree_leave(s->tree);
	return (int64_t)sum > 0 ? sum : 0; /* guards may be taken and dropped meanwhile */
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
	struct walk w;

	while (root->parent)
		root = root->parent;
	lock_take(&tree->lock);
	if (!tree->records)
		tree->records = take(records);
	/* Also if another thread has set the records and is about to do this. */
	for (walk_begin(&w, root); w.at; walk_on(&w, true))
		if (w.up)
			count_track(w.at);
	tree_leave(tree);
	return records;
}
