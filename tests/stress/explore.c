/*
 * Threads are contexts of one thread.  Before each operation of the library takes place, a thread
 * is chosen to go on; the context is switched only if that is another thread, as a switch costs two
 * system calls.  A run is the list of its choices; the next run differs from it in the last choice
 * that has an alternative left (depth first).
 */
#include "explore.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "cancel-points.h"
#include "swansong/base/lock-private.h"
#include "swansong/count/rseq-private.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, size)   ((void)(p), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(p, size) ((void)(p), (void)(size))
#endif

#define MAX_CHOICES 20000
#define MAX_BLOCKS  64
#define STACK_SIZE  (256 * 1024)

struct thread {
	ucontext_t context;
	char *stack;
	bool begun, done;
	bool interrupted;		   /* runs the handler when it goes on */
	const _Atomic int *lock;	   /* waits for this to be 0, or */
	const _Atomic uint32_t *sleeps_on; /* until a thread wakes this, or */
	struct pollfd *polls;		   /* until one of these is ready */
	nfds_t n_polls;

	int cancel_state;
	bool cancellable; /* at a cancellation point that it allows */
	bool cancelled;
	struct explore_cleanup *cleanups; /* the last one first */
};

struct block {
	char *start;
	size_t size;
	bool freed;
};

static struct explorer {
	ucontext_t runner; /* of run_once() */
	struct thread thread[EXPLORE_MAX_THREADS];
	struct exploration *x;
	int current; /* -1 outside of the threads */
	const char *fault;

	unsigned char choice[MAX_CHOICES], options[MAX_CHOICES];
	unsigned int choices;
	unsigned int prescribed; /* choices of this run; later choices are the first option */
	unsigned int preemptions;
	int last; /* the last choice, or -1 */

	bool alone; /* a thread goes on alone; see explore_alone() */
	bool signalled;
	bool cancelled;
	int handling; /* the thread that is in the handler, or -1 */

	struct block block[MAX_BLOCKS];
	unsigned int blocks;
} e = { .current = -1 };

void explore_fault(const char *what)
{
	if (!e.fault)
		e.fault = what;
}

/* ---- memory ---- */

static void *block_new(void *p, size_t size)
{
	if (!p || e.blocks == MAX_BLOCKS)
		abort();
	e.block[e.blocks++] = (struct block){ .start = p, .size = size };
	return p;
}

void *explore_aligned_alloc(size_t alignment, size_t size)
{
	return block_new(aligned_alloc(alignment, size), size);
}

void *explore_calloc(size_t n, size_t size)
{
	return block_new(calloc(n, size), n * size);
}

void *explore_malloc(size_t size)
{
	return block_new(malloc(size), size);
}

void *explore_reallocarray(void *p, size_t n, size_t size)
{
	void *larger = explore_malloc(n * size);

	for (unsigned int i = 0; i < e.blocks && p; i++)
		if (e.block[i].start == p)
			memcpy(larger, p, e.block[i].size < n * size ? e.block[i].size : n * size);
	explore_free(p);
	return larger;
}

void explore_free(void *p)
{
	if (!p)
		return;
	if (e.handling >= 0 && e.handling == e.current)
		explore_fault("freed in a signal handler");
	for (unsigned int i = 0; i < e.blocks; i++) {
		struct block *b = &e.block[i];

		if (b->start != p)
			continue;
		if (b->freed) {
			explore_fault("freed twice");
			return;
		}
		b->freed = true;
		memset(b->start, 0xdd, b->size);
		ASAN_POISON_MEMORY_REGION(b->start, b->size);
		return;
	}
	explore_fault("freed what was not allocated");
}

static void blocks_check(const volatile void *address)
{
	const volatile char *a = address;

	for (unsigned int i = 0; i < e.blocks; i++)
		if (e.block[i].freed && a >= e.block[i].start &&
		    a < e.block[i].start + e.block[i].size)
			explore_fault("used after it was freed");
}

static void blocks_end(void)
{
	for (unsigned int i = 0; i < e.blocks; i++) {
		struct block *b = &e.block[i];

		if (!b->freed && !e.alone)
			explore_fault("never freed");
		ASAN_UNPOISON_MEMORY_REGION(b->start, b->size);
		for (size_t k = 0; b->freed && k < b->size; k++)
			if ((unsigned char)b->start[k] != 0xdd)
				explore_fault("written after it was freed");
		free(b->start);
	}
	e.blocks = 0;
}

/* ---- scheduling ---- */

static bool thread_can_go(const struct thread *t)
{
	return !t->done && !t->sleeps_on && !(t->lock && *t->lock) &&
	       !(t->polls && poll(t->polls, t->n_polls, 0) == 0);
}

/* Added to the number of a thread that is to be interrupted, and of one that is to be cancelled. */
#define SIGNAL EXPLORE_MAX_THREADS
#define CANCEL (2 * EXPLORE_MAX_THREADS)

/*
 * Lists the threads that may go on now, the last one first if it can, and the threads that may be
 * interrupted or cancelled.  Returns their number; 0 is the end.
 */
static unsigned int threads_ready(int last, bool may_preempt, int ready[])
{
	bool goes_on = last >= 0 && thread_can_go(&e.thread[last]);
	unsigned int n = 0;

	if (goes_on)
		ready[n++] = last;
	for (int i = 0; i < (int)e.x->threads; i++)
		if (i != last && thread_can_go(&e.thread[i]) && (may_preempt || !goes_on))
			ready[n++] = i;
	for (int i = 0; i < (int)e.x->threads && e.x->handler && !e.signalled; i++)
		if (e.thread[i].begun && !e.thread[i].done &&
		    (i == last || may_preempt || !goes_on))
			ready[n++] = SIGNAL + i;
	for (int i = 0; i < (int)e.x->threads && !e.cancelled; i++)
		if (e.thread[i].cancellable && (i == last || may_preempt || !goes_on))
			ready[n++] = CANCEL + i;
	return n;
}

/* Switches to the thread that goes on. */
static int thread_choose(int ready)
{
	struct thread *t;

	if (ready < SIGNAL)
		return ready;
	t = &e.thread[ready % SIGNAL];
	if (ready >= CANCEL) {
		t->cancelled = e.cancelled = true;
		return ready - CANCEL;
	}
	t->interrupted = e.signalled = true;
	t->sleeps_on = NULL;
	return ready - SIGNAL;
}

/* Returns the thread that goes on, or -1 at the end of the run. */
static int run_choose(void)
{
	int ready[3 * EXPLORE_MAX_THREADS];
	unsigned int k = e.choices;
	unsigned int n = threads_ready(e.last, e.preemptions < e.x->preemptions, ready);
	int last = e.last;

	if (n == 0)
		return -1;
	if (k == MAX_CHOICES) {
		explore_fault("a run without end");
		return -1;
	}
	e.choices++;
	if (k >= e.prescribed)
		e.choice[k] = 0;
	e.options[k] = (unsigned char)n;
	e.preemptions += last >= 0 && ready[0] == last && ready[e.choice[k]] % SIGNAL != last;
	e.last = thread_choose(ready[e.choice[k]]);
	e.thread[e.last].lock = NULL;
	e.thread[e.last].begun = true;
	return e.last;
}

/* ---- functions that the library calls ---- */

/* Returns true if a signal has come meanwhile. */
static bool hand_over(void)
{
	int self = e.current;
	struct thread *t;

	if (self < 0)
		return false;
	t = &e.thread[self];
	e.current = -1;
	e.x->look(e.x->arg);
	e.current = e.fault ? -1 : run_choose();
	if (e.current != self)
		(void)swapcontext(&t->context,
				  e.current < 0 ? &e.runner : &e.thread[e.current].context);
	if (!t->interrupted)
		return false;
	t->interrupted = false;
	e.handling = e.current;
	e.x->handler(e.x->arg);
	e.handling = -1;
	return true;
}

void swansong_step(const volatile void *address)
{
	if (!e.x->after)
		(void)hand_over();
	blocks_check(address);
}

void swansong_stepped(void)
{
	if (e.x->after)
		(void)hand_over();
}

void swansong_step_lock(const _Atomic int *taken)
{
	do {
		if (e.current >= 0)
			e.thread[e.current].lock = taken;
	} while (hand_over() && *taken);
	blocks_check(taken);
	if (*taken)
		explore_fault("a lock is taken twice");
}

int swansong_step_sleep(const _Atomic uint32_t *word, uint32_t value)
{
	swansong_step(word);
	if (*word != value)
		return 0;
	if (e.current < 0) {
		explore_fault("sleeps for ever");
		return -ETIMEDOUT;
	}
	e.thread[e.current].sleeps_on = word;
	(void)hand_over();
	return 0;
}

void swansong_step_wake(const _Atomic uint32_t *word)
{
	swansong_step(word);
	for (unsigned int i = 0; i < e.x->threads; i++)
		if (e.thread[i].sleeps_on == word)
			e.thread[i].sleeps_on = NULL;
}

bool swansong_step_rseq(void)
{
	return e.x && e.x->rseq;
}

pthread_t swansong_step_self(void)
{
	return (pthread_t)e.current;
}

/* ---- cancellation ---- */

_Noreturn static void thread_end(struct thread *t)
{
	t->done = true;
	for (;;)
		(void)hand_over();
}

void explore_cleanup_push(struct explore_cleanup *c)
{
	struct thread *t = e.current < 0 ? NULL : &e.thread[e.current];

	if (!t)
		return;
	c->outer = t->cleanups;
	t->cleanups = c;
}

void explore_cleanup_pop(struct explore_cleanup *c, int execute)
{
	if (e.current >= 0)
		e.thread[e.current].cleanups = c->outer;
	if (execute)
		c->routine(c->arg);
}

int explore_set_cancel_state(int state)
{
	int was = PTHREAD_CANCEL_ENABLE;

	if (e.current >= 0) {
		was = e.thread[e.current].cancel_state;
		e.thread[e.current].cancel_state = state;
	}
	return was;
}

/* The frames of the thread stay as they are: handlers have their data there. */
_Noreturn static void thread_cancel(struct thread *t)
{
	t->cancelled = false;
	t->cancel_state = PTHREAD_CANCEL_DISABLE;
	while (t->cleanups)
		explore_cleanup_pop(t->cleanups, 1);
	thread_end(t);
}

bool explore_poll(struct pollfd *fds, nfds_t n, bool waits)
{
	struct thread *t;

	if (e.current < 0)
		return false;
	t = &e.thread[e.current];
	e.x->points++;
	t->cancellable = e.x->cancels && t->cancel_state == PTHREAD_CANCEL_ENABLE;
	t->polls = waits ? fds : NULL;
	t->n_polls = n;
	(void)hand_over();
	t->cancellable = false;
	t->polls = NULL;
	if (t->cancelled)
		thread_cancel(t);
	return true;
}

void explore_cancellation_point(void)
{
	(void)explore_poll(NULL, 0, false);
}

/* ---- runs ---- */

static void thread_main(int i)
{
	struct thread *t = &e.thread[i];

	e.x->body[i](e.x->arg);
	if (t->cancel_state != PTHREAD_CANCEL_ENABLE)
		explore_fault("a thread cannot be cancelled any more");
	thread_end(t);
}

static void thread_begin(int i)
{
	struct thread *t = &e.thread[i];

	ASAN_UNPOISON_MEMORY_REGION(t->stack, STACK_SIZE); /* from a run that was left */
	*t = (struct thread){ .stack = t->stack, .cancel_state = PTHREAD_CANCEL_ENABLE };
	(void)getcontext(&t->context);
	t->context.uc_stack.ss_sp = t->stack;
	t->context.uc_stack.ss_size = STACK_SIZE;
	makecontext(&t->context, (void (*)(void))thread_main, 1, i);
}

bool explore_alone(void)
{
	bool idle = true;

	for (int i = 0; i < (int)e.x->threads; i++) {
		struct thread *t = &e.thread[i];

		if (i == e.current)
			continue;
		idle &= t->done || !t->begun;
		t->done = true;
		/* The frames on the stack have red zones. */
		ASAN_UNPOISON_MEMORY_REGION(t->stack, STACK_SIZE);
		memset(t->stack, 0xdd, STACK_SIZE);
	}
	e.alone = true;
	return idle;
}

static void run_once(void)
{
	struct exploration *x = e.x;

	for (int i = 0; i < (int)x->threads; i++)
		thread_begin(i);
	e.alone = e.signalled = e.cancelled = false;
	e.handling = e.last = -1;
	e.choices = e.preemptions = 0;
	x->begin(x->arg);
	e.current = e.fault ? -1 : run_choose();
	if (e.current >= 0)
		(void)swapcontext(&e.runner, &e.thread[e.current].context);
	for (unsigned int i = 0; i < x->threads; i++)
		if (!e.thread[i].done)
			explore_fault("a thread is never woken");
	if (!e.fault)
		x->end(x->arg);
	if (!e.fault)
		blocks_end();
	x->runs++;
	x->cancelled += e.cancelled;
}

const char *explore(struct exploration *x)
{
	e.x = x;
	e.prescribed = 0;
	e.fault = NULL;
	e.blocks = 0; /* blocks that a run with a fault has left are forgotten */
	x->runs = x->points = x->cancelled = 0;
	for (unsigned int i = 0; i < x->threads; i++)
		if (!e.thread[i].stack && !(e.thread[i].stack = malloc(STACK_SIZE)))
			abort();
	for (;;) {
		run_once();
		if (e.fault)
			return e.fault;
		while (e.choices > 0 && e.choice[e.choices - 1] + 1 >= e.options[e.choices - 1])
			e.choices--;
		if (e.choices == 0)
			return NULL;
		e.choice[e.choices - 1]++;
		e.prescribed = e.choices;
	}
}
