/*
 * The word of a latch holds whether the latch is set and which wake-ups it owes.  A thread that
 * sleeps or asks for a descriptor marks that in the word; the thread that sets the latch reads the
 * marks.  Each does so by one read-modify-write.  These have one order: either the setter sees the
 * mark and wakes, or the other thread sees that the latch is set.  So no wake-up is lost, and
 * latch_set() makes no system call when no thread waits.
 */
#include "swansong/base/latch-private.h"

#include "swansong/base/cancel-private.h"
#include "swansong/base/fork-private.h"

void latch_done(struct latch *l)
{
	int fd = shared_load(&l->fd, relaxed); /* no other thread is left */

	if (fd >= 0)
		fork_remove_fd(fd);
	cancel_safe_close(fd);
}

bool latch_set(struct latch *l)
{
	/* Release: to threads that see it set.  Acquire: the descriptor belongs to its mark. */
	uint32_t was = shared_or(&l->state, LATCH_SET, acq_rel);

	if (was & LATCH_SET)
		return false;
	if (was & LATCH_SLEEPERS)
		futex_wake(&l->state, INT_MAX);
	if (was & LATCH_FD)
		cancel_safe_signal(shared_load(&l->fd, relaxed), 1); /* ordered by the mark */
	return true;
}

int latch_wait(struct latch *l, uint64_t deadline)
{
	while (!latch_is_set(l)) {
		/* Acquire: as in latch_is_set(), this operation may see it set. */
		uint32_t state = shared_or(&l->state, LATCH_SLEEPERS, acquire) | LATCH_SLEEPERS;

		if (state & LATCH_SET)
			return 0;
		if (futex_sleep(&l->state, state, deadline) < 0)
			return latch_is_set(l) ? 0 : -ETIMEDOUT;
	}
	return 0;
}

/* Returns the latch's descriptor, which another thread may have created by now, or -errno. */
static int latch_create_fd(struct latch *l)
{
	int fd = -1;
	int created = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int r;

	if (created < 0)
		return -errno;
	r = fork_add_fd(created, (struct owned){ RENEWED, &l->fd, .state = &l->state });
	if (r < 0) {
		cancel_safe_close(created);
		return r;
	}
	/* Release, and acquire by its readers: one of them may set the mark. */
	if (shared_replace(&l->fd, &fd, created, acq_rel, acquire))
		return created;
	fork_remove_fd(created);
	cancel_safe_close(created);
	return fd;
}

int latch_fd(struct latch *l)
{
	int fd = shared_load(&l->fd, acquire); /* of the thread that created it */

	if (fd < 0)
		fd = latch_create_fd(l);
	/* Sets the mark also for a thread that created fd and was gone after a fork. */
	if (fd < 0 || shared_load(&l->state, relaxed) & LATCH_FD)
		return fd;
	/* Release: the descriptor, to the setter.  Acquire: as in latch_is_set(). */
	if (shared_or(&l->state, LATCH_FD, acq_rel) & LATCH_SET)
		cancel_safe_signal(fd, 1);
	return fd;
}
