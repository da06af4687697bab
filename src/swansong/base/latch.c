/*
 * One word says whether the latch is set and who has to be told.  Whoever sleeps or asks for a
 * descriptor marks that in the word, whoever sets the latch reads the marks, each by one
 * read-modify-write: these have one order, so either the setter sees the mark and wakes, or the
 * other side sees that the latch is set.  No wake-up is lost, and none costs a system call when
 * nobody is there.
 */
#include "swansong/base/latch-private.h"

#include <errno.h>
#include <sys/eventfd.h>

#include "base/cleanup.h"
#include "swansong/base/fork-private.h"

void latch_done(struct latch *l)
{
	int fd = shared_load(&l->fd, relaxed); /* nobody else is left */

	if (fd >= 0)
		fork_disown(fd);
	closep(&fd);
}

static void latch_signal(int fd)
{
	/* It can only fail when the counter is full, and then it is readable. */
	(void)eventfd_write(fd, 1);
}

bool latch_set(struct latch *l)
{
	/* Release: to whoever sees it set.  Acquire: the descriptor belongs to its mark. */
	uint32_t was = shared_or(&l->state, LATCH_SET, acq_rel);

	if (was & LATCH_SET)
		return false;
	if (was & LATCH_SLEEPERS)
		futex_wake(&l->state, INT_MAX);
	if (was & LATCH_FD)
		latch_signal(shared_load(&l->fd, relaxed)); /* ordered by the mark */
	return true;
}

int latch_wait(struct latch *l, uint64_t deadline)
{
	while (!latch_is_set(l)) {
		/* Acquire: as in latch_is_set(), this may be what sees it set. */
		uint32_t state = shared_or(&l->state, LATCH_SLEEPERS, acquire) | LATCH_SLEEPERS;

		if (state & LATCH_SET)
			return 0;
		if (futex_sleep(&l->state, state, deadline) < 0)
			return latch_is_set(l) ? 0 : -ETIMEDOUT;
	}
	return 0;
}

/* The latch's descriptor, which may be another thread's by now, or -errno. */
static int latch_create_fd(struct latch *l)
{
	int fd = -1;
	int created = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int r;

	if (created < 0)
		return -errno;
	r = fork_own(created, (struct owned){ RENEWED, &l->fd, .state = &l->state });
	if (r < 0) {
		closep(&created);
		return r;
	}
	/* Relaxed: the mark is what orders it. */
	if (shared_replace(&l->fd, &fd, created, relaxed, relaxed))
		return created;
	fork_disown(created);
	closep(&created);
	return fd;
}

int latch_fd(struct latch *l)
{
	int fd = shared_load(&l->fd, relaxed); /* a number: nothing is published with it */

	if (fd < 0)
		fd = latch_create_fd(l);
	/* Also for a thread that has created it and was not there any more after a fork. */
	if (fd < 0 || shared_load(&l->state, relaxed) & LATCH_FD)
		return fd;
	/* Release: the descriptor, to the setter.  Acquire: as in latch_is_set(). */
	if (shared_or(&l->state, LATCH_FD, acq_rel) & LATCH_SET)
		latch_signal(fd);
	return fd;
}
