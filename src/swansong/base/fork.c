/*
 * A forked process has only the thread that forks, and the memory as it was at that moment.  Three
 * things would go wrong with a tree in it:
 *
 *  - Another thread held a lock: no thread leaves it, and the data under it is half changed.  So
 *    all locks of all trees are taken before the fork, and left after it in both processes.  Data
 *    that changes by single atomic operations is right at any moment: a thread that is missing in
 *    the child is like a thread that never runs again, and all others must stand that anyhow.
 *  - Descriptors are the same files: a stop in one process would be seen in the other.  So they are
 *    replaced, under the same numbers, before the child goes on.
 *  - Threads of the library are missing.  Loops and pools compare fork_generation() with its value
 *    at their beginning.  When it has changed, they count as stopped, and their locks are not used
 *    again.
 *
 * The order of locks is: this one, the locks of trees, the locks of records.  Signals are blocked
 * from the first lock to the last, so that no handler finds a lock taken by its own thread.
 *
 * This is the only state that the library has once and not for each tree: pthread_atfork(3) passes
 * no argument to its handlers.
 */
#include "swansong/base/fork-private.h"

#include "swansong/base/cancel-private.h"
#include "swansong/base/lock-private.h"

static struct forks {
	struct lock lock;
	bool is_ready; /* the handlers are registered */
	struct list members;
	struct owned *owned; /* by descriptor */
	int n_owned;
	int used; /* number of entries; the array is freed at 0 */
	unsigned int generation;
	sigset_t mask; /* of the thread that forks */
} forks = {
	.lock = LOCK_INITIALIZER,
	.members = { &forks.members, &forks.members },
};

#ifdef SWANSONG_STEP
void fork_forget(void)
{
	list_init(&forks.members);
	forks.lock = (struct lock)LOCK_INITIALIZER;
	forks.owned = NULL;
	forks.n_owned = forks.used = 0;
}
#endif

unsigned int swansong_generation_(void)
{
	return forks.generation; /* it changes only while there is no other thread */
}

int fork_add(struct forkable *f)
{
	bool is_ready;

	lock_take(&forks.lock);
	is_ready = forks.is_ready || pthread_atfork(fork_prepare, fork_parent, fork_child) == 0;
	forks.is_ready = is_ready;
	if (is_ready)
		list_append(&forks.members, &f->link);
	(void)lock_leave(&forks.lock);
	return is_ready ? 0 : -ENOMEM;
}

void fork_remove(struct forkable *f)
{
	lock_take(&forks.lock);
	list_remove(&f->link);
	(void)lock_leave(&forks.lock);
}

/* Under the lock: makes room for an entry for @fd. */
static int forks_grow(int fd)
{
	int n = forks.n_owned > 0 ? forks.n_owned : 16;
	struct owned *owned;

	if (fd < forks.n_owned)
		return 0;
	while (n <= fd)
		n *= 2;
	owned = reallocarray(forks.owned, (size_t)n, sizeof(*owned));
	if (!owned)
		return -ENOMEM;
	for (int k = forks.n_owned; k < n; k++)
		owned[k] = (struct owned){ KEPT };
	forks.owned = owned;
	forks.n_owned = n;
	return 0;
}

int fork_add_fd(int fd, struct owned owned)
{
	int r;

	lock_take(&forks.lock);
	r = forks_grow(fd);
	if (r == 0) {
		forks.owned[fd] = owned;
		forks.used++;
	}
	(void)lock_leave(&forks.lock);
	return r;
}

void fork_remove_fd(int fd)
{
	lock_take(&forks.lock);
	if (fd >= 0 && fd < forks.n_owned && forks.owned[fd].fate != KEPT) {
		forks.owned[fd].fate = KEPT;
		forks.used--;
	}
	if (forks.used == 0) {
		free(take(forks.owned));
		forks.n_owned = 0;
	}
	(void)lock_leave(&forks.lock);
}

void fork_prepare(void)
{
	struct forkable *f;
	sigset_t all, mask;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &mask);
	lock_take(&forks.lock);
	forks.mask = mask;
	list_for_each (f, &forks.members, link)
		f->hold(f);
}

static void forks_release(bool in_child)
{
	struct forkable *f;
	sigset_t mask = forks.mask;

	list_for_each (f, &forks.members, link)
		f->release(f, in_child);
	(void)lock_leave(&forks.lock);
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

void fork_parent(void)
{
	forks_release(false);
}

static bool fork_renew_owned(const struct owned *o, int fd)
{
	const unsigned int initial = atomic_load_explicit(o->state, memory_order_relaxed) & 1;
	int created = eventfd(initial, EFD_CLOEXEC | EFD_NONBLOCK);
	bool done;

	if (created < 0) { /* perhaps no number was free */
		cancel_safe_close(fd);
		created = eventfd(initial, EFD_CLOEXEC | EFD_NONBLOCK);
	}
	if (created == fd)
		return true;
	done = created >= 0 && dup3(created, fd, O_CLOEXEC) == fd;
	if (created >= 0)
		cancel_safe_close(created);
	return done;
}

static void fork_child_owned(struct owned *o, int fd)
{
	if (o->fate == RENEWED && fork_renew_owned(o, fd))
		return;
	/* If there is no original, it is -1, and dup3() fails. */
	if (o->fate == COPIED &&
	    dup3(atomic_load_explicit(o->original, memory_order_relaxed), fd, O_CLOEXEC) == fd)
		return;
	cancel_safe_close(fd);
	if (o->holder)
		atomic_store_explicit(o->holder, -1, memory_order_relaxed);
	o->fate = KEPT;
	forks.used--;
}

void fork_child(void)
{
	forks.generation++;
	for (int fd = 0; fd < forks.n_owned; fd++)
		if (forks.owned[fd].fate == RENEWED || forks.owned[fd].fate == CLOSED)
			fork_child_owned(&forks.owned[fd], fd);
	for (int fd = 0; fd < forks.n_owned; fd++)
		if (forks.owned[fd].fate == COPIED)
			fork_child_owned(&forks.owned[fd], fd);
	forks_release(true);
}
