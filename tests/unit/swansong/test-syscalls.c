/* When the library enters the kernel: never for a guard, and only to wake a thread that waits. */
#include "tests/unit/fixtures/swansong/loop.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "tests/unit/fixtures/swansong/caller.h"

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || \
	__has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define HAS_SYSCALLS_OF_ITS_OWN 1
#else
#define HAS_SYSCALLS_OF_ITS_OWN 0
#endif

/* ---- functions that the linker redirects here ---- */

static _Atomic unsigned int eventfds, writes, wakes;

int __real_eventfd(unsigned int count, int flags);
int __wrap_eventfd(unsigned int count, int flags);
int __wrap_eventfd(unsigned int count, int flags)
{
	eventfds++;
	return __real_eventfd(count, flags);
}

int __real_eventfd_write(int fd, eventfd_t value);
int __wrap_eventfd_write(int fd, eventfd_t value);
int __wrap_eventfd_write(int fd, eventfd_t value)
{
	writes++;
	return __real_eventfd_write(fd, value);
}

/* Of futex(2); the kernel ignores the arguments that are too many. */
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
	long argument[6];
	va_list list;

	va_start(list, number);
	for (size_t k = 0; k < ARRAY_SIZE(argument); k++)
		argument[k] = va_arg(list, long);
	va_end(list);
	if (number == SYS_futex && (int)argument[1] == FUTEX_WAKE_PRIVATE)
		wakes++;
	return __real_syscall(number, argument[0], argument[1], argument[2], argument[3],
			      argument[4], argument[5]);
}

static void forget_calls(void)
{
	eventfds = writes = wakes = 0;
}

static void ck_calls(unsigned int e, unsigned int w, unsigned int f)
{
	ck_assert_uint_eq(eventfds, e);
	ck_assert_uint_eq(writes, w);
	ck_assert_uint_eq(wakes, f);
}

/* ---- none at all ---- */

/* In a process that may read, write and exit, and is killed for anything else. */
static int status_without_kernel(void (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		fn();
		(void)__real_syscall(SYS_exit, 0, 0, 0, 0, 0, 0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

static void leave_kernel(void)
{
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) < 0)
		_exit(1);
}

static bool kernel_can_be_left(void)
{
	return status_without_kernel(leave_kernel) == 0;
}

static struct swansong_interrupt *interrupt;

static void take_look_drop(void)
{
	leave_kernel();
	for (int k = 0; k < 1000; k++) {
		struct swansong_guard g = swansong_guard(parent);
		struct swansong_guard h = swansong_guard_clone(&g);

		(void)swansong_interrupted(interrupt);
		(void)swansong_state(parent);
		swansong_guard_drop(&g);
		swansong_guard_drop(&h);
	}
}

/* While it runs, and after the stop. */
START_TEST(neither_guards_nor_interrupts_enter_the_kernel)
{
	ck_assert_int_eq(swansong_interrupt_new(parent, &interrupt), 0);
	if (_i)
		swansong_shut_down(parent);
	ck_assert_int_eq(status_without_kernel(take_look_drop), 0);
	swansong_interrupt_unref(interrupt);
}
END_TEST

/* ---- only if a program has asked ---- */

enum { MANY = 100 };

static struct swansong *node[MANY];
static struct swansong_completion *completion[MANY];
static struct swansong_interrupt *interrupts[MANY];

/* A wide tree, with an interrupt or a completion for each node; no thread waits. */
static void watch_many(void)
{
	for (int k = 0; k < MANY; k++) {
		ck_assert_int_eq(swansong_child(parent, &node[k]), 0);
		ck_assert_int_eq(swansong_completion_new(k % 2 ? node[k] : parent, &completion[k]),
				 0);
		ck_assert_int_eq(swansong_interrupt_new(k % 2 ? node[k] : parent, &interrupts[k]),
				 0);
	}
	forget_calls();
}

static void unwatch_many(void)
{
	for (int k = 0; k < MANY; k++) {
		ck_assert(swansong_completion_done(completion[k]));
		ck_assert(swansong_interrupted(interrupts[k]));
		swansong_completion_unref(completion[k]);
		swansong_interrupt_unref(interrupts[k]);
		swansong_unref(node[k]);
	}
}

START_TEST(nothing_is_written_when_no_thread_waits)
{
	struct swansong_guard g;

	watch_many();
	g = swansong_guard(node[0]);
	swansong_shut_down(parent);
	swansong_guard_drop(&g);
	ck_calls(0, 0, 0);
	unwatch_many();
	ck_calls(0, 0, 0);
}
END_TEST

static bool readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

/* However many nodes there are beside it, and however often a program asks. */
START_TEST(a_requested_descriptor_is_written_to_once)
{
	int fd[2];

	watch_many();
	fd[0] = swansong_completion_fd(completion[0]);
	fd[1] = swansong_interrupt_fd(interrupts[1]);
	ck_assert_int_eq(swansong_completion_fd(completion[0]), fd[0]);
	ck_assert_int_eq(swansong_interrupt_fd(interrupts[1]), fd[1]);
	ck_calls(2, 0, 0);
	swansong_shut_down(parent);
	swansong_shut_down(parent);
	ck_calls(2, 2, 0);
	ck_assert(readable(fd[0]) && readable(fd[1]));
	unwatch_many();
	ck_calls(2, 2, 0);
}
END_TEST

/* All interrupts of a node share a descriptor, and a write. */
START_TEST(all_interrupts_of_a_node_share_a_descriptor_and_a_write)
{
	watch_many();
	for (int k = 0; k < MANY; k += 2)
		ck_assert_int_ge(swansong_interrupt_fd(interrupts[k]), 0);
	ck_calls(1, 0, 0);
	swansong_shut_down(parent);
	ck_calls(1, 1, 0);
	for (int k = 0; k < MANY; k += 2)
		ck_assert(readable(swansong_interrupt_fd(interrupts[k])));
	unwatch_many();
}
END_TEST

static long wait_stopped(void *arg)
{
	return swansong_stopped_wait(arg, USEC_INFINITY);
}

static long wait_complete(void *arg)
{
	return swansong_wait(arg, USEC_INFINITY);
}

/* Eight threads sleep: for the stop they are woken together, for the end each for itself. */
START_TEST(sleepers_are_woken_and_nothing_is_written)
{
	struct caller c[8];

	watch_many();
	for (size_t k = 0; k < ARRAY_SIZE(c); k++)
		caller_start(&c[k], _i ? wait_complete : wait_stopped, parent);
	for (size_t k = 0; k < ARRAY_SIZE(c); k++)
		caller_wait_asleep(&c[k]);
	swansong_shut_down(parent);
	for (size_t k = 0; k < ARRAY_SIZE(c); k++)
		ck_assert_int_eq(caller_join(&c[k]), 0);
	ck_assert_uint_le(wakes, _i ? ARRAY_SIZE(c) : 1); /* none for a thread still awake */
	ck_calls(0, 0, wakes);
	unwatch_many();
}
END_TEST

/* ---- posts ---- */

/* A loop that is busy is woken once, for all that is posted meanwhile. */
START_TEST(wakeups_of_a_loop_coalesce)
{
	unsigned int calls = 0;

	start();
	occupy_loop();
	forget_calls();
	for (int k = 0; k < MANY; k++)
		ck_assert_int_eq(swansong_loop_post(loop, count_call, &calls), 0);
	ck_calls(0, 1, 0);
	sem_post(&leave);
	(void)swansong_loop_stop(loop);
	ck_assert_uint_eq(calls, MANY);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("swansong-syscalls");
	TCase *tc = tcase_create("syscalls");

	tcase_add_checked_fixture(tc, make_loop, drop_loop);
	/* A sanitizer enters the kernel by itself, and some machines do not let it be left. */
	if (!HAS_SYSCALLS_OF_ITS_OWN && kernel_can_be_left())
		tcase_add_loop_test(tc, neither_guards_nor_interrupts_enter_the_kernel, 0, 2);
	tcase_add_test(tc, nothing_is_written_when_no_thread_waits);
	tcase_add_test(tc, a_requested_descriptor_is_written_to_once);
	tcase_add_test(tc, all_interrupts_of_a_node_share_a_descriptor_and_a_write);
	tcase_add_loop_test(tc, sleepers_are_woken_and_nothing_is_written, 0, 2);
	tcase_add_test(tc, wakeups_of_a_loop_coalesce);
	suite_add_tcase(suite, tc);
	return suite;
}
