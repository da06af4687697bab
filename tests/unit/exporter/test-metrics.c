#include "tests/unit/exporter/test-exporter.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "exporter/mirror/totals.h"
#include "exporter/text/health.h"
#include "exporter/text/metrics.h"

#define TREE                                                                                \
	"[" NODE("", "running", "") "," NODE("web", "running", SERVICE("up", "")) "," NODE( \
		"db", "running", SERVICE("down", "")) "]"

/* A change of the service web, the number of which is its time in seconds. */
#define CHANGE(number, from, to, reason)                                               \
	"[{\"number\":" number ",\"time_usec\":" number "000000,\"kind\":\"service\"," \
	"\"node\":\"web\",\"generation\":1,\"from\":\"" from "\",\"to\":\"" to         \
	"\",\"reason\":\"" reason "\"}]"

static void count(struct totals *totals, const char *events)
{
	json_t *array = json_of(events);

	totals_take(totals, array);
	json_decref(array);
}

static char *metrics_of(const struct copy *copy, const struct totals *totals, bool up,
			size_t max_nodes, enum metrics_format format)
{
	const struct metrics_source source = {
		.copy = copy,
		.totals = totals,
		.up = up,
		.max_nodes = max_nodes,
		.now_usec = TAKEN,
	};
	struct memstream m;
	char *text;

	ck_assert_int_eq(memstream_open(&m), 0);
	metrics_write(m.file, &source, format);
	ck_assert_int_eq(memstream_close(&m, &text), 0);
	return text;
}

#define OUTAGE(number, from, to)                                                      \
	"[{\"number\":" number ",\"time_usec\":" number "000000,\"kind\":\"outage\"," \
	"\"node\":\"web\",\"generation\":1,\"from\":\"" from "\",\"to\":\"" to "\"}]"

START_TEST(outages_are_counted_by_cause_and_alerts_by_name)
{
	const struct totals_node *node;
	struct totals totals;

	totals_init(&totals);
	count(&totals, OUTAGE("1", "over", "failure"));
	count(&totals, OUTAGE("4", "failure", "planned"));
	count(&totals, OUTAGE("6", "planned", "over"));
	count(&totals, OUTAGE("9", "over", "failure"));
	count(&totals, OUTAGE("10", "failure", "future"));
	count(&totals, "[{\"kind\":\"alert\",\"node\":\"web\",\"from\":\"\",\"to\":\"slow-stop\"},"
		       "{\"kind\":\"alert\",\"node\":\"web\",\"from\":\"\",\"to\":\"future\"}]");
	node = totals_find(&totals, "web");
	ck_assert_uint_eq(node->outages[OUTAGE_FAILURE], 2);
	ck_assert_uint_eq(node->outages[OUTAGE_PLANNED], 1);
	ck_assert_uint_eq(node->alerts[ALERT_SLOW_STOP], 1);
	ck_assert_uint_eq(totals_outage_usec(node, OUTAGE_FAILURE, 11000000), 5000000);
	ck_assert_uint_eq(totals_outage_usec(node, OUTAGE_PLANNED, 11000000), 2000000);
	totals_done(&totals);
}
END_TEST

START_TEST(a_run_has_its_start_its_stop_and_its_exit)
{
	static const char *const run[] = {
		CHANGE("1", "down", "starting", "may start"),
		CHANGE("3", "starting", "up", "ready"),
		CHANGE("10", "up", "draining", "stopped"),
		CHANGE("14", "draining", "stopping", "drain-delay is over"),
		CHANGE("20", "stopping", "killing", "stop-timeout"),
		CHANGE("21", "killing", "closing", "killed by SIGKILL"),
		CHANGE("22", "closing", "down", "killed by SIGKILL"),
	};
	const struct totals_node *node;
	struct totals totals;

	totals_init(&totals);
	for (size_t i = 0; i < ARRAY_SIZE(run); i++)
		count(&totals, run[i]);
	node = totals_find(&totals, "web");
	ck_assert_ptr_nonnull(node);
	ck_assert_uint_eq(node->start.buckets[TOTALS_BUCKETS - 1], 1);
	ck_assert_uint_eq(node->start.sum_usec, 2000000);
	ck_assert_uint_eq(node->stop.sum_usec, 12000000);
	/* 12 s are above 10 s and below 30 s. */
	ck_assert_uint_eq(node->stop.buckets[4], 0);
	ck_assert_uint_eq(node->stop.buckets[5], 1);
	ck_assert_uint_eq(node->drain_usec, 4000000);
	ck_assert_uint_eq(node->killed, 1);
	ck_assert_uint_eq(node->exits[EXIT_SIGNAL], 1);
	ck_assert_uint_eq(node->exits[EXIT_STATUS] + node->exits[EXIT_OTHER], 0);
	totals_done(&totals);
}
END_TEST

START_TEST(a_crash_is_no_stop_and_a_failed_start_no_start)
{
	const struct totals_node *node;
	struct totals totals;

	totals_init(&totals);
	count(&totals, CHANGE("1", "up", "backoff", "exited with status 3"));
	count(&totals, CHANGE("2", "backoff", "starting", "restart-delay is over"));
	count(&totals,
	      CHANGE("3", "starting", "failed", "exited with status 0 before it was ready"));
	count(&totals, CHANGE("4", "failed", "down", "stopped"));
	node = totals_find(&totals, "web");
	ck_assert_uint_eq(node->start.buckets[TOTALS_BUCKETS - 1], 0);
	ck_assert_uint_eq(node->stop.buckets[TOTALS_BUCKETS - 1], 0);
	ck_assert_uint_eq(node->exits[EXIT_STATUS], 2);
	totals_done(&totals);
}
END_TEST

/* The clock of the events may be set back. */
START_TEST(a_duration_is_not_less_than_nothing)
{
	static const char *const ups[] = { "5", "4" };

	for (size_t i = 0; i < ARRAY_SIZE(ups); i++) {
		const struct totals_node *node;
		struct totals totals;
		char up[256];

		totals_init(&totals);
		(void)snprintf(up, sizeof(up), CHANGE("%s", "starting", "up", ""), ups[i], ups[i]);
		count(&totals, CHANGE("5", "down", "starting", ""));
		count(&totals, up);
		node = totals_find(&totals, "web");
		ck_assert_uint_eq(node->start.sum_usec, 0);
		ck_assert_uint_eq(node->start.buckets[0], 1);
		totals_done(&totals);
	}
}
END_TEST

START_TEST(nodes_that_have_gone_are_forgotten)
{
	struct totals totals;
	struct copy copy;

	copy_init(&copy);
	totals_init(&totals);
	count(&totals, CHANGE("1", "down", "starting", ""));
	take_nodes(&copy, "[" NODE("", "running", "") "]");
	totals_prune(&totals, &copy);
	ck_assert_ptr_null(totals_find(&totals, "web"));
	ck_assert_uint_eq(totals.n, 0);
	totals_done(&totals);
	copy_done(&copy);
}
END_TEST

START_TEST(a_label_is_escaped)
{
	cleanup(freep) char *text = NULL;
	struct totals totals;
	struct copy copy;

	copy_init(&copy);
	totals_init(&totals);
	take_nodes(&copy, "[" NODE("a\\\"b\\\\c\\nd", "running", "") "]");
	text = metrics_of(&copy, &totals, true, 10, METRICS_PROMETHEUS);
	ck_assert_ptr_nonnull(strstr(text, "swansong_node_ready{node=\"a\\\"b\\\\c\\nd\"} 1\n"));
	totals_done(&totals);
	copy_done(&copy);
}
END_TEST

START_TEST(samples_of_nodes_are_bounded_and_only_of_a_daemon_that_answers)
{
	static const struct {
		bool up;
		size_t max, samples;
	} rows[] = { { true, 10, 3 }, { true, 2, 2 }, { true, 0, 0 }, { false, 10, 0 } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup(freep) char *text = NULL;
		struct totals totals;
		struct copy copy;
		size_t n = 0;

		copy_init(&copy);
		totals_init(&totals);
		take_nodes(&copy, TREE);
		text = metrics_of(&copy, &totals, rows[i].up, rows[i].max, METRICS_OPENMETRICS);
		for (const char *at = text; (at = strstr(at, "swansong_node_ready{")); at++)
			n++;
		ck_assert_uint_eq(n, rows[i].samples);
		ck_assert_ptr_nonnull(
			strstr(text, rows[i].up ? "\nswansong_up 1\n" : "\nswansong_up 0\n"));
		ck_assert_ptr_nonnull(strstr(text, "\nswansong_nodes 3\n"));
		ck_assert_str_eq(text + strlen(text) - 6, "# EOF\n");
		totals_done(&totals);
		copy_done(&copy);
	}
}
END_TEST

START_TEST(guards_are_counted_by_node_and_kind)
{
	cleanup(freep) char *text = NULL;
	struct totals totals;
	struct copy copy;

	copy_init(&copy);
	totals_init(&totals);
	take_nodes(&copy, TREE);
	take_guards(&copy, "[" GUARD("web", "1", ",\"count\":4") "," GUARD(
				   "web", "1", "") "," GUARD("gone", "1", "") "]");
	text = metrics_of(&copy, &totals, true, 10, METRICS_PROMETHEUS);
	ck_assert_ptr_nonnull(strstr(text, "swansong_guards{node=\"web\",kind=\"lease\"} 5\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "swansong_guard_oldest_seconds{node=\"web\"} 3.000000\n"));
	ck_assert_ptr_null(strstr(text, "gone"));
	totals_done(&totals);
	copy_done(&copy);
}
END_TEST

/* Guards of nodes beyond the bound have no sample. */
START_TEST(guards_beyond_the_bound_of_nodes_are_not_counted)
{
	cleanup(freep) char *text = NULL, *few = NULL;
	json_t *nodes = json_array(), *guards = json_array();
	struct totals totals;
	struct copy copy;

	copy_init(&copy);
	totals_init(&totals);
	for (unsigned i = 0; i < 1000; i++) {
		char object[256];

		(void)snprintf(object, sizeof(object), NODE("n%u", "running", ""), i);
		(void)json_array_append_new(nodes, json_of(object));
		(void)snprintf(object, sizeof(object), GUARD("n%u", "1", ",\"count\":%d"), i,
			       0x71717171);
		(void)json_array_append_new(guards, json_of(object));
	}
	nodes = json_pack("{s:o, s:o}", "nodes", nodes, "guards", guards);
	ck_assert_int_ge(copy_take_nodes(&copy, json_object_get(nodes, "nodes"), TAKEN), 0);
	ck_assert_int_ge(copy_take_guards(&copy, nodes, TAKEN), 0);
	few = metrics_of(&copy, &totals, true, 1, METRICS_PROMETHEUS);
	ck_assert_ptr_nonnull(strstr(few, "swansong_guards{node=\"n0\",kind=\"lease\"} "));
	ck_assert_ptr_null(strstr(few, "node=\"n1\""));
	text = metrics_of(&copy, &totals, true, 1000, METRICS_PROMETHEUS);
	ck_assert_ptr_nonnull(strstr(text, "swansong_guards{node=\"n999\",kind=\"lease\"} "));
	json_decref(nodes);
	totals_done(&totals);
	copy_done(&copy);
}
END_TEST

START_TEST(a_histogram_has_all_buckets_its_sum_and_its_count)
{
#define BUCKET(bound, n) \
	"swansong_service_start_seconds_bucket{node=\"web\",le=\"" bound "\"} " n "\n"
	cleanup(freep) char *text = NULL;
	struct totals totals;
	struct copy copy;

	copy_init(&copy);
	totals_init(&totals);
	take_nodes(&copy, TREE);
	count(&totals, CHANGE("1", "down", "starting", ""));
	count(&totals, CHANGE("3", "starting", "up", ""));
	count(&totals, CHANGE("4", "up", "backoff", "exited with status 0"));
	count(&totals, CHANGE("5", "backoff", "starting", ""));
	count(&totals, CHANGE("5", "starting", "up", ""));
	text = metrics_of(&copy, &totals, true, 10, METRICS_PROMETHEUS);
	ck_assert_ptr_nonnull(strstr(
		text,
		BUCKET("0.01", "1") BUCKET("0.1", "1") BUCKET("1.0", "1") BUCKET("5.0", "2") BUCKET(
			"10.0", "2") BUCKET("30.0", "2") BUCKET("60.0", "2") BUCKET("300.0", "2")
			BUCKET("+Inf",
			       "2") "swansong_service_start_seconds_sum{node=\"web\"} 2.000000\n"
				    "swansong_service_start_seconds_count{node=\"web\"} 2\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "swansong_service_exits_total{node=\"web\",kind=\"clean\"} 1\n"));
	/* A service without a stop has no time of one. */
	ck_assert_ptr_null(strstr(text, "swansong_service_stop_seconds_"));
	totals_done(&totals);
	copy_done(&copy);
}
END_TEST

START_TEST(values_that_a_service_does_not_have_are_left_out)
{
	static const struct {
		const char *more, *sample; /* "": there is none */
	} rows[] = {
		{ "", "log_lines_total" },
		{ ",\"log_lines\":7", "log_lines_total{node=\"web\"} 7" },
		{ "", "log_dropped_total{node=\"web\"} 0" },
		{ ",\"lost_lines\":8", "log_dropped_total{node=\"web\"} 8" },
		{ "", "service_healthy" },
		{ ",\"health\":\"unknown\",\"health_since_usec\":1", "service_healthy" },
		{ ",\"health\":\"healthy\",\"health_since_usec\":1",
		  "service_healthy{node=\"web\"} 1" },
		{ ",\"health\":\"unhealthy\",\"health_since_usec\":1",
		  "service_healthy{node=\"web\"} 0" },
		{ "", "service_restarts_total{node=\"web\"} 2" },
		{ "", "service_outdated" },
		{ ",\"pid\":7", "service_outdated{node=\"web\"} 0" },
		{ ",\"pid\":7,\"program\":\"current\"", "service_outdated{node=\"web\"} 0" },
		{ ",\"pid\":7,\"program\":\"unknown\"", "service_outdated" },
		{ ",\"pid\":7,\"outdated\":true,\"program\":\"unknown\"",
		  "service_outdated{node=\"web\"} 1" },
		{ ",\"pid\":7,\"outdated\":true,\"program\":\"replaced\"",
		  "service_outdated{node=\"web\"} 1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup(freep) char *text = NULL;
		char nodes[1024], name[128], sample[256];
		struct totals totals;
		struct copy copy;

		copy_init(&copy);
		totals_init(&totals);
		(void)snprintf(nodes, sizeof(nodes),
			       "[" NODE("", "running", "") "," NODE("web", "running",
								    SERVICE("up", "%s")) "]",
			       rows[i].more);
		take_nodes(&copy, nodes);
		text = metrics_of(&copy, &totals, true, 10, METRICS_PROMETHEUS);
		(void)snprintf(sample, sizeof(sample), "\nswansong_%s\n", rows[i].sample);
		(void)snprintf(name, sizeof(name), "\nswansong_%.*s{",
			       (int)strcspn(rows[i].sample, "{"), rows[i].sample);
		if (strchr(rows[i].sample, '{'))
			ck_assert_msg(strstr(text, sample), "row %zu", i);
		else
			ck_assert_msg(!strstr(text, name), "row %zu", i);
		/* The root is no service. */
		(void)snprintf(sample, sizeof(sample), "%snode=\"\"", name);
		ck_assert_ptr_null(strstr(text, sample));
		totals_done(&totals);
		copy_done(&copy);
	}
}
END_TEST

START_TEST(the_format_is_that_of_the_header_accept)
{
	ck_assert_int_eq(metrics_accepted(NULL), METRICS_PROMETHEUS);
	ck_assert_int_eq(metrics_accepted("*/*"), METRICS_PROMETHEUS);
	ck_assert_int_eq(metrics_accepted("application/openmetrics-text;version=1.0.0,text/plain"),
			 METRICS_OPENMETRICS);
}
END_TEST

START_TEST(a_tree_is_ready_as_swansongctl_health_has_it)
{
	static const struct {
		const char *state, *service, *more;
		bool up, ok;
	} rows[] = {
		{ "running", "up", "", true, true },
		{ "running", "up", "", false, false },
		{ "shutting_down", "up", "", true, false },
		{ "running", "up", ",\"health\":\"healthy\"", true, true },
		{ "running", "up", ",\"health\":\"unknown\"", true, false },
		{ "running", "up", ",\"health\":\"unhealthy\"", true, false },
		{ "running", "done", ",\"ended\":true", true, false },
		{ "running", "down", ",\"ended\":true,\"stopped\":true", true, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char nodes[1024];
		struct copy copy;
		json_t *object;
		bool ok;

		(void)snprintf(
			nodes, sizeof(nodes),
			"[" NODE("", "%s", "") "," NODE("web", "running", SERVICE("%s", "%s")) "]",
			rows[i].state, rows[i].service, rows[i].more);
		copy_init(&copy);
		take_nodes(&copy, nodes);
		object = health_ready(&copy, rows[i].up, &ok);
		ck_assert_int_eq(ok, rows[i].ok);
		ck_assert_int_eq(json_is_true(json_object_get(object, "ok")), ok);
		ck_assert_int_eq(json_array_size(json_object_get(object, "reasons")), !ok);
		json_decref(object);
		copy_done(&copy);
	}
}
END_TEST

TCase *metrics_tests(void)
{
	TCase *tests = tcase_create("metrics");

	tcase_add_test(tests, outages_are_counted_by_cause_and_alerts_by_name);
	tcase_add_test(tests, a_run_has_its_start_its_stop_and_its_exit);
	tcase_add_test(tests, a_crash_is_no_stop_and_a_failed_start_no_start);
	tcase_add_test(tests, a_duration_is_not_less_than_nothing);
	tcase_add_test(tests, nodes_that_have_gone_are_forgotten);
	tcase_add_test(tests, a_label_is_escaped);
	tcase_add_test(tests, samples_of_nodes_are_bounded_and_only_of_a_daemon_that_answers);
	tcase_add_test(tests, guards_are_counted_by_node_and_kind);
	tcase_add_test(tests, guards_beyond_the_bound_of_nodes_are_not_counted);
	tcase_add_test(tests, a_histogram_has_all_buckets_its_sum_and_its_count);
	tcase_add_test(tests, values_that_a_service_does_not_have_are_left_out);
	tcase_add_test(tests, the_format_is_that_of_the_header_accept);
	tcase_add_test(tests, a_tree_is_ready_as_swansongctl_health_has_it);
	return tests;
}
