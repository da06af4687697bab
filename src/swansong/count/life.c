/*
 * The end of nodes and of trees.
 *
 * A node is buried when nothing keeps it, see count.c.  Its memory, and that of the tree, stays for
 * interrupts and others that hold it.  Nothing here recurses: burying a node may kill its parent,
 * and the next turn of the loop buries that.
 */
#include "swansong/count/life-private.h"

#include "swansong/base/record-private.h"
#include "swansong/count/count-private.h"
#include "swansong/count/misuse-private.h"

/* The time that a thread may hold the lock of a tree while other threads wait for it. */
#ifdef SWANSONG_STEP
#define PORTION_USEC 0
#else
#define PORTION_USEC 40
#endif

/* The memory begins at a cache line; malloc(3) aligns to 16. */
struct swansong *node_memory(uint32_t *shift)
{
	char *memory = malloc(sizeof(struct swansong) + CACHE_LINE - 16);

	if (!memory)
		return NULL;
	*shift = (uint32_t)(-(uintptr_t)memory % CACHE_LINE);
	return (struct swansong *)(void *)(memory + *shift);
}

void node_free_memory(struct swansong *n)
{
	free((char *)n - n->shift);
}

void node_release(struct swansong *n)
{
	/* Release: the use of the node by this hold.  Acquire: all uses, before it is freed. */
	if (shared_sub(&n->weak, 1, acq_rel) == 1) {
		latch_done(&n->stopped);
		if (!MISUSE_IS_CAUGHT)
			node_free_memory(n);
	}
}

void node_hold(struct swansong *n)
{
	(void)shared_add(&n->weak, 1, relaxed); /* the caller has a hold meanwhile */
	(void)shared_add(&n->tree->holds, 1, relaxed);
}

void tree_release(struct tree *tree)
{
	/* Release: the use of the tree by this hold.  Acquire: all uses, before it is freed. */
	if (shared_sub(&tree->holds, 1, acq_rel) != 1)
		return;
	fork_remove(&tree->forkable);
	(void)records_free(tree->records);
	free(tree);
}

/* Called when the last node is gone. */
static void tree_end(struct tree *tree)
{
	struct attachment *attachment = tree->attachment;

	tree_release(tree);
	if (attachment)
		attachment->ended(attachment);
}

void tree_end_work(struct tree *tree)
{
	tree->works--;
	if (tree->is_forking)
		condition_wake(&tree->works_end, INT_MAX);
}

bool tree_portion_ends(struct tree *tree, uint64_t since_usec)
{
	return lock_is_wanted(&tree->lock) && clock_now_usec() >= since_usec + PORTION_USEC;
}

/*
 * While the lock is passed on, any waiter of the list may be removed from it, as its owner may drop
 * it at that time.
 */
void aftermath_resolve(struct aftermath *after)
{
	struct tree *tree = after->tree;
	uint64_t since_usec = 0;

	if (!tree)
		return;
	lock_take(&tree->lock);
	while (!list_is_empty(&after->ending)) {
		waiters_resolve_one(&after->ending, &after->ready);
		if (tree_portion_ends(tree, since_usec)) {
			lock_pass(&tree->lock);
			since_usec = clock_now_usec();
		}
	}
	tree_end_work(tree);
	tree_leave(tree);
	after->tree = NULL;
	tree_release(tree);
}

void node_latch(struct swansong *n, struct aftermath *after)
{
	latch_set(&n->stopped);
	aftermath_take(after, n->tree, &n->watchers);
}

void walk_up(struct walk *w)
{
	struct swansong *n = w->at;
	bool is_last = n == w->top || n->sibling.next == &n->parent->children;

	if (n == w->mark)
		w->mark = NULL;
	if (!is_last)
		w->at = list_entry(n->sibling.next, struct swansong, sibling);
	else
		w->at = n == w->top ? NULL : n->parent;
	w->up = is_last;
}

void walks_leave(struct tree *tree, const struct swansong *n)
{
	struct walk *w;

	list_for_each (w, &tree->walks, link)
		if (w->at == n)
			walk_up(w);
}

static void node_bury(struct swansong *n, struct aftermath *after)
{
	struct swansong *parent = n->parent;
	struct tree *tree = n->tree;

	lock_take(&tree->lock); /* for a root, too: a thread that resolves its waiters may hold the lock */
	walks_leave(tree, n);
	list_remove(&n->sibling);
	node_latch(n, after);
	tree_leave(tree);
	count_bury(n);
	node_release(n);

	if (parent) {
		count_unpin(parent, after);
	} else if (!MISUSE_IS_CAUGHT) {
		tree_end(tree);
	}
}

void node_settle(struct aftermath *after)
{
	struct list over;
	struct waiter *w;

	list_init(&over);
	while (after->dead) {
		struct swansong *n = after->dead;

		after->dead = n->next_dead;
		node_bury(n, after);
	}
	aftermath_resolve(after);
	waiters_run(&after->ready, &over);
	list_for_each_taken (w, &over, link)
		w->end(w);
}

void node_unpin(struct swansong *n)
{
	struct aftermath after;

	aftermath_init(&after);
	count_unpin(n, &after);
	node_settle(&after);
}
