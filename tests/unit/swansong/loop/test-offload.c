/* Offloaded work: reported once, on the loop's thread, and released once, however late it ends. */
#include "tests/unit/swansong/loop/test-pool.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include <swansong/swansong.h>

static struct swansong *parent;
static struct swansong_pool *pool;
static struct swansong_loop *loop;

/* The observations of a piece of work; in memory of its own, so that a late touch is seen. */
struct work {
	sem_t begun, may_end; /* if it waits */
	sem_t reported;
	bool waits;
	unsigned int works, reports;
	int result;
	pthread_t worker, teller;
};

/* Outlives the work. */
static unsigned int released;

static void make_all(void)
{
	released = 0;
	ck_assert_int_eq(swansong_new(&parent), 0);
	ck_assert_int_eq(swansong_pool_new(parent, 1, &pool), 0);
	ck_assert_int_eq(swansong_loop_new(parent, &loop), 0);
	ck_assert_int_eq(swansong_loop_start(loop), 0);
}

static void drop_all(void)
{
	loop = swansong_loop_unref(loop);
	pool = swansong_pool_unref(pool);
	ck_assert_ptr_null(loop);
	ck_assert_ptr_null(pool);
	parent = swansong_unref(parent);
}

/* Waits until nothing that was given to the pool is left, on no thread. */
static void drain(void)
{
	swansong_shut_down(parent);
	ck_assert_int_eq(swansong_wait(parent, USEC_INFINITY), 0);
}

static struct work *work_new(bool waits)
{
	struct work *w = calloc(1, sizeof(*w));

	ck_assert_ptr_nonnull(w);
	w->waits = waits;
	sem_init(&w->begun, 0, 0);
	sem_init(&w->may_end, 0, 0);
	sem_init(&w->reported, 0, 0);
	return w;
}

static void work_do(void *arg)
{
	struct work *w = arg;

	sem_post(&w->begun);
	if (w->waits)
		sem_wait(&w->may_end);
	w->works++;
	w->worker = pthread_self();
}

static void work_reported(void *arg, int result)
{
	struct work *w = arg;

	ck_assert_uint_eq(w->reports, 0);
	w->reports++;
	w->result = result;
	w->teller = pthread_self();
	sem_post(&w->reported);
}

static void work_release(void *arg)
{
	struct work *w = arg;

	/* Both sides are over: their writes are seen here. */
	ck_assert_uint_eq(w->reports, 1);
	ck_assert_uint_le(w->works, 1);
	released++;
	memset(w, 0xdd, sizeof(*w));
	free(w);
}

static int offload(struct work *w, uint64_t timeout_usec)
{
	struct swansong_offload o = {
		.work = work_do,
		.done = work_reported,
		.release = work_release,
		.arg = w,
	};

	return swansong_pool_offload(pool, loop, &o, timeout_usec);
}

/* Returns work that has begun and whose timeout has been reported. */
static struct work *offload_late(void)
{
	struct work *w = work_new(true);

	ck_assert_int_eq(offload(w, 30 * USEC_PER_MSEC), 0);
	sem_wait(&w->begun);
	sem_wait(&w->reported);
	ck_assert_int_eq(w->result, -ETIMEDOUT);
	ck_assert_uint_eq(released, 0);
	return w;
}

/* For work that is checked when all is over, by the test, which frees it then. */
static void copy_result(void *arg, int result)
{
	struct work *w = arg;

	w->reports++;
	w->result = result;
	w->teller = pthread_self();
	sem_post(&w->reported);
}

START_TEST(the_end_of_the_work_is_reported_on_the_loops_thread)
{
	struct work *w = work_new(false);
	struct swansong_offload o = { .work = work_do, .done = copy_result, .arg = w };
	static const uint64_t timeouts[] = { USEC_INFINITY, 60 * USEC_PER_SEC };

	ck_assert_int_eq(swansong_pool_offload(pool, loop, &o, timeouts[_i]), 0);
	drain();
	ck_assert_uint_eq(w->works, 1);
	ck_assert_uint_eq(w->reports, 1);
	ck_assert_int_eq(w->result, 0);
	ck_assert(!pthread_equal(w->teller, w->worker));
	ck_assert(!pthread_equal(w->teller, pthread_self()));
	free(w);
}
END_TEST

START_TEST(work_that_runs_is_one_guard_of_the_pool)
{
	struct work *w = work_new(true);
	struct swansong_report *report;

	ck_assert_int_eq(swansong_report_enable(parent), 0);
	ck_assert_int_eq(offload(w, USEC_INFINITY), 0);
	sem_wait(&w->begun);
	ck_assert_uint_eq(swansong_guard_count(swansong_pool_node(pool)), 1);
	ck_assert_int_eq(swansong_report(swansong_pool_node(pool), &report), 0);
	ck_assert_uint_eq(report->guards, 1);
	ck_assert_uint_eq(report->n, 1);
	ck_assert_uint_eq(report->sites[0].guards, 1);
	swansong_report_free(report);
	sem_post(&w->may_end);
	drain();
	ck_assert_uint_eq(released, 1);
}
END_TEST

START_TEST(a_timeout_is_reported_while_the_work_goes_on)
{
	struct work *w = offload_late();

	swansong_shut_down(parent);
	ck_assert_int_eq(swansong_wait(swansong_pool_node(pool), 0), -ETIMEDOUT);
	ck_assert_int_eq(swansong_pool_wait_idle(pool, 0), -ETIMEDOUT);
	sem_post(&w->may_end);
	drain();
	ck_assert_uint_eq(released, 1);
}
END_TEST

START_TEST(work_that_did_not_begin_in_time_is_not_done)
{
	struct work *first = offload_late(), *second = work_new(false);
	struct swansong_offload o = { .work = work_do, .done = copy_result, .arg = second };

	ck_assert_int_eq(swansong_pool_offload(pool, loop, &o, 0), 0);
	ck_assert_int_eq(offload(work_new(false), USEC_INFINITY), 0);
	sem_wait(&second->reported);
	sem_post(&first->may_end);
	drain();
	ck_assert_uint_eq(second->works, 0);
	ck_assert_uint_eq(second->reports, 1);
	ck_assert_int_eq(second->result, -ETIMEDOUT);
	ck_assert_uint_eq(released, 2);
	free(second);
}
END_TEST

/* The loop, the pool or all of it goes right after a timeout, while the work is running. */
START_TEST(a_late_end_finds_everything_gone)
{
	struct work *w = offload_late();
	struct swansong *node = swansong_ref(swansong_pool_node(pool));

	loop = swansong_loop_unref(loop);
	parent = _i ? swansong_unref(parent) : parent;
	swansong_shut_down(node);
	ck_assert_int_eq(swansong_wait(node, 0), -ETIMEDOUT);
	ck_assert_uint_eq(released, 0);
	sem_post(&w->may_end);
	if (_i == 2)
		pool = swansong_pool_unref(pool);
	ck_assert_int_eq(swansong_wait(node, USEC_INFINITY), 0);
	ck_assert_uint_eq(released, 1);
	node = swansong_unref(node);
}
END_TEST

static void *let_end(void *arg)
{
	struct work *w = arg;

	sem_post(&w->may_end);
	return NULL;
}

START_TEST(dropping_the_pool_waits_for_late_work_and_results_need_no_pool)
{
	struct work *w = offload_late();
	pthread_t helper;

	pthread_create(&helper, NULL, let_end, w);
	pool = swansong_pool_unref(pool);
	pthread_join(helper, NULL);
	drain();
	ck_assert_uint_eq(released, 1);
}
END_TEST

START_TEST(the_end_of_the_loop_is_reported_and_the_work_released_when_it_ends)
{
	struct work *w = work_new(true);

	ck_assert_int_eq(offload(w, _i ? USEC_INFINITY : 60 * USEC_PER_SEC), 0);
	sem_wait(&w->begun);
	if (_i == 2)
		loop = swansong_loop_unref(loop);
	else
		swansong_loop_stop(loop);
	ck_assert_uint_eq(w->reports, 1);
	ck_assert_int_eq(w->result, -ESHUTDOWN);
	ck_assert_uint_eq(released, 0);
	sem_post(&w->may_end);
	drain();
	ck_assert_uint_eq(released, 1);
}
END_TEST

/* Posting the end is refused, as the loop is stopping: the result is reported nevertheless. */
static void stop_and_see_the_end(void *arg)
{
	struct work *w = arg;

	sem_wait(&w->begun);
	swansong_loop_stop(loop);
	sem_post(&w->may_end);
	ck_assert_int_eq(swansong_pool_wait_idle(pool, USEC_INFINITY), 0);
}

START_TEST(work_that_ends_while_the_loop_stops_is_reported_as_done)
{
	struct work *w = work_new(true);
	struct swansong_offload o = { .work = work_do, .done = copy_result, .arg = w };

	ck_assert_int_eq(swansong_pool_offload(pool, loop, &o, USEC_INFINITY), 0);
	ck_assert_int_eq(swansong_loop_post(loop, stop_and_see_the_end, w), 0);
	drain();
	ck_assert_uint_eq(w->works, 1);
	ck_assert_uint_eq(w->reports, 1);
	ck_assert_int_eq(w->result, 0);
	swansong_loop_stop(loop);
	free(w);
}
END_TEST

START_TEST(refused_work_is_neither_done_nor_reported_nor_released)
{
	struct work *w = work_new(false);

	if (_i)
		swansong_pool_stop(pool);
	else
		swansong_loop_stop(loop);
	ck_assert_int_eq(offload(w, USEC_INFINITY), -ESHUTDOWN);
	ck_assert_uint_eq(swansong_guard_count(parent), 0);
	swansong_loop_stop(loop);
	swansong_pool_stop(pool);
	ck_assert_uint_eq(w->works + w->reports + released, 0);
	free(w);
}
END_TEST

static void occupy(void *arg)
{
	sem_wait(arg);
}

START_TEST(the_guard_is_held_until_the_result_is_reported_and_all_released)
{
	struct swansong *node = swansong_pool_node(pool);
	sem_t leave;

	sem_init(&leave, 0, 0);
	ck_assert_int_eq(swansong_loop_post(loop, occupy, &leave), 0);
	ck_assert_int_eq(offload(work_new(false), USEC_INFINITY), 0);
	ck_assert_int_eq(swansong_pool_wait_idle(pool, USEC_INFINITY), 0);
	swansong_shut_down(node);
	ck_assert_int_eq(swansong_wait(node, 0), -ETIMEDOUT);
	ck_assert_uint_eq(swansong_guard_count(node), 1);
	sem_post(&leave);
	ck_assert_int_eq(swansong_wait(node, USEC_INFINITY), 0);
	ck_assert_uint_eq(released, 1);
	swansong_loop_stop(loop);
	sem_destroy(&leave);
}
END_TEST

static void ck_site(const struct swansong_report *report, const char *function, unsigned int line,
		    uint64_t guards)
{
	for (size_t k = 0; k < report->n; k++) {
		const struct swansong_report_site *site = &report->sites[k];

		if (site->line != line)
			continue;
		ck_assert_str_eq(site->file, __FILE__);
		ck_assert_str_eq(site->function, function);
		ck_assert_uint_eq(site->guards, guards);
		return;
	}
	ck_abort_msg("line %u is not in the report", line);
}

START_TEST(the_report_names_the_place_where_it_was_asked_for)
{
	struct work *w = work_new(true);
	struct swansong_offload o = { work_do, work_reported, work_release, w };
	struct swansong_report *report;
	sem_t leave;
	unsigned int line;

	sem_init(&leave, 0, 0);
	ck_assert_int_eq(swansong_report_enable(parent), 0);
	line = __LINE__ + 1;
	ck_assert_int_eq(swansong_loop_post(loop, occupy, &leave), 0);
	ck_assert_int_eq(swansong_pool_submit(pool, occupy, &leave), 0);
	ck_assert_int_eq(swansong_pool_offload(pool, loop, &o, USEC_INFINITY), 0);
	ck_assert_int_eq(swansong_report(parent, &report), 0);
	ck_assert_uint_eq(report->n, 3);
	ck_site(report, __func__, line, 1);
	ck_site(report, __func__, line + 1, 1);
	ck_site(report, __func__, line + 2, 2); /* for the pool, and for the loop */
	swansong_report_free(report);

	/* The report still has it while it runs, with a guard of its own by then. */
	sem_post(&leave);
	sem_post(&leave);
	sem_wait(&w->begun);
	ck_assert_int_eq(swansong_report(parent, &report), 0);
	for (size_t k = 0; k < report->n; k++)
		ck_assert_str_eq(report->sites[k].file, __FILE__);
	swansong_report_free(report);
	sem_post(&w->may_end);
	drain();
	ck_assert_uint_eq(released, 1);
	sem_destroy(&leave);
}
END_TEST

/* Stop accepting, drain the pool, stop the loop, drop all: nothing is left, and no work is late. */
START_TEST(after_the_pool_is_drained_and_the_loop_stopped_all_is_reported)
{
	enum { MANY = 50 };

	for (int k = 0; k < MANY; k++)
		ck_assert_int_eq(offload(work_new(false), USEC_INFINITY), 0);
	swansong_shut_down(parent);
	ck_assert_int_eq(swansong_pool_wait_idle(pool, USEC_INFINITY), 0);
	ck_assert_int_eq(swansong_loop_stop(loop), 0);
	ck_assert_uint_eq(released, MANY);
	ck_assert_int_eq(swansong_state(swansong_loop_node(loop)), SWANSONG_COMPLETE);
	loop = swansong_loop_unref(loop);
	ck_assert_int_eq(swansong_wait(parent, USEC_INFINITY), 0);
}
END_TEST

START_TEST(a_timeout_that_cannot_be_set_is_reported)
{
	struct work *w = work_new(true);
	struct swansong_offload o = { .work = work_do, .done = copy_result, .arg = w };
	struct rlimit old, none;
	int next = dup(STDIN_FILENO);

	ck_assert_int_ge(next, 0);
	close(next);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = (struct rlimit){ .rlim_cur = (rlim_t)next, .rlim_max = old.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	ck_assert_int_eq(swansong_pool_offload(pool, loop, &o, 60 * USEC_PER_SEC), 0);
	sem_wait(&w->reported);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
	ck_assert_int_eq(w->result, -EMFILE);
	sem_post(&w->may_end);
	drain();
	ck_assert_uint_eq(w->reports, 1);
	free(w);
}
END_TEST

TCase *offload_case(void)
{
	TCase *tc = tcase_create("offload");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, make_all, drop_all);
	tcase_add_loop_test(tc, the_end_of_the_work_is_reported_on_the_loops_thread, 0, 2);
	tcase_add_test(tc, work_that_runs_is_one_guard_of_the_pool);
	tcase_add_test(tc, a_timeout_is_reported_while_the_work_goes_on);
	tcase_add_test(tc, work_that_did_not_begin_in_time_is_not_done);
	tcase_add_loop_test(tc, a_late_end_finds_everything_gone, 0, 3);
	tcase_add_test(tc, dropping_the_pool_waits_for_late_work_and_results_need_no_pool);
	tcase_add_loop_test(tc, the_end_of_the_loop_is_reported_and_the_work_released_when_it_ends,
			    0, 3);
	tcase_add_test(tc, work_that_ends_while_the_loop_stops_is_reported_as_done);
	tcase_add_loop_test(tc, refused_work_is_neither_done_nor_reported_nor_released, 0, 2);
	tcase_add_test(tc, the_guard_is_held_until_the_result_is_reported_and_all_released);
	tcase_add_test(tc, the_report_names_the_place_where_it_was_asked_for);
	tcase_add_test(tc, after_the_pool_is_drained_and_the_loop_stopped_all_is_reported);
	tcase_add_test(tc, a_timeout_that_cannot_be_set_is_reported);
	return tc;
}
