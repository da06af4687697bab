/*
 * Threads with a pending pthread_cancel(3) in each function of the library: the tree works on, and
 * nothing is lost.
 */
#include "tests/unit/fixtures/swansong/pair.h"

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "tests/unit/fixtures/swansong/caller.h"

#define SOON_USEC (30 * USEC_PER_SEC)

static struct swansong_completion *completion;
static struct swansong_interrupt *interrupt;
static struct swansong_loop *loop;
static struct swansong_pool *pool;
static struct swansong_guard guard;
static atomic_uint called;

/* Check's own assertions write to a file: a cancellation point. */
#define must(condition)           \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

static void note_call(void *arg)
{
	(void)arg;
	called++;
}

static unsigned int count_fds(void)
{
	unsigned int n = 0;

	for (int fd = 0; fd < 1000; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void close_both(const int *fds)
{
	int state;

	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	for (int k = 0; k < 2; k++)
		if (fds[k] >= 0)
			(void)close(fds[k]);
	(void)pthread_setcancelstate(state, NULL);
}

static void test_cancelled(void *arg)
{
	(void)arg;
	pthread_testcancel();
}

/* All that a stop has to wake. */
static void make_world(void)
{
	called = 0;
	ck_assert_int_eq(swansong_new(&root), 0);
	ck_assert_int_eq(swansong_child(root, &child), 0);
	ck_assert_int_eq(swansong_completion_new(root, &completion), 0);
	ck_assert_int_ge(swansong_completion_fd(completion), 0);
	ck_assert_int_eq(swansong_completion_notify(completion, note_call, NULL), 0);
	ck_assert_int_eq(swansong_interrupt_new(child, &interrupt), 0);
	ck_assert_int_ge(swansong_interrupt_fd(interrupt), 0);
	ck_assert_int_ge(swansong_stopped_fd(root), 0);
	guard = swansong_guard(child);
	loop = NULL;
	pool = NULL;
}

static void end_world(void)
{
	uint64_t deadline = swansong_deadline_in(SOON_USEC);

	loop = swansong_loop_unref(loop);
	pool = swansong_pool_unref(pool);
	swansong_guard_drop(&guard);
	swansong_shut_down(root);
	ck_assert_int_eq(swansong_wait(root, deadline), 0);
	ck_assert_int_eq(swansong_state(root), SWANSONG_COMPLETE);
	if (completion) {
		ck_assert_int_eq(swansong_completion_wait(completion, deadline), 0);
		ck_assert(is_readable(swansong_completion_fd(completion)));
		ck_assert_uint_eq(called, 1);
	}
	if (interrupt)
		ck_assert(is_readable(swansong_interrupt_fd(interrupt)));
	completion = swansong_completion_unref(completion);
	interrupt = swansong_interrupt_unref(interrupt);
	child = swansong_unref(child);
	root = swansong_unref(root);
}

/* ---- functions that are no cancellation points ---- */

static void call_stop(void)
{
	swansong_shut_down(root);
}

static void call_last_drop(void)
{
	swansong_shut_down(root);
	swansong_guard_drop(&guard);
}

static void call_drop_that_buries(void)
{
	child = swansong_unref(child);
	interrupt = swansong_interrupt_unref(interrupt);
	swansong_guard_drop(&guard);
}

static void call_unrefs(void)
{
	completion = swansong_completion_unref(completion);
	interrupt = swansong_interrupt_unref(interrupt);
}

static void call_root_unref(void)
{
	struct swansong *r;

	must(swansong_new(&r) == 0);
	must(swansong_stopped_fd(r) >= 0);
	(void)swansong_unref(r);
}

static void call_news(void)
{
	struct swansong *s;
	struct swansong_completion *c;
	struct swansong_interrupt *i;

	must(swansong_child(root, &s) == 0);
	must(swansong_completion_new(s, &c) == 0);
	must(swansong_interrupt_new_guarded(s, &i) == 0);
	must(swansong_percpu_enable(s) == 0);
	must(swansong_completion_fd(c) >= 0);
	must(swansong_interrupt_fd(i) >= 0);
	must(swansong_stopped_fd(s) >= 0);
	(void)swansong_interrupt_unref(i);
	(void)swansong_completion_unref(c);
	(void)swansong_unref(swansong_ref(s));
	(void)swansong_unref(s);
}

static void call_notify(void)
{
	struct swansong_interrupt *i;

	must(swansong_interrupt_new(root, &i) == 0);
	must(swansong_interrupt_notify(i, test_cancelled, NULL) == 0);
	swansong_shut_down(root); /* both functions are called, this one and note_call() */
	swansong_guard_drop(&guard);
	must(called == 1);
	(void)swansong_interrupt_unref(i);
}

static void call_waits(void)
{
	(void)swansong_wait(root, 0);
	(void)swansong_completion_wait(completion, 0);
	(void)swansong_completion_done(completion);
	(void)swansong_stopped_wait(root, 0);
	(void)swansong_interrupt_wait(interrupt, 0);
	(void)swansong_interrupt_sleep(interrupt, 0);
	(void)swansong_interrupted(interrupt);
	(void)swansong_state(root);
	(void)swansong_guard_count(root);
}

static void call_report(void)
{
	struct swansong_report *report;
	char *text;

	must(swansong_report_enable(root) == 0);
	must(swansong_report(root, &report) == 0);
	must(swansong_report_text(report, &text) == 0);
	free(text);
	(void)swansong_report_free(report);
}

static int act(void *arg)
{
	pthread_testcancel();
	note_call(arg);
	return 0;
}

static void call_registry(void)
{
	struct swansong_worker worker = { .name = "worker", .notify = act };
	struct swansong_registry *r;

	must(swansong_registry_new(&r) == 0);
	must(swansong_registry_add_worker(r, &worker) == 0);
	must(swansong_registry_add_action(r, "action", act, NULL) == 0);
	must(swansong_registry_execute(r, 0, NULL, NULL) == 0);
	(void)swansong_registry_unref(r);
	must(called == 2);
	called = 0;
}

static void call_advance(void)
{
	struct swansong_worker worker = { .name = "worker", .notify = act };
	struct swansong_registry *r;
	uint64_t again;

	must(swansong_registry_new(&r) == 0);
	must(swansong_registry_add_worker(r, &worker) == 0);
	must(swansong_registry_add_action(r, "action", act, NULL) == 0);
	must(swansong_registry_advance(r, 0, &again, NULL, NULL) == 0);
	(void)swansong_registry_unref(r);
	must(called == 2);
	called = 0;
}

static void call_attach(void)
{
	struct swansong *s;

	must(swansong_attach(&s) == 0);
	(void)swansong_unref(s);
}

static void call_loop(void)
{
	must(swansong_loop_new(root, &loop) == 0);
	must(swansong_loop_start(loop) == 0);
	must(swansong_loop_post(loop, test_cancelled, NULL) == 0);
	must(swansong_loop_stop(loop) == 0);
	loop = swansong_loop_unref(loop);
}

static void call_post(void)
{
	must(swansong_loop_new(root, &loop) == 0);
	must(swansong_loop_start(loop) == 0);
	for (int k = 0; k < 100; k++)
		must(swansong_loop_post(loop, test_cancelled, NULL) == 0);
}

static void call_pool(void)
{
	must(swansong_pool_new(root, 2, &pool) == 0);
	must(swansong_pool_submit(pool, test_cancelled, NULL) == 0);
	must(swansong_pool_wait_idle(pool, swansong_deadline_in(SOON_USEC)) == 0);
	swansong_pool_stop(pool);
	pool = swansong_pool_unref(pool);
}

static void call_drain(void)
{
	swansong_guard_drop(&guard);
	must(swansong_drain(child, root, swansong_deadline_in(SOON_USEC)) == 0);
}

/* A call that need not wait returns what it has done. */
static void call_transfers(void)
{
	char byte = 0;
	int fds[2];

	must(pipe(fds) == 0);
	must(swansong_interrupt_write(interrupt, fds[1], &byte, 1) == 1);
	must(swansong_interrupt_read(interrupt, fds[0], &byte, 1) == 1);
	close_both(fds);
}

static void (*const calls[])(void) = {
	call_stop,     call_last_drop,	call_drop_that_buries,
	call_unrefs,   call_root_unref, call_news,
	call_notify,   call_waits,	call_report,
	call_registry, call_advance,	call_attach,
	call_loop,     call_post,	call_pool,
	call_drain,    call_transfers,
};

static atomic_bool returned;

static void *cancelled_main(void *arg)
{
	void (*const *call)(void) = arg;

	(void)pthread_cancel(pthread_self());
	(*call)();
	atomic_store(&returned, true);
	pthread_testcancel();
	return NULL;
}

static void call_cancelled(void (*const *call)(void))
{
	pthread_t thread;
	void *result;

	atomic_store(&returned, false);
	ck_assert_int_eq(pthread_create(&thread, NULL, cancelled_main, (void *)call), 0);
	ck_assert_int_eq(pthread_join(thread, &result), 0);
	ck_assert(atomic_load(&returned));
	ck_assert_ptr_eq(result, PTHREAD_CANCELED);
}

START_TEST(no_function_that_does_not_wait_ends_a_cancelled_thread)
{
	unsigned int before = count_fds();

	make_world();
	call_cancelled(&calls[_i]);
	end_world();
	ck_assert_uint_eq(count_fds(), before);
}
END_TEST

/* The handler runs on the cancelled thread.  The descriptor of a signal is kept. */
static void call_stop_on_signal(void)
{
	struct swansong *own;

	must(swansong_new(&own) == 0);
	must(swansong_stop_on_signal(own, SIGUSR2) == 0);
	must(raise(SIGUSR2) == 0);
	must(swansong_wait(own, UINT64_MAX) == 0);
	(void)swansong_unref(own);
}

START_TEST(a_handler_on_a_cancelled_thread_stops_the_node)
{
	static void (*const call)(void) = call_stop_on_signal;

	call_cancelled(&call);
}
END_TEST

/* ---- calls that wait, and are cancellation points ---- */

static int ends[2];

static long read_fifo(void *arg)
{
	char byte;

	(void)arg;
	return swansong_interrupt_read(interrupt, ends[0], &byte, 1);
}

static long receive_message(void *arg)
{
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	(void)arg;
	return swansong_interrupt_recvmsg(interrupt, ends[0], &m, 0);
}

static long accept_connection(void *arg)
{
	(void)arg;
	return swansong_interrupt_accept(interrupt, ends[0], NULL, NULL, 0);
}

static long poll_many(void *arg)
{
	struct pollfd fds[30];

	(void)arg;
	for (size_t k = 0; k < ARRAY_SIZE(fds); k++)
		fds[k] = (struct pollfd){ .fd = ends[0], .events = POLLIN };
	return swansong_interrupt_poll(interrupt, fds, ARRAY_SIZE(fds), UINT64_MAX);
}

static void open_fifo(void)
{
	char path[] = "/tmp/test-cancel.XXXXXX", fifo[sizeof(path) + 5];

	ck_assert_ptr_nonnull(mkdtemp(path));
	(void)snprintf(fifo, sizeof(fifo), "%s/fifo", path);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	ends[0] = open(fifo, O_RDWR);
	ends[1] = -1;
	ck_assert_int_eq(unlink(fifo), 0);
	ck_assert_int_eq(rmdir(path), 0);
}

static void open_listener(void)
{
	ends[0] = socket(AF_UNIX, SOCK_STREAM, 0);
	ends[1] = -1;
	ck_assert_int_eq(bind(ends[0], &(struct sockaddr){ AF_UNIX }, sizeof(sa_family_t)), 0);
	ck_assert_int_eq(listen(ends[0], 1), 0);
}

static void open_sockets(void)
{
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
}

static const struct {
	void (*open)(void);
	long (*call)(void *arg);
} waits[] = {
	{ open_fifo, read_fifo },	   { open_sockets, read_fifo },
	{ open_sockets, receive_message }, { open_listener, accept_connection },
	{ open_sockets, poll_many },
};

START_TEST(a_thread_that_waits_is_cancelled_and_leaks_nothing)
{
	unsigned int before;
	struct caller c;
	void *result;

	make_world();
	waits[_i].open();
	ck_assert_int_eq(swansong_interrupt_poll(interrupt, NULL, 0, 0), -ETIMEDOUT);
	before = count_fds();
	caller_start(&c, waits[_i].call, NULL);
	caller_wait_asleep(&c);
	ck_assert_int_eq(pthread_cancel(c.thread), 0);
	ck_assert_int_eq(pthread_join(c.thread, &result), 0);
	ck_assert_ptr_eq(result, PTHREAD_CANCELED);
	ck_assert_uint_eq(count_fds(), before);
	close_both(ends);
	end_world();
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("cancel");
	TCase *points = tcase_create("cancel");

	tcase_add_loop_test(points, no_function_that_does_not_wait_ends_a_cancelled_thread, 0,
			    ARRAY_SIZE(calls));
	tcase_add_test(points, a_handler_on_a_cancelled_thread_stops_the_node);
	/* The address sanitizer does not see that a cancellation leaves functions. */
#ifndef __SANITIZE_ADDRESS__
	tcase_add_loop_test(points, a_thread_that_waits_is_cancelled_and_leaks_nothing, 0,
			    ARRAY_SIZE(waits));
#else
	(void)a_thread_that_waits_is_cancelled_and_leaks_nothing;
#endif
	suite_add_tcase(suite, points);
	return suite;
}
