/*
 * The installed library as a user meets it: the umbrella header and the shared object.  Every
 * export is called once; tests/lint/symbols.sh compares the exports.
 */
#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <swansong/swansong.h>

static void count_call(void *arg)
{
	(*(unsigned int *)arg)++;
}

START_TEST(the_life_of_a_program)
{
	__attribute__((cleanup(swansong_unrefp))) struct swansong *root = NULL;
	__attribute__((cleanup(swansong_unrefp))) struct swansong *connection = NULL;
	__attribute__((cleanup(swansong_completion_unrefp))) struct swansong_completion *end = NULL;
	__attribute__((cleanup(swansong_interrupt_unrefp))) struct swansong_interrupt *stop = NULL;
	struct swansong_guard request, reply;
	unsigned int calls = 0, stops = 0;

	ck_assert_int_eq(swansong_new(&root), 0);
	ck_assert_int_eq(swansong_child(root, &connection), 0);
	ck_assert_int_eq(swansong_completion_new(root, &end), 0);
	ck_assert_int_eq(swansong_completion_notify(end, count_call, &calls), 0);
	ck_assert_int_eq(swansong_interrupt_new(connection, &stop), 0);
	ck_assert(!swansong_interrupted(stop));

	request = swansong_guard(connection);
	reply = swansong_guard_clone(&request);
	ck_assert_uint_eq(swansong_guard_count(root), 2);
	ck_assert_int_eq(swansong_state(root), SWANSONG_RUNNING);
	ck_assert(swansong_state_is_running(swansong_state(root)));

	swansong_shut_down(root);
	ck_assert(swansong_interrupted(stop));
	ck_assert_int_eq(swansong_interrupt_wait(stop, UINT64_MAX), 0);
	ck_assert_int_eq(swansong_interrupt_notify(stop, count_call, &stops), 0);
	ck_assert_uint_eq(stops, 1);
	ck_assert_int_eq(swansong_stopped_wait(connection, UINT64_MAX), 0);
	ck_assert_int_eq(swansong_state(root), SWANSONG_SHUTTING_DOWN);
	ck_assert(swansong_state_is_shutting_down(swansong_state(root)));
	ck_assert(!swansong_state_is_running(swansong_state(root)));
	ck_assert(!swansong_state_is_complete(swansong_state(root)));
	ck_assert(!swansong_completion_done(end));

	swansong_guard_drop(&request);
	swansong_guard_drop(&reply);
	ck_assert_int_eq(swansong_completion_wait(end, UINT64_MAX), 0);
	ck_assert_int_eq(swansong_wait(root, UINT64_MAX), 0);
	ck_assert(swansong_state_is_complete(swansong_state(root)));
	ck_assert_uint_eq(calls, 1);
}
END_TEST

START_TEST(the_version_is_that_of_the_package)
{
	char numbers[64];

	(void)snprintf(numbers, sizeof(numbers), "%d.%d.%d", SWANSONG_VERSION_MAJOR,
		       SWANSONG_VERSION_MINOR, SWANSONG_VERSION_MICRO);
	ck_assert_str_eq(SWANSONG_VERSION, PACKAGE_VERSION);
	ck_assert_str_eq(SWANSONG_VERSION, numbers);
#if !SWANSONG_VERSION_CHECK(0, 0, 99) || SWANSONG_VERSION_CHECK(1000, 0, 0)
	ck_abort_msg("#if compares otherwise");
#endif
	for (int part = -1; part <= 1; part++) {
		ck_assert(SWANSONG_VERSION_CHECK(SWANSONG_VERSION_MAJOR + part,
						 SWANSONG_VERSION_MINOR,
						 SWANSONG_VERSION_MICRO) == (part <= 0));
		ck_assert(SWANSONG_VERSION_CHECK(SWANSONG_VERSION_MAJOR,
						 SWANSONG_VERSION_MINOR + part,
						 SWANSONG_VERSION_MICRO) == (part <= 0));
		ck_assert(SWANSONG_VERSION_CHECK(SWANSONG_VERSION_MAJOR, SWANSONG_VERSION_MINOR,
						 SWANSONG_VERSION_MICRO + part) == (part <= 0));
	}
}
END_TEST

START_TEST(every_descriptor_becomes_readable)
{
	struct swansong *root = NULL, *same;
	struct swansong_completion *end = NULL;
	struct swansong_interrupt *stop = NULL;
	struct pollfd fds[3];

	ck_assert_int_eq(swansong_new(&root), 0);
	same = swansong_ref(root);
	ck_assert_int_eq(swansong_completion_new(root, &end), 0);
	ck_assert_int_eq(swansong_interrupt_new(root, &stop), 0);
	fds[0] = (struct pollfd){ .fd = swansong_completion_fd(end), .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = swansong_interrupt_fd(stop), .events = POLLIN };
	fds[2] = (struct pollfd){ .fd = swansong_stopped_fd(root), .events = POLLIN };
	ck_assert_int_eq(poll(fds, 3, 0), 0);
	swansong_shut_down(root);
	ck_assert_int_eq(poll(fds, 3, -1), 3);
	root = swansong_unref(root);
	same = swansong_unref(same);
	end = swansong_completion_unref(end);
	stop = swansong_interrupt_unref(stop);
}
END_TEST

static bool count_down(void *arg, void *item)
{
	*(int *)item = *(int *)arg;
	return (*(int *)arg)-- > 0;
}

START_TEST(every_call_ends_with_the_stop)
{
	__attribute__((cleanup(swansong_unrefp))) struct swansong *root = NULL;
	__attribute__((cleanup(swansong_interrupt_unrefp))) struct swansong_interrupt *stop = NULL;
	struct swansong_guarded guarded;
	char data[] = "ab", copy[2];
	struct iovec iov = { .iov_base = data, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fds[2], left = 1, item;
	struct pollfd p;

	ck_assert_int_eq(swansong_new(&root), 0);
	ck_assert_int_eq(swansong_interrupt_new_guarded(root, &stop), 0);
	guarded = swansong_guarded(root, data, NULL);
	ck_assert_uint_eq(swansong_guard_count(root), 2);
	ck_assert_ptr_eq(swansong_guarded_take(&guarded), data);
	ck_assert_int_eq(pipe(fds), 0);
	p = (struct pollfd){ .fd = fds[0], .events = POLLIN };
	ck_assert_int_eq(swansong_interrupt_writev(stop, fds[1], &iov, 1), 1);
	ck_assert_int_eq(swansong_interrupt_write(stop, fds[1], data + 1, 1), 1);
	ck_assert_int_eq(swansong_interrupt_poll(stop, &p, 1, UINT64_MAX), 1);
	ck_assert_int_eq(swansong_interrupt_read(stop, fds[0], copy, 1), 1);
	ck_assert_int_eq(swansong_interrupt_readv(stop, fds[0], &iov, 1), 1);
	swansong_interrupt_set_deadline(stop, swansong_deadline_in(0));
	ck_assert_int_eq(swansong_interrupt_connect(stop, fds[0], NULL, 0), -ENOTSOCK);
	ck_assert_int_eq(swansong_interrupt_sendmsg(stop, fds[1], &message, 0), -ENOTSOCK);
	ck_assert_int_eq(swansong_interrupt_recvmsg(stop, fds[0], &message, 0), -ENOTSOCK);
	ck_assert(swansong_interrupt_sleep(stop, 0));
	ck_assert(swansong_interrupt_next(stop, count_down, &left, &item));

	ck_assert_int_eq(swansong_drain(root, root, 0), -ETIMEDOUT);
	ck_assert_int_eq(swansong_interrupt_writev(stop, fds[1], &iov, 1), 0);
	ck_assert_int_eq(swansong_interrupt_write(stop, fds[1], data, 1), 0);
	ck_assert_int_eq(swansong_interrupt_poll(stop, &p, 1, UINT64_MAX), 0);
	ck_assert_int_eq(swansong_interrupt_read(stop, fds[0], copy, 1), 0);
	ck_assert_int_eq(swansong_interrupt_readv(stop, fds[0], &iov, 1), 0);
	ck_assert_int_eq(swansong_interrupt_accept(stop, fds[0], NULL, NULL, 0), -ESHUTDOWN);
	ck_assert(!swansong_interrupt_sleep(stop, UINT64_MAX));
	ck_assert(!swansong_interrupt_next(stop, count_down, &left, &item));
	ck_assert_int_eq(swansong_state(root), SWANSONG_SHUTTING_DOWN);
	close(fds[0]);
	close(fds[1]);
}
END_TEST

static int add_one(void *arg)
{
	(*(unsigned int *)arg)++;
	return 0;
}

static int join_late(void *arg, uint64_t deadline)
{
	return add_one(arg) < 0 || deadline == 0 ? -ETIMEDOUT : 0;
}

static void add_error(void *arg, enum swansong_registry_step step, const char *name, int error)
{
	if (step == SWANSONG_REGISTRY_JOIN && *name == 'w' && error == -ETIMEDOUT)
		(void)add_one(arg);
}

START_TEST(the_end_of_a_program)
{
	__attribute__((cleanup(swansong_registry_unrefp))) struct swansong_registry *r = NULL;
	unsigned int calls = 0;
	uint64_t again;
	struct swansong_worker worker = {
		.name = "worker",
		.arg = &calls,
		.notify = add_one,
		.join = join_late,
	};

	ck_assert_int_eq(swansong_registry_new(&r), 0);
	ck_assert_int_eq(swansong_registry_add_worker(r, &worker), 0);
	ck_assert_int_eq(swansong_registry_add_action(r, "action", add_one, &calls), 0);
	ck_assert_int_eq(swansong_registry_execute(r, 0, add_error, &calls), 1);
	ck_assert_uint_eq(calls, 4);
	ck_assert_int_eq(swansong_registry_execute(r, 0, add_error, &calls), -EALREADY);
	ck_assert_int_eq(swansong_registry_advance(r, 0, &again, add_error, &calls), -EALREADY);
	r = swansong_registry_unref(r);
}
END_TEST

static void call_done(void *arg, int result)
{
	ck_assert_int_eq(result, 0);
	count_call(arg);
}

START_TEST(loop_and_pool_run_all_their_work)
{
	__attribute__((cleanup(swansong_unrefp))) struct swansong *root = NULL;
	__attribute__((cleanup(swansong_loop_unrefp))) struct swansong_loop *loop = NULL;
	__attribute__((cleanup(swansong_pool_unrefp))) struct swansong_pool *pool = NULL;
	unsigned int posts = 0, jobs = 0, works = 0;
	struct swansong_offload offload = {
		.work = count_call,
		.done = call_done,
		.release = count_call,
		.arg = &works,
	};

	ck_assert_int_eq(swansong_new(&root), 0);
	ck_assert_int_eq(swansong_loop_new(root, &loop), 0);
	ck_assert_int_eq(swansong_pool_new(root, 1, &pool), 0);
	ck_assert_int_eq(swansong_percpu_enable(swansong_pool_node(pool)), 0);
	ck_assert_ptr_nonnull(swansong_loop_event(loop));
	ck_assert_int_eq(swansong_loop_start(loop), 0);
	ck_assert_int_eq(swansong_loop_post(loop, count_call, &posts), 0);
	ck_assert_int_eq(swansong_pool_submit(pool, count_call, &jobs), 0);
	ck_assert_int_eq(swansong_pool_offload(pool, loop, &offload, UINT64_MAX), 0);
	ck_assert_int_eq(swansong_pool_wait_idle(pool, UINT64_MAX), 0);

	swansong_shut_down(root);
	ck_assert_int_eq(swansong_wait(root, UINT64_MAX), 0);
	swansong_pool_stop(pool);
	ck_assert_int_eq(swansong_loop_stop(loop), 0);
	ck_assert_int_eq(swansong_loop_state(loop), SWANSONG_LOOP_STOPPED);
	ck_assert_int_eq(swansong_state(swansong_loop_node(loop)), SWANSONG_COMPLETE);
	ck_assert_int_eq(swansong_state(swansong_pool_node(pool)), SWANSONG_COMPLETE);
	ck_assert_uint_eq(posts, 1);
	ck_assert_uint_eq(jobs, 1);
	ck_assert_uint_eq(works, 3);
}
END_TEST

START_TEST(the_guards_of_a_program)
{
	__attribute__((cleanup(swansong_unrefp))) struct swansong *root = NULL;
	__attribute__((cleanup(swansong_report_freep))) struct swansong_report *report = NULL;
	struct swansong_guard guard;
	char *text;

	ck_assert_int_eq(swansong_new(&root), 0);
	ck_assert_int_eq(swansong_report_enable(root), 0);
	guard = swansong_guard(root);
	ck_assert_int_eq(swansong_report(root, &report), 0);
	ck_assert_uint_eq(report->n, 1);
	ck_assert_str_eq(report->sites[0].function, __func__);
	ck_assert_int_eq(swansong_report_text(report, &text), 0);
	ck_assert_int_eq(strncmp(text, "1 outstanding guard: 1 x ", 25), 0);
	report = swansong_report_free(report);
	free(text);
	swansong_guard_drop(&guard);
}
END_TEST

/* Other languages call these functions; C inlines them, and both make the same guards. */
START_TEST(guards_are_functions_of_the_library_too)
{
	__typeof__(&swansong_guard_at) volatile at = swansong_guard_at;
	__typeof__(&swansong_guard_clone_at) volatile clone_at = swansong_guard_clone_at;
	__typeof__(&swansong_guard_drop) volatile drop = swansong_guard_drop;
	struct swansong *root;
	struct swansong_guard called, cloned, inlined;

	ck_assert_int_eq(swansong_new(&root), 0);
	for (unsigned int turn = 0; turn < 2; turn++) {
		called = at(root, "here", 7, "there");
		ck_assert_str_eq(called.file, "here");
		ck_assert_str_eq(called.function, "there");
		ck_assert_uint_eq(called.line, 7);
		cloned = clone_at(&called, "here", 8, "there");
		inlined = swansong_guard(root);
		ck_assert_uint_eq(swansong_guard_count(root), 3);
		drop(&inlined);
		drop(&inlined);
		swansong_guard_drop(&called);
		ck_assert_uint_eq(swansong_guard_count(root), 1);
		swansong_guard_drop(&cloned);
		ck_assert_uint_eq(swansong_guard_count(root), 0);
		swansong_shut_down(root); /* for the next turn */
	}
	ck_assert_int_eq(swansong_state(root), SWANSONG_COMPLETE);
	cloned = clone_at(&called, "here", 9, "there");
	ck_assert_ptr_null(cloned.node);
	root = swansong_unref(root);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("api");
	TCase *tc = tcase_create("api");

	tcase_add_test(tc, the_life_of_a_program);
	tcase_add_test(tc, every_descriptor_becomes_readable);
	tcase_add_test(tc, every_call_ends_with_the_stop);
	tcase_add_test(tc, the_end_of_a_program);
	tcase_add_test(tc, loop_and_pool_run_all_their_work);
	tcase_add_test(tc, the_guards_of_a_program);
	tcase_add_test(tc, guards_are_functions_of_the_library_too);
	tcase_add_test(tc, the_version_is_that_of_the_package);
	suite_add_tcase(suite, tc);
	return suite;
}
