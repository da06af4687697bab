/*
 * Wrong use: the cases that are harmless by contract, and those that the debug build catches.  The
 * library here is that of configure --enable-debug.  Each mistake is made in a process of its own.
 */
#include "tests/unit/fixtures/swansong/pair.h"

#include <errno.h>
#include <stdatomic.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/fixtures/swansong/caller.h"

static char message[1000]; /* by the process that made the last mistake */

static _Noreturn void mistake_main(void (*mistake)(void), int fd)
{
	const struct rlimit none = { 0, 0 };

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)signal(SIGABRT, SIG_DFL);
	(void)dup2(fd, STDERR_FILENO);
	make_pair();
	mistake();
	_exit(EXIT_SUCCESS);
}

/* Returns how the process ended that made it, as wait(2) has it. */
static int status_of(void (*mistake)(void))
{
	size_t n = 0;
	int fds[2], status;
	ssize_t r;
	pid_t pid;

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		mistake_main(mistake, fds[1]);
	close(fds[1]);
	while ((r = read(fds[0], message + n, sizeof(message) - 1 - n)) > 0)
		n += (size_t)r;
	message[n] = '\0';
	close(fds[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

/* ---- mistakes that are caught ---- */

static struct swansong_completion *completion;
static struct swansong_interrupt *interrupt;
static struct swansong_report *report;

static void child_of_none(void)
{
	(void)swansong_child(NULL, &child);
}

static void ref_none(void)
{
	(void)swansong_ref(NULL);
}

static void shut_down_none(void)
{
	swansong_shut_down(NULL);
}

static void state_of_none(void)
{
	(void)swansong_state(NULL);
}

static void spread_none(void)
{
	(void)swansong_percpu_enable(NULL);
}

static void count_of_none(void)
{
	(void)swansong_guard_count(NULL);
}

static void guard_of_none(void)
{
	(void)swansong_guard(NULL);
}

static void completion_of_none(void)
{
	(void)swansong_completion_new(NULL, &completion);
}

static void wait_for_none(void)
{
	(void)swansong_wait(NULL, 0);
}

static void interrupt_of_none(void)
{
	(void)swansong_interrupt_new(NULL, &interrupt);
}

static void guarded_interrupt_of_none(void)
{
	(void)swansong_interrupt_new_guarded(NULL, &interrupt);
}

static void stop_of_none(void)
{
	(void)swansong_stopped_wait(NULL, 0);
}

static void fd_of_none(void)
{
	(void)swansong_stopped_fd(NULL);
}

static void report_switched_on_for_none(void)
{
	(void)swansong_report_enable(NULL);
}

static void report_of_none(void)
{
	(void)swansong_report(NULL, &report);
}

static void drop_a_copy(void)
{
	struct swansong_guard g = swansong_guard(child), copy = g;

	swansong_guard_drop(&g);
	swansong_guard_drop(&copy);
}

/* The count is higher than one, and other guards have the place of the record. */
static void drop_a_copy_among_others(void)
{
	struct swansong_guard g = swansong_guard(child), copy = g, others[100];

	swansong_guard_drop(&g);
	for (int k = 0; k < 100; k++)
		others[k] = swansong_guard(k % 2 ? child : root);
	swansong_guard_drop(&copy);
	for (int k = 0; k < 100; k++)
		swansong_guard_drop(&others[k]);
}

/* The guard was all that kept the node, or the tree. */
static void drop_a_copy_of_a_gone_guard(void)
{
	struct swansong_guard g = swansong_guard(child), copy = g;

	drop_pair();
	swansong_guard_drop(&g);
	swansong_guard_drop(&copy);
}

static void unref_child_twice(void)
{
	(void)swansong_unref(child);
	(void)swansong_unref(child);
}

static void unref_root_twice(void)
{
	struct swansong *again = root;

	drop_pair();
	(void)swansong_unref(again);
}

static void unref_twice_while_it_is_kept(void)
{
	struct swansong_guard g = swansong_guard(child);

	unref_child_twice();
	swansong_guard_drop(&g);
}

static void ref_a_gone_node(void)
{
	(void)swansong_unref(child);
	(void)swansong_ref(child);
}

static void guard_a_gone_node(void)
{
	(void)swansong_unref(child);
	(void)swansong_guard(child);
}

static void guard_a_gone_node_that_a_guard_keeps(void)
{
	struct swansong_guard g = swansong_guard(child), clone;

	(void)swansong_unref(child);
	clone = swansong_guard_clone(&g); /* needs no reference */
	swansong_guard_drop(&clone);
	(void)swansong_guard(child);
}

static void shut_a_gone_node_down(void)
{
	struct swansong *gone = root;

	drop_pair();
	swansong_shut_down(gone);
}

static void unref_completion_twice(void)
{
	ck_assert_int_eq(swansong_completion_new(root, &completion), 0);
	(void)swansong_completion_unref(completion);
	(void)swansong_completion_unref(completion);
}

static void unref_interrupt_twice(void)
{
	ck_assert_int_eq(swansong_interrupt_new(root, &interrupt), 0);
	(void)swansong_interrupt_unref(interrupt);
	(void)swansong_interrupt_unref(interrupt);
}

static void exit_thread(void *arg)
{
	pthread_exit(arg);
}

static void exit_in_a_notice(void)
{
	ck_assert_int_eq(swansong_interrupt_new(root, &interrupt), 0);
	(void)swansong_interrupt_notify(interrupt, exit_thread, NULL);
	swansong_shut_down(root);
}

static void exit_in_a_post(void)
{
	struct swansong_loop *loop;

	ck_assert_int_eq(swansong_loop_new(root, &loop), 0);
	ck_assert_int_eq(swansong_loop_start(loop), 0);
	ck_assert_int_eq(swansong_loop_post(loop, exit_thread, NULL), 0);
	pause();
}

static void exit_in_a_job(void)
{
	struct swansong_pool *pool;

	ck_assert_int_eq(swansong_pool_new(root, 1, &pool), 0);
	ck_assert_int_eq(swansong_pool_submit(pool, exit_thread, NULL), 0);
	pause();
}

/* Two functions that run at the same time, each of which drops the completion of the other. */
static struct swansong_completion *both[2];
static pthread_barrier_t running;

static void drop_the_other(void *arg)
{
	struct swansong_completion **other = arg;

	(void)pthread_barrier_wait(&running);
	*other = swansong_completion_unref(*other);
}

static long stop_one(void *arg)
{
	swansong_shut_down(arg);
	return 0;
}

static void drop_each_other(void)
{
	struct swansong *second;
	struct caller c;

	(void)pthread_barrier_init(&running, NULL, 2);
	ck_assert_int_eq(swansong_child(root, &second), 0);
	ck_assert_int_eq(swansong_completion_new(child, &both[0]), 0);
	ck_assert_int_eq(swansong_completion_new(second, &both[1]), 0);
	(void)swansong_completion_notify(both[0], drop_the_other, &both[1]);
	(void)swansong_completion_notify(both[1], drop_the_other, &both[0]);
	caller_start(&c, stop_one, child);
	swansong_shut_down(second);
}

static const struct {
	void (*make)(void);
	const char *word; /* of the message */
} mistakes[] = {
	{ guard_a_gone_node, "swansong_guard_at(): there is no reference to the node any more" },
	{ guard_a_gone_node_that_a_guard_keeps,
	  "swansong_guard_at(): there is no reference to the node any more" },
	{ shut_a_gone_node_down,
	  "swansong_shut_down(): there is no reference to the node any more" },
	{ unref_completion_twice, "swansong_completion_unref(): it was dropped before" },
	{ unref_interrupt_twice, "swansong_interrupt_unref(): it was dropped before" },
	{ exit_in_a_notice, "a function that the library calls has ended its thread" },
	{ exit_in_a_post, "a function that the library calls has ended its thread" },
	{ exit_in_a_job, "a function that the library calls has ended its thread" },
	{ drop_each_other, "each waits for the end of the other's function" },
	{ child_of_none, "swansong_child(): there is no node" },
	{ ref_none, "swansong_ref(): there is no node" },
	{ shut_down_none, "swansong_shut_down(): there is no node" },
	{ state_of_none, "swansong_state(): there is no node" },
	{ spread_none, "swansong_percpu_enable(): there is no node" },
	{ count_of_none, "swansong_guard_count(): there is no node" },
	{ guard_of_none, "swansong_guard_at(): there is no node" },
	{ completion_of_none, "swansong_completion_new(): there is no node" },
	{ wait_for_none, "swansong_wait(): there is no node" },
	{ interrupt_of_none, "swansong_interrupt_new(): there is no node" },
	{ guarded_interrupt_of_none, "swansong_interrupt_new(): there is no node" },
	{ stop_of_none, "swansong_stopped_wait(): there is no node" },
	{ fd_of_none, "swansong_stopped_fd(): there is no node" },
	{ report_switched_on_for_none, "swansong_report_enable(): there is no node" },
	{ report_of_none, "swansong_report(): there is no node" },
	{ drop_a_copy, "swansong_guard_drop(): a copy of this guard was dropped before" },
	{ drop_a_copy_among_others,
	  "swansong_guard_drop(): a copy of this guard was dropped before" },
	{ drop_a_copy_of_a_gone_guard,
	  "swansong_guard_drop(): a copy of this guard was dropped before" },
	{ unref_child_twice, "swansong_unref(): there is no reference to the node any more" },
	{ unref_root_twice, "swansong_unref(): there is no reference to the node any more" },
	{ unref_twice_while_it_is_kept,
	  "swansong_unref(): there is no reference to the node any more" },
	{ ref_a_gone_node, "swansong_ref(): there is no reference to the node any more" },
};

START_TEST(misuse_aborts_with_a_message)
{
	int status = status_of(mistakes[_i].make);

	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "status %d: %s", status,
		      message);
	ck_assert_msg(strstr(message, mistakes[_i].word), "%s", message);
}
END_TEST

/* ---- a thread that waits for itself ---- */

static struct swansong_guard own;
static atomic_bool owned; /* it is there, for the other thread to see */

static long wait_holding(void *arg)
{
	struct swansong_completion *c;

	own = swansong_guard(child);
	atomic_store(&owned, true);
	swansong_shut_down(root);
	if (arg)
		return swansong_wait(root, USEC_INFINITY);
	ck_assert_int_eq(swansong_completion_new(root, &c), 0);
	return swansong_completion_wait(c, USEC_INFINITY);
}

/* The wait goes on, as another thread may drop the guard; here one does, after the message. */
static void wait_for_oneself(bool shortly)
{
	struct caller c;
	char line[1000];
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0 || dup2(fds[1], STDERR_FILENO) < 0)
		_exit(2);
	caller_start(&c, wait_holding, shortly ? root : NULL);
	if (read(fds[0], line, sizeof(line)) <= 0 || !strstr(line, __FILE__) ||
	    !strstr(line, "wait_holding") ||
	    !strstr(line, shortly ? "swansong_wait() waits for 1 guard that its own thread"
				  : "swansong_completion_wait() waits for 1 guard that"))
		_exit(3);
	if (!atomic_load(&owned))
		_exit(5);
	swansong_guard_drop(&own);
	if (caller_join(&c) != 0)
		_exit(4);
}

static void wait_shortly(void)
{
	wait_for_oneself(true);
}

static void wait_by_completion(void)
{
	wait_for_oneself(false);
}

/* In a post, or a job, which holds the guard itself. */
static void wait_for_root(void *arg)
{
	swansong_shut_down(root);
	(void)swansong_wait(root, USEC_INFINITY);
	(void)arg;
}

/* The wait goes on for ever, and ends with this process. */
static void read_complaint(void (*begin)(void))
{
	char line[1000];
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0 || dup2(fds[1], STDERR_FILENO) < 0)
		_exit(2);
	begin();
	if (read(fds[0], line, sizeof(line)) <= 0 ||
	    !strstr(line, "swansong_wait() waits for 1 guard that its own thread"))
		_exit(3);
	_exit(EXIT_SUCCESS);
}

static void begin_post(void)
{
	struct swansong_loop *loop;

	if (swansong_loop_new(child, &loop) < 0 || swansong_loop_start(loop) < 0 ||
	    swansong_loop_post(loop, wait_for_root, NULL) < 0)
		_exit(4);
}

static void begin_job(void)
{
	struct swansong_pool *pool;

	if (swansong_pool_new(child, 1, &pool) < 0 ||
	    swansong_pool_submit(pool, wait_for_root, NULL) < 0)
		_exit(4);
}

static void wait_in_a_post(void)
{
	read_complaint(begin_post);
}

static void wait_in_a_job(void)
{
	read_complaint(begin_job);
}

static void (*const waits[])(void) = { wait_shortly, wait_by_completion, wait_in_a_post,
				       wait_in_a_job };

START_TEST(a_long_wait_for_a_guard_of_its_own_thread_reports_the_site)
{
	ck_assert_int_eq(status_of(waits[_i]), 0);
}
END_TEST

static void wait_with_a_deadline(void)
{
	struct swansong_guard g = swansong_guard(child);

	swansong_shut_down(root);
	if (swansong_wait(root, clock_now_usec() + 1000) != -ETIMEDOUT)
		_exit(2);
	swansong_guard_drop(&g);
	if (swansong_wait(root, 0) != 0)
		_exit(3);
}

/* ---- harmless use ---- */

static void drop_nothing(void)
{
	struct swansong_guard g = swansong_guard(child), empty = { 0 };
	struct swansong_guarded guarded = swansong_guarded(child, NULL, NULL);

	swansong_guard_drop(&g);
	swansong_guard_drop(&g);
	swansong_guard_drop(&empty);
	g = swansong_guard_clone(&empty);
	swansong_guard_drop(&g);
	swansong_guarded_drop(&guarded);
	swansong_guarded_drop(&guarded);
	if (swansong_unref(NULL) || swansong_completion_unref(NULL) ||
	    swansong_interrupt_unref(NULL) || swansong_loop_unref(NULL) ||
	    swansong_pool_unref(NULL) || swansong_registry_unref(NULL) ||
	    swansong_report_free(NULL))
		_exit(2);
	if (swansong_guard_count(root) != 0)
		_exit(3);
}

static void do_it_again(void)
{
	for (int k = 0; k < 3; k++) {
		swansong_shut_down(root);
		swansong_shut_down(child);
		if (swansong_wait(root, USEC_INFINITY) != 0 || swansong_report_enable(root) < 0)
			_exit(2);
	}
	drop_pair();
}

/* Right use of every kind, on a tree that is recorded from the beginning. */
static void use_it_rightly(void)
{
	struct swansong_guard g = swansong_guard(child), moved = g, h;
	struct swansong_interrupt *i;

	h = swansong_guard_clone(&moved);
	if (swansong_report(root, &report) < 0 || report->guards != 2 || report->unknown ||
	    swansong_interrupt_new_guarded(child, &i) < 0)
		_exit(2);
	report = swansong_report_free(report);
	drop_pair();
	swansong_guard_drop(&moved);
	swansong_guard_drop(&h);
	if (!swansong_interrupted(i))
		_exit(3);
	(void)swansong_interrupt_unref(i);
}

static void (*const harmless[])(void) = { drop_nothing, do_it_again, wait_with_a_deadline,
					  use_it_rightly };

START_TEST(harmless_use_is_not_reported)
{
	int status = status_of(harmless[_i]);

	ck_assert_msg(status == 0, "status %d: %s", status, message);
	ck_assert_str_eq(message, "");
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("swansong-misuse");
	TCase *tc = tcase_create("misuse");

	tcase_add_loop_test(tc, misuse_aborts_with_a_message, 0,
			    sizeof(mistakes) / sizeof(mistakes[0]));
	tcase_add_loop_test(tc, a_long_wait_for_a_guard_of_its_own_thread_reports_the_site, 0,
			    sizeof(waits) / sizeof(waits[0]));
	tcase_add_loop_test(tc, harmless_use_is_not_reported, 0,
			    sizeof(harmless) / sizeof(harmless[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
