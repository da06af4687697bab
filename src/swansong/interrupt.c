/*
 * An interrupt keeps the memory of its node, and nothing else of it but for a guard.  It looks at
 * the latch that a stop sets; when the node is gone its latch is set, too, so there is one thing to
 * look at.
 */
#include "swansong/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "swansong/interrupt-private.h"
#include "swansong/misuse-private.h"
#include "swansong/node-private.h"

struct swansong_interrupt {
	struct swansong *node;
	_Atomic int fd; /* of the latch's; -1 until somebody asks for it */
	struct swansong_guard guard;
};

int swansong_interrupt_new(struct swansong *s, struct swansong_interrupt **ret)
{
	struct swansong_interrupt *i;

	misuse_of_node(s);
	i = malloc(sizeof(*i));
	if (!i)
		return -ENOMEM;
	*i = (struct swansong_interrupt){ .node = s, .fd = -1 };
	(void)shared_add(&s->weak, 1, relaxed); /* the node lives meanwhile */
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

/* A descriptor of its own, since an event loop does not take the same one twice. */
int swansong_interrupt_fd(struct swansong_interrupt *i)
{
	int fd = shared_load(&i->fd, relaxed); /* a number: nothing is published with it */
	int shared, copy;

	if (fd >= 0)
		return fd;
	shared = latch_fd(&i->node->stopped);
	if (shared < 0)
		return shared;
	copy = fcntl(shared, F_DUPFD_CLOEXEC, 0);
	if (copy < 0)
		return -errno;
	if (!shared_replace(&i->fd, &fd, copy, relaxed, relaxed)) {
		closep(&copy);
		return fd;
	}
	return copy;
}

struct swansong_interrupt *swansong_interrupt_unref(struct swansong_interrupt *i)
{
	int fd;

	if (!i)
		return NULL;
	fd = shared_load(&i->fd, relaxed); /* nobody else is left */
	closep(&fd);
	swansong_guard_drop(&i->guard);
	node_release(i->node);
	free(i);
	return NULL;
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
