#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"
#include "daemon/loop/process.h"

static struct process_table table;

static struct process *add(enum process_kind kind, pid_t pid)
{
	struct process *process;

	ck_assert_int_eq(process_new(&process, kind, NULL), 0);
	process_add(&table, process, pid, -1);
	return process;
}

static void setup(void)
{
	process_table_init(&table);
}

static void teardown(void)
{
	process_table_done(&table);
}

START_TEST(collected_leader_is_found_by_its_number_only)
{
	struct process *leader = add(PROCESS_MAIN, 500);

	ck_assert_ptr_eq(process_find(&table, 500), leader);
	ck_assert_ptr_eq(process_find_leader(&table, 500), leader);
	leader->alive = false;
	ck_assert_ptr_null(process_find(&table, 500));
	ck_assert_ptr_eq(process_find_leader(&table, 500), leader);
	ck_assert_ptr_null(process_find_leader(&table, 501));
	process_remove(leader);
	ck_assert_ptr_null(process_find_leader(&table, 500));
	process_free(leader);
}
END_TEST

/* The kernel gives a number again when no process and no group has it. */
START_TEST(living_process_comes_before_the_collected_one_of_its_number)
{
	struct process *leader = add(PROCESS_MAIN, 500), *next;

	leader->alive = false;
	next = add(PROCESS_REMAINING, 500);
	ck_assert_ptr_eq(process_find(&table, 500), next);
	ck_assert_ptr_eq(process_find_leader(&table, 500), next);
}
END_TEST

START_TEST(processes_of_one_bucket_have_their_own_numbers)
{
	const pid_t other = 500 + (pid_t)ARRAY_SIZE(table.buckets);
	struct process *one = add(PROCESS_HOOK, 500), *two = add(PROCESS_PROBE, other);

	ck_assert_ptr_eq(process_find(&table, 500), one);
	ck_assert_ptr_eq(process_find(&table, other), two);
	one->alive = two->alive = false;
	ck_assert_ptr_eq(process_find_leader(&table, 500), one);
	ck_assert_ptr_eq(process_find_leader(&table, other), two);
	ck_assert_ptr_eq(process_find_kind(&table, PROCESS_PROBE), two);
	ck_assert_ptr_null(process_find_kind(&table, PROCESS_MAIN));
}
END_TEST

START_TEST(only_unowned_processes_are_looked_at_again)
{
	struct process *unowned = add(PROCESS_UNOWNED, 7), *inherited = add(PROCESS_INHERITED, 8);

	process_recheck_unowned(&table);
	ck_assert(unowned->blank);
	ck_assert(!inherited->blank);
}
END_TEST

START_TEST(name_is_the_last_part_of_the_program)
{
	static const struct {
		const char *argv0, *name;
	} names[] = {
		{ "/usr/sbin/nginx", "nginx" },
		{ "nginx", "nginx" },
		{ "/usr/sbin/", "/usr/sbin/" },
		{ "./a-name-of-more-than-15", "a-name-of-more-" },
	};
	struct process *process = add(PROCESS_MAIN, 9);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		process_name(process, names[i].argv0);
		ck_assert_str_eq(process->name, names[i].name);
	}
}
END_TEST

START_TEST(collected_process_gets_no_signal)
{
	struct process *process;
	pid_t pid = fork();

	if (pid == 0) {
		(void)pause();
		_exit(0);
	}
	process = add(PROCESS_MAIN, pid);
	process->alive = false;
	ck_assert_int_eq(process_signal(process, SIGKILL), -ESRCH);
	ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
	process->alive = true;
	ck_assert_int_eq(process_signal(process, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("processes");
	TCase *tc = tcase_create("processes");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, collected_leader_is_found_by_its_number_only);
	tcase_add_test(tc, living_process_comes_before_the_collected_one_of_its_number);
	tcase_add_test(tc, processes_of_one_bucket_have_their_own_numbers);
	tcase_add_test(tc, only_unowned_processes_are_looked_at_again);
	tcase_add_test(tc, name_is_the_last_part_of_the_program);
	tcase_add_test(tc, collected_process_gets_no_signal);
	suite_add_tcase(s, tc);
	return s;
}
