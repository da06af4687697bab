#include "tests/unit/ctl/test-ctl.h"

#include <stdio.h>

#include "base/macro.h"
#include "ctl/session/session.h"

/* "data" waits for "web", and the final of the root for both. */
#define ENTRY(node, kind, step, waits, begin, end, more)                                         \
	"{\"node\":\"" node "\",\"kind\":\"" kind "\",\"step\":" step ",\"waits\":[" waits       \
	"],\"critical\":true,\"soonest_usec\":0,\"begin_usec\":" begin ",\"end_usec\":" end more \
	"}"
#define WEB                                               \
	ENTRY("web", "service", "1", "", "0", "11000000", \
	      ",\"busy_end_usec\":21000000,\"busy_budget\":\"\"")
#define DATA                                                             \
	ENTRY("data", "service", "2", "\"web\"", "11000000", "15000000", \
	      ",\"more_waits\":3,\"budget\":\"g\"")
#define FINAL	ENTRY("", "final", "3", "", "15000000", "17000000", "")
#define ENTRIES "\"entries\":[" WEB "," DATA "," FINAL "]"
static const char plan[] =
	"{\"parameters\":{" ENTRIES ",\"idle_usec\":17000000,\"busy_usec\":21000000}}";
static const char plan_with_grace[] =
	"{\"parameters\":{" ENTRIES ",\"idle_usec\":17000000,\"grace_usec\":20000000}}";

START_TEST(a_plan_is_shown_in_its_order)
{
	ck_assert_int_eq(RUN("plan", SAY(plan)), 0);
	assert_has(asked, "io.swansong.Plan\",\"parameters\":{\"node\":\"\"}}");
	ck_assert_str_eq(out,
			 "STEP  NODE          WAITS FOR       SIGNAL BY  TAKES  ENDS BY  IF BUSY\n"
			 "1     web           -               0ms        11.0s  11.0s    21.0s     "
			 "if busy, cut by the shutdown-timeout of root\n"
			 "2     data          web and 3 more  11.0s      4.0s   15.0s    infinity  "
			 "cut by the shutdown-timeout of g\n"
			 "3     root (final)  all of it       15.0s      2.0s   17.0s    infinity\n"
			 "worst case: 17.0s idle, 21.0s busy\n");
	ck_assert_int_eq(RUN("plan web -q", SAY(plan)), 0);
	assert_has(asked, "{\"node\":\"web\"}");
	ck_assert_str_eq(out, "");
	ck_assert_int_eq(RUN("plan app*", SAY(tree), SAY(plan)), 0);
	assert_has(asked, "{\"node\":\"app\"}");
}
END_TEST

#define L40  "a234567890b234567890c234567890d234567890"
#define LONG "\"" L40 L40 L40 L40 L40 "\""

START_TEST(nodes_that_have_no_room_in_a_plan_are_counted)
{
	static const char waits[] = "{\"parameters\":{\"entries\":[" ENTRY(
		"data", "service", "2", LONG "," LONG "," LONG "," LONG "," LONG "," LONG, "0",
		"1000000", ",\"more_waits\":3") "]}}";

	ck_assert_int_eq(RUN("plan", SAY(waits)), 0);
	assert_has(out, "d234567890 and 5 more  ");
}
END_TEST

START_TEST(a_plan_fits_the_grace_or_not)
{
	static const struct {
		const char *line, *plan;
		int status;
		const char *said;
	} cases[] = {
		{ "plan --grace 21s", plan, 0, "; fits 21.0s: yes\n" },
		{ "plan --grace 20s", plan, 1, "; fits 20.0s: not when busy: " },
		{ "plan --grace 16s", plan, 1,
		  "; fits 16.0s: no: web 11.0s, then data 4.0s, then root 2.0s\n" },
		{ "plan --grace infinity", plan, 0, "worst case: 17.0s idle, 21.0s busy\n" },
		/* The grace of the daemon, unless --grace is given. */
		{ "plan", plan_with_grace, 1, "17.0s idle, infinity busy; fits 20.0s: not when" },
		{ "plan --grace 1s", plan_with_grace, 1, "; fits 1.0s: no: web" },
		{ "plan --json", plan, 0, "\"busy_usec\":21000000}\n" },
		{ "plan --json --grace 21s", plan, 0, "\"grace_usec\":21000000,\"fits\":true}\n" },
		{ "plan --json", plan_with_grace, 1, "\"grace_usec\":20000000,\"fits\":false}\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int status = RUN(cases[i].line, SAY(cases[i].plan));

		ck_assert_msg(status == cases[i].status, "%s: %d", cases[i].line, status);
		assert_has(out, cases[i].said);
		ck_assert_str_eq(err, "");
	}
}
END_TEST

START_TEST(a_malformed_plan_is_refused)
{
	static const char *const replies[] = {
		"{\"parameters\":{}}",
		"{\"parameters\":{\"entries\":1}}",
		"{\"parameters\":{\"entries\":[{}]}}",
		"{\"parameters\":{\"entries\":[],\"idle_usec\":-1}}",
		"{\"parameters\":{\"entries\":[],\"busy_usec\":\"x\"}}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(replies); i++) {
		ck_assert_int_eq(RUN("plan", SAY(replies[i])), CTL_FAILED);
		ck_assert_msg(err[0], "nothing said to: %s", replies[i]);
	}
	ck_assert_int_eq(RUN("plan *", SAY(tree)), CTL_USAGE);
	assert_has(err, "*: several nodes match: expected one");
}
END_TEST

START_TEST(a_plan_of_files_needs_no_daemon)
{
	char path[128], line[256];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/a.ini", directory);
	f = fopen(path, "we");
	ck_assert_ptr_nonnull(f);
	(void)fputs("[swansong]\nshutdown-timeout=30s\n[a]\ncommand=x\nrequires=b\n"
		    "[b]\ncommand=x\nstop-timeout=2s\n",
		    f);
	ck_assert_int_eq(fclose(f), 0);
	(void)snprintf(line, sizeof(line), "plan / --config %s --grace 31s", path);
	ck_assert_int_eq(run(line, NULL, 0), 0);
	assert_has(out, "1     a     -");
	assert_has(out, "2     b     a          11.0s      3.0s   14.0s");
	assert_has(out, "worst case: 14.0s idle, 31.0s busy; fits 31.0s: yes");
	(void)snprintf(line, sizeof(line), "plan b --json --config %s --config %s/none", path,
		       directory);
	ck_assert_int_eq(run(line, NULL, 0), CTL_CONFIG);
	assert_has(err, "/none: ");
}
END_TEST

/* --- past ends --- */

static char history[128];

/* @n ends of web, each of which took a second longer than the one before, and one of data. */
static const char *write_history(unsigned n, const char *rest)
{
	static char line[400];
	FILE *f;

	(void)snprintf(history, sizeof(history), "%s/history", directory);
	f = fopen(history, "we");
	ck_assert_ptr_nonnull(f);
	for (unsigned i = 1; i <= n; i++)
		(void)fprintf(f,
			      "{\"time_usec\":1,\"node\":\"web\",\"generation\":1,\"why\":\"x\","
			      "\"total_usec\":1,\"phases\":{\"stopping_usec\":%u000000%s}}\n",
			      i, i == n ? ",\"killing_usec\":1" : "");
	(void)fprintf(f, "garbage\n{\"time_usec\":1,\"node\":\"data\",\"generation\":1,"
			 "\"why\":\"x\",\"total_usec\":1,\"phases\":{\"stopping_usec\":9}}\n");
	ck_assert_int_eq(fclose(f), 0);
	(void)snprintf(line, sizeof(line), "%s --history %s", rest, history);
	return line;
}

START_TEST(a_plan_has_the_expected_time_beside_the_worst)
{
	ck_assert_int_eq(RUN(write_history(20, "plan --from-history --grace 21s"), SAY(plan)), 0);
	assert_has(out, "WAITS FOR       USUALLY  SIGNAL BY");
	assert_has(out, "\n1     web           -               10.0s    0ms ");
	/* From web 1s to 20s, then data 4s and the final 2s at worst, and 21s in all. */
	assert_has(out, "\nby past ends: p50 1");
	assert_has(out, ", p99 21.0s; fits 21.0s in 1000 of 1000 draws; "
			"2 of 3 steps have fewer than 20 ends: worst case\n");
	assert_has(err, "skipped 1 lines: not of a history");
	ck_assert_int_eq(RUN(write_history(20, "plan --from-history --grace 6s"), SAY(plan)), 1);
	assert_has(out, "; fits 6.0s in 0 of 1000 draws; ");
	ck_assert_int_eq(RUN(write_history(19, "plan --from-history --json"), SAY(plan)), 0);
	assert_has(out, "\"expected\":{\"p50_usec\":17000000,\"p99_usec\":17000000,\"draws\":1000,"
			"\"fitting\":1000,\"unknown\":3}");
	ck_assert_int_eq(RUN("plan --from-history --history /nowhere/h", SAY(plan)), CTL_FAILED);
	assert_has(err, "/nowhere/h: no history");
}
END_TEST

#define SETTING(key, value) "{\"key\":\"" key "\",\"origin\":\"section\",\"value\":\"" value "\"}"
#define SETTINGS(list)	    "{\"parameters\":{\"node\":\"web\",\"settings\":[" list "]}}"

START_TEST(advice_is_for_the_settings_of_the_daemon)
{
	static const struct {
		const char *reply, *said;
		int status;
	} cases[] = {
		{ SETTINGS(SETTING("stop-timeout", "20s")),
		  "[web]\nstop-timeout = 30s ; is 20s: p99 20.00s of 20 ends, 1 killed; 20.00s * 1.5 = "
		  "30.00s\n",
		  0 },
		{ SETTINGS(SETTING("stop-timeout", "1min")), "no advice: the timeouts of 1 node with 20 ends", 0 },
		{ SETTINGS(SETTING("stop-timeout", "infinity")), "no advice: ", 0 },
		{ SETTINGS(SETTING("stop-timeout", "soon") "," SETTING("x", "")),
		  "no advice: ", 0 },
		{ "{\"parameters\":{}}", "no advice: ", 0 },
		{ "{\"parameters\":{\"settings\":[1,{},{\"key\":1}]}}", "no advice: ", 0 },
		{ "{\"error\":\"io.swansong.NoSuchNode\",\"parameters\":{\"node\":\"web\"}}",
		  "no advice: ", 0 },
		{ "{\"error\":\"io.swansong.NotPermitted\",\"parameters\":{\"reason\":\"x\"}}", "",
		  CTL_DENIED },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int status = RUN(write_history(20, "advise"), SAY(cases[i].reply));

		ck_assert_msg(status == cases[i].status, "%s: %d", cases[i].reply, status);
		assert_has(out, cases[i].said);
		/* A node that is gone needs no advice. */
		assert_lacks(err, "no such node");
	}
	ck_assert_int_eq(run(write_history(20, "advise"), NULL, 0), CTL_NO_DAEMON);
	ck_assert_int_eq(run(write_history(19, "advise"), NULL, 0), 0);
	assert_has(out, "no advice: the timeouts of 0 nodes with 20 ends or more fit");
}
END_TEST

START_TEST(the_history_is_that_of_the_daemon)
{
	static char reply[400];

	(void)write_history(1, "");
	(void)snprintf(reply, sizeof(reply),
		       SETTINGS(SETTING("report", "/r/r") "," SETTING("history", "%s")), history);
	ck_assert_int_eq(RUN("history", SAY(reply)), 0);
	assert_has(out, "\nweb   1 ");
	ck_assert_int_eq(RUN("history", SAY(SETTINGS(SETTING("history", "none")))), CTL_FAILED);
	assert_has(err, "the daemon writes no history");
}
END_TEST

START_TEST(three_reasons_of_ends_are_shown)
{
	static char line[200];
	FILE *f;

	(void)snprintf(history, sizeof(history), "%s/history", directory);
	f = fopen(history, "we");
	ck_assert_ptr_nonnull(f);
	/* The reason number i of i ends; of a the last three, of b all. */
	for (unsigned i = 1; i <= 4; i++)
		for (unsigned k = 0; k < i; k++)
			for (const char *node = i > 1 ? "ab" : "b"; *node; node++)
				(void)fprintf(f,
					      "{\"time_usec\":1,\"node\":\"%c\",\"generation\":1,"
					      "\"why\":\"r%u\",\"total_usec\":%u000}\n",
					      *node, i, i);
	ck_assert_int_eq(fclose(f), 0);
	(void)snprintf(line, sizeof(line), "history --history %s", history);
	ck_assert_int_eq(run(line, NULL, 0), 0);
	ck_assert_str_eq(out, "NODE  ENDS  P50    P99    LONGEST  FORCED  WHY\n"
			      "a     9     3.0ms  4.0ms  4.0ms    -       4 r4, 3 r3, 2 r2\n"
			      "b     10    3.0ms  4.0ms  4.0ms    -       4 r4, 3 r3, 2 r2, ...\n");
}
END_TEST

TCase *ctl_plan_tests(void)
{
	TCase *tc = tcase_create("plan");

	ctl_fixture(tc);
	tcase_add_test(tc, a_plan_is_shown_in_its_order);
	tcase_add_test(tc, nodes_that_have_no_room_in_a_plan_are_counted);
	tcase_add_test(tc, a_plan_fits_the_grace_or_not);
	tcase_add_test(tc, a_malformed_plan_is_refused);
	tcase_add_test(tc, a_plan_of_files_needs_no_daemon);
	tcase_add_test(tc, a_plan_has_the_expected_time_beside_the_worst);
	tcase_add_test(tc, advice_is_for_the_settings_of_the_daemon);
	tcase_add_test(tc, the_history_is_that_of_the_daemon);
	tcase_add_test(tc, three_reasons_of_ends_are_shown);
	return tc;
}
