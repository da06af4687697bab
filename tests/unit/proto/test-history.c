#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "proto/history/advice.h"
#include "proto/history/figures.h"
#include "proto/history/reader.h"

static const struct history_line line = {
	.time_usec = 1700000000000000,
	.node = "web/api",
	.generation = 7,
	.why = "asked by pid 7, uid 0",
	.total_usec = 3700000,
	.has_phases = true,
	.phases = { .waiting_usec = 100000, .draining_usec = 3200000, .stopping_usec = 400000 },
	.forced = true,
	.held_by = { { "lease", "pg_dump", "nightly", 3100000 }, { "log", NULL, NULL, 1000 } },
	.n_held_by = 2,
};

START_TEST(a_line_is_read_as_it_was_written)
{
	cleanup(json_decrefp) json_t *object = history_line_build(&line);
	struct history_line in;

	ck_assert_int_eq(history_line_parse(object, &in), 0);
	ck_assert_str_eq(in.node, "web/api");
	ck_assert_str_eq(in.why, line.why);
	ck_assert_uint_eq(in.time_usec, line.time_usec);
	ck_assert_uint_eq(in.generation, 7);
	ck_assert_uint_eq(in.total_usec, 3700000);
	ck_assert(in.forced && in.has_phases);
	ck_assert_uint_eq(in.phases.draining_usec, 3200000);
	ck_assert_uint_eq(in.phases.closing_usec, 0);
	ck_assert_uint_eq(in.n_held_by, 2);
	ck_assert_str_eq(in.held_by[0].who, "pg_dump");
	ck_assert_ptr_null(in.held_by[1].who);
	ck_assert_uint_eq(in.held_by[1].usec, 1000);
}
END_TEST

START_TEST(a_line_of_the_root_has_no_phases)
{
	struct history_line root = line, in;
	cleanup(json_decrefp) json_t *object = NULL;

	root.node = "";
	root.has_phases = false;
	root.n_held_by = 0;
	object = history_line_build(&root);
	ck_assert_ptr_null(json_object_get(object, "phases"));
	ck_assert_ptr_null(json_object_get(object, "held_by"));
	ck_assert_int_eq(history_line_parse(object, &in), 0);
	ck_assert(!in.has_phases);
	ck_assert_uint_eq(in.n_held_by, 0);
}
END_TEST

START_TEST(other_objects_are_no_lines)
{
	static const struct {
		const char *member, *value;
	} wrong[] = {
		{ "node", "1" },
		{ "total_usec", "-1" },
		{ "total_usec", "\"1s\"" },
		{ "phases", "[]" },
		{ "phases", "{\"delay_usec\": -1}" },
		{ "held_by", "{}" },
		{ "held_by", "[1]" },
		{ "held_by", "[{}]" },
		{ "forced", "1" },
		{ "generation", "1.5" },
		{ "time_usec", "\"today\"" },
		{ "why", "null" },
	};
	struct history_line in;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		cleanup(json_decrefp) json_t *object = history_line_build(&line);

		json_object_set_new(object, wrong[i].member,
				    json_loads(wrong[i].value, JSON_DECODE_ANY, NULL));
		ck_assert_int_eq(history_line_parse(object, &in), -EBADMSG);
	}
}
END_TEST

START_TEST(more_holders_than_three_are_left_out)
{
	cleanup(json_decrefp) json_t *object = history_line_build(&line);
	json_t *held_by = json_object_get(object, "held_by");
	struct history_line in;

	for (int i = 0; i < 5; i++)
		json_array_append(held_by, json_array_get(held_by, 0));
	ck_assert_int_eq(history_line_parse(object, &in), 0);
	ck_assert_uint_eq(in.n_held_by, HISTORY_HOLDERS);
}
END_TEST

START_TEST(the_file_is_beside_the_report)
{
	static const struct {
		const char *history, *report, *path;
	} cases[] = {
		{ NULL, NULL, NULL },
		{ NULL, "none", NULL },
		{ NULL, "/var/lib/r.json", "/var/lib/history.jsonl" },
		{ NULL, "/r", "/history.jsonl" },
		{ "none", "/var/lib/r.json", NULL },
		{ "/h", "/var/lib/r.json", "/h" },
		{ "/h", NULL, "/h" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(freep) char *path = NULL;

		ck_assert_int_eq(history_path(&path, cases[i].history, cases[i].report), 0);
		ck_assert_pstr_eq(path, cases[i].path);
	}
}
END_TEST

/* --- figures --- */

START_TEST(a_percentile_is_the_nearest_rank)
{
	uint64_t hundred[100], few[] = { 10, 20, 30 };
	struct samples samples = { hundred, ARRAY_SIZE(hundred) }, three = { few, 3 };
	static const struct {
		unsigned permille;
		uint64_t of_hundred, of_three;
	} cases[] = {
		{ 0, 1, 10 },	  { 10, 1, 10 },     { 11, 2, 10 },   { 333, 34, 10 },
		{ 334, 34, 20 },  { 500, 50, 20 },   { 501, 51, 20 }, { 990, 99, 30 },
		{ 991, 100, 30 }, { 1000, 100, 30 },
	};

	for (uint64_t i = 0; i < ARRAY_SIZE(hundred); i++)
		hundred[i] = i + 1;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ck_assert_uint_eq(samples_percentile(&samples, cases[i].permille),
				  cases[i].of_hundred);
		ck_assert_uint_eq(samples_percentile(&three, cases[i].permille), cases[i].of_three);
	}
	ck_assert_uint_eq(samples_percentile(&(struct samples){}, 500), 0);
}
END_TEST

START_TEST(samples_are_counted_up_to_a_time)
{
	uint64_t usec[] = { 10, 20, 20, 30 };
	struct samples samples = { usec, ARRAY_SIZE(usec) };

	ck_assert_uint_eq(samples_count(&samples, 9), 0);
	ck_assert_uint_eq(samples_count(&samples, 10), 1);
	ck_assert_uint_eq(samples_count(&samples, 20), 3);
	ck_assert_uint_eq(samples_count(&samples, UINT64_MAX), 4);
	ck_assert_uint_eq(samples_count(&(struct samples){}, 5), 0);
}
END_TEST

START_TEST(durations_are_rounded_up_to_what_is_easy_to_read)
{
	static const struct {
		uint64_t usec;
		const char *text;
	} cases[] = {
		{ 0, "1s" },
		{ USEC_PER_SEC, "1s" },
		{ USEC_PER_SEC + 1, "2s" },
		{ 18600 * USEC_PER_MSEC, "20s" },
		{ 46 * USEC_PER_SEC, "1min" },
		{ 61 * USEC_PER_SEC, "90s" },
		{ 2701 * USEC_PER_SEC, "1h" },
		{ 3601 * USEC_PER_SEC, "2h" },
		{ USEC_INFINITY - 1, "infinity" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[DURATION_TEXT_MAX];

		ck_assert_str_eq(parse_duration_text(text, advice_round(cases[i].usec)),
				 cases[i].text);
	}
}
END_TEST

START_TEST(advice_needs_ends_and_a_contradiction)
{
	static const struct {
		size_t n, killed;
		uint64_t usec, present, proposed;
		enum advice_kind kind;
	} cases[] = {
		/* too few */
		{ 19, 19, 10, 10, 0, ADVICE_NONE },
		/* killed, and one half more would do */
		{ 20, 1, 10, 10, 15, ADVICE_RAISE },
		{ 20, 20, 60, 60, 90, ADVICE_RAISE },
		/* killed, and not by this timeout */
		{ 20, 20, 1, 10, 2, ADVICE_NONE },
		/* nearly as long as allowed */
		{ 40, 0, 9, 10, 15, ADVICE_NONE },
		/* more than ten times too long */
		{ 212, 0, 4, 300, 10, ADVICE_LOWER },
		{ 212, 0, 4, 101, 10, ADVICE_LOWER },
		{ 212, 0, 4, 100, 10, ADVICE_NONE },
		{ 212, 1, 4, 300, 10, ADVICE_NONE },
		{ 212, 0, 0, 10, 1, ADVICE_NONE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t usec[212];
		struct samples samples = { usec, cases[i].n };
		struct advice advice;

		for (size_t k = 0; k < ARRAY_SIZE(usec); k++)
			usec[k] = cases[i].usec * USEC_PER_SEC;
		advice = advice_give(&samples, cases[i].killed, cases[i].present * USEC_PER_SEC);
		ck_assert_int_eq(advice.kind, cases[i].kind);
		ck_assert_uint_eq(advice.proposed_usec, cases[i].proposed * USEC_PER_SEC);
		ck_assert_uint_eq(advice.n, cases[i].n);
		ck_assert_uint_eq(advice.n_killed, cases[i].killed);
	}
}
END_TEST

static char folder[] = "/tmp/test-history-XXXXXX";

static void put_file(const char *name, const char *text)
{
	char path[100];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}

#define LINE(node, time, total, phases, why)                                            \
	"{\"time_usec\":" time ",\"node\":\"" node "\",\"generation\":1,\"why\":\"" why \
	"\",\"total_usec\":" total ",\"phases\":{" phases "}}\n"

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(folder));
	put_file("h", "garbage\n" LINE("a", "3", "30", "\"draining_usec\":20,\"killing_usec\":1",
				       "x") LINE("b", "4", "7", "", "exited") "{\"time_usec\":4");
	put_file("h.20261122T223105.000001",
		 LINE("a", "1", "10", "\"waiting_usec\":4,\"stopping_usec\":5",
		      "asked by pid 1, uid 0")
			 LINE("a", "2", "20",
			      "\"draining_usec\":12,\"stopping_usec\":8,\"killing_usec\":1",
			      "asked by pid 2, uid 0"));
	put_file("h.other", LINE("c", "1", "1", "", "x"));
}

static void teardown(void)
{
	static const char *const names[] = { "h", "h.20261122T223105.000001", "h.other", "r" };
	char path[100];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		(void)unlink(path);
	}
	(void)rmdir(folder);
}

static struct history *load(const char *name, int want)
{
	struct history *h = NULL;
	char path[100];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	ck_assert_int_eq(history_load(&h, path, HISTORY_SIZE_MAX), want);
	return h;
}

START_TEST(figures_are_of_all_files_and_of_each_node)
{
	struct history *h = load("h", 0);
	const struct figures *a = history_find(h, "a");

	ck_assert_uint_eq(h->n, 2);
	ck_assert_uint_eq(h->skipped, 2);
	ck_assert_ptr_null(history_find(h, "c"));
	ck_assert_uint_eq(a->n, 3);
	ck_assert_uint_eq(a->first_usec, 1);
	ck_assert_uint_eq(a->last_usec, 3);
	ck_assert_uint_eq(samples_percentile(&a->total, 500), 20);
	ck_assert_uint_eq(a->stopping.n, 2);
	ck_assert_uint_eq(a->n_stopping_killed, 1);
	ck_assert_uint_eq(a->draining.n, 2);
	ck_assert_uint_eq(a->n_draining_killed, 1);
	ck_assert_uint_eq(samples_percentile(&a->own, 0), 5);
	ck_assert_uint_eq(a->n_reasons, 2);
	ck_assert_str_eq(a->reasons[0].text, "asked");
	ck_assert_uint_eq(a->reasons[0].n, 2);
	ck_assert_uint_eq(history_find(h, "b")->own.n, 0);
	history_free(h);
}
END_TEST

START_TEST(other_paths_than_files_are_refused)
{
	load("nothing", -ENOENT);
	load(".", -ENOTSUP);
	load("nothing/h", -ENOENT);
}
END_TEST

START_TEST(the_last_ends_are_kept_in_their_order)
{
	char text[64 * 100];
	size_t used = 0;
	struct history *h;
	json_t *ends;

	for (int i = 1; i <= 45; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "{\"time_usec\":%d,\"node\":\"a\",\"generation\":1,"
					 "\"why\":\"asked by pid %d\",\"total_usec\":%d}\n",
					 i, i, 1000 - i);
	put_file("l", text);
	h = load("l", 0);
	ends = figures_build_last(history_find(h, "a"));
	ck_assert_uint_eq(json_array_size(ends), FIGURES_LAST);
	for (size_t i = 0; i < FIGURES_LAST; i++) {
		const json_t *end = json_array_get(ends, i);
		json_int_t time = (json_int_t)i + 26;

		ck_assert_int_eq(json_integer_value(json_object_get(end, "time_usec")), time);
		ck_assert_int_eq(json_integer_value(json_object_get(end, "total_usec")),
				 1000 - time);
		ck_assert_str_eq(json_string_value(json_object_get(end, "why")), "asked");
	}
	json_decref(ends);
	history_free(h);
}
END_TEST

START_TEST(reasons_are_limited)
{
	char text[64 * 100];
	size_t used = 0;
	struct history *h;

	for (int i = 0; i < 60; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "{\"time_usec\":1,\"node\":\"\",\"generation\":1,"
					 "\"why\":\"%d\",\"total_usec\":1}\n",
					 i);
	put_file("r", text);
	h = load("r", 0);
	ck_assert_uint_eq(h->nodes[0]->n, 60);
	ck_assert_uint_eq(h->nodes[0]->n_reasons, 33);
	ck_assert_str_eq(h->nodes[0]->reasons[0].text, "other reasons");
	ck_assert_uint_eq(h->nodes[0]->reasons[0].n, 28);
	history_free(h);
}
END_TEST

/* --- the ledger --- */

#define OUTAGE(time, node, cause)                                                             \
	"{\"time_usec\":" #time ",\"node\":\"" node "\",\"generation\":1,\"outage\":\"" cause \
	"\"}\n"

static struct ledger_sum ledger_of(const char *text, const char *node, uint64_t since,
				   uint64_t until)
{
	struct ledger_sum sum;
	struct history *h;

	put_file("o", text);
	h = load("o", 0);
	ck_assert_ptr_nonnull(history_find(h, node));
	ledger_add_up(&history_find(h, node)->ledger, since, until, &sum);
	history_free(h);
	return sum;
}

START_TEST(outages_are_added_up_by_cause)
{
	static const char text[] = OUTAGE(100, "a", "over") OUTAGE(200, "a", "planned")
		OUTAGE(230, "a", "over") OUTAGE(300, "a", "failure") OUTAGE(310, "a", "planned")
			OUTAGE(350, "a", "over") OUTAGE(400, "a", "dependency");
	struct ledger_sum sum = ledger_of(text, "a", 0, 500);

	ck_assert_uint_eq(sum.known_usec, 400);
	ck_assert_uint_eq(sum.ready_usec, 220);
	ck_assert_uint_eq(sum.causes[OUTAGE_PLANNED].n, 2);
	ck_assert_uint_eq(sum.causes[OUTAGE_PLANNED].usec, 70);
	ck_assert_uint_eq(sum.causes[OUTAGE_PLANNED].longest_usec, 40);
	ck_assert_uint_eq(sum.causes[OUTAGE_FAILURE].usec, 10);
	ck_assert_uint_eq(sum.causes[OUTAGE_DEPENDENCY].usec, 100);
	sum = ledger_of(text, "a", 220, 305);
	ck_assert_uint_eq(sum.known_usec, 85);
	ck_assert_uint_eq(sum.causes[OUTAGE_PLANNED].usec, 10);
	ck_assert_uint_eq(sum.causes[OUTAGE_FAILURE].usec, 5);
}
END_TEST

START_TEST(a_daemon_that_was_killed_leaves_an_unknown_time_after_the_last_line)
{
	static const char text[] = OUTAGE(100, "a", "over") OUTAGE(100, "b", "over")
		OUTAGE(200, "b", "planned") OUTAGE(500, "", "unknown") OUTAGE(510, "a", "unknown")
			OUTAGE(600, "a", "over") OUTAGE(600, "b", "over");
	struct ledger_sum a = ledger_of(text, "a", 0, 700), b = ledger_of(text, "b", 0, 700);

	ck_assert_uint_eq(a.causes[OUTAGE_UNKNOWN].n, 1);
	ck_assert_uint_eq(a.causes[OUTAGE_UNKNOWN].usec, 400);
	ck_assert_uint_eq(a.known_usec, 200);
	ck_assert_uint_eq(a.ready_usec, 200);
	ck_assert_uint_eq(b.causes[OUTAGE_UNKNOWN].n, 0);
	ck_assert_uint_eq(b.causes[OUTAGE_PLANNED].usec, 400);
}
END_TEST

START_TEST(a_ledger_ends_with_its_section_and_goes_on_with_it)
{
	static const char text[] = OUTAGE(100, "a", "over") OUTAGE(150, "a", "planned")
		OUTAGE(160, "a", "removed") OUTAGE(200, "", "unknown");
	static const char back[] = OUTAGE(100, "a", "over") OUTAGE(150, "a", "planned")
		OUTAGE(160, "a", "removed") OUTAGE(300, "a", "over");
	struct ledger_sum sum = ledger_of(text, "a", 0, 1000);

	ck_assert_uint_eq(sum.known_usec, 60);
	ck_assert_uint_eq(sum.causes[OUTAGE_PLANNED].usec, 10);
	ck_assert_uint_eq(sum.causes[OUTAGE_UNKNOWN].n, 0);
	sum = ledger_of(back, "a", 0, 1000);
	ck_assert_uint_eq(sum.known_usec, 900);
	ck_assert_uint_eq(sum.causes[OUTAGE_PLANNED].usec, 150);
}
END_TEST

START_TEST(times_that_go_back_make_no_time)
{
	static const char text[] = OUTAGE(500, "a", "over") OUTAGE(700, "a", "failure")
		OUTAGE(300, "a", "over") OUTAGE(200, "a", "planned");
	struct ledger_sum sum = ledger_of(text, "a", 0, 800);

	ck_assert_uint_eq(sum.known_usec, 300);
	ck_assert_uint_eq(sum.causes[OUTAGE_FAILURE].usec, 0);
	ck_assert_uint_le(sum.causes[OUTAGE_PLANNED].usec, 300);
	ck_assert_uint_le(sum.ready_usec, 300);
	sum = ledger_of(text, "a", 900, 800);
	ck_assert_uint_eq(sum.known_usec, 0);
}
END_TEST

START_TEST(a_line_of_an_outage_needs_neither_a_reason_nor_a_duration)
{
	struct history *h;

	put_file("p", OUTAGE(1, "a", "over") OUTAGE(2, "a", "broken") OUTAGE(3, "a", "none"));
	h = load("p", 0);
	ck_assert_uint_eq(h->skipped, 2);
	ck_assert_uint_eq(h->n, 1);
	ck_assert_uint_eq(h->nodes[0]->n, 0);
	history_free(h);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("history");
	TCase *tc = tcase_create("line");

	tcase_add_test(tc, a_line_is_read_as_it_was_written);
	tcase_add_test(tc, a_line_of_the_root_has_no_phases);
	tcase_add_test(tc, other_objects_are_no_lines);
	tcase_add_test(tc, more_holders_than_three_are_left_out);
	tcase_add_test(tc, the_file_is_beside_the_report);
	suite_add_tcase(s, tc);
	tc = tcase_create("figures");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_percentile_is_the_nearest_rank);
	tcase_add_test(tc, samples_are_counted_up_to_a_time);
	tcase_add_test(tc, durations_are_rounded_up_to_what_is_easy_to_read);
	tcase_add_test(tc, advice_needs_ends_and_a_contradiction);
	tcase_add_test(tc, figures_are_of_all_files_and_of_each_node);
	tcase_add_test(tc, the_last_ends_are_kept_in_their_order);
	tcase_add_test(tc, other_paths_than_files_are_refused);
	tcase_add_test(tc, reasons_are_limited);
	suite_add_tcase(s, tc);
	tc = tcase_create("ledger");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, outages_are_added_up_by_cause);
	tcase_add_test(tc, a_daemon_that_was_killed_leaves_an_unknown_time_after_the_last_line);
	tcase_add_test(tc, a_ledger_ends_with_its_section_and_goes_on_with_it);
	tcase_add_test(tc, times_that_go_back_make_no_time);
	tcase_add_test(tc, a_line_of_an_outage_needs_neither_a_reason_nor_a_duration);
	suite_add_tcase(s, tc);
	return s;
}
