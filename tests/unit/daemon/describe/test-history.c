/* The lines of the history: the phases of an end, and the outages of services. */
#include "tests/unit/fixtures/daemon/tree-world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "daemon/describe/history.h"
#include "daemon/logger/history-log.h"
#include "proto/history/line.h"

static json_t *object;
static struct history_line line;

void __wrap_history_log_add(struct history_log *history, const char *text, size_t size);
static char outages[1000]; /* "web planned, web over" */

void __wrap_history_log_add(struct history_log *history, const char *text, size_t size)
{
	json_decref(object);
	ck_assert_int_eq(text[size - 1], '\n');
	object = json_loadb(text, size, 0, NULL);
	ck_assert_int_eq(history_line_parse(object, &line), 0);
	if (!line.outage)
		return;
	size = strlen(outages);
	(void)snprintf(outages + size, sizeof(outages) - size, "%s%s %s", size ? ", " : "",
		       line.node, history_outages[line.outage]);
}

static void setup(void)
{
	traces_init(&ctx.traces);
	traces_want(&ctx.traces, true, true);
	ctx.history_log = (struct history_log *)&ctx;
}

static void teardown(void)
{
	json_decref(object);
	traces_done(&ctx.traces);
}

static void see_guard(struct trace *trace, const char *kind, uint64_t now)
{
	const struct guard_view guard = {
		.id = 1, .kind = kind, .pid = 7, .uid = FIELD_NONE, .count = FIELD_NONE
	};

	trace_begin_scan(trace);
	if (kind)
		trace_scan_guard(trace, &guard, now);
	trace_end_scan(trace, now);
}

static const struct {
	const char *kind;
	bool is_busy; /* the guard is work of the service */
} kinds[] = {
	{ "lease", true },     { "program", true }, { "process", false },
	{ "leftover", false }, { "action", false }, { "output", false },
};

START_TEST(time_with_work_after_the_stop_signal_is_draining)
{
	struct trace *trace;

	ck_assert_int_eq(trace_new(&trace, &ctx.traces, (struct node *)&ctx, "web"), 0);
	trace_begin(trace, 1, "up", 1 * SEC);
	see_guard(trace, kinds[_i].kind, 1 * SEC);
	trace_state(trace, "stopping", 2 * SEC);
	see_guard(trace, NULL, 5 * SEC);
	trace_state(trace, "killing", 9 * SEC);
	trace_state(trace, "down", 10 * SEC);
	trace_complete(trace, false, 0, 0, 10 * SEC);
	history_update(&ctx);
	ck_assert_ptr_nonnull(object);
	ck_assert_uint_eq(line.total_usec, 9 * SEC);
	ck_assert_uint_eq(line.phases.draining_usec, kinds[_i].is_busy ? 3 * SEC : 0);
	ck_assert_uint_eq(line.phases.stopping_usec, kinds[_i].is_busy ? 4 * SEC : 7 * SEC);
	ck_assert_uint_eq(line.phases.killing_usec, 1 * SEC);
}
END_TEST

/* --- outages --- */

static void begin_recorded(const char *text)
{
	begin(text);
	ctx.history_log = (struct history_log *)&ctx;
	ctx.outages_on = true;
	for (struct node *n = tree.root; n; n = node_next(n, tree.root))
		if (n->service)
			service_record_outage(n->service);
}

static void expect_outages(const char *wanted)
{
	ck_assert_str_eq(outages, wanted);
	*outages = '\0';
}

#define PAIR "[db]\ncommand = x\nready = notify\n[web]\ncommand = x\nrequires = db\n"

START_TEST(a_restart_is_planned_and_that_of_dependents_is_not_theirs)
{
	begin_recorded(PAIR);
	expect_outages("");
	ready("db");
	expect_outages("db over, web over");
	ck_assert_int_eq(restart("db"), 0);
	expect_outages("db planned, web dependency");
	end_asked();
	ready("db");
	expect_outages("db over, web over");
	stop("web");
	expect_outages("web planned");
}
END_TEST

START_TEST(an_end_by_itself_is_a_failure_until_the_service_is_ready)
{
	begin_recorded(
		"[a]\ncommand = x\nready = notify\nrestart-delay = 1s\nrestart-limit = none\n");
	ready("a");
	ends("a", 3);
	expect_outages("a over, a failure");
	ck_assert_str_eq(line.why, "exited with status 3");
	pass(1 * SEC);
	turns();
	ends("a", 3);
	pass(2 * SEC);
	turns();
	expect_outages("");
	ready("a");
	expect_outages("a over");
}
END_TEST

START_TEST(a_request_ends_the_failure_of_a_service_that_is_given_up)
{
	begin_recorded(
		"[a]\ncommand = x\nrestart = never\n[b]\ncommand = x\nrestart = on-failure\n");
	expect_outages("a over, b over");
	ends("a", 3);
	ends("b", 0);
	expect_outages("a failure, b planned");
	ck_assert_int_eq(start("a"), 0);
	expect_outages("a over");
}
END_TEST

START_TEST(jobs_and_idle_services_have_no_outages)
{
	begin_recorded("[job]\ncommand = x\ntype = oneshot\n[idle]\ncommand = x\nautostart = no\n");
	ends("job", 1);
	stop("idle");
	expect_outages("");
	ck_assert_int_eq(start("idle"), 0);
	expect_outages("idle over");
	stop("idle");
	expect_outages("idle planned");
}
END_TEST

START_TEST(a_shutdown_is_planned)
{
	begin_recorded(PAIR);
	ready("db");
	stop("");
	end_asked();
	expect_outages("db over, web over, db planned, web planned");
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("lines of the history");
	TCase *tc = tcase_create("phases");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, time_with_work_after_the_stop_signal_is_draining, 0,
			    ARRAY_SIZE(kinds));
	suite_add_tcase(suite, tc);
	tc = tree_case("outages");
	tcase_add_test(tc, a_restart_is_planned_and_that_of_dependents_is_not_theirs);
	tcase_add_test(tc, an_end_by_itself_is_a_failure_until_the_service_is_ready);
	tcase_add_test(tc, a_request_ends_the_failure_of_a_service_that_is_given_up);
	tcase_add_test(tc, jobs_and_idle_services_have_no_outages);
	tcase_add_test(tc, a_shutdown_is_planned);
	suite_add_tcase(suite, tc);
	return suite;
}
