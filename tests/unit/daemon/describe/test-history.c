/* The phases of an end in the history, from the states of a service and its guards. */
#include "tests/unit/fixtures/daemon/tree-world.h"

#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "daemon/describe/history.h"
#include "daemon/logger/history-log.h"
#include "proto/history/line.h"

static json_t *object;
static struct history_line line;

void __wrap_history_log_add(struct history_log *history, const char *text, size_t size);
void __wrap_history_log_add(struct history_log *history, const char *text, size_t size)
{
	ck_assert_ptr_null(object);
	ck_assert_int_eq(text[size - 1], '\n');
	object = json_loadb(text, size, 0, NULL);
	ck_assert_int_eq(history_line_parse(object, &line), 0);
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

Suite *test_suite(void)
{
	Suite *suite = suite_create("phases of the history");
	TCase *tc = tcase_create("phases");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, time_with_work_after_the_stop_signal_is_draining, 0,
			    ARRAY_SIZE(kinds));
	suite_add_tcase(suite, tc);
	return suite;
}
