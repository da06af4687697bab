/*
 * Every interleaving, up to a number of preemptions, of two threads that use one tree, each by a
 * program of cancel-programs.c, while one of them is cancelled at any cancellation point that it comes to.
 * $STRESS_PREEMPTIONS raises the bound.
 *
 * A thread that is cancelled drops all that it has in a handler.  Then the lock of the tree is free,
 * every count is zero, every completion has resolved and called its function once, each descriptor
 * is readable, and everything is freed.  Only calls that wait for a descriptor are cancelled.
 */
#include "cancel-programs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cancel-points.h"
#include "explore.h"
#include "swansong/base/cancel-private.h"
#include "swansong/base/fork-private.h"
#include "swansong/base/lock-private.h"
#include "swansong/count/count-private.h"
#include "swansong/count/node-private.h"

struct world scene;

/* A function of the program may be a cancellation point. */
static void on_end(void *arg)
{
	pthread_testcancel();
	++*(unsigned int *)arg;
}

/* ---- the world ---- */

static void open_files(enum files files, int fds[2])
{
	int r = 0;

	fds[0] = fds[1] = -1;
	if (files == PIPE || files == OLD_PIPE)
		r = pipe(fds);
	else if (files == LISTENER)
		r = fds[0] = socket(AF_UNIX, SOCK_STREAM, 0);
	else if (files != NO_FILES)
		r = socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
	if (files == LISTENER)
		r = bind(fds[0], &(struct sockaddr){ .sa_family = AF_UNIX }, sizeof(sa_family_t)) |
		    listen(fds[0], 1);
	while (files == FULL_SOCKETS && send(fds[0], (char[4096]){ 0 }, 4096, MSG_DONTWAIT) > 0)
		;
	if (r < 0)
		abort();
}

static void drop_handles(unsigned int t)
{
	/* The second thread drops from below. */
	for (unsigned int i = 0; scene.unobserved && i < LEVELS; i++)
		(void)swansong_unref(scene.node[t ? LEVELS - 1 - i : i]);
}

/* Each function here is no cancellation point, or a thread that is cancelled in it would lose the rest. */
static void drop_belongings(void *arg)
{
	struct belongings *mine = arg;

	swansong_guard_drop(&mine->guard);
	swansong_guard_drop(&mine->early);
	(void)swansong_completion_unref(mine->completion);
	(void)swansong_interrupt_unref(mine->interrupt);
	(void)swansong_unref(mine->child);
	drop_handles(mine == &scene.of[1]);
}

static void run_program(unsigned int t)
{
	pthread_cleanup_push(drop_belongings, &scene.of[t]);
	scene.program[t]->run(t);
	pthread_cleanup_pop(1);
}

static void body_0(void *arg)
{
	(void)arg;
	run_program(0);
}

static void body_1(void *arg)
{
	(void)arg;
	run_program(1);
}

static unsigned int count_fds(void)
{
	unsigned int n = 0;

	for (int fd = 0; fd < 48; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void begin(void *arg)
{
	int r = 0;

	(void)arg;
	scene.n_fds = count_fds();
	memset(scene.of, 0, sizeof(scene.of));
	memset(scene.calls, 0, sizeof(scene.calls));
	fork_forget();
	r |= swansong_new(&scene.node[ROOT]);
	r |= swansong_child(scene.node[ROOT], &scene.node[CHILD]);
	for (unsigned int i = 0; i < LEVELS; i++) {
		r |= swansong_completion_new(scene.node[i], &scene.completion[i]);
		r |= swansong_completion_notify(scene.completion[i], on_end, &scene.calls[i]);
		r |= swansong_interrupt_new(scene.node[i], &scene.interrupt[i]);
		r |= swansong_interrupt_notify(scene.interrupt[i], on_end,
					       &scene.calls[LEVELS + i]);
	}
	if (r < 0 || swansong_completion_fd(scene.completion[ROOT]) < 0 ||
	    swansong_interrupt_fd(scene.interrupt[ROOT]) < 0 ||
	    swansong_stopped_fd(scene.node[ROOT]) < 0)
		abort();
	for (unsigned int t = 0; t < THREADS; t++) {
		scene.of[t].early = swansong_guard(scene.node[CHILD]);
		open_files(scene.program[t]->files, scene.of[t].fds);
		for (unsigned int i = 0; i < LEVELS && scene.unobserved && t > 0; i++)
			(void)swansong_ref(scene.node[i]);
	}
}

static void look_at_guard(const struct swansong_guard *g)
{
	for (const struct swansong *n = g->node; n; n = n->parent)
		if (!(atomic_load_explicit(&n->total, memory_order_relaxed) & COUNT_GUARDS))
			explore_fault("a held guard is not counted");
}

static void look(void *arg)
{
	(void)arg;
	for (unsigned int t = 0; t < THREADS; t++)
		look_at_guard(&scene.of[t].guard);
}

static void must_be_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	must(poll(&p, 1, 0) == 1, "a descriptor is not readable");
}

static void end_nodes(void)
{
	swansong_shut_down(scene.node[ROOT]);
	for (unsigned int i = 0; i < LEVELS; i++) {
		must(swansong_guard_count(scene.node[i]) == 0, "guards are left over");
		must(swansong_state(scene.node[i]) == SWANSONG_COMPLETE, "a node is not complete");
	}
	must_be_readable(swansong_stopped_fd(scene.node[ROOT]));
}

static void end(void *arg)
{
	(void)arg;
	for (unsigned int t = 0; t < THREADS; t++)
		for (unsigned int i = 0; i < 2 && scene.of[t].fds[i] >= 0; i++)
			(void)close(scene.of[t].fds[i]);
	if (!scene.unobserved)
		end_nodes();
	for (unsigned int i = 0; i < LEVELS; i++) {
		must(swansong_completion_done(scene.completion[i]),
		     "a completion does not resolve");
		must(swansong_interrupted(scene.interrupt[i]),
		     "an interrupt does not see the stop");
		must(scene.calls[i] == 1 && scene.calls[LEVELS + i] == 1,
		     "a function is not called once");
		must_be_readable(swansong_completion_fd(scene.completion[i]));
		must_be_readable(swansong_interrupt_fd(scene.interrupt[i]));
	}
	for (unsigned int i = 0; i < LEVELS; i++) {
		(void)swansong_completion_unref(scene.completion[i]);
		(void)swansong_interrupt_unref(scene.interrupt[i]);
		if (!scene.unobserved)
			(void)swansong_unref(scene.node[i]);
	}
	must(count_fds() == scene.n_fds, "a descriptor is never closed");
}

/* ---- the tests ---- */

static unsigned int test_number, failures;
static unsigned long all_runs, all_points, all_cancelled;

static void print_result(const char *fault, const char *name)
{
	printf("%s %u - %s\n", fault ? "not ok" : "ok", ++test_number, name);
	if (fault) {
		printf("# %s\n", fault);
		failures++;
	}
	fflush(stdout);
}

/* Returns a fault. */
static const char *judge(const struct exploration *x)
{
	bool waits = scene.program[0]->waits || scene.program[1]->waits;

	if (waits && x->cancelled == 0)
		return "a thread that waits is never cancelled";
	if (!waits && x->cancelled > 0)
		return "a function that does not wait is a cancellation point";
	return NULL;
}

static void try(const struct program *a, const struct program *b, unsigned int preemptions,
		bool after)
{
	struct exploration x = {
		.threads = THREADS,
		.body = { body_0, body_1 },
		.begin = begin,
		.look = look,
		.end = end,
		.cancels = true,
		.preemptions = preemptions,
		.after = after,
	};
	char name[300];
	const char *fault;

	scene.program[0] = a;
	scene.program[1] = b;
	explore_lacks_nowait = a->files == OLD_PIPE || b->files == OLD_PIPE;
	fault = explore(&x);
	if (!fault)
		fault = judge(&x);
	all_runs += x.runs;
	all_points += x.points;
	all_cancelled += x.cancelled;
	(void)snprintf(name, sizeof(name), "%s | %s (%s, torn %s, %lu runs, %lu cancelled)",
		       a->name, b->name, scene.unobserved ? "unobserved" : "observed",
		       after ? "after" : "before", x.runs, x.cancelled);
	print_result(fault, name);
}

/* A thread that waits needs one that stops the node. */
static bool fits(const struct program *a, const struct program *b)
{
	return !(a->waits || b->waits) || a->stops || b->stops;
}

static void try_pairs(unsigned int preemptions, bool after)
{
	for (unsigned int a = 0; a < n_programs; a++)
		for (unsigned int b = a; b < n_programs; b++)
			if (fits(&programs[a], &programs[b]))
				try(&programs[a], &programs[b], preemptions, after);
}

/* ---- a cancellation point under a lock must be found ---- */

static struct lock flawed_lock;
static int flawed_fd;

static void flawed_body(void *arg)
{
	(void)arg;
	lock_take(&flawed_lock);
	(void)eventfd_write(flawed_fd, 1);
	(void)lock_leave(&flawed_lock);
}

static void mended_body(void *arg)
{
	(void)arg;
	lock_take(&flawed_lock);
	cancel_safe_signal(flawed_fd, 1);
	(void)lock_leave(&flawed_lock);
}

static void flawed_begin(void *arg)
{
	(void)arg;
	flawed_lock = (struct lock)LOCK_INITIALIZER;
}

static void flawed_look(void *arg)
{
	(void)arg;
}

static bool is_found(void (*body)(void *arg))
{
	struct exploration x = {
		.threads = THREADS,
		.body = { body, body },
		.begin = flawed_begin,
		.look = flawed_look,
		.end = flawed_look,
		.cancels = true,
		.preemptions = 1,
	};

	return explore(&x) != NULL;
}

static void try_flawed(void)
{
	flawed_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	print_result(is_found(flawed_body) ? NULL : "no fault was found",
		     "a cancellation point under a lock is found out");
	print_result(is_found(mended_body) ? "a fault was found" : NULL,
		     "the same without it is not");
	(void)close(flawed_fd);
}

int main(void)
{
	const char *env = getenv("STRESS_PREEMPTIONS");
	unsigned int preemptions = env ? (unsigned int)atoi(env) : 2;

#ifdef __SANITIZE_THREAD__
	printf("1..0 # SKIP machine: the thread sanitizer does not follow contexts\n");
	return EXIT_SUCCESS;
#endif
	try_flawed();
	for (unsigned int k = 0; k < 2; k++) {
		scene.unobserved = k;
		try_pairs(preemptions, false);
		try_pairs(preemptions - 1, true);
	}
	printf("1..%u\n# %lu runs, %lu calls that are cancellation points, %lu threads cancelled\n",
	       test_number, all_runs, all_points, all_cancelled);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
