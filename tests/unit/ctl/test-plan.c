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

START_TEST(whoever_finds_no_place_is_counted)
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
		/* What the daemon has, unless another is given. */
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

START_TEST(a_plan_that_is_none_is_refused)
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
	assert_has(err, "* is more than one node");
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

TCase *ctl_plan_tests(void)
{
	TCase *tc = tcase_create("plan");

	ctl_fixture(tc);
	tcase_add_test(tc, a_plan_is_shown_in_its_order);
	tcase_add_test(tc, whoever_finds_no_place_is_counted);
	tcase_add_test(tc, a_plan_fits_the_grace_or_not);
	tcase_add_test(tc, a_plan_that_is_none_is_refused);
	tcase_add_test(tc, a_plan_of_files_needs_no_daemon);
	return tc;
}
