/* Commands of no run: those of a failure and final actions, their input and their end. */
#include "tests/unit/fixtures/daemon/tree-world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/macro.h"
#include "daemon/logger/subscription.h"
#include "daemon/spawn/alert.h"
#include "daemon/spawn/hook.h"
#include "daemon/spawn/launch.h"

#define ALERT "[web]\ncommand = x\nrestart = never\non-failure-command = y\n"

static struct log_subscription_wish wish;
static uint64_t logger; /* only its address is used */
static bool usable, sent;
static int pipe_of_lines, input, subscribed;

/* --- the logger --- */

bool __wrap_logging_is_usable(const struct logging *l);
bool __wrap_logging_is_usable(const struct logging *l)
{
	ck_assert_ptr_eq(l, ctx.logger);
	return usable;
}

int __wrap_log_subscription_new(struct log_subscription **ret, struct context *context,
				const struct log_subscription_wish *wanted, int *ret_fd);
int __wrap_log_subscription_new(struct log_subscription **ret, struct context *context,
				const struct log_subscription_wish *wanted, int *ret_fd)
{
	ck_assert_ptr_eq(context, &ctx);
	wish = *wanted;
	if (subscribed < 0)
		return subscribed;
	*ret = NULL;
	*ret_fd = pipe_of_lines = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(pipe_of_lines, 0);
	return 0;
}

int __wrap_log_subscription_update(struct log_subscription *view);
int __wrap_log_subscription_update(struct log_subscription *view)
{
	(void)view;
	sent = true;
	return -EAGAIN;
}

struct log_subscription *__wrap_log_subscription_free(struct log_subscription *view);
struct log_subscription *__wrap_log_subscription_free(struct log_subscription *view)
{
	ck_assert(sent);
	/* The names of other services are not asked for, also those that begin like this. */
	ck_assert(wish.is_wanted("web", wish.arg));
	ck_assert(!wish.is_wanted("web2", wish.arg));
	ck_assert(!wish.is_wanted("", wish.arg));
	return view;
}

static int note_input(const struct launch_program *program, const struct process *process,
		      struct launch_failure *failure)
{
	(void)failure;
	if (process->kind == PROCESS_HOOK)
		input = program->input;
	return 0;
}

/* --- the last lines --- */

static void fail_with_logger(void)
{
	on_launch = note_input;
	input = pipe_of_lines = -1;
	sent = false;
	begin(ALERT);
	ctx.logger = (struct logging *)(void *)&logger;
	ends("web", 1);
	ctx.logger = NULL;
	expect("web failed");
	ck_assert_ptr_nonnull(alert_hook(find("web")));
}

START_TEST(command_of_a_failure_reads_the_last_lines)
{
	usable = true;
	subscribed = 0;
	fail_with_logger();
	ck_assert_int_gt(input, 2);
	ck_assert_int_eq(input, pipe_of_lines);
	ck_assert_int_lt(fcntl(input, F_GETFD), 0); /* the command alone has it */
	ck_assert_uint_eq(wish.lines, 10);
	ck_assert(wish.plain);
	ck_assert(!wish.follow);
	hook_ends("web", 0);
	ck_assert_ptr_null(alert_hook(find("web")));
}
END_TEST

/* 0 is the input of the key stdin. */
START_TEST(command_of_a_failure_runs_without_lines)
{
	usable = _i > 0;
	subscribed = -EMFILE;
	fail_with_logger();
	ck_assert_int_eq(input, 0);
}
END_TEST

/* --- ends --- */

static void fail_service(const char *more)
{
	static char text[256];

	on_launch = NULL;
	(void)snprintf(text, sizeof(text), "%s%s", ALERT, more);
	begin(text);
	ends("web", 1);
	expect("web failed");
	ck_assert_ptr_nonnull(alert_hook(find("web")));
	ck_assert_uint_eq(swansong_guard_count(find("web")->handle), 1);
}

START_TEST(command_of_a_failure_that_exceeds_a_budget_is_a_forced_end)
{
	fail_service("[db]\ncommand = x\n");
	stop("web");
	ck_assert(!find("web")->complete);
	ck_assert(!find("web")->forced);
	force("web");
	ck_assert(find("web")->forced);
	ck_assert(!find("db")->forced);
	hook_ends("web", 0);
	ck_assert(find("web")->complete);
	ck_assert(find("web")->forced);
	ck_assert_uint_eq(ctx.forced_kills->next, 1);
}
END_TEST

START_TEST(command_of_a_failure_that_ends_in_time_is_not_forced)
{
	fail_service("");
	stop("web");
	hook_ends("web", 0);
	ck_assert(find("web")->complete);
	ck_assert(!find("web")->forced);
}
END_TEST

START_TEST(command_of_a_failure_that_exceeds_its_own_time_is_not_forced)
{
	fail_service("on-failure-timeout = 5s\n");
	pass(5 * SEC);
	hook_ends("web", 0);
	stop("web");
	ck_assert(find("web")->complete);
	ck_assert(!find("web")->forced);
	ck_assert_uint_eq(ctx.forced_kills->next, 0);
}
END_TEST

START_TEST(final_action_that_exceeds_its_time_is_a_forced_end)
{
	on_launch = NULL;
	begin("[g]\nfinal = y\nfinal-timeout = 5s\n[g/web]\ncommand = x\n");
	stop("g");
	ends("g/web", 0);
	ck_assert(!find("g")->forced);
	pass(5 * SEC);
	ck_assert(find("g")->forced);
	ck_assert(!find("g/web")->forced);
	hook_ends("g", 0);
	ck_assert(find("g")->complete);
	ck_assert_uint_eq(ctx.forced_kills->next, 1);
}
END_TEST

START_TEST(freed_command_leaves_no_process_and_no_guard)
{
	struct node *node;
	pid_t pid;

	fail_service("");
	node = find("web");
	pid = alert_hook(node)->process.pid;
	ck_assert_ptr_eq(process_find(&processes, pid), &alert_hook(node)->process);
	node->alert = alert_free(node->alert);
	ck_assert_ptr_null(process_find_leader(&processes, pid));
	ck_assert_uint_eq(swansong_guard_count(node->handle), 0);
	pass(1000 * SEC); /* nor a timer */
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("hook");
	TCase *tc = tree_case("hook");

	tcase_add_test(tc, command_of_a_failure_reads_the_last_lines);
	tcase_add_loop_test(tc, command_of_a_failure_runs_without_lines, 0, 2);
	tcase_add_test(tc, command_of_a_failure_that_exceeds_a_budget_is_a_forced_end);
	tcase_add_test(tc, command_of_a_failure_that_ends_in_time_is_not_forced);
	tcase_add_test(tc, command_of_a_failure_that_exceeds_its_own_time_is_not_forced);
	tcase_add_test(tc, final_action_that_exceeds_its_time_is_a_forced_end);
	tcase_add_test(tc, freed_command_leaves_no_process_and_no_guard);
	suite_add_tcase(s, tc);
	return s;
}
