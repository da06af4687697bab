#include "tests/unit/fixtures/swansong/pair.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#include "base/clock.h"
#include <swansong/swansong.h>

static struct swansong_interrupt *interrupt_of(struct swansong *s)
{
	struct swansong_interrupt *i;

	ck_assert_int_eq(swansong_interrupt_new(s, &i), 0);
	return i;
}

/* Returns true if the interrupt is interrupted; all ways of asking must agree. */
static bool is_interrupted(struct swansong_interrupt *i)
{
	bool interrupted = swansong_interrupted(i);

	ck_assert_int_eq(swansong_interrupt_wait(i, 0), interrupted ? 0 : -ETIMEDOUT);
	ck_assert_int_eq(is_readable(swansong_interrupt_fd(i)), interrupted);
	return interrupted;
}

START_TEST(an_interrupt_sees_the_stop_and_goes_on_seeing_it)
{
	struct swansong_interrupt *i = interrupt_of(root);

	ck_assert(!is_interrupted(i));
	swansong_shut_down(root);
	ck_assert(is_interrupted(i));
	ck_assert(is_interrupted(i));
	swansong_interrupt_unref(i);
}
END_TEST

START_TEST(an_interrupt_does_not_wait_for_guards)
{
	struct swansong_interrupt *i = interrupt_of(child);
	struct swansong_guard g = swansong_guard(child);

	swansong_shut_down(root);
	ck_assert(is_interrupted(i));
	ck_assert_int_eq(swansong_stopped_wait(child, 0), 0);
	ck_assert(is_readable(swansong_stopped_fd(child)));
	ck_assert_int_eq(swansong_state(child), SWANSONG_SHUTTING_DOWN);
	swansong_guard_drop(&g);
	swansong_interrupt_unref(i);
}
END_TEST

START_TEST(an_interrupt_holds_nothing_up)
{
	struct swansong_interrupt *i = interrupt_of(child);

	ck_assert_uint_eq(swansong_guard_count(root), 0);
	swansong_shut_down(root);
	ck_assert_int_eq(swansong_state(root), SWANSONG_COMPLETE);
	swansong_interrupt_unref(i);
}
END_TEST

START_TEST(a_guarded_interrupt_delays_completion_until_it_is_dropped)
{
	struct swansong_interrupt *i;

	ck_assert_int_eq(swansong_interrupt_new_guarded(child, &i), 0);
	ck_assert_uint_eq(swansong_guard_count(root), 1);
	swansong_shut_down(root);
	ck_assert(is_interrupted(i));
	ck_assert_int_eq(swansong_state(root), SWANSONG_SHUTTING_DOWN);
	swansong_interrupt_unref(i);
	ck_assert_int_eq(swansong_state(root), SWANSONG_COMPLETE);
}
END_TEST

START_TEST(a_guarded_interrupt_keeps_its_node)
{
	struct swansong_interrupt *i;

	ck_assert_int_eq(swansong_interrupt_new_guarded(child, &i), 0);
	child = swansong_unref(child);
	ck_assert(!is_interrupted(i));
	root = swansong_unref(root);
	ck_assert(is_interrupted(i));
	swansong_interrupt_unref(i);
}
END_TEST

START_TEST(every_interrupt_of_the_subtree_sees_the_stop_when_it_returns)
{
	struct swansong *nodes[100];
	struct swansong_interrupt *i[100];

	nodes[0] = swansong_ref(root);
	for (unsigned int n = 1; n < 100; n++) {
		ck_assert_int_eq(swansong_child(nodes[(n - 1) / 3], &nodes[n]), 0);
		i[n] = interrupt_of(nodes[n]);
	}
	swansong_shut_down(root);
	for (unsigned int n = 1; n < 100; n++) {
		ck_assert(swansong_interrupted(i[n]));
		swansong_interrupt_unref(i[n]);
		swansong_unref(nodes[n]);
	}
	swansong_unref(nodes[0]);
}
END_TEST

START_TEST(a_stop_below_or_beside_is_not_seen)
{
	struct swansong_interrupt *above = interrupt_of(root), *beside;
	struct swansong *other;

	ck_assert_int_eq(swansong_child(root, &other), 0);
	beside = interrupt_of(other);
	swansong_shut_down(child);
	ck_assert(!is_interrupted(above));
	ck_assert(!is_interrupted(beside));
	swansong_unref(other);
	swansong_interrupt_unref(above);
	swansong_interrupt_unref(beside);
}
END_TEST

START_TEST(an_interrupt_of_a_stopped_node_is_born_interrupted)
{
	struct swansong_interrupt *i, *j;
	struct swansong *late;

	swansong_shut_down(root);
	i = interrupt_of(child);
	ck_assert(is_interrupted(i));
	ck_assert_int_eq(swansong_child(child, &late), 0);
	j = interrupt_of(late);
	ck_assert(is_interrupted(j));
	swansong_unref(late);
	swansong_interrupt_unref(i);
	swansong_interrupt_unref(j);
}
END_TEST

START_TEST(dropping_the_root_interrupts_all)
{
	struct swansong_interrupt *i = interrupt_of(root), *j = interrupt_of(child);

	root = swansong_unref(root);
	ck_assert(is_interrupted(i));
	ck_assert(is_interrupted(j));
	swansong_interrupt_unref(i);
	swansong_interrupt_unref(j);
}
END_TEST

START_TEST(a_node_that_is_gone_interrupts)
{
	struct swansong_interrupt *i = interrupt_of(child);
	int fd = swansong_interrupt_fd(i);

	child = swansong_unref(child);
	ck_assert(is_readable(fd));
	ck_assert(is_interrupted(i));
	swansong_interrupt_unref(i);
}
END_TEST

/* A guard, a completion and a child keep a node; its ancestor does not. */
START_TEST(a_node_that_is_kept_goes_on_until_its_parent_stops_or_it_is_gone)
{
	struct swansong_interrupt *i = interrupt_of(child);
	struct swansong_guard g = swansong_guard(child);
	struct swansong_completion *c;
	struct swansong *below;

	ck_assert_int_eq(swansong_child(child, &below), 0);
	ck_assert_int_eq(swansong_completion_new(child, &c), 0);
	child = swansong_unref(child);
	ck_assert(!is_interrupted(i));
	swansong_guard_drop(&g);
	ck_assert(!is_interrupted(i));
	swansong_completion_unref(c);
	ck_assert(!is_interrupted(i));
	if (_i)
		swansong_shut_down(root);
	else
		below = swansong_unref(below);
	ck_assert(is_interrupted(i));
	swansong_unref(below);
	swansong_interrupt_unref(i);
}
END_TEST

START_TEST(the_last_guard_of_a_nameless_node_ends_it)
{
	struct swansong_interrupt *i = interrupt_of(child);
	struct swansong_guard g = swansong_guard(child);

	child = swansong_unref(child);
	if (_i) {
		swansong_shut_down(root);
		ck_assert_int_eq(swansong_state(root), SWANSONG_SHUTTING_DOWN);
	}
	swansong_guard_drop(&g);
	ck_assert(is_interrupted(i));
	swansong_interrupt_unref(i);
}
END_TEST

START_TEST(an_interrupt_outlives_the_whole_tree)
{
	struct swansong_interrupt *i = interrupt_of(child), *j = interrupt_of(root);

	drop_pair();
	ck_assert(is_interrupted(i));
	ck_assert(is_interrupted(j));
	swansong_interrupt_unref(i);
	swansong_interrupt_unref(j);
	ck_assert_ptr_null(swansong_interrupt_unref(NULL));
}
END_TEST

START_TEST(each_interrupt_has_a_descriptor_and_each_node)
{
	struct swansong_interrupt *i = interrupt_of(child), *j = interrupt_of(child);
	int fd = swansong_interrupt_fd(i);

	ck_assert_int_eq(swansong_interrupt_fd(i), fd);
	ck_assert_int_ne(swansong_interrupt_fd(j), fd);
	ck_assert_int_ne(swansong_stopped_fd(child), fd);
	ck_assert_int_eq(swansong_stopped_fd(child), swansong_stopped_fd(child));
	swansong_interrupt_unref(i);
	ck_assert(!is_readable(swansong_interrupt_fd(j)));
	swansong_shut_down(root);
	ck_assert(is_readable(swansong_interrupt_fd(j)));
	swansong_interrupt_unref(j);
}
END_TEST

START_TEST(stopped_waits_end_at_their_deadline)
{
	ck_assert_int_eq(swansong_stopped_wait(root, clock_now_usec() + 1), -ETIMEDOUT);
	ck_assert(!is_readable(swansong_stopped_fd(root)));
}
END_TEST

/* ---- blocked in another thread when it happens ---- */

struct blocked {
	pthread_t thread;
	struct swansong_interrupt *interrupt;
	int fd;
};

static void *block(void *arg)
{
	struct blocked *b = arg;
	struct pollfd p = { .fd = b->fd, .events = POLLIN };

	if (b->fd >= 0)
		return poll(&p, 1, -1) == 1 ? arg : NULL;
	return swansong_interrupt_wait(b->interrupt, USEC_INFINITY) == 0 ? arg : NULL;
}

/* _i has one bit for how it is blocked and one for what happens. */
START_TEST(a_blocked_thread_is_woken)
{
	struct blocked b = { .interrupt = interrupt_of(child), .fd = -1 };
	void *result;

	if (_i & 1)
		b.fd = swansong_interrupt_fd(b.interrupt);
	pthread_create(&b.thread, NULL, block, &b);
	sched_yield();
	if (_i & 2)
		child = swansong_unref(child);
	else
		swansong_shut_down(root);
	pthread_join(b.thread, &result);
	ck_assert_ptr_nonnull(result);
	swansong_interrupt_unref(b.interrupt);
}
END_TEST

static void *wait_for_stop(void *arg)
{
	return swansong_stopped_wait(arg, USEC_INFINITY) == 0 ? arg : NULL;
}

START_TEST(no_wakeup_is_lost_in_2000_races)
{
	for (int round = 0; round < 2000; round++) {
		pthread_t waiter;
		void *result;

		pthread_create(&waiter, NULL, wait_for_stop, child);
		swansong_shut_down(round % 2 ? root : child);
		pthread_join(waiter, &result);
		ck_assert_ptr_nonnull(result);
		drop_pair();
		make_pair();
	}
}
END_TEST

/* ---- functions ---- */

struct called {
	struct swansong_interrupt *interrupt;
	unsigned int calls;
	pthread_t thread;
	bool drops;
};

static void note_call(void *arg)
{
	struct called *c = arg;

	ck_assert(swansong_interrupted(c->interrupt));
	c->calls++;
	c->thread = pthread_self();
	if (c->drops)
		c->interrupt = swansong_interrupt_unref(c->interrupt);
}

static struct called *notify(struct called *c, struct swansong *s, bool drops)
{
	*c = (struct called){ .drops = drops };
	ck_assert_int_eq(swansong_interrupt_new(s, &c->interrupt), 0);
	ck_assert_int_eq(swansong_interrupt_notify(c->interrupt, note_call, c), 0);
	return c;
}

START_TEST(a_function_is_called_once_by_the_stop_from_above)
{
	struct called above, here, again;

	notify(&above, root, false);
	notify(&here, child, _i);
	swansong_shut_down(child);
	ck_assert_uint_eq(above.calls, 0);
	ck_assert_uint_eq(here.calls, 1);
	swansong_shut_down(root);
	ck_assert_uint_eq(above.calls, 1);
	ck_assert_uint_eq(here.calls, 1);
	ck_assert(pthread_equal(above.thread, pthread_self()));
	notify(&again, child, _i); /* at once */
	ck_assert_uint_eq(again.calls, 1);
	swansong_interrupt_unref(above.interrupt);
	swansong_interrupt_unref(here.interrupt);
	swansong_interrupt_unref(again.interrupt);
}
END_TEST

START_TEST(a_function_is_called_when_the_node_is_gone)
{
	struct called c;
	struct swansong *s;
	struct swansong_guard g;

	ck_assert_int_eq(swansong_child(child, &s), 0);
	notify(&c, s, _i);
	g = swansong_guard(s);
	swansong_unref(s);
	ck_assert_uint_eq(c.calls, 0);
	swansong_guard_drop(&g);
	ck_assert_uint_eq(c.calls, 1);
	swansong_interrupt_unref(c.interrupt);
}
END_TEST

START_TEST(an_interrupt_whose_whole_tree_is_gone_is_notified_at_once)
{
	struct called c = { 0 };
	struct swansong *s;

	ck_assert_int_eq(swansong_new(&s), 0);
	ck_assert_int_eq(swansong_interrupt_new(s, &c.interrupt), 0);
	swansong_unref(s);
	ck_assert_int_eq(swansong_interrupt_notify(c.interrupt, note_call, &c), 0);
	ck_assert_uint_eq(c.calls, 1);
	swansong_interrupt_unref(c.interrupt);
}
END_TEST

START_TEST(a_second_function_is_refused_and_a_dropped_one_not_called)
{
	struct called c;

	notify(&c, child, false);
	ck_assert_int_eq(swansong_interrupt_notify(c.interrupt, note_call, &c), -EALREADY);
	swansong_interrupt_unref(c.interrupt);
	swansong_shut_down(root);
	ck_assert_uint_eq(c.calls, 0);
}
END_TEST

static sem_t in_function, may_end;

static void stay_in_function(void *arg)
{
	sem_post(&in_function);
	sem_wait(&may_end);
	*(bool *)arg = true;
}

static void *stop_child(void *arg)
{
	swansong_shut_down(child);
	return arg;
}

static void *let_end(void *arg)
{
	sem_post(&may_end);
	return arg;
}

START_TEST(dropping_waits_for_a_function_that_runs_on_another_thread)
{
	struct swansong_interrupt *i;
	pthread_t stopper, ender;
	bool ended = false;

	sem_init(&in_function, 0, 0);
	sem_init(&may_end, 0, 0);
	ck_assert_int_eq(swansong_interrupt_new(child, &i), 0);
	ck_assert_int_eq(swansong_interrupt_notify(i, stay_in_function, &ended), 0);
	ck_assert_int_eq(pthread_create(&stopper, NULL, stop_child, NULL), 0);
	sem_wait(&in_function);
	ck_assert_int_eq(pthread_create(&ender, NULL, let_end, NULL), 0);
	swansong_interrupt_unref(i);
	ck_assert(ended);
	pthread_join(stopper, NULL);
	pthread_join(ender, NULL);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("swansong-interrupt");
	TCase *tc = tcase_create("interrupt");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, make_pair, drop_pair);
	tcase_add_test(tc, an_interrupt_sees_the_stop_and_goes_on_seeing_it);
	tcase_add_test(tc, an_interrupt_does_not_wait_for_guards);
	tcase_add_test(tc, an_interrupt_holds_nothing_up);
	tcase_add_test(tc, a_guarded_interrupt_delays_completion_until_it_is_dropped);
	tcase_add_test(tc, a_guarded_interrupt_keeps_its_node);
	tcase_add_test(tc, every_interrupt_of_the_subtree_sees_the_stop_when_it_returns);
	tcase_add_test(tc, a_stop_below_or_beside_is_not_seen);
	tcase_add_test(tc, an_interrupt_of_a_stopped_node_is_born_interrupted);
	tcase_add_test(tc, dropping_the_root_interrupts_all);
	tcase_add_test(tc, a_node_that_is_gone_interrupts);
	tcase_add_loop_test(tc, a_node_that_is_kept_goes_on_until_its_parent_stops_or_it_is_gone, 0,
			    2);
	tcase_add_loop_test(tc, the_last_guard_of_a_nameless_node_ends_it, 0, 2);
	tcase_add_test(tc, an_interrupt_outlives_the_whole_tree);
	tcase_add_test(tc, each_interrupt_has_a_descriptor_and_each_node);
	tcase_add_test(tc, stopped_waits_end_at_their_deadline);
	tcase_add_loop_test(tc, a_blocked_thread_is_woken, 0, 4);
	tcase_add_test(tc, no_wakeup_is_lost_in_2000_races);
	tcase_add_loop_test(tc, a_function_is_called_once_by_the_stop_from_above, 0, 2);
	tcase_add_loop_test(tc, a_function_is_called_when_the_node_is_gone, 0, 2);
	tcase_add_test(tc, an_interrupt_whose_whole_tree_is_gone_is_notified_at_once);
	tcase_add_test(tc, a_second_function_is_refused_and_a_dropped_one_not_called);
	tcase_add_test(tc, dropping_waits_for_a_function_that_runs_on_another_thread);
	suite_add_tcase(suite, tc);
	return suite;
}
