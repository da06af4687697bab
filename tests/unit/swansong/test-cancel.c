/*
 * Threads with a pending pthread_cancel(3) in each function of the library: the tree works on, and
 * nothing is lost.  For calls that wait see test-cancel-waits.c.
 */
#include "tests/unit/fixtures/swansong/pair.h"

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
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
	struct swansong_guard clone = swansong_guard_clone(&guard);

	swansong_shut_down(root);
	swansong_guard_drop(&guard);
	swansong_guard_drop(&clone);
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
	swansong_interrupt_set_deadline(i, UINT64_MAX);
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
	must(swansong_loop_event(loop) && swansong_loop_node(loop));
	must(swansong_loop_stop(loop) == 0);
	must(swansong_loop_state(loop) == SWANSONG_LOOP_STOPPED);
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
	must(swansong_pool_node(pool));
	swansong_pool_stop(pool);
	pool = swansong_pool_unref(pool);
}

static void note_result(void *arg, int result)
{
	pthread_testcancel();
	must(result == 0);
	note_call(arg);
}

static void call_offload(void)
{
	const struct swansong_offload o = { .work = test_cancelled,
					    .done = note_result,
					    .release = test_cancelled };

	must(swansong_loop_new(root, &loop) == 0);
	must(swansong_loop_start(loop) == 0);
	must(swansong_pool_new(root, 1, &pool) == 0);
	must(swansong_pool_offload(pool, loop, &o, UINT64_MAX) == 0);
	pool = swansong_pool_unref(pool);
	loop = swansong_loop_unref(loop);
	must(called == 1);
	called = 0;
}

static void call_drain(void)
{
	swansong_guard_drop(&guard);
	must(swansong_drain(child, root, swansong_deadline_in(SOON_USEC)) == 0);
}

static bool next_item(void *arg, void *item)
{
	(void)arg;
	(void)item;
	return true;
}

/* A call that need not wait returns what it has done. */
static void call_transfers(void)
{
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fds[2];

	must(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	must(swansong_interrupt_write(interrupt, fds[1], &byte, 1) == 1);
	must(swansong_interrupt_read(interrupt, fds[0], &byte, 1) == 1);
	must(swansong_interrupt_writev(interrupt, fds[1], &iov, 1) == 1);
	must(swansong_interrupt_readv(interrupt, fds[0], &iov, 1) == 1);
	must(swansong_interrupt_sendmsg(interrupt, fds[1], &m, 0) == 1);
	must(swansong_interrupt_recvmsg(interrupt, fds[0], &m, 0) == 1);
	close_both(fds);
	must(pipe(fds) == 0);
	must(swansong_interrupt_write(interrupt, fds[1], &byte, 1) == 1);
	must(swansong_interrupt_read(interrupt, fds[0], &byte, 1) == 1);
	close_both(fds);
}

static void call_connection(void)
{
	struct sockaddr_storage address;
	struct sockaddr *a = (struct sockaddr *)&address;
	socklen_t length = sizeof(address);
	int fds[2] = { socket(AF_UNIX, SOCK_STREAM, 0), socket(AF_UNIX, SOCK_STREAM, 0) };
	int accepted;

	must(bind(fds[0], &(struct sockaddr){ AF_UNIX }, sizeof(sa_family_t)) == 0);
	must(listen(fds[0], 1) == 0 && getsockname(fds[0], a, &length) == 0);
	must(swansong_interrupt_connect(interrupt, fds[1], a, length) == 0);
	accepted = swansong_interrupt_accept(interrupt, fds[0], NULL, NULL, 0);
	must(accepted >= 0);
	must(swansong_interrupt_next(interrupt, next_item, NULL, NULL));
	close_both((int[]){ accepted, -1 });
	close_both(fds);
}

static void (*const calls[])(void) = {
	call_stop,	 call_last_drop,  call_drop_that_buries,
	call_unrefs,	 call_root_unref, call_news,
	call_notify,	 call_waits,	  call_report,
	call_registry,	 call_advance,	  call_attach,
	call_loop,	 call_post,	  call_pool,
	call_offload,	 call_drain,	  call_transfers,
	call_connection,
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

Suite *test_suite(void)
{
	Suite *suite = suite_create("cancel");
	TCase *points = tcase_create("cancel");

	tcase_add_loop_test(points, no_function_that_does_not_wait_ends_a_cancelled_thread, 0,
			    ARRAY_SIZE(calls));
	tcase_add_test(points, a_handler_on_a_cancelled_thread_stops_the_node);
	suite_add_tcase(suite, points);
	return suite;
}
