/* The start of a run, its changes of state, and what they leave for the report and for the next run. */
#include "tests/unit/fixtures/daemon/service-world.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "daemon/service/start.h"
#include "daemon/describe/report.h"

#define ONE "[web]\ncommand = x\nrestart = on-failure\nrestart-delay = 2s\n"

/* --- changes of state --- */

START_TEST(changes_of_a_run_are_reported_with_their_reasons)
{
	begin_recorded(ONE "ready = notify\n");
	ck_assert_str_eq(changes(), "web down-starting (may start); ");
	ready("web");
	ck_assert_str_eq(changes(), "web starting-up (ready); ");
	ends("web", 3);
	ck_assert_str_eq(changes(), "web up-backoff (exited with status 3); ");
	pass(2 * SEC);
	ck_assert_ptr_nonnull(strstr(changes(), "web backoff-starting ("));
	adopt("web");
	ends("web", 4);
	ck_assert_str_eq(changes(),
			 "web starting-cleaning (exited with status 4 before it was ready); ");
}
END_TEST

START_TEST(timeouts_and_unwell_services_are_reported_by_their_outcome)
{
	begin_recorded(ONE "ready = notify\nstart-timeout = 5s\n");
	(void)changes();
	pass(5 * SEC);
	ck_assert_ptr_nonnull(strstr(changes(), "web starting-cleaning ("));
	ck_assert_int_eq(service("web")->run.outcome.kind, OUTCOME_START_TIMEOUT);
	ends("web", 0);
	expect("web backoff");
	pass(2 * SEC);
	ready("web");
	(void)changes();
	stop("web");
	pass(300 * SEC);
	ck_assert_ptr_null(strstr(changes(), "exited"));
}
END_TEST

START_TEST(each_change_counts)
{
	uint64_t changes_before, since;

	begin_recorded(ONE "ready = notify\n");
	changes_before = ctx.changes;
	since = service("web")->since_usec;
	pass(SEC);
	ck_assert_uint_eq(service("web")->since_usec, since);
	ck_assert_uint_eq(service("web")->held_usec, 0);
	ready("web");
	ck_assert_uint_gt(ctx.changes, changes_before);
	ck_assert_uint_gt(service("web")->since_usec, since + SEC - 1);
	stop("web");
	ck_assert_uint_ge(service("web")->held_usec, service("web")->since_usec - 10);
}
END_TEST

START_TEST(event_that_comes_twice_is_handled_once)
{
	struct service *s;

	begin_recorded(ONE "ready = notify\n");
	s = service("web");
	service_post(s, EVENT_READY);
	service_post(s, EVENT_UNWELL);
	service_post(s, EVENT_READY);
	ck_assert_uint_eq(s->posted.n, 2);
	service_forget_posted(s, EVENT_READY);
	ck_assert_uint_eq(s->posted.n, 1);
	ck_assert_uint_eq(s->posted.events[0], EVENT_UNWELL);
	turns();
	expect("web cleaning");
	ck_assert_uint_eq(s->posted.n, 0);
}
END_TEST

START_TEST(timeout_of_a_state_that_was_left_is_dropped)
{
	begin_recorded(ONE "ready = notify\nstart-timeout = 5s\n");
	service_post(service("web"), EVENT_READY);
	service_post(service("web"), EVENT_TIMEOUT);
	turns();
	expect("web up");
	ck_assert_int_eq(service("web")->run.outcome.kind, OUTCOME_NONE);
}
END_TEST

/* --- restarts --- */

START_TEST(restarts_of_a_service_are_counted)
{
	begin_recorded(ONE);
	for (unsigned i = 1; i <= 3; i++) {
		ends("web", 1);
		expect("web backoff");
		ck_assert_uint_eq(service("web")->restarts, i - 1);
		pass(service("web")->timeout_usec - clock_now_usec());
		expect("web up");
		ck_assert_uint_eq(service("web")->restarts, i);
	}
	ck_assert(service("web")->attempted);
}
END_TEST

START_TEST(start_that_lacks_memory_is_repeated_and_is_no_failure)
{
	begin_recorded("[web]\ncommand = x\nrestart-limit = 1/10s\n");
	ends("web", 1);
	launch_error = EAGAIN;
	pass(service("web")->timeout_usec - clock_now_usec());
	for (int i = 0; i < 5; i++) {
		expect("web backoff");
		ck_assert_int_eq(service("web")->run.outcome.kind, OUTCOME_SPAWN_FAILED);
		pass(SEC);
	}
	launch_error = 0;
	pass(SEC);
	expect("web up");
}
END_TEST

START_TEST(program_that_cannot_be_executed_is_an_outcome)
{
	const struct outcome *outcome;

	begin_recorded("[web]\ncommand = missing\nautostart = no\nrestart = never\n");
	launch_error = ENOENT;
	ck_assert_int_eq(start("web"), 0);
	expect("web failed");
	outcome = &service("web")->run.outcome;
	ck_assert_int_eq(outcome->kind, OUTCOME_SPAWN_FAILED);
	ck_assert_int_eq(outcome->value, ENOENT);
	ck_assert_str_eq(outcome->step, "execute");
	ck_assert_str_eq(outcome->subject, "missing");
	ck_assert_uint_eq(swansong_guard_count(find("web")->handle), 0);
}
END_TEST

START_TEST(failure_after_the_process_was_made_ends_the_start)
{
	const struct spawn_failure why = { .error = EACCES, .step = SPAWN_STEP_EXEC };

	begin_recorded("[web]\ncommand = forbidden\nready = notify\nrestart = never\n");
	expect("web starting");
	service_settle_start(service("web"), &why);
	ck_assert(!service("web")->main.alive);
	turns();
	expect("web failed");
	ck_assert_int_eq(service("web")->run.outcome.kind, OUTCOME_SPAWN_FAILED);
	ck_assert_int_eq(service("web")->run.outcome.value, EACCES);
	ck_assert_str_eq(service("web")->run.outcome.subject, "forbidden");
}
END_TEST

START_TEST(failure_after_a_timeout_is_its_consequence)
{
	const struct spawn_failure why = { .error = EACCES, .step = SPAWN_STEP_EXEC };

	begin_recorded(
		"[web]\ncommand = slow\nready = notify\nrestart = never\nstart-timeout = 5s\n");
	pass(5 * SEC);
	expect("web cleaning");
	service_settle_start(service("web"), &why);
	turns();
	expect("web failed");
	ck_assert_int_eq(service("web")->run.outcome.kind, OUTCOME_START_TIMEOUT);
}
END_TEST

/* --- the beginning of a run --- */

START_TEST(next_run_begins_without_the_last)
{
	struct service *s;

	begin_recorded("[web]\ncommand = x\nstop-timeout = 5s\nrestart = never\n");
	s = service("web");
	stop("web");
	pass(5 * SEC);
	ck_assert(s->run.killed && s->run.late);
	ends("web", 1);
	expect("web down");
	ck_assert(s->run.concluded);
	ck_assert_int_eq(start("web"), 0);
	ck_assert(!s->run.killed && !s->run.late && !s->run.concluded && !s->run.worked);
	ck_assert(s->run.was_up);
	ck_assert_int_eq(s->run.outcome.kind, OUTCOME_NONE);
	ck_assert_uint_eq(s->ending.began_usec, 0);
	ck_assert_uint_eq(s->run.generation, find("web")->generation);
	ck_assert_uint_eq(s->main.generation, find("web")->generation);
}
END_TEST

static int given_fd = -1, withdrawn;

static int accept_control(const char *path, int fd, void *arg)
{
	ck_assert_str_eq(path, "web");
	ck_assert_ptr_eq(arg, &given_fd);
	given_fd = fd;
	return 0;
}

static void withdraw_control(const char *path, void *arg)
{
	(void)arg;
	withdrawn += strcmp(path, "web") == 0;
}

static int refuse_control(const char *path, int fd, void *arg)
{
	(void)path;
	(void)arg;
	(void)close(fd);
	return -ENOBUFS;
}

#define CONTROLLED "[web]\ncommand = x\ncontrol = yes\nautostart = no\nrestart = never\n"

START_TEST(service_gets_a_control_connection)
{
	begin_recorded(CONTROLLED);
	ctx.control = (struct control_offer){ accept_control, withdraw_control, &given_fd };
	ck_assert_int_eq(start("web"), 0);
	expect("web up");
	ck_assert_int_ge(given_fd, 0);
	ck_assert_int_eq(withdrawn, 0);
	stop("web");
	ends("web", 0);
	reload("[web]\ncommand = x\n");
	ck_assert_int_eq(start("web"), 0);
	ck_assert_int_eq(withdrawn, 1);
}
END_TEST

START_TEST(control_connection_that_is_refused_fails_the_start)
{
	begin_recorded(CONTROLLED);
	ck_assert_int_eq(start("web"), 0);
	expect("web failed");
	ck_assert_int_eq(service("web")->run.outcome.value, EOPNOTSUPP);
	ctx.control.accept = refuse_control;
	ck_assert_int_eq(start("web"), 0);
	ck_assert_int_eq(service("web")->run.outcome.value, ENOBUFS);
	ck_assert_str_eq(service("web")->run.outcome.step, "make a control connection");
	ck_assert_str_eq(launched(), "");
}
END_TEST

/* --- records for the report --- */

/* A reload adds the service "late", which the report is to have. */
static const struct trace *begin_traced(void)
{
	static const char report[] = "[swansong]\nreport = /nonexistent/report\n";

	begin_recorded(report);
	report_use(&ctx, tree.config);
	reload("[swansong]\nreport = /nonexistent/report\n"
	       "[late]\ncommand = x\nrestart = never\n");
	ck_assert_ptr_nonnull(find("late")->trace);
	ck_assert(!trace_is_ending(find("late")->trace));
	return find("late")->trace;
}

START_TEST(end_without_a_stop_is_recorded)
{
	const struct trace *trace = begin_traced();
	pid_t pid = adopt("late");

	ends("late", 3);
	expect("late cleaning");
	ck_assert(trace_is_ending(trace));
	remaining_ends("late", pid);
	turns();
	expect("late failed");
	ck_assert(!trace_is_ending(trace));
	ck_assert_str_eq(trace->why, "exited with status 3");
	ck_assert(!trace->forced);
	ck_assert_uint_gt(trace->complete_usec, trace->stop_usec);
	ck_assert_str_eq(trace->states[0].state, "up");
	ck_assert_str_eq(trace->states[trace->n_states - 1].state, "failed");
}
END_TEST

START_TEST(stop_is_recorded_by_its_node)
{
	const struct trace *trace = begin_traced();

	stop("late");
	ck_assert(trace_is_ending(trace));
	ends("late", 0);
	expect("late down");
	ck_assert(!trace_is_ending(trace));
	ck_assert_str_eq(trace->states[trace->n_states - 1].state, "down");
}
END_TEST

static TCase *starts(void)
{
	TCase *tc = tree_case("starts");

	tcase_add_test(tc, restarts_of_a_service_are_counted);
	tcase_add_test(tc, start_that_lacks_memory_is_repeated_and_is_no_failure);
	tcase_add_test(tc, program_that_cannot_be_executed_is_an_outcome);
	tcase_add_test(tc, failure_after_the_process_was_made_ends_the_start);
	tcase_add_test(tc, failure_after_a_timeout_is_its_consequence);
	tcase_add_test(tc, next_run_begins_without_the_last);
	tcase_add_test(tc, service_gets_a_control_connection);
	tcase_add_test(tc, control_connection_that_is_refused_fails_the_start);
	tcase_add_test(tc, end_without_a_stop_is_recorded);
	tcase_add_test(tc, stop_is_recorded_by_its_node);
	return tc;
}

Suite *test_suite(void)
{
	Suite *s = suite_create("run");
	TCase *tc = tree_case("changes");

	tcase_add_test(tc, changes_of_a_run_are_reported_with_their_reasons);
	tcase_add_test(tc, timeouts_and_unwell_services_are_reported_by_their_outcome);
	tcase_add_test(tc, each_change_counts);
	tcase_add_test(tc, event_that_comes_twice_is_handled_once);
	tcase_add_test(tc, timeout_of_a_state_that_was_left_is_dropped);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, starts());
	return s;
}
