#include "tests/unit/fixtures/swansong/loop.h"

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "base/clock.h"

/* ---- which posts are accepted ---- */

START_TEST(a_post_before_the_start_is_refused_and_never_executed)
{
	unsigned int calls = 0;

	ck_assert_int_eq(swansong_loop_state(loop), SWANSONG_LOOP_IDLE);
	ck_assert_int_eq(swansong_loop_post(loop, count_call, &calls), -ESHUTDOWN);
	start();
	swansong_loop_stop(loop);
	ck_assert_uint_eq(calls, 0);
}
END_TEST

START_TEST(a_post_after_the_stop_is_refused_and_never_executed)
{
	unsigned int calls = 0;

	start();
	swansong_loop_stop(loop);
	ck_assert_int_eq(swansong_loop_state(loop), SWANSONG_LOOP_STOPPED);
	ck_assert_int_eq(swansong_loop_post(loop, count_call, &calls), -ESHUTDOWN);
	loop = swansong_loop_unref(loop);
	ck_assert_uint_eq(calls, 0);
}
END_TEST

START_TEST(a_post_during_the_stop_is_refused_and_never_executed)
{
	unsigned int accepted = 0, refused = 0;

	start();
	occupy_loop();
	ck_assert_int_eq(swansong_loop_post(loop, count_call, &accepted), 0);
	pthread_create(&stopper, NULL, stop_loop, loop);
	ck_assert_int_eq(swansong_stopped_wait(swansong_loop_node(loop), USEC_INFINITY), 0);
	ck_assert_int_eq(swansong_loop_state(loop), SWANSONG_LOOP_STOPPING);
	ck_assert_int_eq(swansong_loop_post(loop, count_call, &refused), -ESHUTDOWN);
	sem_post(&leave);
	pthread_join(stopper, NULL);
	ck_assert_uint_eq(accepted, 1);
	ck_assert_uint_eq(refused, 0);
}
END_TEST

static void abort_test(struct post *post, struct swansong_guard *guard)
{
	(void)post;
	(void)guard;
	ck_abort_msg("executed");
}

/* Each row of the table of states, also Starting, in which no test can hold a real loop. */
START_TEST(a_post_is_accepted_in_one_state_only)
{
	static const enum gate_state way[] = {
		GATE_IDLE, GATE_STARTING, GATE_RUNNING, GATE_STOPPING, GATE_STOPPED,
	};
	struct post post = { .run = abort_test };
	struct gate gate;
	int r;

	ck_assert_int_eq(gate_init(&gate, parent), 0);
	for (int i = 0; i < _i; i++)
		ck_assert(gate_move(&gate, way[i], way[i + 1]));
	ck_assert_int_eq(gate_state(&gate), way[_i]);
	r = gate_post(&gate, &post);
	ck_assert_int_eq(r, way[_i] == GATE_RUNNING ? 0 : -ESHUTDOWN);
	ck_assert_uint_eq(swansong_guard_count(parent), r == 0);
	ck_assert(list_is_empty(&gate.posts) == (r != 0));
	swansong_guard_drop(&post.guard);
	gate_done(&gate);
}
END_TEST

/* ---- how they are executed ---- */

struct seen {
	unsigned int next;
	pthread_t thread;
};

struct numbered {
	struct seen *seen;
	unsigned int number;
};

static void check_order(void *arg)
{
	struct numbered *n = arg;

	ck_assert_uint_eq(n->number, n->seen->next);
	n->seen->next++;
	n->seen->thread = pthread_self();
}

START_TEST(posts_are_executed_once_in_their_order_on_the_loops_thread)
{
	struct numbered n[1000];
	struct seen seen = { 0 };

	start();
	for (unsigned int i = 0; i < 1000; i++) {
		n[i] = (struct numbered){ .seen = &seen, .number = i };
		ck_assert_int_eq(swansong_loop_post(loop, check_order, &n[i]), 0);
	}
	swansong_loop_stop(loop);
	ck_assert_uint_eq(seen.next, 1000);
	ck_assert(!pthread_equal(seen.thread, pthread_self()));
}
END_TEST

struct again {
	unsigned int left;
	bool fired;
};

static void post_again(void *arg)
{
	struct again *again = arg;

	if (!again->fired && again->left-- > 0)
		ck_assert_int_eq(swansong_loop_post(loop, post_again, again), 0);
	else
		sem_post(&entered);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *arg)
{
	(void)source;
	(void)usec;
	((struct again *)arg)->fired = true;
	return 0;
}

START_TEST(posts_that_post_again_do_not_starve_the_sources)
{
	struct again again = { .left = 10000000 };

	sem_init(&entered, 0, 0);
	ck_assert_int_ge(sd_event_add_time(swansong_loop_event(loop), NULL, CLOCK_MONOTONIC,
					   clock_now_usec() + 5000, 1, on_timer, &again),
			 0);
	start();
	ck_assert_int_eq(swansong_loop_post(loop, post_again, &again), 0);
	sem_wait(&entered);
	swansong_loop_stop(loop);
	ck_assert(again.fired);
}
END_TEST

static void check_signals(void *arg)
{
	sigset_t set;

	ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, NULL, &set), 0);
	*(bool *)arg = sigismember(&set, SIGTERM) && sigismember(&set, SIGUSR1);
}

START_TEST(signals_are_blocked_there_and_nowhere_else)
{
	bool blocked = false;

	start();
	ck_assert_int_eq(swansong_loop_post(loop, check_signals, &blocked), 0);
	swansong_loop_stop(loop);
	ck_assert(blocked);
	check_signals(&blocked);
	ck_assert(!blocked);
}
END_TEST

struct poster {
	pthread_t thread;
	unsigned int accepted, executed;
};

static void *post_until_refused(void *arg)
{
	struct poster *poster = arg;
	int r;

	while ((r = swansong_loop_post(loop, count_call, &poster->executed)) == 0)
		poster->accepted++;
	ck_assert_int_eq(r, -ESHUTDOWN);
	ck_assert_int_eq(swansong_loop_post(loop, count_call, &poster->executed), -ESHUTDOWN);
	return NULL;
}

START_TEST(executed_is_accepted_from_any_thread_during_a_stop)
{
	for (unsigned int i = 0; i < 30; i++) {
		struct poster posters[3] = { 0 };

		drop_loop();
		make_loop();
		start();
		for (unsigned int t = 0; t < 3; t++)
			pthread_create(&posters[t].thread, NULL, post_until_refused, &posters[t]);
		occupy_loop();
		sem_post(&leave);
		swansong_loop_stop(loop);
		for (unsigned int t = 0; t < 3; t++) {
			pthread_join(posters[t].thread, NULL);
			ck_assert_uint_eq(posters[t].executed, posters[t].accepted);
		}
	}
}
END_TEST

/* ---- the node ---- */

START_TEST(every_post_holds_a_guard_until_it_is_executed)
{
	unsigned int calls = 0;

	start();
	ck_assert_uint_eq(swansong_guard_count(parent), 0);
	occupy_loop();
	ck_assert_uint_eq(swansong_guard_count(parent), 1);
	ck_assert_int_eq(swansong_loop_post(loop, count_call, &calls), 0);
	ck_assert_uint_eq(swansong_guard_count(parent), 2);
	swansong_shut_down(parent);
	ck_assert_int_eq(swansong_wait(parent, 0), -ETIMEDOUT);
	sem_post(&leave);
	ck_assert_int_eq(swansong_wait(parent, USEC_INFINITY), 0);
	ck_assert_uint_eq(calls, 1);
}
END_TEST

START_TEST(a_stop_from_above_leaves_the_loop_running)
{
	unsigned int calls = 0;

	start();
	swansong_shut_down(parent);
	ck_assert_int_eq(swansong_loop_state(loop), SWANSONG_LOOP_RUNNING);
	ck_assert_int_eq(swansong_loop_post(loop, count_call, &calls), 0);
	ck_assert_int_eq(swansong_wait(parent, USEC_INFINITY), 0);
	ck_assert_uint_eq(calls, 1);
}
END_TEST

static int on_exit_source(sd_event_source *source, void *arg)
{
	(void)source;
	sem_post(&entered);
	sem_wait(&leave);
	count_call(arg);
	return 0;
}

START_TEST(the_node_stops_with_the_loop_and_is_complete_when_nothing_is_left_to_do)
{
	unsigned int calls = 0;

	sem_init(&entered, 0, 0);
	sem_init(&leave, 0, 0);
	ck_assert_int_ge(sd_event_add_exit(swansong_loop_event(loop), NULL, on_exit_source, &calls),
			 0);
	start();
	ck_assert_int_eq(swansong_state(swansong_loop_node(loop)), SWANSONG_RUNNING);
	pthread_create(&stopper, NULL, stop_loop, loop);
	sem_wait(&entered);
	ck_assert_int_eq(swansong_state(swansong_loop_node(loop)), SWANSONG_SHUTTING_DOWN);
	ck_assert_int_eq(swansong_state(parent), SWANSONG_RUNNING);
	sem_post(&leave);
	ck_assert_int_eq(swansong_wait(swansong_loop_node(loop), USEC_INFINITY), 0);
	ck_assert_uint_eq(calls, 1);
	pthread_join(stopper, NULL);
}
END_TEST

START_TEST(a_loop_without_a_parent_has_a_root_of_its_own)
{
	struct swansong_loop *alone;
	struct swansong *node;

	ck_assert_int_eq(swansong_loop_new(NULL, &alone), 0);
	node = swansong_ref(swansong_loop_node(alone));
	ck_assert_int_eq(swansong_loop_start(alone), 0);
	ck_assert_ptr_null(swansong_loop_unref(alone));
	ck_assert_int_eq(swansong_state(node), SWANSONG_COMPLETE);
	swansong_unref(node);
}
END_TEST

/* ---- the sd_event ---- */

static void exit_event(void *arg)
{
	unsigned int *calls = arg;

	ck_assert_int_ge(sd_event_exit(swansong_loop_event(loop), 0), 0);
	ck_assert_int_eq(swansong_loop_post(loop, count_call, calls), 0);
}

START_TEST(a_callback_that_exits_the_sd_event_stops_the_loop)
{
	unsigned int calls = 0, refused = 0;

	start();
	ck_assert_int_eq(swansong_loop_post(loop, exit_event, &calls), 0);
	ck_assert_int_eq(swansong_wait(swansong_loop_node(loop), USEC_INFINITY), 0);
	ck_assert_uint_eq(calls, 1);
	ck_assert_int_eq(swansong_loop_post(loop, count_call, &refused), -ESHUTDOWN);
	ck_assert_int_eq(swansong_loop_stop(loop), 0);
	ck_assert_int_eq(swansong_loop_state(loop), SWANSONG_LOOP_STOPPED);
	ck_assert_uint_eq(refused, 0);
}
END_TEST

/* The epoll descriptor is replaced by another open descriptor, for it will be closed. */
static void break_event(void *arg)
{
	int fd = eventfd(0, EFD_CLOEXEC);

	(void)arg;
	ck_assert_int_ge(fd, 0);
	ck_assert_int_ge(dup2(fd, sd_event_get_fd(swansong_loop_event(loop))), 0);
	close(fd);
}

START_TEST(the_stop_returns_the_error_that_ended_the_sd_event)
{
	start();
	ck_assert_int_eq(swansong_loop_post(loop, break_event, NULL), 0);
	ck_assert_int_eq(swansong_wait(swansong_loop_node(loop), USEC_INFINITY), 0);
	ck_assert_int_eq(swansong_loop_stop(loop), -EINVAL);
	ck_assert_int_eq(swansong_loop_state(loop), SWANSONG_LOOP_STOPPED);
}
END_TEST

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	(void)fd;
	(void)events;
	count_call(arg);
	return sd_event_source_set_enabled(source, SD_EVENT_OFF); /* it stays readable */
}

/* All events of a node that a program can wait for, on a loop that is not the library's. */
START_TEST(an_event_loop_waits_for_the_stop_and_for_the_end)
{
	struct swansong_guard g = swansong_guard(parent);
	struct swansong_completion *completion;
	struct swansong_interrupt *interrupt;
	unsigned int stops = 0, ends = 0;
	sd_event *event;

	ck_assert_int_eq(swansong_completion_new(parent, &completion), 0);
	ck_assert_int_eq(swansong_interrupt_new(parent, &interrupt), 0);
	ck_assert_int_ge(sd_event_new(&event), 0);
	ck_assert_int_ge(sd_event_add_io(event, NULL, swansong_stopped_fd(parent), EPOLLIN,
					 on_readable, &stops),
			 0);
	ck_assert_int_ge(sd_event_add_io(event, NULL, swansong_interrupt_fd(interrupt), EPOLLIN,
					 on_readable, &stops),
			 0);
	ck_assert_int_ge(sd_event_add_io(event, NULL, swansong_completion_fd(completion), EPOLLIN,
					 on_readable, &ends),
			 0);
	ck_assert_int_eq(sd_event_run(event, 0), 0);
	swansong_shut_down(parent);
	while (sd_event_run(event, 0) > 0)
		;
	ck_assert_uint_eq(stops, 2);
	ck_assert_uint_eq(ends, 0);
	swansong_guard_drop(&g);
	while (sd_event_run(event, 0) > 0)
		;
	ck_assert_uint_eq(stops, 2);
	ck_assert_uint_eq(ends, 1);
	sd_event_unref(event);
	swansong_interrupt_unref(interrupt);
	swansong_completion_unref(completion);
}
END_TEST

START_TEST(posts_to_a_held_loop_are_refused_when_it_is_gone)
{
	struct swansong_loop *held = loop_hold(loop);
	struct post post = { .run = abort_test };

	start();
	loop = swansong_loop_unref(loop);
	ck_assert_int_eq(loop_post(held, &post), -ESHUTDOWN);
	ck_assert_int_eq(swansong_loop_state(held), SWANSONG_LOOP_STOPPED);
	loop_release(held);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("swansong-loop");
	TCase *tc = tcase_create("loop");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, make_loop, drop_loop);
	tcase_add_test(tc, a_post_before_the_start_is_refused_and_never_executed);
	tcase_add_test(tc, a_post_after_the_stop_is_refused_and_never_executed);
	tcase_add_test(tc, a_post_during_the_stop_is_refused_and_never_executed);
	tcase_add_loop_test(tc, a_post_is_accepted_in_one_state_only, 0, 5);
	tcase_add_test(tc, posts_are_executed_once_in_their_order_on_the_loops_thread);
	tcase_add_test(tc, posts_that_post_again_do_not_starve_the_sources);
	tcase_add_test(tc, signals_are_blocked_there_and_nowhere_else);
	tcase_add_test(tc, executed_is_accepted_from_any_thread_during_a_stop);
	tcase_add_test(tc, every_post_holds_a_guard_until_it_is_executed);
	tcase_add_test(tc, a_stop_from_above_leaves_the_loop_running);
	tcase_add_test(tc, the_node_stops_with_the_loop_and_is_complete_when_nothing_is_left_to_do);
	tcase_add_test(tc, a_loop_without_a_parent_has_a_root_of_its_own);
	tcase_add_test(tc, a_callback_that_exits_the_sd_event_stops_the_loop);
	tcase_add_test(tc, the_stop_returns_the_error_that_ended_the_sd_event);
	tcase_add_test(tc, an_event_loop_waits_for_the_stop_and_for_the_end);
	tcase_add_test(tc, posts_to_a_held_loop_are_refused_when_it_is_gone);
	suite_add_tcase(suite, tc);
	return suite;
}
