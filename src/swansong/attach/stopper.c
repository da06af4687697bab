/*
 * A stop by a signal, on a thread of the library: no function of the program runs in a handler.
 *
 * The handler writes to an eventfd, which a thread reads.  The eventfd of a signal is never closed,
 * since a handler on any thread may be about to write to it; the next call for that signal uses it
 * again.  The thread keeps the node by a completion, which is no reference, and ends with the node.
 *
 * A forked process has the handler without the thread: the signal has its default action there.
 */
#include <swansong/attach.h>

#include <swansong/completion.h>

#include "swansong/base/cancel-private.h"
#include "swansong/base/thread-private.h"
#include "swansong/count/node-private.h"

struct stopper {
	struct swansong *node; /* kept by the completion */
	struct swansong_completion *complete;
	struct outlet *outlet;
	unsigned int generation;
};

/* A signal, for its handler and the thread. */
static struct outlet {
	_Atomic int wake; /* an eventfd plus 1; 0 before the first call */
	_Atomic unsigned int generation;
	_Atomic bool caught;
	_Atomic bool used; /* by a thread that has not ended */
} outlets[NSIG];

static void stopper_wake(struct outlet *o)
{
	cancel_safe_signal(shared_load(&o->wake, acquire) - 1, 1);
}

static void stopper_on_signal(int signo)
{
	struct outlet *o = &outlets[signo];
	int error = errno;

	if (shared_load(&o->generation, acquire) == fork_generation()) {
		shared_store(&o->caught, true, release);
		stopper_wake(o);
	} else {
		(void)signal(signo, SIG_DFL);
		(void)raise(signo); /* it comes when this handler returns */
	}
	errno = error;
}

static void stopper_end(struct stopper *t)
{
	(void)swansong_completion_unref(t->complete);
	/* Release: the use of the outlet, to the next thread that takes it. */
	shared_store(&t->outlet->used, false, release);
	free(t);
}

static void stopper_on_complete(void *arg)
{
	struct stopper *t = arg;

	if (t->generation == fork_generation())
		stopper_wake(t->outlet);
	else
		stopper_end(t); /* in place of the thread */
}

static void *stopper_main(void *arg)
{
	CANCEL_DISABLED_SCOPE;
	struct stopper *t = arg;
	int wake = shared_load(&t->outlet->wake, acquire) - 1;
	eventfd_t events;

	while (!swansong_completion_done(t->complete)) {
		(void)eventfd_read(wake, &events);
		if (shared_swap(&t->outlet->caught, false, acq_rel))
			node_shut_down(t->node);
	}
	stopper_end(t);
	return NULL;
}

/* Takes the outlet, and gives it a descriptor of this process.  Returns 0 or -errno. */
static int stopper_take_outlet(struct outlet *o)
{
	bool is_own = shared_load(&o->generation, relaxed) == fork_generation();
	int fd, r;

	if (shared_swap(&o->used, true, acq_rel) && is_own)
		return -EBUSY;
	shared_store(&o->caught, false, relaxed);
	if (is_own && shared_load(&o->wake, relaxed))
		return 0;
	fd = eventfd(0, EFD_CLOEXEC);
	r = fd < 0 ? -errno : fork_add_fd(fd, (struct owned){ CLOSED });
	if (r < 0) {
		cancel_safe_close(fd);
		shared_store(&o->used, false, release);
		return r;
	}
	shared_store(&o->wake, fd + 1, relaxed);
	/* Release: the descriptor, to the handler. */
	shared_store(&o->generation, fork_generation(), release);
	return 0;
}

/* Starts the thread.  On failure the outlet is still the caller's. */
static int stopper_start(struct swansong *s, struct outlet *o)
{
	struct stopper *t = malloc(sizeof(*t));
	pthread_t thread;
	int r;

	if (!t)
		return -ENOMEM;
	*t = (struct stopper){ .node = s, .outlet = o, .generation = fork_generation() };
	r = swansong_completion_new(s, &t->complete);
	if (r < 0) {
		free(t);
		return r;
	}
	(void)swansong_completion_notify(t->complete, stopper_on_complete, t);
	r = thread_start(&thread, "swansong-signal", stopper_main, t);
	if (r < 0) {
		(void)swansong_completion_unref(t->complete);
		free(t);
		return r;
	}
	(void)pthread_detach(thread);
	return 0;
}

int swansong_stop_on_signal(struct swansong *s, int signo)
{
	CANCEL_DISABLED_SCOPE;
	struct sigaction action = { .sa_handler = stopper_on_signal, .sa_flags = SA_RESTART };
	struct sigaction old;
	int r;

	if (signo <= 0 || signo >= NSIG || sigaction(signo, NULL, &old) < 0)
		return -EINVAL;
	if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN &&
	    old.sa_handler != stopper_on_signal)
		return -EBUSY;
	r = stopper_take_outlet(&outlets[signo]);
	if (r < 0)
		return r;
	r = sigaction(signo, &action, NULL) < 0 ? -errno : stopper_start(s, &outlets[signo]);
	if (r < 0) {
		(void)sigaction(signo, &old, NULL);
		shared_store(&outlets[signo].used, false, release);
	}
	return r;
}
