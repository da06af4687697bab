/*
 * Forked processes: each has a tree of its own, and neither process sees the actions of the other.
 */
#include "tests/unit/fixtures/swansong/pair.h"
#include "tests/unit/fixtures/swansong/caller.h"

#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/macro.h"

#define must(condition)                                                                 \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #condition); \
			_exit(EXIT_FAILURE);                                            \
		}                                                                       \
	} while (0)

/* Runs @fn in a new process, which has to end within a time. */
static void in_fork(void (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		(void)alarm(60);
		fn();
		_exit(EXIT_SUCCESS);
	}
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(status == 0, "the process that was forked ends with 0x%x", (unsigned)status);
}

/* ---- descriptors ---- */

enum { STOPPED, INTERRUPT, COMPLETION, FDS };

static struct swansong_interrupt *interrupt;
static struct swansong_completion *completion;
static int fds[FDS];

static void make_fds(void)
{
	make_pair();
	ck_assert_int_eq(swansong_interrupt_new(child, &interrupt), 0);
	ck_assert_int_eq(swansong_completion_new(root, &completion), 0);
	fds[STOPPED] = swansong_stopped_fd(root);
	fds[INTERRUPT] = swansong_interrupt_fd(interrupt);
	fds[COMPLETION] = swansong_completion_fd(completion);
}

static void drop_fds(void)
{
	interrupt = swansong_interrupt_unref(interrupt);
	completion = swansong_completion_unref(completion);
	drop_pair();
}

static unsigned int fds_readable(void)
{
	unsigned int n = 0;

	for (int i = 0; i < FDS; i++)
		n += is_readable(fds[i]);
	return n;
}

static void stop_and_look(void)
{
	must(fds_readable() == 0);
	must(swansong_interrupt_fd(interrupt) == fds[INTERRUPT]);
	must(swansong_interrupt_poll(interrupt, NULL, 0, 0) == -ETIMEDOUT);
	root = swansong_unref(root);
	must(fds_readable() == FDS);
	must(swansong_interrupt_poll(interrupt, NULL, 0, 0) == 0);
	drop_fds();
	/* They are closed, and there is no copy at another number. */
	for (int i = 0; i < FDS; i++)
		must(fcntl(fds[i], F_GETFD) < 0);
}

/* ---- a function of a loop that forks ---- */

static atomic_int forked;
static bool returned_in_child;

#ifdef __SANITIZE_ADDRESS__
/* No code knows any more what the stacks of missing threads held. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return returned_in_child;
}
#endif

static void fork_and_return(void *arg)
{
	pid_t pid = fork();

	(void)arg;
	returned_in_child = pid == 0;
	if (pid != 0)
		atomic_store(&forked, (int)pid);
	else
		(void)alarm(60);
}

static int status_of_forked(void)
{
	int status;

	ck_assert_int_eq(waitpid(atomic_load(&forked), &status, 0), atomic_load(&forked));
	return status;
}

/* In a turn of the loop, and in the last one after its stop. */
START_TEST(a_posted_function_that_forks_may_return_in_both_processes)
{
	struct swansong_loop *loop;

	ck_assert_int_eq(swansong_loop_new(root, &loop), 0);
	ck_assert_int_eq(swansong_loop_start(loop), 0);
	ck_assert_int_eq(swansong_loop_post(loop, fork_and_return, NULL), 0);
	if (_i == 1)
		ck_assert_int_eq(swansong_loop_stop(loop), 0);
	while (!atomic_load(&forked))
		sched_yield();
	ck_assert_int_eq(status_of_forked(), 0);
	ck_assert_int_eq(swansong_loop_stop(loop), 0);
	(void)swansong_loop_unref(loop);
}
END_TEST

START_TEST(a_stop_in_a_forked_process_is_not_seen_by_its_parent)
{
	in_fork(stop_and_look);
	ck_assert_uint_eq(fds_readable(), 0);
	ck_assert_int_eq(swansong_interrupt_poll(interrupt, NULL, 0, 0), -ETIMEDOUT);
	ck_assert_int_eq(swansong_state(root), SWANSONG_RUNNING);
	swansong_shut_down(root);
	ck_assert_uint_eq(fds_readable(), FDS);
}
END_TEST

static int from_parent[2];

static void wait_and_look(void)
{
	char byte;

	must(read(from_parent[0], &byte, 1) == 1);
	must(fds_readable() == 0);
	must(swansong_state(root) == SWANSONG_RUNNING);
}

START_TEST(a_stop_in_the_parent_is_not_seen_by_a_forked_process)
{
	pid_t pid;
	int status;

	ck_assert_int_eq(pipe(from_parent), 0);
	pid = fork();
	if (pid == 0) {
		(void)alarm(60);
		wait_and_look();
		_exit(EXIT_SUCCESS);
	}
	swansong_shut_down(root);
	ck_assert_uint_eq(fds_readable(), FDS);
	ck_assert_int_eq(write(from_parent[1], "x", 1), 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

static void look_at_stopped(void)
{
	must(fds_readable() == FDS);
	drop_fds();
}

START_TEST(a_node_stopped_before_a_fork_is_stopped_in_both_processes)
{
	swansong_shut_down(root);
	in_fork(look_at_stopped);
	ck_assert_uint_eq(fds_readable(), FDS);
}
END_TEST

static void stop_without_descriptors(void)
{
	must(swansong_interrupt_fd(interrupt) == fds[INTERRUPT] ||
	     fcntl(fds[INTERRUPT], F_GETFD) < 0);
	swansong_shut_down(root);
	must(swansong_interrupted(interrupt) && swansong_completion_done(completion));
	drop_fds();
}

/* There is no room for the new descriptors beside the old ones. */
START_TEST(descriptors_are_renewed_where_no_more_can_be_opened)
{
	struct rlimit limit, none;
	int highest = dup(0);

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = (rlim_t)highest;
	close(highest);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	in_fork(stop_without_descriptors);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_uint_eq(fds_readable(), 0);
}
END_TEST

/* ---- threads that are missing ---- */

static atomic_bool over;

static void *live(void *arg)
{
	while (!atomic_load(&over)) {
		struct swansong_completion *c = NULL;
		struct swansong_guard g;
		struct swansong *s;

		if (swansong_child(arg, &s) < 0 || swansong_completion_new(s, &c) < 0)
			abort();
		g = swansong_guard(s);
		swansong_shut_down(s);
		(void)swansong_wait(s, 0);
		(void)swansong_completion_fd(c);
		swansong_guard_drop(&g);
		swansong_completion_unref(c);
		swansong_unref(s);
	}
	return NULL;
}

static void live_alone(void)
{
	struct swansong_guard g = swansong_guard(child);
	struct swansong *s;

	must(swansong_child(child, &s) == 0);
	swansong_guard_drop(&g);
	must(swansong_guard_count(root) <= 2); /* the guards of the threads that are missing */
	s = swansong_unref(s);
	swansong_shut_down(root);
	must(swansong_state(root) != SWANSONG_RUNNING);
	(void)swansong_wait(root, 0);
	drop_fds();
}

START_TEST(a_fork_in_the_midst_of_other_threads_leaves_a_tree_that_works)
{
	pthread_t threads[2];

	atomic_store(&over, false);
	if (_i)
		ck_assert_int_eq(swansong_report_enable(root), 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, live, i ? child : root), 0);
	for (int i = 0; i < 200; i++)
		in_fork(live_alone);
	atomic_store(&over, true);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	ck_assert_int_eq(swansong_state(root), SWANSONG_RUNNING);
	ck_assert_uint_eq(swansong_guard_count(root), 0);
	ck_assert_uint_eq(fds_readable(), 0);
}
END_TEST

static long wait_for_root(void *arg)
{
	return swansong_wait(arg, UINT64_MAX);
}

/* New threads may have the stacks of the missing threads. */
static void *scribble(void *arg)
{
	volatile char stack[64 * 1024];

	for (size_t i = 0; i < sizeof(stack); i++)
		stack[i] = (char)0xdd;
	return arg;
}

static void stop_with_new_threads(void)
{
	pthread_t threads[4];

	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		must(pthread_create(&threads[i], NULL, scribble, NULL) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		must(pthread_join(threads[i], NULL) == 0);
	swansong_shut_down(root);
	must(swansong_wait(root, 0) == 0);
	drop_fds();
}

START_TEST(a_thread_that_waits_is_not_waited_for_in_a_forked_process)
{
	struct caller callers[3];

	for (size_t i = 0; i < ARRAY_SIZE(callers); i++) {
		caller_start(&callers[i], wait_for_root, root);
		caller_wait_asleep(&callers[i]);
	}
	in_fork(stop_with_new_threads);
	swansong_shut_down(root);
	for (size_t i = 0; i < ARRAY_SIZE(callers); i++)
		ck_assert_int_eq(caller_join(&callers[i]), 0);
}
END_TEST

static sem_t in_function, may_end;

static void stay_in_function(void *arg)
{
	(void)arg;
	sem_post(&in_function);
	while (sem_wait(&may_end) < 0)
		;
}

static long stop_node(void *arg)
{
	swansong_shut_down(arg);
	return 0;
}

START_TEST(a_function_on_another_thread_is_not_waited_for_in_a_forked_process)
{
	struct caller c;

	sem_init(&in_function, 0, 0);
	sem_init(&may_end, 0, 0);
	ck_assert_int_eq(swansong_completion_notify(completion, stay_in_function, NULL), 0);
	caller_start(&c, stop_node, root);
	ck_assert_int_eq(sem_wait(&in_function), 0);
	in_fork(drop_fds);
	sem_post(&may_end);
	ck_assert_int_eq(caller_join(&c), 0);
}
END_TEST

/* ---- loops and pools ---- */

static struct swansong_loop *loop;
static struct swansong_pool *pool;

static void no_job(void *arg)
{
	(void)arg;
	must(!"executed");
}

static void drop_loop_and_pool(void)
{
	must(swansong_pool_submit(pool, no_job, NULL) == -ESHUTDOWN);
	must(swansong_pool_wait_idle(pool, UINT64_MAX) == 0);
	must(swansong_loop_state(loop) == SWANSONG_LOOP_STOPPED);
	must(swansong_loop_post(loop, no_job, NULL) == -ESHUTDOWN);
	must(swansong_loop_start(loop) == -ESHUTDOWN);
	must(swansong_loop_stop(loop) == 0);
	swansong_pool_stop(pool);
	must(swansong_state(swansong_pool_node(pool)) != SWANSONG_RUNNING);
	must(swansong_state(swansong_loop_node(loop)) != SWANSONG_RUNNING);
	must(!swansong_pool_unref(pool));
	must(!swansong_loop_unref(loop));
	drop_fds();
}

static void a_job(void *arg)
{
	sem_post(arg);
}

START_TEST(loops_and_pools_have_ended_in_a_forked_process)
{
	sem_t done;

	sem_init(&done, 0, 0);
	sem_init(&in_function, 0, 0);
	sem_init(&may_end, 0, 0);
	ck_assert_int_eq(swansong_pool_new(root, 2, &pool), 0);
	ck_assert_int_eq(swansong_loop_new(root, &loop), 0);
	ck_assert_int_eq(swansong_loop_start(loop), 0);
	if (_i) { /* busy */
		ck_assert_int_eq(swansong_pool_submit(pool, stay_in_function, NULL), 0);
		ck_assert_int_eq(sem_wait(&in_function), 0);
	}
	in_fork(drop_loop_and_pool);
	sem_post(&may_end);
	ck_assert_int_eq(swansong_pool_submit(pool, a_job, &done), 0);
	ck_assert_int_eq(swansong_loop_post(loop, a_job, &done), 0);
	ck_assert_int_eq(sem_wait(&done), 0);
	ck_assert_int_eq(sem_wait(&done), 0);
	pool = swansong_pool_unref(pool);
	loop = swansong_loop_unref(loop);
}
END_TEST

static _Atomic int status_of_job = -1;

/* The new process returns from the job into the pool, which has no other thread. */
static void fork_in_job(void *arg)
{
	int status = -1;
	pid_t pid = fork();

	returned_in_child = pid == 0;
	if (returned_in_child)
		return;
	if (waitpid(pid, &status, 0) != pid)
		abort();
	atomic_store(&status_of_job, status);
	sem_post(arg);
}

START_TEST(a_job_that_forks_ends_in_both_processes)
{
	sem_t done;

	sem_init(&done, 0, 0);
	ck_assert_int_eq(swansong_pool_new(root, 1, &pool), 0);
	ck_assert_int_eq(swansong_pool_submit(pool, fork_in_job, &done), 0);
	ck_assert_int_eq(sem_wait(&done), 0);
	ck_assert_int_eq(atomic_load(&status_of_job), 0);
	pool = swansong_pool_unref(pool);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("swansong-fork");
	TCase *tc = tcase_create("fork");

	suite_add_tcase(s, tc);
	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, make_fds, drop_fds);
	tcase_add_test(tc, a_stop_in_a_forked_process_is_not_seen_by_its_parent);
	tcase_add_test(tc, a_stop_in_the_parent_is_not_seen_by_a_forked_process);
	tcase_add_test(tc, a_node_stopped_before_a_fork_is_stopped_in_both_processes);
	tcase_add_test(tc, descriptors_are_renewed_where_no_more_can_be_opened);
	tcase_add_loop_test(tc, a_fork_in_the_midst_of_other_threads_leaves_a_tree_that_works, 0,
			    2);
	if (!THREADS_ARE_WATCHED) {
		tcase_add_test(tc, a_thread_that_waits_is_not_waited_for_in_a_forked_process);
		tcase_add_test(tc, a_job_that_forks_ends_in_both_processes);
		tcase_add_loop_test(tc, a_posted_function_that_forks_may_return_in_both_processes,
				    0, 2);
	}
	tcase_add_test(tc, a_function_on_another_thread_is_not_waited_for_in_a_forked_process);
	tcase_add_loop_test(tc, loops_and_pools_have_ended_in_a_forked_process, 0, 2);
	return s;
}
