#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include <swansong/swansong.h>

static struct swansong_registry *registry;

/* The calls, in order: "n:web j:web a:log", and errors as "!j:web-110". */
static char story[512];

static void tell(char what, const char *name, int error)
{
	size_t length = strlen(story);

	if (error)
		(void)snprintf(story + length, sizeof(story) - length, "!%c:%s%d ", what, name,
			       error);
	else
		(void)snprintf(story + length, sizeof(story) - length, "%c:%s ", what, name);
}

#define ck_assert_story(text) ck_assert_str_eq(story, text)

struct part {
	const char *name;
	int notify, join, act; /* results */
	uint64_t deadline;     /* of the join */
};

static int part_notify(void *arg)
{
	struct part *part = arg;

	tell('n', part->name, 0);
	return part->notify;
}

static int part_join(void *arg, uint64_t deadline)
{
	struct part *part = arg;

	tell('j', part->name, 0);
	part->deadline = deadline;
	return part->join;
}

static int part_act(void *arg)
{
	struct part *part = arg;

	tell('a', part->name, 0);
	return part->act;
}

static void on_error(void *arg, enum swansong_registry_step step, const char *name, int error)
{
	ck_assert_ptr_eq(arg, &registry);
	tell("nja"[step], name, error);
}

static int execute(uint64_t deadline)
{
	return swansong_registry_execute(registry, deadline, on_error, &registry);
}

static void add(struct part *part, uint64_t timeout)
{
	struct swansong_worker worker = {
		.name = part->name,
		.arg = part,
		.notify = part_notify,
		.join = part_join,
		.timeout = timeout,
	};

	ck_assert_int_eq(swansong_registry_add_worker(registry, &worker), 0);
}

static void make_registry(void)
{
	ck_assert_int_eq(swansong_registry_new(&registry), 0);
	story[0] = '\0';
}

static void drop_registry(void)
{
	registry = swansong_registry_unref(registry);
}

START_TEST(each_step_is_done_for_all_last_registered_first)
{
	struct part a = { .name = "a" }, b = { .name = "b" }, c = { .name = "c" };

	add(&a, 0);
	ck_assert_int_eq(swansong_registry_add_action(registry, "a", part_act, &a), 0);
	add(&b, 0);
	add(&c, 0);
	ck_assert_int_eq(swansong_registry_add_action(registry, "b", part_act, &b), 0);
	ck_assert_int_eq(execute(UINT64_MAX), 0);
	ck_assert_story("n:c n:b n:a j:c j:b j:a a:b a:a ");
}
END_TEST

START_TEST(a_function_that_fails_is_reported_by_name_and_stops_nothing)
{
	struct part a = { .name = "a", .notify = -EPIPE };
	struct part b = { .name = "b", .join = -ECHILD, .act = -EIO };

	add(&a, 0);
	add(&b, 0);
	ck_assert_int_eq(swansong_registry_add_action(registry, "a", part_act, &a), 0);
	ck_assert_int_eq(swansong_registry_add_action(registry, "b", part_act, &b), 0);
	ck_assert_int_eq(execute(UINT64_MAX), 3);
	ck_assert_story("n:b n:a !n:a-32 j:b !j:b-10 j:a a:b !a:b-5 a:a ");
}
END_TEST

START_TEST(the_function_for_errors_may_be_left_out)
{
	struct part a = { .name = "a", .notify = -EPIPE, .join = -ETIMEDOUT };

	add(&a, 0);
	ck_assert_int_eq(swansong_registry_execute(registry, 0, NULL, NULL), 2);
	ck_assert_story("n:a j:a ");
}
END_TEST

START_TEST(a_late_worker_is_named_and_passed_over)
{
	struct part a = { .name = "a" }, b = { .name = "b", .join = -ETIMEDOUT };

	ck_assert_int_eq(swansong_registry_add_action(registry, "a", part_act, &a), 0);
	add(&a, 0);
	add(&b, 0);
	ck_assert_int_eq(execute(1000), 1);
	ck_assert_story("n:b n:a j:b !j:b-110 j:a a:a ");
}
END_TEST

START_TEST(a_worker_has_until_the_deadline_or_its_own_if_that_is_earlier)
{
	struct part none = { .name = "none" }, own = { .name = "own" }, more = { .name = "more" };
	uint64_t before, after, deadline;

	add(&none, 0);
	add(&own, USEC_PER_SEC);
	add(&more, USEC_INFINITY);
	before = clock_now_usec();
	deadline = _i ? USEC_INFINITY : before + 100 * USEC_PER_SEC;
	ck_assert_int_eq(execute(deadline), 0);
	after = clock_now_usec();
	ck_assert_uint_eq(none.deadline, deadline);
	ck_assert_uint_eq(more.deadline, deadline);
	ck_assert_uint_ge(own.deadline, before + USEC_PER_SEC);
	ck_assert_uint_le(own.deadline, after + USEC_PER_SEC);
}
END_TEST

START_TEST(functions_that_are_left_out_are_not_called)
{
	struct swansong_worker idle = { .name = "idle" };

	ck_assert_int_eq(swansong_registry_add_worker(registry, &idle), 0);
	ck_assert_int_eq(execute(0), 0);
	ck_assert_story("");
}
END_TEST

START_TEST(nothing_is_registered_without_a_name_or_a_function)
{
	struct swansong_worker nameless = { .notify = part_notify };

	ck_assert_int_eq(swansong_registry_add_worker(registry, &nameless), -EINVAL);
	ck_assert_int_eq(swansong_registry_add_action(registry, NULL, part_act, NULL), -EINVAL);
	ck_assert_int_eq(swansong_registry_add_action(registry, "a", NULL, NULL), -EINVAL);
	ck_assert_int_eq(execute(0), 0);
}
END_TEST

START_TEST(names_are_copied)
{
	char name[] = "before";
	struct part a = { .name = name, .join = -EIO };

	add(&a, 0);
	strcpy(name, "after");
	ck_assert_int_eq(execute(0), 1);
	ck_assert_story("n:after j:after !j:before-5 ");
}
END_TEST

START_TEST(a_registry_is_executed_once_and_takes_nothing_more)
{
	struct part a = { .name = "a" };
	struct swansong_worker late = { .name = "late", .notify = part_notify, .arg = &a };

	ck_assert_int_eq(execute(0), 0);
	ck_assert_int_eq(swansong_registry_add_worker(registry, &late), -EALREADY);
	ck_assert_int_eq(swansong_registry_add_action(registry, "late", part_act, &a), -EALREADY);
	ck_assert_int_eq(execute(0), -EALREADY);
	ck_assert_story("");
}
END_TEST

START_TEST(a_dropped_registry_does_nothing)
{
	struct part a = { .name = "a" };

	add(&a, 0);
	ck_assert_int_eq(swansong_registry_add_action(registry, "a", part_act, &a), 0);
	drop_registry();
	ck_assert_story("");
	ck_assert_ptr_null(swansong_registry_unref(NULL));
}
END_TEST

static int use_the_registry(void *arg)
{
	struct part *part = arg;

	ck_assert_int_eq(swansong_registry_add_action(registry, "late", part_act, part), -EALREADY);
	ck_assert_int_eq(execute(0), -EALREADY);
	return 0;
}

START_TEST(a_function_may_use_the_registry_and_is_refused)
{
	struct part a = { .name = "a" };
	struct swansong_worker worker = { .name = "w", .notify = use_the_registry, .arg = &a };

	ck_assert_int_eq(swansong_registry_add_worker(registry, &worker), 0);
	ck_assert_int_eq(swansong_registry_add_action(registry, "a", use_the_registry, &a), 0);
	ck_assert_int_eq(execute(0), 0);
	ck_assert_story("");
}
END_TEST

/* ---- with a node as the worker, and with threads ---- */

static int stop_node(void *arg)
{
	swansong_shut_down(arg);
	return 0;
}

static int wait_node(void *arg, uint64_t deadline)
{
	return swansong_wait(arg, deadline);
}

START_TEST(a_node_makes_a_worker)
{
	struct swansong *node;
	struct swansong_guard guard;
	struct swansong_worker worker = {
		.name = "node",
		.notify = stop_node,
		.join = wait_node,
		.timeout = 1000,
	};

	ck_assert_int_eq(swansong_new(&node), 0);
	worker.arg = node;
	guard = swansong_guard(node);
	ck_assert_int_eq(swansong_registry_add_worker(registry, &worker), 0);
	if (_i)
		swansong_guard_drop(&guard);
	ck_assert_int_eq(execute(UINT64_MAX), !_i);
	ck_assert_story(_i ? "" : "!j:node-110 ");
	swansong_guard_drop(&guard);
	swansong_unref(node);
}
END_TEST

static _Atomic int added, acted, executed;

static int count_act(void *arg)
{
	atomic_fetch_add((_Atomic int *)arg, 1);
	return 0;
}

static void *add_and_execute(void *arg)
{
	(void)arg;
	for (int i = 0; i < 10; i++)
		if (swansong_registry_add_action(registry, "x", count_act, &acted) == 0)
			atomic_fetch_add(&added, 1);
	if (execute(0) == 0)
		atomic_fetch_add(&executed, 1);
	return NULL;
}

START_TEST(of_many_threads_one_executes_and_each_accepted_entry_runs_once)
{
	for (int round = 0; round < 200; round++) {
		pthread_t thread[4];

		added = acted = executed = 0;
		for (int i = 0; i < 4; i++)
			pthread_create(&thread[i], NULL, add_and_execute, NULL);
		for (int i = 0; i < 4; i++)
			pthread_join(thread[i], NULL);
		ck_assert_int_eq(executed, 1);
		ck_assert_int_eq(added, acted);
		drop_registry();
		make_registry();
	}
}
END_TEST

/* ---- for an event loop ---- */

static int advance(uint64_t deadline, uint64_t *again)
{
	return swansong_registry_advance(registry, deadline, again, on_error, &registry);
}

START_TEST(an_execution_advances_as_its_workers_end)
{
	struct part a = { .name = "a", .join = -ETIMEDOUT }, b = { .name = "b", .notify = -EPIPE };
	struct part c = { .name = "c", .join = -ETIMEDOUT };
	uint64_t again = 0;

	ck_assert_int_eq(swansong_registry_add_action(registry, "a", part_act, &a), 0);
	add(&a, 3600 * USEC_PER_SEC);
	add(&b, 0);
	add(&c, 7200 * USEC_PER_SEC);
	ck_assert_int_eq(advance(UINT64_MAX, &again), -EAGAIN);
	ck_assert_story("n:c n:b !n:b-32 n:a j:c j:b j:a ");
	ck_assert_uint_gt(again, clock_now_usec() + 3000 * USEC_PER_SEC);
	ck_assert_uint_le(again, clock_now_usec() + 3600 * USEC_PER_SEC);
	ck_assert_uint_eq(a.deadline, 0);
	ck_assert_int_eq(swansong_registry_add_action(registry, "b", part_act, &b), -EALREADY);
	ck_assert_int_eq(execute(0), -EALREADY);

	story[0] = '\0';
	c.join = -ECHILD;
	ck_assert_int_eq(advance(UINT64_MAX, &again), -EAGAIN);
	ck_assert_story("j:c !j:c-10 j:a ");

	story[0] = '\0';
	a.join = 0;
	ck_assert_int_eq(advance(UINT64_MAX, &again), 2);
	ck_assert_story("j:a a:a ");
	ck_assert_int_eq(advance(UINT64_MAX, &again), -EALREADY);
}
END_TEST

START_TEST(a_worker_that_is_asked_is_late_by_its_own_limit_or_the_deadline)
{
	struct part a = { .name = "a", .join = -ETIMEDOUT },
		    b = { .name = "b", .join = -ETIMEDOUT };
	uint64_t again = 0;

	ck_assert_int_eq(swansong_registry_add_action(registry, "a", part_act, &a), 0);
	add(&a, 0);
	add(&b, 1);
	(void)advance(UINT64_MAX, &again); /* b may be late already */
	while (again != UINT64_MAX && clock_now_usec() < again)
		(void)sched_yield();
	ck_assert_int_eq(advance(UINT64_MAX, &again), -EAGAIN);
	ck_assert_uint_eq(again, UINT64_MAX);
	story[0] = '\0';
	ck_assert_int_eq(advance(clock_now_usec(), &again), 2);
	ck_assert_story("j:a !j:a-110 a:a ");
}
END_TEST

START_TEST(a_registry_that_advances_may_be_dropped)
{
	struct part a = { .name = "a", .join = -ETIMEDOUT };
	uint64_t again;

	ck_assert_int_eq(swansong_registry_add_action(registry, "a", part_act, &a), 0);
	add(&a, 0);
	ck_assert_int_eq(advance(UINT64_MAX, &again), -EAGAIN);
	drop_registry();
	ck_assert_story("n:a j:a ");
	make_registry();
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("swansong-registry");
	TCase *tc = tcase_create("registry");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, make_registry, drop_registry);
	tcase_add_test(tc, each_step_is_done_for_all_last_registered_first);
	tcase_add_test(tc, a_function_that_fails_is_reported_by_name_and_stops_nothing);
	tcase_add_test(tc, the_function_for_errors_may_be_left_out);
	tcase_add_test(tc, a_late_worker_is_named_and_passed_over);
	tcase_add_loop_test(tc, a_worker_has_until_the_deadline_or_its_own_if_that_is_earlier, 0,
			    2);
	tcase_add_test(tc, functions_that_are_left_out_are_not_called);
	tcase_add_test(tc, nothing_is_registered_without_a_name_or_a_function);
	tcase_add_test(tc, names_are_copied);
	tcase_add_test(tc, a_registry_is_executed_once_and_takes_nothing_more);
	tcase_add_test(tc, a_dropped_registry_does_nothing);
	tcase_add_test(tc, a_function_may_use_the_registry_and_is_refused);
	tcase_add_loop_test(tc, a_node_makes_a_worker, 0, 2);
	tcase_add_test(tc, of_many_threads_one_executes_and_each_accepted_entry_runs_once);
	tcase_add_test(tc, an_execution_advances_as_its_workers_end);
	tcase_add_test(tc, a_worker_that_is_asked_is_late_by_its_own_limit_or_the_deadline);
	tcase_add_test(tc, a_registry_that_advances_may_be_dropped);
	suite_add_tcase(suite, tc);
	return suite;
}
