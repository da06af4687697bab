#include "tests/unit/ctl/test-ctl.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"

/* redis waits for nginx, which does not end by itself; and a guard is held on data. */

#define HEAD                                                                                   \
	"\"version\":\"1\",\"host\":\"h\",\"pid\":1,\"time_usec\":1700000000000000,\"cause\":" \
	"\"asked by <me> & you\",\"signal\":\"SIGTERM\",\"forced\":true,\"status\":124,"       \
	"\"total_usec\":2000000,\"budget_usec\":1800000,\"lost\":0"
#define LANE(path, service, complete, more, after, states, guards)                         \
	"{\"path\":\"" path "\",\"service\":" service ",\"generation\":1,\"stop_usec\":0," \
	"\"complete_usec\":" complete ",\"forced\":false" more ",\"after\":[" after        \
	"],\"states\":[" states "],\"guards\":[" guards "]}"
#define STATE(name, at) "{\"state\":\"" name "\",\"at_usec\":" at "}"

static const char report[] = "{\"format\":1," HEAD ",\"nodes\":[" LANE("",
								       "false", "2000000", "", "", "", "") "," LANE("data",
														    "false",
														    "1900000",
														    "",
														    "",
														    "",
														    "{\"id\":9,\"kind\":\"lease\",\"pid\":77,\"command\":\"dump\",\"why\":\"<b>\","
														    "\"taken_usec\":-5000000,\"gone_usec\":1000000,\"end\":\"revoked\"}") "," LANE("data/redis",
																								   "true", "1900000", "", "\"web\"", STATE("up", "0") "," STATE("waiting", "1") "," STATE("stopping", "1500000") "," STATE("down", "1900000"),
																								   "{\"id\":1,\"kind\":\"process\",\"pid\":12,\"command\":\"redis-server\","
																								   "\"taken_usec\":-9000000,\"gone_usec\":1900000,\"end\":\"ended\"}") "," LANE("web",
																																		"false",
																																		"1500000",
																																		"", "", "", "") "," LANE("web/nginx",
																																					 "true", "1500000", ",\"late_usec\":1300000",
																																					 "",
																																					 STATE(
																																						 "up", "0") "," STATE("draining", "0") "," STATE("stopping", "300000") "," STATE("killing",
																																																 "1300000") "," STATE("down",
																																																		      "1500000"),
																																					 "") "]}";

static char file[100];

static const char *line(const char *verb)
{
	static char text[200];

	snprintf(text, sizeof(text), "%s --report %s", verb, file);
	return text;
}

static void save(const char *text, size_t size)
{
	FILE *f;

	snprintf(file, sizeof(file), "/tmp/test-ctl-report-%d", getpid());
	f = fopen(file, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(text, 1, size, f), size);
	ck_assert_int_eq(fclose(f), 0);
}

static void setup(void)
{
	save(report, sizeof(report) - 1);
}

static void teardown(void)
{
	unlink(file);
}

START_TEST(the_slowest_are_blamed_first)
{
	ck_assert_int_eq(run(line("blame"), NULL, 0), 0);
	assert_has(out, "root: complete in 2.00s, forced, exit status 124\n");
	assert_has(out, ": asked by <me> & you\n");
	assert_has(out, "TOOK   NODE        TOTAL  WAITING  DRAINING  STOPPING  KILLED  HELD BY\n"
			"1.90s  data        1.90s  -        -         -         -       "
			"lease dump, pid 77, \"<b>\" for 6.00s, revoked\n"
			"1.50s  web/nginx   1.50s  -        300ms     1.00s     200ms\n"
			"400ms  data/redis  1.90s  1.50s    -         400ms     -\n");
}
END_TEST

START_TEST(the_chain_that_the_end_waited_for_is_shown)
{
	ck_assert_int_eq(run(line("blame"), NULL, 0), 0);
	assert_has(out, "The end waited for:\n"
			"  data/redis   +1.90s  waiting 1.50s, stopping 400ms\n"
			"    web/nginx  +1.50s  draining 300ms, stopping 1.00s, killing 200ms\n");
}
END_TEST

static int blame(const char *text)
{
	save(text, strlen(text));
	return run(line("blame"), NULL, 0);
}

START_TEST(guards_held_to_the_end_or_longer_are_named)
{
	static const char held[] =
		"{\"format\":1," HEAD
		",\"nodes\":[" LANE("a", "true", "2000000", "", "", STATE("stopping", "0"),
				    "{\"id\":9,\"kind\":\"lease\",\"pid\":77,\"command\":\"dump\","
				    "\"taken_usec\":-1000000}") "]}";

	ck_assert_int_eq(blame(held), 0);
	assert_has(out, "The end waited for:\n  a  +2.00s  stopping 2.00s, lease dump, pid 77\n");
}
END_TEST

START_TEST(guards_held_to_the_last_tenth_are_named)
{
	static const struct {
		const char *gone;
		bool is_named;
	} cases[] = { { "1800000", true }, { "1799999", false } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[1000];

		(void)snprintf(text, sizeof(text),
			       "{\"format\":1," HEAD ",\"nodes\":[" LANE(
				       "a", "true", "2000000", "", "", STATE("stopping", "0"),
				       "{\"id\":9,\"kind\":\"lease\",\"pid\":77,"
				       "\"taken_usec\":0,\"gone_usec\":%s}") "]}",
			       cases[i].gone);
		ck_assert_int_eq(blame(text), 0);
		ck_assert_int_eq(!strstr(out, "stopping 2.00s, lease pid 77\n"),
				 !cases[i].is_named);
	}
}
END_TEST

START_TEST(blame_uses_the_terms_of_the_manual)
{
	static const char held[] = "{\"format\":1," HEAD ",\"nodes\":[" LANE(
		"a", "true", "2000000", "", "", STATE("stopping", "0"),
		"{\"id\":9,\"kind\":\"leftover\",\"pid\":77,\"command\":\"nap\","
		"\"taken_usec\":0,\"gone_usec\":2000000,\"end\":\"dropped\"}") "]}";

	ck_assert_int_eq(blame(held), 0);
	assert_has(out, "remaining process nap, pid 77 for 2.00s, released\n");
	assert_has(out, "stopping 2.00s, remaining process nap, pid 77\n");
}
END_TEST

START_TEST(blame_shows_only_the_nodes_of_its_arguments)
{
	char text[200];

	snprintf(text, sizeof(text), "blame web/* --report %s", file);
	ck_assert_int_eq(run(text, NULL, 0), 0);
	assert_has(out, "web/nginx");
	assert_lacks(out, "redis");
	snprintf(text, sizeof(text), "blame data --report %s", file);
	ck_assert_int_eq(run(text, NULL, 0), 0);
	assert_has(out, "data/redis");
	assert_lacks(out, "nginx");
	snprintf(text, sizeof(text), "blame d* --report %s", file);
	ck_assert_int_eq(run(text, NULL, 0), 0);
	assert_has(out, "data ");
	assert_lacks(out, "redis");
	snprintf(text, sizeof(text), "blame root --report %s", file);
	ck_assert_int_eq(run(text, NULL, 0), 0);
	assert_has(out, "nginx");
	snprintf(text, sizeof(text), "blame nobody --report %s", file);
	ck_assert_int_eq(run(text, NULL, 0), 4);
}
END_TEST

START_TEST(blame_as_json_prints_the_file)
{
	json_t *wanted = json_loads(report, 0, NULL), *got;

	ck_assert_int_eq(run(line("blame --json"), NULL, 0), 0);
	got = json_loads(out, 0, NULL);
	ck_assert(json_equal(wanted, got));
	json_decref(got);
	json_decref(wanted);
}
END_TEST

START_TEST(a_file_that_is_no_report_is_refused)
{
	static const char *const bad[] = {
		"",
		"{",
		"7",
		"[]",
		"{}",
		"{\"format\":1}",
		"{\"format\":1," HEAD "}",
		"{\"format\":1," HEAD ",\"nodes\":{}}",
		"{\"format\":1," HEAD ",\"nodes\":[7]}",
		"{\"format\":1," HEAD ",\"nodes\":[{\"path\":\"x\"}]}",
		"{\"format\":1," HEAD ",\"nodes\":[" LANE("", "false", "1", "", "7", "", "") "]}",
		"{\"format\":1," HEAD
		",\"nodes\":[" LANE("", "false", "1", "", "", "{\"state\":\"up\"}", "") "]}",
		"{\"format\":1," HEAD ",\"nodes\":[" LANE("", "false", "-1", "", "", "", "") "]}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_msg(blame(bad[i]) == 1, "%s", bad[i]);
		ck_assert_str_eq(out, "");
		assert_has(err, "not a report of a shutdown");
	}
	ck_assert_int_eq(blame("{\"format\":2}"), 1);
	assert_has(err, "a report in an unknown format");
	ck_assert_int_eq(run("blame --report /nonexistent/r", NULL, 0), 1);
	assert_has(err, "no report: set report in [swansong]");
	ck_assert_int_eq(run("plot --report /dev/zero", NULL, 0), 1);
	assert_has(err, "/dev/zero: not a regular file");
	ck_assert_int_eq(run("plot --report /", NULL, 0), 1);
	ck_assert_int_eq(run("blame --report", NULL, 0), 2);
}
END_TEST

/* Numbers that no daemon writes: no fault, no endless loop, no overflow. */
START_TEST(mutated_reports_end_in_an_exit_status)
{
	static const char bytes[] = "{}[]\",:\\0919999.e- \x80\xff\xc3\x01";
	unsigned random = 11;

	for (int round = 0; round < 150; round++) {
		char text[sizeof(report)];
		int status;

		memcpy(text, report, sizeof(report));
		for (unsigned edits = next_random(&random) % 4 + 1; edits; edits--)
			text[next_random(&random) % (sizeof(text) - 1)] =
				bytes[next_random(&random) % (sizeof(bytes) - 1)];
		save(text, sizeof(text) - 1);
		status = run(line("blame"), NULL, 0);
		ck_assert_msg(status == 0 || status == 1, "round %d: %d\n%s", round, status, text);
	}
}
END_TEST

START_TEST(times_without_bounds_are_shown)
{
#define MOST  "9223372036854775807"
#define LEAST "-9223372036854775808"
	static const char far[] =
		"{\"format\":1," HEAD ",\"nodes\":["
		"{\"path\":\"a\",\"service\":true,\"generation\":1,\"stop_usec\":" LEAST
		",\"complete_usec\":" MOST
		",\"forced\":false,\"after\":[\"a\",\"b\"],\"states\":[" STATE("waiting", LEAST) "," STATE(
			"stopping",
			MOST) "," STATE("waiting",
					LEAST) "],\"guards\":[{\"id\":1,\"kind\":\"x\",\"taken_usec\":" LEAST
					       ",\"gone_usec\":" MOST "}]}]}";

	ck_assert_int_eq(blame(far), 0);
}
END_TEST

TCase *ctl_report_tests(void)
{
	TCase *tc = tcase_create("report");

	ctl_fixture(tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_slowest_are_blamed_first);
	tcase_add_test(tc, the_chain_that_the_end_waited_for_is_shown);
	tcase_add_test(tc, guards_held_to_the_end_or_longer_are_named);
	tcase_add_test(tc, guards_held_to_the_last_tenth_are_named);
	tcase_add_test(tc, blame_uses_the_terms_of_the_manual);
	tcase_add_test(tc, blame_shows_only_the_nodes_of_its_arguments);
	tcase_add_test(tc, blame_as_json_prints_the_file);
	tcase_add_test(tc, a_file_that_is_no_report_is_refused);
	tcase_add_test(tc, mutated_reports_end_in_an_exit_status);
	tcase_add_test(tc, times_without_bounds_are_shown);
	return tc;
}
