/* When the children of the daemon are listed: the lists and the deaths are made up. */
#include "tests/unit/fixtures/daemon/tree-world.h"

#include <string.h>

#include "daemon/main/update.h"
#include "daemon/reap/orphans.h"
#include "sys/process/children.h"
#include "sys/process/proc.h"
#include "sys/process/reap.h"

#define FIRST_PID 0x7ff00000 /* no process has such a number */
#define LIST_USEC (2 * USEC_PER_MSEC)

static struct orphans *orphans;
static pid_t children[64], next_pid;
static unsigned n_children, n_dying, lists;
static pid_t ended, collected; /* since the list was made: by nobody yet, and by a keeper */

static void spend(uint64_t usec)
{
	uint64_t until = clock_now_usec() + usec;

	while (clock_now_usec() < until)
		; /* each call takes some of it */
}

/* --- the kernel --- */

int __wrap_children_open(struct children *list, pid_t parent);
int __wrap_children_open(struct children *list, pid_t parent)
{
	(void)list;
	(void)parent;
	return 0;
}

void __wrap_children_close(struct children *list);
void __wrap_children_close(struct children *list)
{
	(void)list;
}

int __wrap_children_read(struct children *list, void (*each)(pid_t pid, void *arg), void *arg);
int __wrap_children_read(struct children *list, void (*each)(pid_t pid, void *arg), void *arg)
{
	(void)list;
	lists++;
	spend(LIST_USEC);
	for (unsigned i = 0; i < n_children; i++)
		each(children[i], arg);
	return (int)n_children;
}

bool __wrap_children_exceed(struct children *list, unsigned n);
bool __wrap_children_exceed(struct children *list, unsigned n)
{
	(void)list;
	return n_children > n;
}

unsigned __wrap_reap_children(unsigned max, void (*report)(const struct reap_exit *exit, void *arg),
			      void *arg);
unsigned __wrap_reap_children(unsigned max, void (*report)(const struct reap_exit *exit, void *arg),
			      void *arg)
{
	unsigned n = n_dying;

	ck_assert_uint_le(n, max);
	for (; n_dying > 0; n_dying--) {
		const struct reap_exit exit = { .pid = children[0] };

		report(&exit, arg);
		memmove(children, children + 1, --n_children * sizeof(*children));
	}
	return n;
}

int __wrap_proc_read(pid_t pid, struct proc_info *ret);
int __wrap_proc_read(pid_t pid, struct proc_info *ret)
{
	*ret = (struct proc_info){ .state = pid == ended ? 'Z' : 'S',
				   .session = pid,
				   .group = pid };
	return pid == collected ? -ENOENT : 0;
}

/* --- the daemon --- */

static void add_children(unsigned n)
{
	while (n-- > 0)
		children[n_children++] = next_pid++;
}

static void begin_with_children(unsigned n)
{
	n_children = n_dying = lists = 0;
	ended = collected = 0;
	next_pid = FIRST_PID;
	add_children(n);
	begin("[web]\ncommand = x\n");
	ck_assert_int_eq(orphans_new(&orphans, &tree), 0);
	ck_assert_uint_eq(lists, 1);
	lists = 0;
	spend(LIST_USEC);
}

static void run_turn(void)
{
	struct update update = { .tree = &tree, .orphans = orphans };

	(void)orphans_reap(orphans);
	while (ctx.alarms.first && ctx.alarms.first->usec <= clock_now_usec())
		alarms_run(&ctx.alarms);
	update_turn(&update);
}

/* So many children end, each of them the parent of a process that the daemon inherits. */
static void end_children(unsigned n)
{
	n_dying = n;
	add_children(n);
	run_turn();
}

static void finish_all(void)
{
	orphans = orphans_free(orphans);
	finish();
	process_table_done(&processes);
}

START_TEST(list_waits_for_further_ends_if_few_of_many_have_ended)
{
	begin_with_children(12);
	end_children(1);
	ck_assert_uint_eq(lists, 0);
	run_turn();
	ck_assert_uint_eq(lists, 0);
	spend(2 * LIST_USEC);
	run_turn();
	ck_assert_uint_eq(lists, 1);
	run_turn();
	ck_assert_uint_eq(lists, 1);
}
END_TEST

START_TEST(list_that_waits_is_made_when_enough_have_ended)
{
	begin_with_children(12);
	end_children(1);
	ck_assert_uint_eq(lists, 0);
	end_children(2);
	ck_assert_uint_eq(lists, 1);
}
END_TEST

START_TEST(list_does_not_wait_if_many_have_ended)
{
	begin_with_children(12);
	end_children(3);
	ck_assert_uint_eq(lists, 1);
}
END_TEST

START_TEST(list_does_not_wait_for_ends_if_none_has_ended)
{
	begin_with_children(12);
	add_children(1);
	context_scan_orphans(&ctx);
	run_turn();
	ck_assert_uint_eq(lists, 1);
}
END_TEST

START_TEST(children_are_not_listed_if_their_number_is_known)
{
	begin_with_children(12);
	n_dying = 3;
	run_turn();
	ck_assert_uint_eq(lists, 0);
	spend(2 * LIST_USEC);
	run_turn();
	ck_assert_uint_eq(lists, 0);
}
END_TEST

/* Its children are in a later list only. */
START_TEST(another_list_is_made_if_a_child_has_ended_since)
{
	begin_with_children(12);
	*(_i == 0 ? &ended : &collected) = next_pid;
	add_children(1);
	context_scan_orphans(&ctx);
	run_turn();
	ck_assert_uint_ge(lists, 1);
	lists = 0;
	ended = collected = 0;
	run_turn();
	ck_assert_uint_eq(lists, 1);
	run_turn();
	ck_assert_uint_eq(lists, 1);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("orphans");
	TCase *tc = tcase_create("lists");

	tcase_add_checked_fixture(tc, NULL, finish_all);
	tcase_add_test(tc, list_waits_for_further_ends_if_few_of_many_have_ended);
	tcase_add_test(tc, list_that_waits_is_made_when_enough_have_ended);
	tcase_add_test(tc, list_does_not_wait_if_many_have_ended);
	tcase_add_test(tc, list_does_not_wait_for_ends_if_none_has_ended);
	tcase_add_test(tc, children_are_not_listed_if_their_number_is_known);
	tcase_add_loop_test(tc, another_list_is_made_if_a_child_has_ended_since, 0, 2);
	suite_add_tcase(s, tc);
	return s;
}
