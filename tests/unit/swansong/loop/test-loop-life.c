/* How a loop starts, stops and is dropped. */
#include "tests/unit/fixtures/swansong/loop.h"

#include <errno.h>

#include "base/clock.h"
#include "tests/unit/fixtures/refusing.h"

/* ---- the stop ---- */

START_TEST(the_stop_leads_from_each_state_where_it_should)
{
	static const enum gate_state after[][2] = {
		{ GATE_IDLE, GATE_STOPPED },	 { GATE_STARTING, GATE_STOPPING },
		{ GATE_RUNNING, GATE_STOPPING }, { GATE_STOPPING, GATE_STOPPING },
		{ GATE_STOPPED, GATE_STOPPED },
	};
	struct gate gate;

	ck_assert_int_eq(gate_init(&gate, parent), 0);
	for (int i = 0; i < _i; i++)
		ck_assert(gate_move(&gate, after[i][0], after[i + 1][0]));
	gate_begin_stop(&gate);
	ck_assert_int_eq(gate_state(&gate), after[_i][1]);
	gate_end_stop(&gate);
	ck_assert_int_eq(gate_state(&gate), GATE_STOPPED);
	ck_assert_uint_eq(swansong_guard_count(parent), 0);
	gate_done(&gate);
}
END_TEST

START_TEST(the_stop_executes_accepted_posts)
{
	unsigned int calls = 0;

	start();
	occupy_loop();
	for (unsigned int i = 0; i < 100; i++)
		ck_assert_int_eq(swansong_loop_post(loop, count_call, &calls), 0);
	sem_post(&leave);
	swansong_loop_stop(loop);
	ck_assert_uint_eq(calls, 100);
}
END_TEST

START_TEST(stopping_again_does_nothing)
{
	unsigned int calls = 0;

	start();
	ck_assert_int_eq(swansong_loop_post(loop, count_call, &calls), 0);
	for (unsigned int i = 0; i < 3; i++) {
		ck_assert_int_eq(swansong_loop_stop(loop), 0);
		ck_assert_int_eq(swansong_loop_state(loop), SWANSONG_LOOP_STOPPED);
		ck_assert_int_eq(swansong_state(swansong_loop_node(loop)), SWANSONG_COMPLETE);
		ck_assert_uint_eq(calls, 1);
	}
}
END_TEST

START_TEST(any_number_of_threads_may_stop)
{
	pthread_t stoppers[4];

	start();
	occupy_loop();
	for (unsigned int i = 0; i < 4; i++)
		pthread_create(&stoppers[i], NULL, stop_loop, loop);
	sem_post(&leave);
	for (unsigned int i = 0; i < 4; i++)
		pthread_join(stoppers[i], NULL);
}
END_TEST

static void stop_from_within(void *arg)
{
	unsigned int *calls = arg;

	ck_assert_int_eq(swansong_loop_post(loop, count_call, calls), 0);
	ck_assert_int_eq(swansong_loop_stop(loop), 0);
	ck_assert_int_eq(swansong_loop_state(loop), SWANSONG_LOOP_STOPPING);
	ck_assert_int_eq(swansong_loop_stop(loop), 0);
	ck_assert_int_eq(swansong_loop_post(loop, count_call, calls), -ESHUTDOWN);
	ck_assert_uint_eq(*calls, 0);
	sem_post(&entered);
}

START_TEST(the_loops_own_thread_stops_without_waiting)
{
	unsigned int calls = 0;

	sem_init(&entered, 0, 0);
	start();
	ck_assert_int_eq(swansong_loop_post(loop, stop_from_within, &calls), 0);
	sem_wait(&entered);
	if (_i)
		(void)swansong_wait(swansong_loop_node(loop), USEC_INFINITY);
	loop = swansong_loop_unref(loop); /* waits for the thread */
	ck_assert_uint_eq(calls, 1);
}
END_TEST

START_TEST(dropping_the_loop_stops_it)
{
	unsigned int calls = 0;

	start();
	occupy_loop();
	ck_assert_int_eq(swansong_loop_post(loop, count_call, &calls), 0);
	sem_post(&leave);
	loop = swansong_loop_unref(loop);
	ck_assert_uint_eq(calls, 1);
	ck_assert_ptr_null(swansong_loop_unref(NULL));
}
END_TEST

static void drop_from_within(void *arg)
{
	*(struct swansong_loop **)arg = swansong_loop_unref(loop);
	sem_post(&entered);
}

static void post_drop_from_within(void *arg)
{
	ck_assert_int_eq(swansong_loop_post(loop, drop_from_within, arg), 0);
	sem_wait(&entered);
}

START_TEST(dropping_the_loop_on_its_own_thread_is_refused_loudly)
{
	struct swansong_loop *left = NULL;
	unsigned int calls = 0;

	start();
	sem_init(&entered, 0, 0);
	ck_assert(says("swansong_loop_unref", post_drop_from_within, &left));
	ck_assert_ptr_eq(left, loop);
	ck_assert_int_eq(swansong_loop_state(loop), SWANSONG_LOOP_RUNNING);
	ck_assert_int_eq(swansong_loop_post(loop, count_call, &calls), 0);
	swansong_loop_stop(loop);
	ck_assert_uint_eq(calls, 1);
}
END_TEST

START_TEST(an_idle_loop_is_stopped_for_good)
{
	ck_assert_int_eq(swansong_loop_stop(loop), 0);
	ck_assert_int_eq(swansong_loop_state(loop), SWANSONG_LOOP_STOPPED);
	ck_assert_int_eq(swansong_state(swansong_loop_node(loop)), SWANSONG_COMPLETE);
	ck_assert_int_eq(swansong_loop_start(loop), -ESHUTDOWN);
}
END_TEST

/* ---- the start ---- */

START_TEST(a_loop_is_started_once)
{
	start();
	ck_assert_int_eq(swansong_loop_start(loop), -EALREADY);
	swansong_loop_stop(loop);
	ck_assert_int_eq(swansong_loop_start(loop), -ESHUTDOWN);
}
END_TEST

START_TEST(a_loop_without_a_thread_is_idle_again)
{
	threads_left = 0;
	ck_assert_int_eq(swansong_loop_start(loop), -EAGAIN);
	ck_assert_int_eq(swansong_loop_state(loop), SWANSONG_LOOP_IDLE);
	threads_left = -1;
	start();
}
END_TEST

/* Called once when a loop has come to Starting, and has no thread yet. */
static void (*when_starting)(void);

bool __real_gate_move(struct gate *g, enum gate_state from, enum gate_state to);
bool __wrap_gate_move(struct gate *g, enum gate_state from, enum gate_state to);

bool __wrap_gate_move(struct gate *g, enum gate_state from, enum gate_state to)
{
	bool moved = __real_gate_move(g, from, to);
	void (*fn)(void) = when_starting;

	if (moved && to == GATE_STARTING && fn) {
		when_starting = NULL;
		fn();
	}
	return moved;
}

static void post_and_stop(void)
{
	unsigned int calls = 0;

	ck_assert_int_eq(swansong_loop_state(loop), SWANSONG_LOOP_STARTING);
	ck_assert_int_eq(swansong_loop_start(loop), -EALREADY);
	ck_assert_int_eq(swansong_loop_post(loop, count_call, &calls), -ESHUTDOWN);
	pthread_create(&stopper, NULL, stop_loop, loop);
	pthread_join(stopper, NULL);
	ck_assert_uint_eq(calls, 0);
}

START_TEST(a_stop_before_there_is_a_thread_leaves_none)
{
	when_starting = post_and_stop;
	ck_assert_int_eq(swansong_loop_start(loop), -ESHUTDOWN);
	ck_assert_int_eq(swansong_loop_state(loop), SWANSONG_LOOP_STOPPED);
	ck_assert_int_eq(swansong_state(swansong_loop_node(loop)), SWANSONG_COMPLETE);
}
END_TEST

static void begin_stop(void)
{
	int left = threads_left;

	threads_left = -1;
	pthread_create(&stopper, NULL, stop_loop, loop);
	threads_left = left;
	ck_assert_int_eq(swansong_stopped_wait(swansong_loop_node(loop), USEC_INFINITY), 0);
	ck_assert_int_eq(swansong_loop_state(loop), SWANSONG_LOOP_STOPPING);
}

START_TEST(a_stop_while_the_thread_is_made_waits_for_its_end_if_it_is)
{
	before_thread = begin_stop;
	threads_left = _i ? -1 : 0;
	ck_assert_int_eq(swansong_loop_start(loop), _i ? 0 : -EAGAIN);
	threads_left = -1;
	pthread_join(stopper, NULL);
	ck_assert_int_eq(swansong_loop_state(loop), SWANSONG_LOOP_STOPPED);
	ck_assert_int_eq(swansong_state(swansong_loop_node(loop)), SWANSONG_COMPLETE);
}
END_TEST

static void *start_loop(void *arg)
{
	int r = swansong_loop_start(loop);

	ck_assert(r == 0 || r == -ESHUTDOWN);
	*(int *)arg = r;
	return NULL;
}

START_TEST(a_stop_at_any_time_ends_a_start)
{
	for (unsigned int i = 0; i < 300; i++) {
		unsigned int calls = 0, accepted = 0;
		pthread_t starter;
		int r = 1;

		drop_loop();
		make_loop();
		pthread_create(&starter, NULL, start_loop, &r);
		while (i % 3 && swansong_loop_state(loop) == SWANSONG_LOOP_IDLE)
			sched_yield();
		if (i % 3 == 2)
			accepted += swansong_loop_post(loop, count_call, &calls) == 0;
		ck_assert_int_eq(swansong_loop_stop(loop), 0);
		ck_assert_int_eq(swansong_loop_state(loop), SWANSONG_LOOP_STOPPED);
		ck_assert_int_eq(swansong_state(parent), SWANSONG_RUNNING);
		ck_assert_int_eq(swansong_state(swansong_loop_node(loop)), SWANSONG_COMPLETE);
		ck_assert_uint_eq(calls, accepted);
		pthread_join(starter, NULL);
		ck_assert_int_le(r, 0);
	}
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("swansong-loop-life");
	TCase *tc = tcase_create("life");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, make_loop, drop_loop);
	tcase_add_loop_test(tc, the_stop_leads_from_each_state_where_it_should, 0, 5);
	tcase_add_test(tc, the_stop_executes_accepted_posts);
	tcase_add_test(tc, stopping_again_does_nothing);
	tcase_add_test(tc, any_number_of_threads_may_stop);
	tcase_add_loop_test(tc, the_loops_own_thread_stops_without_waiting, 0, 2);
	tcase_add_test(tc, dropping_the_loop_stops_it);
	tcase_add_test(tc, dropping_the_loop_on_its_own_thread_is_refused_loudly);
	tcase_add_test(tc, an_idle_loop_is_stopped_for_good);
	tcase_add_test(tc, a_loop_is_started_once);
	tcase_add_test(tc, a_loop_without_a_thread_is_idle_again);
	tcase_add_test(tc, a_stop_before_there_is_a_thread_leaves_none);
	tcase_add_loop_test(tc, a_stop_while_the_thread_is_made_waits_for_its_end_if_it_is, 0, 2);
	tcase_add_test(tc, a_stop_at_any_time_ends_a_start);
	suite_add_tcase(suite, tc);
	return suite;
}
