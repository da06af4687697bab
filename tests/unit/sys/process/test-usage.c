#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/process/usage.h"

static pid_t add(bool session, int descriptors)
{
	int ready[2];
	pid_t pid;
	char c;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (session)
			(void)setsid();
		for (int i = 0; i < descriptors; i++)
			if (dup(0) < 0)
				_exit(1);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		(void)pause();
		_exit(0);
	}
	(void)close(ready[1]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	(void)close(ready[0]);
	return pid;
}

static void end(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static int look(pid_t main, pid_t ancestor, struct usage *ret)
{
	struct snapshot s;
	int r;

	ck_assert_int_eq(snapshot_take(&s), 0);
	r = usage_of(&s, main, ancestor, "no group", ret);
	snapshot_done(&s);
	return r;
}

START_TEST(a_process_uses_something)
{
	pid_t few = add(true, 0), many = add(true, 20);
	struct usage a, b;

	ck_assert_int_eq(look(few, getpid(), &a), 0);
	ck_assert_int_eq(look(many, getpid(), &b), 0);
	ck_assert_uint_eq(a.processes, 1);
	ck_assert_uint_gt(a.memory, 4096);
	ck_assert_uint_eq(b.descriptors, a.descriptors + 20);
	end(few);
	end(many);
	ck_assert_int_eq(look(few, getpid(), &a), -ESRCH);
}
END_TEST

START_TEST(only_descendants_count)
{
	pid_t pid = add(true, 0);
	struct usage u;

	ck_assert_int_eq(look(pid, getppid(), &u), 0);
	ck_assert_int_eq(look(pid, pid, &u), -ESRCH);
	ck_assert_int_eq(look(1, getpid(), &u), -ESRCH);
	ck_assert_int_eq(look(0, getpid(), &u), -ESRCH);
	ck_assert_int_eq(look(-1, getpid(), &u), -ESRCH);
	end(pid);
}
END_TEST

START_TEST(children_and_time_are_added)
{
	pid_t first = add(true, 0), second = add(true, 3);
	struct usage one, two, all;

	ck_assert_int_eq(look(first, getpid(), &one), 0);
	ck_assert_int_eq(look(second, getpid(), &two), 0);
	for (volatile unsigned long i = 0; i < 100000000; i++)
		;
	ck_assert_int_eq(look(getpid(), getppid(), &all), 0);
	ck_assert_uint_eq(all.processes, 3);
	ck_assert_uint_ge(all.memory, one.memory + two.memory);
	ck_assert_uint_ge(all.descriptors, one.descriptors + two.descriptors);
	ck_assert_uint_gt(all.cpu_usec, 0);
	end(first);
	end(second);
}
END_TEST

START_TEST(line_is_a_process_and_its_ancestors)
{
	pid_t pid = add(true, 0), beside = add(true, 0);
	struct usage one, all;
	struct snapshot s;

	ck_assert_int_eq(snapshot_take_line(&s, pid), 0);
	ck_assert_ptr_nonnull(snapshot_find(&s, pid));
	ck_assert_ptr_nonnull(snapshot_find(&s, getpid()));
	ck_assert_ptr_nonnull(snapshot_find(&s, getppid()));
	ck_assert_ptr_null(snapshot_find(&s, beside));
	snapshot_done(&s);
	ck_assert_int_eq(usage_of_one(pid, getpid(), "no group", &one), 0);
	ck_assert_int_eq(look(pid, getpid(), &all), 0);
	ck_assert_uint_eq(one.processes, all.processes);
	ck_assert_uint_eq(one.descriptors, all.descriptors);
	ck_assert_int_eq(usage_of_one(getpid(), getppid(), "no group", &one), 0);
	ck_assert_uint_eq(one.processes, 3);
	end(pid);
	end(beside);
	ck_assert_int_eq(usage_of_one(pid, getpid(), "no group", &one), -ESRCH);
}
END_TEST

#define SIZE (32 << 20)

static pid_t add_user_of(volatile char *memory, size_t written)
{
	int ready[2];
	pid_t pid;
	char c;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)setsid();
		for (size_t i = 0; i < written; i += 4096)
			memory[i] = 1;
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		(void)pause();
		_exit(0);
	}
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	(void)close(ready[0]);
	(void)close(ready[1]);
	return pid;
}

START_TEST(shared_memory_is_divided_among_its_users)
{
	char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t own, shared;
	pid_t first, second;

	ck_assert_ptr_ne(memory, MAP_FAILED);
	memset(memory, 1, SIZE);
	first = add_user_of(memory, SIZE);
	second = add_user_of(memory, 0);
	ck_assert_int_eq(usage_proportional(first, "none", &own), 0);
	ck_assert_int_eq(usage_proportional(second, "none", &shared), 0);
	ck_assert_uint_ge(own, SIZE);
	/* This process has the same pages. */
	ck_assert_uint_ge(shared, SIZE / 4);
	ck_assert_uint_lt(shared, SIZE * 3 / 4);
	end(first);
	end(second);
	ck_assert_int_eq(munmap(memory, SIZE), 0);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("usage");
	TCase *tc = tcase_create("usage");

	tcase_add_test(tc, a_process_uses_something);
	tcase_add_test(tc, only_descendants_count);
	tcase_add_test(tc, children_and_time_are_added);
	tcase_add_test(tc, line_is_a_process_and_its_ancestors);
	tcase_add_test(tc, shared_memory_is_divided_among_its_users);
	suite_add_tcase(suite, tc);
	return suite;
}
