#include "tests/unit/fixtures/swansong/pair.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>

#include "base/clock.h"
#include <swansong/swansong.h>

static struct swansong_completion *completion_of(struct swansong *s)
{
	struct swansong_completion *c;

	ck_assert_int_eq(swansong_completion_new(s, &c), 0);
	return c;
}

/* Returns true if the completion has resolved; all ways of asking must agree. */
static bool is_resolved(struct swansong_completion *c)
{
	bool done = swansong_completion_done(c);

	ck_assert_int_eq(swansong_completion_wait(c, 0), done ? 0 : -ETIMEDOUT);
	ck_assert_int_eq(is_readable(swansong_completion_fd(c)), done);
	return done;
}

START_TEST(a_completion_does_not_stop_its_node)
{
	struct swansong_completion *c = completion_of(root);

	ck_assert(!is_resolved(c));
	ck_assert_int_eq(swansong_state(root), SWANSONG_RUNNING);
	swansong_completion_unref(c);
	ck_assert_int_eq(swansong_wait(root, 0), -ETIMEDOUT);
	ck_assert_int_eq(swansong_state(root), SWANSONG_RUNNING);
}
END_TEST

START_TEST(a_completion_resolves_with_the_last_guard_of_the_subtree)
{
	struct swansong_completion *c = completion_of(root);
	struct swansong_guard g = swansong_guard(child);
	struct swansong_guard h = swansong_guard(root);

	swansong_shut_down(root);
	ck_assert(!is_resolved(c));
	swansong_guard_drop(&g);
	ck_assert(!is_resolved(c));
	swansong_guard_drop(&h);
	ck_assert(is_resolved(c));
	swansong_completion_unref(c);
}
END_TEST

START_TEST(a_completion_resolves_by_the_stop_when_nothing_is_guarded)
{
	struct swansong_completion *c = completion_of(child);

	swansong_shut_down(root);
	ck_assert(is_resolved(c));
	swansong_completion_unref(c);
}
END_TEST

START_TEST(a_completion_of_a_complete_node_is_born_resolved)
{
	struct swansong_completion *c;

	swansong_shut_down(root);
	c = completion_of(child);
	ck_assert(is_resolved(c));
	ck_assert_int_eq(swansong_wait(child, 0), 0);
	swansong_completion_unref(c);
}
END_TEST

START_TEST(a_late_guard_delays_unresolved_completions)
{
	struct swansong_guard g = swansong_guard(child);
	struct swansong_completion *c = completion_of(root);
	struct swansong_guard late;

	swansong_shut_down(root);
	late = swansong_guard(child);
	swansong_guard_drop(&g);
	ck_assert(!is_resolved(c));
	swansong_guard_drop(&late);
	ck_assert(is_resolved(c));
	swansong_completion_unref(c);
}
END_TEST

/* No thread has asked the old completion before the late guard: it resolved all the same. */
START_TEST(a_late_guard_does_not_change_resolved_completions)
{
	struct swansong_completion *old = completion_of(root), *new;
	struct swansong_guard late;

	swansong_shut_down(root);
	late = swansong_guard(child);
	new = completion_of(root);
	ck_assert(is_resolved(old));
	ck_assert(!is_resolved(new));
	ck_assert_int_eq(swansong_wait(root, 0), -ETIMEDOUT);
	swansong_guard_drop(&late);
	ck_assert(is_resolved(new));
	late = swansong_guard(child);
	ck_assert(is_resolved(old));
	ck_assert(is_resolved(new));
	swansong_guard_drop(&late);
	swansong_completion_unref(old);
	swansong_completion_unref(new);
}
END_TEST

START_TEST(a_completion_is_not_a_reference_to_the_root)
{
	struct swansong_completion *c = completion_of(root);

	root = swansong_unref(root);
	ck_assert_int_eq(swansong_completion_wait(c, USEC_INFINITY), 0);
	swansong_completion_unref(c);
}
END_TEST

START_TEST(a_completion_keeps_the_state_of_a_nameless_node)
{
	struct swansong_completion *c = completion_of(child);
	struct swansong_guard g = swansong_guard(child);

	child = swansong_unref(child);
	swansong_guard_drop(&g);
	ck_assert(!is_resolved(c));
	swansong_shut_down(root);
	ck_assert(is_resolved(c));
	root = swansong_unref(root);
	ck_assert(is_resolved(c));
	swansong_completion_unref(c);
}
END_TEST

START_TEST(a_wait_ends_at_its_deadline)
{
	struct swansong_guard g = swansong_guard(child);
	uint64_t deadline;

	swansong_shut_down(root);
	deadline = clock_now_usec() + 20 * USEC_PER_MSEC;
	ck_assert_int_eq(swansong_wait(root, deadline), -ETIMEDOUT);
	ck_assert_uint_ge(clock_now_usec(), deadline);
	swansong_guard_drop(&g);
	ck_assert_int_eq(swansong_wait(root, deadline), 0);
}
END_TEST

START_TEST(the_descriptor_is_the_same_each_time_and_one_for_each_completion)
{
	struct swansong_completion *c = completion_of(root), *d = completion_of(root);

	ck_assert_int_eq(swansong_completion_fd(c), swansong_completion_fd(c));
	ck_assert_int_ne(swansong_completion_fd(c), swansong_completion_fd(d));
	swansong_completion_unref(c);
	swansong_completion_unref(d);
	ck_assert_ptr_null(swansong_completion_unref(NULL));
}
END_TEST

struct call {
	unsigned int count;
	pthread_t thread;
	struct swansong *node;
	struct swansong_completion *completion;
};

static void on_complete(void *arg)
{
	struct call *call = arg;

	call->count++;
	call->thread = pthread_self();
}

START_TEST(the_function_is_called_once_by_the_thread_that_completes)
{
	struct swansong_completion *c = completion_of(root);
	struct swansong_guard g = swansong_guard(child);
	struct call call = { 0 };

	ck_assert_int_eq(swansong_completion_notify(c, on_complete, &call), 0);
	ck_assert_int_eq(swansong_completion_notify(c, on_complete, &call), -EALREADY);
	swansong_shut_down(root);
	ck_assert_uint_eq(call.count, 0);
	swansong_guard_drop(&g);
	ck_assert_uint_eq(call.count, 1);
	ck_assert(pthread_equal(call.thread, pthread_self()));

	g = swansong_guard(child);
	swansong_guard_drop(&g);
	swansong_shut_down(root);
	swansong_completion_unref(c);
	ck_assert_uint_eq(call.count, 1);
}
END_TEST

START_TEST(the_function_is_called_by_the_stop_when_nothing_is_guarded)
{
	struct swansong_completion *c = completion_of(child);
	struct call call = { 0 };

	ck_assert_int_eq(swansong_completion_notify(c, on_complete, &call), 0);
	swansong_shut_down(root);
	ck_assert_uint_eq(call.count, 1);
	swansong_completion_unref(c);
}
END_TEST

START_TEST(the_function_is_called_at_once_when_already_complete)
{
	struct swansong_completion *c;
	struct call call = { 0 };

	swansong_shut_down(root);
	c = completion_of(root);
	ck_assert_int_eq(swansong_completion_notify(c, on_complete, &call), 0);
	ck_assert_uint_eq(call.count, 1);
	ck_assert_int_eq(swansong_completion_notify(c, on_complete, &call), -EALREADY);
	swansong_completion_unref(c);
	ck_assert_uint_eq(call.count, 1);
}
END_TEST

START_TEST(a_dropped_completion_calls_no_function)
{
	struct swansong_completion *c = completion_of(root);
	struct call call = { 0 };

	ck_assert_int_eq(swansong_completion_notify(c, on_complete, &call), 0);
	swansong_completion_unref(c);
	swansong_shut_down(root);
	ck_assert_uint_eq(call.count, 0);
}
END_TEST

/* Calls every function that takes a lock, from inside of the completion's function. */
static void on_complete_use_all(void *arg)
{
	struct call *call = arg;
	struct swansong_completion *other;
	struct swansong_guard g;
	struct swansong *s;

	call->count++;
	ck_assert(swansong_completion_done(call->completion));
	swansong_shut_down(call->node);
	ck_assert_int_eq(swansong_child(call->node, &s), 0);
	g = swansong_guard(s);
	s = swansong_unref(s);
	ck_assert_uint_eq(swansong_guard_count(call->node), 1);
	ck_assert_int_eq(swansong_completion_new(call->node, &other), 0);
	swansong_guard_drop(&g);
	ck_assert_int_eq(swansong_completion_wait(other, USEC_INFINITY), 0);
	swansong_completion_unref(other);
	ck_assert_int_eq(swansong_wait(call->node, USEC_INFINITY), 0);
	call->completion = swansong_completion_unref(call->completion);
	call->node = swansong_unref(call->node);
}

START_TEST(the_function_may_use_the_library_and_drop_everything)
{
	struct call call = { .node = root, .completion = completion_of(root) };
	struct swansong_guard g = swansong_guard(child);

	ck_assert_int_eq(swansong_completion_notify(call.completion, on_complete_use_all, &call),
			 0);
	swansong_shut_down(root);
	child = swansong_unref(child);
	root = NULL;
	swansong_guard_drop(&g);
	ck_assert_uint_eq(call.count, 1);
	ck_assert_ptr_null(call.node);
}
END_TEST

/* A child is complete, and its function is called, before its parent. */
static struct swansong_completion *order[2];

static void on_complete_look_up(void *arg)
{
	unsigned int *seen = arg;

	*seen = *seen * 10 + (swansong_completion_done(order[0]) ? 1 : 0) +
		(swansong_completion_done(order[1]) ? 2 : 0);
}

START_TEST(functions_run_when_all_levels_are_counted_children_first)
{
	struct swansong_guard g = swansong_guard(child);
	struct call calls[2] = { 0 };
	unsigned int seen = 0;

	order[0] = completion_of(root);
	order[1] = completion_of(child);
	ck_assert_int_eq(swansong_completion_notify(order[0], on_complete, &calls[0]), 0);
	ck_assert_int_eq(swansong_completion_notify(order[1], on_complete_look_up, &seen), 0);
	swansong_shut_down(root);
	swansong_guard_drop(&g);
	ck_assert_uint_eq(seen, 3);
	ck_assert_uint_eq(calls[0].count, 1);
	swansong_completion_unref(order[0]);
	swansong_completion_unref(order[1]);
}
END_TEST

/* ---- with threads ---- */

struct slow_call {
	sem_t entered, leave;
	bool returned;
};

static void on_complete_slowly(void *arg)
{
	struct slow_call *call = arg;

	sem_post(&call->entered);
	sem_wait(&call->leave);
	call->returned = true;
}

static void *stop_root(void *arg)
{
	swansong_shut_down(arg);
	return NULL;
}

static void *let_leave(void *arg)
{
	struct slow_call *call = arg;

	sem_post(&call->leave);
	return NULL;
}

START_TEST(dropping_a_completion_waits_for_its_running_function)
{
	struct swansong_completion *c = completion_of(root);
	struct slow_call call = { .returned = false };
	pthread_t stopper, releaser;

	sem_init(&call.entered, 0, 0);
	sem_init(&call.leave, 0, 0);
	ck_assert_int_eq(swansong_completion_notify(c, on_complete_slowly, &call), 0);
	pthread_create(&stopper, NULL, stop_root, root);
	sem_wait(&call.entered);
	pthread_create(&releaser, NULL, let_leave, &call);
	swansong_completion_unref(c);
	ck_assert(call.returned);
	pthread_join(stopper, NULL);
	pthread_join(releaser, NULL);
	sem_destroy(&call.entered);
	sem_destroy(&call.leave);
}
END_TEST

struct worker {
	pthread_t thread;
	struct swansong_guard guard;
	struct swansong *stop; /* if not NULL, wait for its stop before dropping */
	unsigned int work;     /* plain: only ordered by the guard */
};

static void *work_and_drop(void *arg)
{
	struct worker *w = arg;

	w->work++;
	if (w->stop)
		(void)swansong_stopped_wait(w->stop, USEC_INFINITY);
	swansong_guard_drop(&w->guard);
	return NULL;
}

/* By each way of asking: work done under guards is seen, dropped before the stop or after. */
START_TEST(a_thread_that_sees_completion_sees_the_work)
{
	struct worker workers[4] = { 0 };
	struct swansong_completion *c = completion_of(root);

	for (unsigned int i = 0; i < 4; i++) {
		workers[i].guard = swansong_guard(i % 2 ? child : root);
		workers[i].stop = i < 2 ? root : NULL;
	}
	for (unsigned int i = 0; i < 4; i++)
		pthread_create(&workers[i].thread, NULL, work_and_drop, &workers[i]);
	swansong_shut_down(root);
	switch (_i) {
	case 0:
		ck_assert_int_eq(swansong_wait(root, USEC_INFINITY), 0);
		break;
	case 1:
		ck_assert_int_eq(swansong_completion_wait(c, USEC_INFINITY), 0);
		break;
	case 2:
		while (!swansong_completion_done(c))
			sched_yield();
		break;
	case 3:
		while (swansong_state(root) != SWANSONG_COMPLETE)
			sched_yield();
		break;
	case 4: {
		struct pollfd p = { .fd = swansong_completion_fd(c), .events = POLLIN };

		ck_assert_int_eq(poll(&p, 1, -1), 1);
		ck_assert(swansong_completion_done(c));
		break;
	}
	}
	for (unsigned int i = 0; i < 4; i++)
		ck_assert_uint_eq(workers[i].work, 1);
	for (unsigned int i = 0; i < 4; i++)
		pthread_join(workers[i].thread, NULL);
	swansong_completion_unref(c);
}
END_TEST

static void *wait_for_ever(void *arg)
{
	return swansong_wait(arg, USEC_INFINITY) == 0 ? arg : NULL;
}

START_TEST(any_number_of_threads_may_wait)
{
	struct swansong_guard g = swansong_guard(child);
	pthread_t waiters[8];

	for (unsigned int i = 0; i < 8; i++)
		pthread_create(&waiters[i], NULL, wait_for_ever, i % 2 ? root : child);
	swansong_shut_down(root);
	swansong_guard_drop(&g);
	for (unsigned int i = 0; i < 8; i++) {
		void *result;

		pthread_join(waiters[i], &result);
		ck_assert_ptr_nonnull(result);
	}
}
END_TEST

/* The node of the work is below the node whose stop cuts it. */
START_TEST(a_drain_cuts_only_work_that_is_late)
{
	struct swansong_guard g = swansong_guard(child);

	ck_assert_int_eq(swansong_drain(child, root, swansong_deadline_in(1000)), -ETIMEDOUT);
	ck_assert_int_eq(swansong_state(root), SWANSONG_SHUTTING_DOWN);
	swansong_guard_drop(&g);
	ck_assert_int_eq(swansong_drain(child, root, 0), 0);
	ck_assert_int_eq(swansong_state(root), SWANSONG_COMPLETE);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("swansong-completion");
	TCase *tc = tcase_create("completion");

	tcase_add_checked_fixture(tc, make_pair, drop_pair);
	tcase_add_test(tc, a_completion_does_not_stop_its_node);
	tcase_add_test(tc, a_completion_resolves_with_the_last_guard_of_the_subtree);
	tcase_add_test(tc, a_completion_resolves_by_the_stop_when_nothing_is_guarded);
	tcase_add_test(tc, a_completion_of_a_complete_node_is_born_resolved);
	tcase_add_test(tc, a_late_guard_delays_unresolved_completions);
	tcase_add_test(tc, a_late_guard_does_not_change_resolved_completions);
	tcase_add_test(tc, a_completion_is_not_a_reference_to_the_root);
	tcase_add_test(tc, a_completion_keeps_the_state_of_a_nameless_node);
	tcase_add_test(tc, a_wait_ends_at_its_deadline);
	tcase_add_test(tc, the_descriptor_is_the_same_each_time_and_one_for_each_completion);
	tcase_add_test(tc, the_function_is_called_once_by_the_thread_that_completes);
	tcase_add_test(tc, the_function_is_called_by_the_stop_when_nothing_is_guarded);
	tcase_add_test(tc, the_function_is_called_at_once_when_already_complete);
	tcase_add_test(tc, a_dropped_completion_calls_no_function);
	tcase_add_test(tc, the_function_may_use_the_library_and_drop_everything);
	tcase_add_test(tc, functions_run_when_all_levels_are_counted_children_first);
	tcase_add_test(tc, dropping_a_completion_waits_for_its_running_function);
	tcase_add_loop_test(tc, a_thread_that_sees_completion_sees_the_work, 0, 5);
	tcase_add_test(tc, a_drain_cuts_only_work_that_is_late);
	tcase_add_test(tc, any_number_of_threads_may_wait);
	suite_add_tcase(suite, tc);
	return suite;
}
