/* A stop in a signal handler, which may interrupt any function of the library in its thread. */
#include "tests/unit/fixtures/swansong/pair.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/time.h>

#include "base/clock.h"

static struct swansong *_Atomic target;
static _Atomic unsigned int stops;

static void stop_target(int number)
{
	struct swansong *s = atomic_load(&target);
	int error = errno;

	(void)number;
	if (!s)
		return;
	errno = E2BIG;
	swansong_shut_down(s);
	if (swansong_state(s) == SWANSONG_RUNNING || errno != E2BIG)
		abort();
	atomic_fetch_add(&stops, 1);
	errno = error;
}

static void interrupt_every(long usec)
{
	const struct itimerval timer = {
		.it_interval.tv_usec = usec,
		.it_value.tv_usec = usec,
	};

	ck_assert_int_eq(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

static void handle(void)
{
	struct sigaction action = { .sa_handler = stop_target };

	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
}

static void count_call(void *arg)
{
	atomic_fetch_add((_Atomic unsigned int *)arg, 1);
}

/* All that takes the lock of the tree. */
static void live(struct swansong *s)
{
	_Atomic unsigned int calls = 0;
	struct swansong_completion *c;
	struct swansong_guard g;
	struct swansong *below;

	ck_assert_int_eq(swansong_child(s, &below), 0);
	g = swansong_guard(below);
	ck_assert_int_eq(swansong_completion_new(below, &c), 0);
	ck_assert_int_eq(swansong_completion_notify(c, count_call, &calls), 0);
	(void)swansong_percpu_enable(below);
	(void)swansong_guard_count(s);
	(void)swansong_wait(below, 0);
	swansong_shut_down(below);
	ck_assert_uint_eq(atomic_load(&calls), 0);
	swansong_guard_drop(&g);
	ck_assert_uint_eq(atomic_load(&calls), 1);
	swansong_completion_unref(c);
	swansong_unref(below);
}

START_TEST(a_handler_may_stop_in_the_midst_of_anything)
{
	uint64_t until = clock_now_usec() + 3 * USEC_PER_SEC;

	handle();
	interrupt_every(100);
	while (clock_now_usec() < until || atomic_load(&stops) < 100) {
		unsigned int before;

		make_pair();
		before = atomic_load(&stops);
		atomic_store(&target, _i ? root : child);
		for (int k = 0; k < 1000 && atomic_load(&stops) == before; k++)
			live(child);
		atomic_store(&target, NULL);
		if (atomic_load(&stops) != before) {
			struct swansong *born;

			ck_assert_int_eq(swansong_state(child), SWANSONG_COMPLETE);
			ck_assert_int_eq(swansong_child(child, &born), 0);
			ck_assert_int_eq(swansong_state(born), SWANSONG_COMPLETE);
			swansong_unref(born);
		}
		drop_pair();
	}
	interrupt_every(0);
}
END_TEST

/* Nothing else ends the wait. */
START_TEST(a_handler_ends_the_waits_of_its_thread)
{
	make_pair();
	handle();
	atomic_store(&target, root);
	interrupt_every(10000);
	ck_assert_int_eq(swansong_wait(child, UINT64_MAX), 0);
	ck_assert_int_eq(swansong_stopped_wait(child, UINT64_MAX), 0);
	interrupt_every(0);
	drop_pair();
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("swansong-signal");
	TCase *tc = tcase_create("signal");

	suite_add_tcase(s, tc);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, a_handler_may_stop_in_the_midst_of_anything, 0, 2);
	tcase_add_test(tc, a_handler_ends_the_waits_of_its_thread);
	return s;
}
