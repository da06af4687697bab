/* Nodes that a signal stops. */
#include "tests/unit/fixtures/swansong/pair.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include <swansong/swansong.h>

static bool elsewhere; /* the function has run on another thread than main_thread */
static sem_t has_run;
static pthread_t main_thread;

/* The runner of the tests has handlers. */
static void make_world(void)
{
	(void)signal(SIGTERM, SIG_DFL);
	(void)signal(SIGINT, SIG_DFL);
	make_pair();
}

static void note_thread(void *arg)
{
	(void)arg;
	elsewhere = !pthread_equal(pthread_self(), main_thread);
	(void)sem_post(&has_run);
}

START_TEST(a_signal_stops_the_node_on_a_thread_of_the_library)
{
	struct swansong_completion *c;
	struct swansong_guard g = swansong_guard(child);

	main_thread = pthread_self();
	ck_assert_int_eq(swansong_completion_new(child, &c), 0);
	ck_assert_int_eq(swansong_stop_on_signal(child, SIGTERM), 0);
	ck_assert_int_eq(raise(SIGTERM), 0);
	ck_assert_int_eq(swansong_stopped_wait(child, UINT64_MAX), 0);
	ck_assert_int_eq(raise(SIGTERM), 0); /* does nothing */
	ck_assert_int_eq(swansong_state(child), SWANSONG_SHUTTING_DOWN);
	ck_assert_int_eq(swansong_state(root), SWANSONG_RUNNING);
	swansong_guard_drop(&g);
	ck_assert_int_eq(swansong_completion_wait(c, UINT64_MAX), 0);
	ck_assert_int_eq(raise(SIGTERM), 0);
	(void)swansong_completion_unref(c);
}
END_TEST

START_TEST(functions_of_the_stop_run_on_that_thread)
{
	struct swansong_completion *c;

	main_thread = pthread_self();
	ck_assert_int_eq(swansong_completion_new(root, &c), 0);
	ck_assert_int_eq(sem_init(&has_run, 0, 0), 0);
	ck_assert_int_eq(swansong_completion_notify(c, note_thread, NULL), 0);
	ck_assert_int_eq(swansong_stop_on_signal(root, SIGINT), 0);
	ck_assert_int_eq(raise(SIGINT), 0);
	while (sem_wait(&has_run) < 0)
		ck_assert_int_eq(errno, EINTR);
	ck_assert(elsewhere);
	(void)swansong_completion_unref(c);
}
END_TEST

/* The thread of the first node ends shortly after it, so a call may be refused until then. */
START_TEST(a_signal_stops_one_node_at_a_time)
{
	struct swansong *next;
	int r;

	ck_assert_int_eq(swansong_stop_on_signal(root, SIGTERM), 0);
	ck_assert_int_eq(swansong_stop_on_signal(child, SIGTERM), -EBUSY);
	ck_assert_int_eq(swansong_stop_on_signal(child, SIGINT), 0);
	for (int k = 0; k < 100; k++) {
		ck_assert_int_eq(swansong_new(&next), 0);
		swansong_shut_down(root);
		do
			r = swansong_stop_on_signal(next, SIGTERM);
		while (r == -EBUSY);
		ck_assert_int_eq(r, 0);
		ck_assert_int_eq(swansong_state(next), SWANSONG_RUNNING);
		(void)raise(SIGTERM);
		ck_assert_int_eq(swansong_wait(next, UINT64_MAX), 0);
		(void)swansong_unref(next);
	}
}
END_TEST

static void handle(int signo)
{
	(void)signo;
}

START_TEST(a_handler_of_the_program_is_kept_and_a_signal_that_cannot_be_caught_is_refused)
{
	ck_assert(signal(SIGTERM, handle) == SIG_DFL);
	ck_assert_int_eq(swansong_stop_on_signal(root, SIGTERM), -EBUSY);
	ck_assert(signal(SIGTERM, SIG_DFL) == handle);
	ck_assert_int_eq(swansong_stop_on_signal(root, SIGKILL), -EINVAL);
	ck_assert_int_eq(swansong_stop_on_signal(root, 0), -EINVAL);
	ck_assert_int_eq(swansong_stop_on_signal(root, -1), -EINVAL);
	ck_assert_int_eq(swansong_stop_on_signal(root, 10000), -EINVAL);
	ck_assert_int_eq(swansong_stop_on_signal(root, SIGTERM), 0);
}
END_TEST

START_TEST(the_last_unref_of_a_root_stops_it_as_ever)
{
	struct swansong_interrupt *i;
	struct swansong *other;

	ck_assert_int_eq(swansong_new(&other), 0);
	ck_assert_int_eq(swansong_interrupt_new(other, &i), 0);
	ck_assert_int_eq(swansong_stop_on_signal(other, SIGTERM), 0);
	(void)swansong_unref(other);
	ck_assert(swansong_interrupted(i));
	(void)swansong_interrupt_unref(i);
}
END_TEST

static int status_of_child(void (*run)(void))
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		run();
		_exit(9);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

static void end_by_signal(void)
{
	(void)raise(SIGTERM);
}

static void stop_own(void)
{
	swansong_shut_down(root); /* the parent's thread is missing, and nothing waits for it */
	root = swansong_unref(root);
	if (swansong_new(&root) < 0 || swansong_stop_on_signal(root, SIGTERM) < 0)
		_exit(2);
	(void)raise(SIGTERM);
	_exit(swansong_wait(root, UINT64_MAX) == 0 ? 0 : 3);
}

START_TEST(a_forked_process_has_the_default_action_and_may_have_a_node_of_its_own)
{
	int status;

	ck_assert_int_eq(swansong_stop_on_signal(root, SIGTERM), 0);
	status = status_of_child(end_by_signal);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	ck_assert_int_eq(status_of_child(stop_own), 0);
	ck_assert_int_eq(swansong_state(root), SWANSONG_RUNNING);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("swansong-stopper");
	TCase *tc = tcase_create("stopper");

	suite_add_tcase(s, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, make_world, drop_pair);
	tcase_add_test(tc, a_signal_stops_the_node_on_a_thread_of_the_library);
	tcase_add_test(tc, functions_of_the_stop_run_on_that_thread);
	tcase_add_test(tc, a_signal_stops_one_node_at_a_time);
	tcase_add_test(
		tc, a_handler_of_the_program_is_kept_and_a_signal_that_cannot_be_caught_is_refused);
	tcase_add_test(tc, the_last_unref_of_a_root_stops_it_as_ever);
	if (!THREADS_ARE_WATCHED)
		tcase_add_test(
			tc,
			a_forked_process_has_the_default_action_and_may_have_a_node_of_its_own);
	return s;
}
