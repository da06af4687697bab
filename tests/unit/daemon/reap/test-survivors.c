/* A tree that goes on by a roster, which may be damaged, and by control groups. */
#include "tests/unit/fixtures/daemon/tree-world.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "daemon/describe/describe.h"
#include "daemon/loop/roster.h"
#include "daemon/reap/former-goals.h"
#include "daemon/reap/survivors.h"
#include "daemon/tree/build.h"
#include "daemon/tree/goals.h"
#include "tests/unit/fixtures/daemon/groups.h"

#define ROWS_AT 4096
#define TREE                                                                       \
	"[web]\ncommand = a\n[db]\ncommand = b\nrestart = on-failure\n"            \
	"[once]\ncommand = c\ntype = oneshot\n[job]\ncommand = c\nschedule = 1h\n" \
	"type = oneshot\n[idle]\ncommand = d\nautostart = no\n"

static int file;
static pid_t child;
static struct survivors survivors;

int __wrap_kill(pid_t pid, int signo);
int __wrap_kill(pid_t pid, int signo)
{
	(void)pid;
	(void)signo;
	return 0;
}

static void write_row(unsigned place, const struct roster_row *row)
{
	ck_assert_int_eq(pwrite(file, row, sizeof(*row), ROWS_AT + place * (off_t)sizeof(*row)),
			 sizeof(*row));
}

static struct service_row up_row(void)
{
	return (struct service_row){
		.state = STATE_UP,
		.next_delay_usec = SEC,
		.run = { .outcome = { .was_ready = true }, .was_up = true },
	};
}

static void write_service(unsigned place, const char *path, pid_t pid,
			  const struct service_row *details)
{
	struct roster_row row = roster_row(ROSTER_PROCESS, pid, path, "");

	memcpy(row.detail, details, sizeof(*details));
	write_row(place, &row);
}

static void make_file(void)
{
	file = memfd_create("roster", MFD_CLOEXEC);
	child = fork();
	ck_assert(file >= 0 && child >= 0);
	if (child > 0)
		return;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		(void)pause();
}

static void go_on(void)
{
	begin_with(load(TREE));
	ck_assert_int_eq(roster_new(&ctx.roster, file), 0);
	ctx.reason = CRASH_FAULT;

	lease_keep_ids(&ctx);
	survivors_begin(&survivors, &tree);
	former_goals_take(&tree);
	roster_settle(ctx.roster);
	turns();
}

static void end_tree(void)
{
	struct roster *roster = ctx.roster;

	finish();
	survivors_done(&survivors);
	(void)roster_free(roster);
}

START_TEST(process_is_taken_by_one_service)
{
	const struct service_row up = up_row();

	make_file();
	write_service(0, "web", child, &up);
	write_service(1, "db", child, &up);
	go_on();
	ck_assert_int_eq(service("web")->main.pid, child);
	ck_assert_int_ne(service("db")->main.pid, child);
	end_tree();
}
END_TEST

START_TEST(run_with_values_out_of_range_is_refused)
{
	struct service_row rows[] = { up_row(), up_row(), up_row(), up_row(),
				      up_row(), up_row(), up_row() };
	struct service_row *bad = &rows[_i];

	rows[0].run.outcome.kind = (enum outcome_kind)99;
	rows[1].run.outcome.kind = OUTCOME_EXITED;
	rows[1].run.outcome.value = 1 << 30;
	rows[2].run.outcome.kind = OUTCOME_SIGNALED;
	rows[3].run.outcome.end = (enum outcome_end)99;
	rows[4].run.concluded = true;
	rows[4].run.verdict = (enum service_event)9999;
	rows[5].state = STATE_BACKOFF;
	memset(&rows[6].run.outcome.was_ready, 77, 1);
	make_file();
	write_service(0, "db", child, bad);
	go_on();
	ck_assert_int_ne(service("db")->main.pid, child);
	end_tree();
}
END_TEST

START_TEST(service_is_not_up_without_its_process)
{
	const struct service_row up = up_row();

	make_file();
	write_service(0, "idle", 0, &up);
	go_on();
	expect("idle down");
	end_tree();
}
END_TEST

/* --- control groups --- */

static struct roster *begin_in_groups(void)
{
	const struct service_row up = up_row();

	make_file();
	write_service(0, "web", child, &up);
	begin_with(load(TREE));
	groups_begin(&ctx);
	ck_assert_int_eq(roster_new(&ctx.roster, file), 0);
	ctx.reason = CRASH_FAULT;
	return ctx.roster;
}

static void end_in_groups(struct roster *roster)
{
	tree_done(&tree);
	groups_end(&ctx);
	context_done(&ctx);
	(void)roster_free(roster);
}

START_TEST(service_goes_on_in_the_group_that_exists)
{
	struct roster *roster = begin_in_groups();

	if (_i > 0) {
		group_make("node:web");
		group_write("node:web", "cgroup.procs", "");
	}
	survivors_begin(&survivors, &tree);
	ck_assert_int_eq(service("web")->main.pid, child);
	ck_assert_int_eq(service("web")->group.exists, _i > 0);
	ck_assert(!service("db")->group.exists);
	end_in_groups(roster);
}
END_TEST

START_TEST(each_group_may_exist_if_they_cannot_be_listed)
{
	struct roster *roster = begin_in_groups();

	ck_assert_int_ge(dup3(ctx.descriptors.null, ctx.cgroups->top, O_CLOEXEC), 0);
	survivors_begin(&survivors, &tree);
	ck_assert_int_eq(service("web")->main.pid, child);
	ck_assert(service("web")->group.exists);
	end_in_groups(roster);
}
END_TEST

START_TEST(group_of_no_service_is_removed_if_it_is_empty)
{
	struct roster *roster = begin_in_groups();

	group_make("node:old");
	survivors_begin(&survivors, &tree);
	ck_assert(!group_exists("node:old"));
	ck_assert_uint_eq(survivors.timer.usec, USEC_INFINITY); /* no process is waited for */
	end_in_groups(roster);
}
END_TEST

START_TEST(processes_of_no_service_are_ended_then_killed)
{
	struct roster *roster = begin_in_groups();

	group_make("node:old");
	group_write("node:old", "cgroup.procs", "");
	group_write("node:old", "cgroup.freeze", "1");
	group_write("node:old", "cgroup.kill", "");
	survivors_begin(&survivors, &tree);
	ck_assert_str_eq(group_read("node:old", "cgroup.freeze"), "0");
	pass(9 * SEC);
	ck_assert_str_eq(group_read("node:old", "cgroup.kill"), "");
	pass(2 * SEC);
	ck_assert_str_eq(group_read("node:old", "cgroup.kill"), "1");
	group_write("node:old", "cgroup.kill", "");
	pass(2 * SEC);
	ck_assert_str_eq(group_read("node:old", "cgroup.kill"), "1");
	end_in_groups(roster);
}
END_TEST

static TCase *groups(void)
{
	TCase *tc = tcase_create("groups");

	tcase_add_checked_fixture(tc, make_directory, remove_directory);
	tcase_add_loop_test(tc, service_goes_on_in_the_group_that_exists, 0, 2);
	tcase_add_test(tc, each_group_may_exist_if_they_cannot_be_listed);
	tcase_add_test(tc, group_of_no_service_is_removed_if_it_is_empty);
	tcase_add_test(tc, processes_of_no_service_are_ended_then_killed);
	return tc;
}

/* --- random damage --- */

static void write_rows(void)
{
	struct service_row up = up_row(), done = up_row();
	struct roster_row goal = roster_row(ROSTER_GOAL, GOAL_DOWN, "web", "");
	struct roster_row schedule = roster_row(ROSTER_SCHEDULE, 0, "job", "");

	done.state = STATE_DONE;
	done.run.outcome.kind = OUTCOME_EXITED;
	goal.detail[1] = clock_now_usec();
	goal.detail[2] = goal.detail[1] + SEC;
	write_service(0, "web", child, &up);
	write_service(1, "db", child, &up);
	write_service(2, "once", 0, &done);
	write_row(3, &goal);
	write_row(4, &schedule);
}

static void damage_rows(void)
{
	off_t size = 5 * (off_t)sizeof(struct roster_row);

	for (long n = 1 + random() % 64; n > 0; n--) {
		char byte = (char)random();

		ck_assert_int_eq(pwrite(file, &byte, 1, ROWS_AT + random() % size), 1);
	}
}

static void check_tree(void)
{
	for (struct node *n = tree.root; n; n = node_next(n, tree.root)) {
		const struct service *s = n->service;
		json_t *json = describe_node(n);

		ck_assert_ptr_nonnull(json);
		json_decref(json);
		if (!s)
			continue;
		ck_assert_uint_lt(s->state, N_STATES);
		ck_assert_uint_le(s->run.outcome.kind, OUTCOME_UNKNOWN);
		ck_assert(!s->main.alive || (s->main.pid > 0 && fsm_has_process(s->state)));
	}
}

START_TEST(random_damage_leaves_rows_in_range_or_none)
{
	make_file();
	for (int i = 0; i < 100; i++) {
		srandom((unsigned)(_i * 100 + i));
		write_rows();
		damage_rows();
		go_on();
		check_tree();
		pass(10 * SEC);
		check_tree();
		end_tree();
	}
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("survivors");
	TCase *tc = tcase_create("damaged roster");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, process_is_taken_by_one_service);
	tcase_add_loop_test(tc, run_with_values_out_of_range_is_refused, 0, 7);
	tcase_add_test(tc, service_is_not_up_without_its_process);
	tcase_add_loop_test(tc, random_damage_leaves_rows_in_range_or_none, 0, 3);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, groups());
	return s;
}
