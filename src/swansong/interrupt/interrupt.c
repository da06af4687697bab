/*
 * An interrupt keeps the memory of its node, and nothing else of the node unless it has a guard.
 * It looks at the latch that a stop sets.  When the node is gone its latch is set, too, so that
 * there is one thing to look at.
 */
#include <swansong/interrupt.h>

#include "swansong/base/cancel-private.h"
#include "swansong/interrupt/interrupt-private.h"
#include "swansong/count/misuse-private.h"
#include "swansong/count/node-private.h"
#include "swansong/count/notice-private.h"

struct swansong_interrupt {
	struct swansong *node;
	_Atomic int fd; /* a copy of the latch's; -1 until swansong_interrupt_fd() */
	struct swansong_guard guard;
	_Atomic(struct watch *) watch; /* NULL until swansong_interrupt_notify() */
	_Atomic uint64_t deadline;
};

/* The function of an interrupt; it outlives the interrupt if the function drops the interrupt. */
struct watch {
	struct notice notice;
	struct swansong *node;
};

/* The offsets that are inlined in programs.  They change with the version of the ABI only. */
_Static_assert(offsetof(struct swansong_interrupt, node) == 0 &&
		       offsetof(struct swansong, stopped.state) == 4 && LATCH_SET == 1,
	       "SWANSONG_STOPPED_()");

int swansong_interrupt_new(struct swansong *s, struct swansong_interrupt **ret)
{
	struct swansong_interrupt *i;

	misuse_of_node(s);
	i = malloc(sizeof(*i));
	if (!i)
		return -ENOMEM;
	*i = (struct swansong_interrupt){ .node = s, .fd = -1, .deadline = USEC_INFINITY };
	node_hold(s);
	*ret = i;
	return 0;
}

int swansong_interrupt_new_guarded_at(struct swansong *s, struct swansong_interrupt **ret,
				      const char *file, unsigned int line, const char *function)
{
	struct swansong_interrupt *i;
	int r = swansong_interrupt_new(s, &i);

	if (r < 0)
		return r;
	i->guard = swansong_guard_at(s, file, line, function);
	*ret = i;
	return 0;
}

bool swansong_interrupted(const struct swansong_interrupt *i)
{
	return latch_is_set(&i->node->stopped);
}

int swansong_interrupt_wait(struct swansong_interrupt *i, uint64_t deadline)
{
	return latch_wait(&i->node->stopped, deadline);
}

/* The descriptor is a copy, since an event loop does not take the same one twice. */
int swansong_interrupt_fd(struct swansong_interrupt *i)
{
	int fd = shared_load(&i->fd, relaxed); /* a number: nothing is published with it */
	int shared, copy, r;

	if (fd >= 0)
		return fd;
	shared = latch_fd(&i->node->stopped);
	if (shared < 0)
		return shared;
	copy = fcntl(shared, F_DUPFD_CLOEXEC, 0);
	if (copy < 0)
		return -errno;
	r = fork_add_fd(copy, (struct owned){ COPIED, &i->fd, .original = &i->node->stopped.fd });
	if (r == 0 && shared_replace(&i->fd, &fd, copy, relaxed, relaxed))
		return copy;
	fork_remove_fd(copy);
	cancel_safe_close(copy);
	return r < 0 ? r : fd;
}

static void interrupt_end_watch(struct waiter *w)
{
	struct watch *watch = container_of(w, struct watch, notice.waiter);
	struct tree *tree = watch->node->tree;

	node_release(watch->node);
	tree_release(tree);
	free(watch);
}

int swansong_interrupt_notify(struct swansong_interrupt *i, void (*fn)(void *arg), void *arg)
{
	struct watch *watch = malloc(sizeof(*watch));
	struct watch *other = NULL;

	if (!watch)
		return -ENOMEM;
	watch->node = i->node;
	notice_init(&watch->notice, i->node->tree, interrupt_end_watch);
	/* Release and acquire: the notice, for another thread. */
	if (!shared_replace(&i->watch, &other, watch, release, relaxed)) {
		free(watch);
		return -EALREADY;
	}
	node_hold(i->node);
	/* The function may drop the interrupt: from here on only watch and node are used. */
	return notice_call(&watch->notice, &watch->node->stopped, &watch->node->watchers, fn, arg);
}

struct swansong_interrupt *swansong_interrupt_unref(struct swansong_interrupt *i)
{
	struct watch *watch;
	struct tree *tree;
	int fd;

	if (!i)
		return NULL;
	misuse_of_dropped(!i->node);
	fd = shared_load(&i->fd, relaxed); /* no other thread is left */
	if (fd >= 0)
		fork_remove_fd(fd);
	cancel_safe_close(fd);
	watch = shared_load(&i->watch, acquire);
	if (watch)
		notice_drop(&watch->notice);
	swansong_guard_drop(&i->guard);
	tree = i->node->tree;
	node_release(i->node);
	tree_release(tree);
	if (MISUSE_IS_CAUGHT)
		i->node = NULL;
	else
		free(i);
	return NULL;
}

/* Relaxed: a number. */
void swansong_interrupt_set_deadline(struct swansong_interrupt *i, uint64_t deadline)
{
	shared_store(&i->deadline, deadline, relaxed);
}

uint64_t interrupt_deadline(const struct swansong_interrupt *i)
{
	return shared_load(&i->deadline, relaxed);
}

int interrupt_poll_fd(struct swansong_interrupt *i)
{
	return latch_fd(&i->node->stopped);
}

int swansong_stopped_wait(struct swansong *s, uint64_t deadline)
{
	misuse_of_node(s);
	return latch_wait(&s->stopped, deadline);
}

int swansong_stopped_fd(struct swansong *s)
{
	misuse_of_node(s);
	return latch_fd(&s->stopped);
}
