#include "tests/unit/ctl/test-ctl.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "ctl/report/past.h"
#include "ctl/report/plot.h"
#include "ctl/report/svg.h"

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

/* Of a text that is too long for a message. */
static void has(const char *part)
{
	ck_assert_msg(strstr(out, part), "no \"%s\"", part);
}

START_TEST(a_plot_has_a_lane_for_each_node)
{
	ck_assert_int_eq(run(line("plot"), NULL, 0), 0);
	has("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg ");
	has(">Shutdown of h: 2.00s, forced</text>");
	has("by SIGTERM: asked by &lt;me&gt; &amp; you</text>");
	has("<title>web/nginx</title>nginx</text>");
	has("<title>web/nginx: killing for 200ms, from 1.30s on</title><rect "
	    "class=\"killing\"");
	has("<title>data/redis: waiting for 1.50s, from 0.0ms on; redis-server, pid 12");
	has("<title>lease on data for 6.00s, revoked; dump, pid 77, &quot;&lt;b&gt;");
	has("class=\"lost\"");
	has("shutdown-timeout</text>");
	ck_assert_ptr_null(strstr(out, "<script"));
	has("</svg>\n");
}
END_TEST

/* Two seconds are 900 wide, from 150 on. */
START_TEST(bars_of_a_plot_are_where_their_time_is)
{
	ck_assert_int_eq(run(line("plot"), NULL, 0), 0);
	has("<rect class=\"draining\" x=\"150.00\" y=\"210.00\" width=\"135.00\"");
	has("<rect class=\"stopping\" x=\"285.00\" y=\"210.00\" width=\"450.00\"");
	has("<rect class=\"killing\" x=\"735.00\" y=\"210.00\" width=\"90.00\"");
	/* The budget, and a guard from before the stop on. */
	has("<line class=\"budget\" x1=\"960.00\"");
	has("<line class=\"guard\" x1=\"150.00\" y1=\"155.00\" x2=\"600.00\" y2=\"155.00\"");
	has("<line class=\"axis\" x1=\"150.00\" y1=\"112.00\" x2=\"1050.00\" y2=\"112.00\"");
}
END_TEST

START_TEST(the_legend_of_a_plot_has_each_kind_of_bar)
{
	static const char *const texts[] = {
		"drain-delay",
		"waits for others",
		"stopping",
		"killed",
		"post-stop",
		"guard, until dropped",
		"guard, until killed or revoked",
	};

	ck_assert_int_eq(run(line("plot"), NULL, 0), 0);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		char text[64];

		(void)snprintf(text, sizeof(text), "text-anchor=\"start\">%s</text>", texts[i]);
		has(text);
	}
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
		status = run(line(round % 2 ? "blame" : "plot"), NULL, 0);
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
	ck_assert_int_eq(run(line("plot"), NULL, 0), 0);
}
END_TEST

START_TEST(ticks_are_round_and_few)
{
	static const struct {
		uint64_t usec, step, at;
		const char *text;
	} cases[] = {
		{ 1, 1, 1, "0.001ms" },
		{ 900, 100, 300, "0.3ms" },
		{ 1500, 200, 1400, "1.4ms" },
		{ 95000, 10000, 20000, "20ms" },
		{ 1900000, 200000, 1400000, "1.4s" },
		{ 4200000, 500000, 500000, "500ms" },
		{ 30000000, 5000000, 10000000, "10s" },
		{ 300000000, 30000000, 90000000, "1:30 min" },
		{ UINT64_C(36000000000), UINT64_C(3600000000), UINT64_C(7200000000), "2 h" },
	};
	char text[PLOT_TICK_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t step = plot_step(cases[i].usec, 12);

		ck_assert_uint_eq(step, cases[i].step);
		ck_assert_str_eq(plot_tick(text, cases[i].at, step), cases[i].text);
	}
	for (uint64_t usec = 1; usec < UINT64_MAX / 3; usec = usec * 3 + 1)
		ck_assert_uint_le(usec / plot_step(usec, 12), 12);
}
END_TEST

static const char *escaped(const char *text, double width)
{
	static char buf[200];
	FILE *f = fmemopen(buf, sizeof(buf), "w");

	svg_escape_cut(f, text, width);
	fputc('\0', f);
	fclose(f);
	return buf;
}

START_TEST(text_is_escaped_for_xml_and_for_the_eye)
{
	ck_assert_str_eq(escaped("a<b>&\"'", 100), "a&lt;b&gt;&amp;&quot;&#39;");
	ck_assert_str_eq(escaped("\x01\xff\x7f", 100), "\\x01\\xff\\x7f");
	ck_assert_str_eq(escaped("\xef\xbf\xbf", 100), "\\xef\\xbf\\xbf");
	ck_assert_str_eq(escaped("\xe2\x80\xae", 100), "\\xe2\\x80\\xae");
	ck_assert_str_eq(escaped("\xc2\x85", 100), "\\xc2\\x85");
	ck_assert_str_eq(escaped("\xc3\xa4\xe6\x97\xa5", 100), "\xc3\xa4\xe6\x97\xa5");
	ck_assert_str_eq(escaped("aaaaaaaaaa", 4), "aaaa\xe2\x80\xa6");
	ck_assert_str_eq(escaped("aaaaaaaaaa", 0), "\xe2\x80\xa6");
	ck_assert_str_eq(escaped("", 0), "");
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
	tcase_add_test(tc, a_plot_has_a_lane_for_each_node);
	tcase_add_test(tc, bars_of_a_plot_are_where_their_time_is);
	tcase_add_test(tc, the_legend_of_a_plot_has_each_kind_of_bar);
	tcase_add_test(tc, a_file_that_is_no_report_is_refused);
	tcase_add_test(tc, mutated_reports_end_in_an_exit_status);
	tcase_add_test(tc, times_without_bounds_are_shown);
	tcase_add_test(tc, ticks_are_round_and_few);
	tcase_add_test(tc, text_is_escaped_for_xml_and_for_the_eye);
	return tc;
}
