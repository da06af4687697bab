#include "tests/unit/swansong/loop/test-pool.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "tests/unit/fixtures/refusing.h"
#include <swansong/swansong.h>

static struct swansong *parent;
static struct swansong_pool *pool;
static sem_t entered, leave;

static void make_pool(void)
{
	sem_init(&entered, 0, 0);
	sem_init(&leave, 0, 0);
	ck_assert_int_eq(swansong_new(&parent), 0);
	ck_assert_int_eq(swansong_pool_new(parent, 2, &pool), 0);
}

static void drop_pool(void)
{
	pool = swansong_pool_unref(pool);
	ck_assert_ptr_null(pool);
	parent = swansong_unref(parent);
}

static void count_call(void *arg)
{
	atomic_fetch_add((_Atomic unsigned int *)arg, 1);
}

static void occupy(void *arg)
{
	(void)arg;
	sem_post(&entered);
	sem_wait(&leave);
}

/* Occupies both threads. */
static void occupy_pool(void)
{
	for (unsigned int i = 0; i < 2; i++)
		ck_assert_int_eq(swansong_pool_submit(pool, occupy, NULL), 0);
	sem_wait(&entered); /* this also shows that they do not wait for each other */
	sem_wait(&entered);
}

static void leave_pool(void)
{
	sem_post(&leave);
	sem_post(&leave);
}

static void *stop_pool(void *arg)
{
	swansong_pool_stop(arg);
	return NULL;
}

START_TEST(every_job_is_executed_once)
{
	_Atomic unsigned int calls = 0;

	for (unsigned int i = 0; i < 1000; i++)
		ck_assert_int_eq(swansong_pool_submit(pool, count_call, &calls), 0);
	swansong_pool_stop(pool);
	ck_assert_uint_eq(calls, 1000);
}
END_TEST

START_TEST(a_job_after_the_stop_is_refused_and_never_executed)
{
	_Atomic unsigned int calls = 0;

	swansong_pool_stop(pool);
	ck_assert_int_eq(swansong_pool_submit(pool, count_call, &calls), -ESHUTDOWN);
	pool = swansong_pool_unref(pool);
	ck_assert_uint_eq(calls, 0);
}
END_TEST

START_TEST(a_job_during_the_stop_is_refused_and_accepted_jobs_are_executed)
{
	_Atomic unsigned int accepted = 0, refused = 0;
	pthread_t stopper;

	occupy_pool();
	ck_assert_int_eq(swansong_pool_submit(pool, count_call, &accepted), 0);
	pthread_create(&stopper, NULL, stop_pool, pool);
	ck_assert_int_eq(swansong_stopped_wait(swansong_pool_node(pool), USEC_INFINITY), 0);
	ck_assert_int_eq(swansong_pool_submit(pool, count_call, &refused), -ESHUTDOWN);
	leave_pool();
	pthread_join(stopper, NULL);
	ck_assert_uint_eq(accepted, 1);
	ck_assert_uint_eq(refused, 0);
}
END_TEST

START_TEST(any_number_of_threads_may_stop_again_and_again)
{
	pthread_t stoppers[4];

	occupy_pool();
	for (unsigned int i = 0; i < 4; i++)
		pthread_create(&stoppers[i], NULL, stop_pool, pool);
	leave_pool();
	for (unsigned int i = 0; i < 4; i++)
		pthread_join(stoppers[i], NULL);
	swansong_pool_stop(pool);
	ck_assert_int_eq(swansong_state(swansong_pool_node(pool)), SWANSONG_COMPLETE);
}
END_TEST

static void stop_from_within(void *arg)
{
	ck_assert_int_eq(swansong_pool_submit(pool, count_call, arg), 0);
	swansong_pool_stop(pool);
	ck_assert_int_eq(swansong_pool_submit(pool, count_call, arg), -ESHUTDOWN);
	sem_post(&entered);
}

START_TEST(a_job_stops_the_pool_without_waiting)
{
	_Atomic unsigned int calls = 0;

	ck_assert_int_eq(swansong_pool_submit(pool, stop_from_within, &calls), 0);
	sem_wait(&entered);
	pool = swansong_pool_unref(pool);
	ck_assert_uint_eq(calls, 1);
}
END_TEST

static void drop_from_within(void *arg)
{
	*(struct swansong_pool **)arg = swansong_pool_unref(pool);
	sem_post(&entered);
}

static void submit_drop_from_within(void *arg)
{
	ck_assert_int_eq(swansong_pool_submit(pool, drop_from_within, arg), 0);
	sem_wait(&entered);
}

START_TEST(dropping_the_pool_in_a_job_is_refused_loudly)
{
	struct swansong_pool *left = NULL;
	_Atomic unsigned int calls = 0;

	ck_assert(says("swansong_pool_unref", submit_drop_from_within, &left));
	ck_assert_ptr_eq(left, pool);
	ck_assert_int_eq(swansong_pool_submit(pool, count_call, &calls), 0);
	swansong_pool_stop(pool);
	ck_assert_uint_eq(calls, 1);
	ck_assert_ptr_null(swansong_pool_unref(NULL));
}
END_TEST

static void wait_from_within(void *arg)
{
	*(int *)arg = swansong_pool_wait_idle(pool, USEC_INFINITY);
}

START_TEST(idle_is_when_no_job_is_waiting_or_running)
{
	_Atomic unsigned int calls = 0;
	uint64_t deadline;
	int r = 0;

	ck_assert_int_eq(swansong_pool_wait_idle(pool, 0), 0);
	occupy_pool();
	for (unsigned int i = 0; i < 10; i++)
		ck_assert_int_eq(swansong_pool_submit(pool, count_call, &calls), 0);
	deadline = clock_now_usec() + 20 * USEC_PER_MSEC;
	ck_assert_int_eq(swansong_pool_wait_idle(pool, deadline), -ETIMEDOUT);
	ck_assert_uint_ge(clock_now_usec(), deadline);
	ck_assert_int_eq(swansong_pool_wait_idle(pool, 0), -ETIMEDOUT);
	leave_pool();
	ck_assert_int_eq(swansong_pool_wait_idle(pool, USEC_INFINITY), 0);
	ck_assert_uint_eq(calls, 10);
	ck_assert_int_eq(swansong_pool_submit(pool, wait_from_within, &r), 0);
	ck_assert_int_eq(swansong_pool_wait_idle(pool, clock_now_usec() + 10 * USEC_PER_SEC), 0);
	ck_assert_int_eq(r, -EDEADLK);
}
END_TEST

START_TEST(every_job_holds_a_guard_until_it_is_done)
{
	_Atomic unsigned int calls = 0;

	ck_assert_uint_eq(swansong_guard_count(parent), 0);
	occupy_pool();
	ck_assert_int_eq(swansong_pool_submit(pool, count_call, &calls), 0);
	ck_assert_uint_eq(swansong_guard_count(parent), 3);
	swansong_shut_down(parent);
	ck_assert_int_eq(swansong_wait(parent, 0), -ETIMEDOUT);
	leave_pool();
	ck_assert_int_eq(swansong_wait(parent, USEC_INFINITY), 0);
	ck_assert_uint_eq(calls, 1);
}
END_TEST

START_TEST(a_stop_from_above_leaves_the_pool_running)
{
	_Atomic unsigned int calls = 0;

	swansong_shut_down(parent);
	ck_assert_int_eq(swansong_pool_submit(pool, count_call, &calls), 0);
	ck_assert_int_eq(swansong_wait(parent, USEC_INFINITY), 0);
	ck_assert_uint_eq(calls, 1);
}
END_TEST

START_TEST(a_pool_has_as_many_threads_as_processors_and_a_root_by_default)
{
	_Atomic unsigned int calls = 0;
	struct swansong_pool *alone;
	struct swansong *node;

	ck_assert_int_eq(swansong_pool_new(NULL, 0, &alone), 0);
	node = swansong_ref(swansong_pool_node(alone));
	ck_assert_int_eq(swansong_pool_submit(alone, count_call, &calls), 0);
	ck_assert_ptr_null(swansong_pool_unref(alone));
	ck_assert_uint_eq(calls, 1);
	ck_assert_int_eq(swansong_state(node), SWANSONG_COMPLETE);
	swansong_unref(node);
}
END_TEST

START_TEST(a_pool_that_lacks_a_thread_is_none)
{
	struct swansong_pool *fewer = NULL;

	threads_left = _i;
	ck_assert_int_eq(swansong_pool_new(parent, 3, &fewer), -EAGAIN);
	ck_assert_ptr_null(fewer);
	threads_left = -1;
	ck_assert_uint_eq(swansong_guard_count(parent), 0);
}
END_TEST

struct submitter {
	pthread_t thread;
	unsigned int accepted;
	_Atomic unsigned int executed;
};

static void *submit_until_refused(void *arg)
{
	struct submitter *s = arg;

	while (swansong_pool_submit(pool, count_call, &s->executed) == 0)
		s->accepted++;
	return NULL;
}

START_TEST(executed_is_accepted_from_any_thread_during_a_stop)
{
	for (unsigned int i = 0; i < 30; i++) {
		struct submitter s[3] = { 0 };

		drop_pool();
		make_pool();
		for (unsigned int t = 0; t < 3; t++)
			pthread_create(&s[t].thread, NULL, submit_until_refused, &s[t]);
		occupy_pool();
		leave_pool();
		swansong_pool_stop(pool);
		for (unsigned int t = 0; t < 3; t++) {
			pthread_join(s[t].thread, NULL);
			ck_assert_uint_eq(s[t].executed, s[t].accepted);
		}
	}
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("swansong-pool");
	TCase *tc = tcase_create("pool");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, make_pool, drop_pool);
	tcase_add_test(tc, every_job_is_executed_once);
	tcase_add_test(tc, a_job_after_the_stop_is_refused_and_never_executed);
	tcase_add_test(tc, a_job_during_the_stop_is_refused_and_accepted_jobs_are_executed);
	tcase_add_test(tc, any_number_of_threads_may_stop_again_and_again);
	tcase_add_test(tc, a_job_stops_the_pool_without_waiting);
	tcase_add_test(tc, dropping_the_pool_in_a_job_is_refused_loudly);
	tcase_add_test(tc, idle_is_when_no_job_is_waiting_or_running);
	tcase_add_test(tc, every_job_holds_a_guard_until_it_is_done);
	tcase_add_test(tc, a_stop_from_above_leaves_the_pool_running);
	tcase_add_test(tc, a_pool_has_as_many_threads_as_processors_and_a_root_by_default);
	tcase_add_loop_test(tc, a_pool_that_lacks_a_thread_is_none, 0, 3);
	tcase_add_test(tc, executed_is_accepted_from_any_thread_during_a_stop);
	suite_add_tcase(suite, tc);
	suite_add_tcase(suite, offload_case());
	return suite;
}
