/*
 * Every interleaving, up to a number of preemptions, of a loop's thread with one or two others that
 * start it, post to it and stop it, on the real gate of the loop.  Around the gate the thread does
 * the same as in src/swansong/loop/loop.c; it sleeps on a word here, in place of an eventfd.
 * $STRESS_PREEMPTIONS raises the bound.
 *
 * In every run each accepted post is executed once and no refused post is executed; no post is
 * executed when the node is complete.  In the end the node is complete, the loop is stopped, and
 * each thread that sleeps is woken.  A request to cancel a thread changes none of that.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "base/macro.h"
#include "explore.h"
#include "swansong/loop/gate-private.h"
#include <swansong/swansong.h>

enum { MAX_POSTS = 6 };

/* The effect of a post when it runs. */
enum deed { NOTHING, POSTS, STOPS };

struct song {
	struct post post;
	unsigned int number;
	enum deed deed;
};

static struct world {
	struct swansong *node;
	struct swansong_completion *completion;
	struct gate gate;
	_Atomic uint32_t readable; /* the descriptor */
	_Atomic uint32_t thread;   /* NONE, CREATED, or NEVER created */
	unsigned int posts;
	bool accepted[MAX_POSTS], refused[MAX_POSTS];
	unsigned int executed[MAX_POSTS];
	bool complete;
} w;

enum { NONE, CREATED, NEVER };

/* ---- the descriptor, for gate.c ---- */

int explore_eventfd(unsigned int count, int flags);
int explore_eventfd_write(int fd, eventfd_t value);
int explore_eventfd_read(int fd, eventfd_t *value);

/* For gate.c, which closes it: this is no descriptor. */
int explore_eventfd(unsigned int count, int flags)
{
	(void)count;
	(void)flags;
	return 1 << 20;
}

int explore_eventfd_write(int fd, eventfd_t value)
{
	(void)fd;
	(void)value;
	explore_cancellation_point();
	(void)shared_or(&w.readable, 1, release);
	futex_wake(&w.readable, INT_MAX);
	return 0;
}

int explore_eventfd_read(int fd, eventfd_t *value)
{
	uint32_t was = 1;

	(void)fd;
	*value = shared_replace(&w.readable, &was, 0, acquire, relaxed);
	return *value ? 0 : -1;
}

static void poll_readable(void)
{
	while (!shared_load(&w.readable, acquire))
		(void)futex_sleep(&w.readable, 0, USEC_INFINITY);
}

/* ---- posts ---- */

static void post_one(enum deed deed);

static void song_run(struct post *post, struct swansong_guard *guard)
{
	struct song *song = container_of(post, struct song, post);
	unsigned int number = song->number;
	enum deed deed = song->deed;

	(void)guard;
	explore_free(song);
	w.executed[number]++;
	if (w.complete || swansong_state(w.node) == SWANSONG_COMPLETE)
		explore_fault("a post is executed when the node is complete");
	if (w.refused[number])
		explore_fault("a post is executed that was refused");
	if (deed == POSTS)
		post_one(NOTHING);
	if (deed == STOPS)
		gate_begin_stop(&w.gate);
}

static void post_one(enum deed deed)
{
	struct song *song = explore_malloc(sizeof(*song));
	unsigned int number = w.posts++;
	int r;

	if (number == MAX_POSTS)
		abort();
	*song = (struct song){ .number = number, .deed = deed, .post.run = song_run };
	r = gate_post(&w.gate, &song->post);
	w.accepted[number] = r == 0;
	w.refused[number] = r == -ESHUTDOWN;
	if (r < 0)
		explore_free(song);
}

/* ---- the work of threads ---- */

/* As loop_main(). */
static void loop_thread(void *arg)
{
	uint32_t thread;

	(void)arg;
	while ((thread = shared_load(&w.thread, acquire)) == NONE)
		(void)futex_sleep(&w.thread, NONE, USEC_INFINITY);
	if (thread == NEVER)
		return;
	(void)gate_move(&w.gate, GATE_STARTING, GATE_RUNNING);
	do {
		poll_readable();
		gate_run(&w.gate);
	} while (gate_state(&w.gate) == GATE_RUNNING);
	gate_begin_stop(&w.gate);
	gate_run(&w.gate);
	gate_end_stop(&w.gate);
}

static void thread_becomes(uint32_t what)
{
	(void)shared_or(&w.thread, what, release);
	futex_wake(&w.thread, INT_MAX);
}

/* As swansong_loop_start(), when a thread can be started. */
static void start(void)
{
	if (!gate_move(&w.gate, GATE_IDLE, GATE_STARTING)) {
		thread_becomes(NEVER);
		return;
	}
	if (gate_state(&w.gate) == GATE_STARTING) {
		thread_becomes(CREATED);
		(void)gate_move(&w.gate, GATE_STARTING, GATE_RUNNING);
		return;
	}
	thread_becomes(NEVER);
	if (!gate_move(&w.gate, GATE_STARTING, GATE_IDLE))
		gate_end_stop(&w.gate);
}

/* As swansong_loop_start(), when no thread can be started. */
static void start_without_thread(void)
{
	thread_becomes(NEVER);
	if (gate_move(&w.gate, GATE_IDLE, GATE_STARTING) &&
	    !gate_move(&w.gate, GATE_STARTING, GATE_IDLE))
		gate_end_stop(&w.gate);
}

static void post(void)
{
	post_one(NOTHING);
}

static void post_twice(void)
{
	post_one(NOTHING);
	post_one(NOTHING);
}

static void post_posting(void)
{
	post_one(POSTS);
}

static void post_stopping(void)
{
	post_one(STOPS);
	post_one(NOTHING);
}

static void stop(void)
{
	gate_begin_stop(&w.gate);
	post_one(NOTHING); /* the post is never accepted */
	if (w.accepted[w.posts - 1])
		explore_fault("a post is accepted after the stop");
}

static void stop_and_wait(void)
{
	gate_begin_stop(&w.gate);
	(void)swansong_wait(w.node, USEC_INFINITY);
	if (gate_state(&w.gate) != GATE_STOPPED)
		explore_fault("the node is complete and the loop is not stopped");
}

static void post_and_stop(void)
{
	post_one(NOTHING);
	gate_begin_stop(&w.gate);
}

/* The cases in which a program stops the loop. */
enum stops { NEVER_STOPS, STOPS_IF_RUNNING, ALWAYS_STOPS };

static const struct program {
	void (*run)(void);
	const char *name;
	enum stops stops;
	bool starts; /* for a loop that is idle */
} programs[] = {
	{ post, "post", NEVER_STOPS, false },
	{ post_twice, "post twice", NEVER_STOPS, false },
	{ post_posting, "post a function that posts", NEVER_STOPS, false },
	{ post_stopping, "post a function that stops, and post", STOPS_IF_RUNNING, false },
	{ stop, "stop, and post", ALWAYS_STOPS, false },
	{ stop_and_wait, "stop and wait", ALWAYS_STOPS, false },
	{ post_and_stop, "post and stop", ALWAYS_STOPS, false },
	{ start, "start", NEVER_STOPS, true },
	{ start_without_thread, "start without a thread", NEVER_STOPS, true },
};

/* ---- the world ---- */

static const struct program *chosen[2];

static void body_1(void *arg)
{
	(void)arg;
	chosen[0]->run();
}

static void body_2(void *arg)
{
	(void)arg;
	chosen[1]->run();
}

static void on_complete(void *arg)
{
	(void)arg;
	w.complete = true;
	for (unsigned int k = 0; k < w.posts; k++)
		if (w.accepted[k] && w.executed[k] != 1)
			explore_fault("the node is complete and a post is yet to be executed");
}

static bool is_started_by(const struct program *p)
{
	return p && p->starts;
}

static void begin(void *arg)
{
	(void)arg;
	w = (struct world){ .posts = 0 };
	if (swansong_new(&w.node) < 0 || gate_init(&w.gate, w.node) < 0 ||
	    swansong_completion_new(w.node, &w.completion) < 0 ||
	    swansong_completion_notify(w.completion, on_complete, NULL) < 0)
		abort();
	if (is_started_by(chosen[0]) || is_started_by(chosen[1]))
		return;
	(void)gate_move(&w.gate, GATE_IDLE, GATE_STARTING);
	(void)gate_move(&w.gate, GATE_STARTING, GATE_RUNNING);
	thread_becomes(CREATED);
}

static void look(void *arg)
{
	(void)arg;
}

static void end(void *arg)
{
	(void)arg;
	/* Without a thread, and not stopped meanwhile, the loop is idle again. */
	if (gate_state(&w.gate) == GATE_IDLE)
		gate_begin_stop(&w.gate);
	if (gate_state(&w.gate) != GATE_STOPPED)
		explore_fault("the loop is not stopped in the end");
	for (unsigned int k = 0; k < w.posts; k++)
		if (w.executed[k] != w.accepted[k])
			explore_fault("executed is not accepted");
	if (!w.complete || swansong_guard_count(w.node) != 0)
		explore_fault("the node is not complete in the end");
	(void)swansong_completion_unref(w.completion);
	gate_done(&w.gate);
	(void)swansong_unref(w.node);
}

/* ---- the tests ---- */

static unsigned int test_number, failures;
static unsigned long all_runs;

static void try(unsigned int preemptions, bool after)
{
	struct exploration x = {
		.threads = chosen[1] ? 3 : 2,
		.body = { loop_thread, body_1, body_2 },
		.begin = begin,
		.look = look,
		.end = end,
		.cancels = true,
		.preemptions = preemptions,
		.after = after,
	};
	const char *fault = explore(&x);

	if (!fault && x.cancelled > 0)
		fault = "a post or a stop is a cancellation point";
	all_runs += x.runs;
	printf("%s %u - %s%s%s (torn %s, %lu runs)\n", fault ? "not ok" : "ok", ++test_number,
	       chosen[0]->name, chosen[1] ? " | " : "", chosen[1] ? chosen[1]->name : "",
	       after ? "after" : "before", x.runs);
	if (fault) {
		printf("# %s\n", fault);
		failures++;
	}
	fflush(stdout);
}

/* A loop that no program stops does not end, and a loop that is started twice is another story. */
static bool fits(const struct program *a, const struct program *b)
{
	bool idle = a->starts || is_started_by(b);
	enum stops need = idle ? ALWAYS_STOPS : STOPS_IF_RUNNING;

	return (a->stops >= need || (b && b->stops >= need)) && !(a->starts && is_started_by(b));
}

int main(void)
{
	const char *env = getenv("STRESS_PREEMPTIONS");
	unsigned int preemptions = env ? (unsigned int)atoi(env) : 2;

#ifdef __SANITIZE_THREAD__
	printf("1..0 # SKIP machine: the thread sanitizer does not follow contexts\n");
	return EXIT_SUCCESS;
#endif
	for (size_t a = 0; a < ARRAY_SIZE(programs); a++) {
		for (size_t b = a; b <= ARRAY_SIZE(programs); b++) {
			chosen[0] = &programs[a];
			chosen[1] = b < ARRAY_SIZE(programs) ? &programs[b] : NULL;
			if (!fits(chosen[0], chosen[1]))
				continue;
			try(chosen[1] ? preemptions : preemptions + 1, false);
			try(chosen[1] ? preemptions - 1 : preemptions + 1, true);
		}
	}
	printf("1..%u\n# %lu runs\n", test_number, all_runs);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
