#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "tests/unit/fixtures/config-of.h"
#include "model/forecast/forecast.h"
#include "tests/unit/fixtures/nomem.h"

/*
 * A forecast as text, a line for each row: its step, the node, "!" for a final, the nodes it waits
 * for; its begin and end at worst, in seconds ("-": never), idle and busy; "*" if it is critical,
 * and the budget that limits it.  The last line has the end of the shutdown: soonest, idle and
 * busy.
 */

static const struct config_names names = { .user = NULL };

static struct config *load(const char *text)
{
	return config_of(text, &names);
}

static void write_seconds(FILE *out, uint64_t usec)
{
	if (usec == USEC_INFINITY)
		(void)fputs("-", out);
	else
		(void)fprintf(out, "%g", (double)usec / (double)USEC_PER_SEC);
}

static void write_times(FILE *out, const struct forecast_times *t)
{
	(void)fputc(' ', out);
	write_seconds(out, t->begin_usec);
	(void)fputs("..", out);
	write_seconds(out, t->end_usec);
}

static void write_row(FILE *out, const struct forecast_row *row)
{
	const struct node_config *budget = row->times[FORECAST_IDLE].budget;

	(void)fprintf(out, "%u %s%s", row->step, row->node->path,
		      row->kind == FORECAST_FINAL ? "!" : "");
	for (size_t i = 0; i < row->n_waits; i++)
		(void)fprintf(out, "%s%s", i ? "," : " <", row->waits[i]->path);
	write_times(out, &row->times[FORECAST_IDLE]);
	write_times(out, &row->times[FORECAST_BUSY]);
	if (row->critical)
		(void)fputs(" *", out);
	if (budget)
		(void)fprintf(out, " cut by %s", node_config_section(budget));
	if (row->times[FORECAST_IDLE].yields)
		(void)fputs(" early", out);
	(void)fputc('\n', out);
}

static char *write_forecast(const struct forecast *f)
{
	size_t size;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	for (size_t i = 0; i < f->n_rows; i++)
		write_row(out, &f->rows[i]);
	for (enum forecast_case c = 0; c < N_FORECASTS; c++) {
		(void)fputs(c ? " " : "", out);
		write_seconds(out, f->end_usec[c]);
	}
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

static struct forecast *make(const struct config *config, const char *path)
{
	struct forecast_tree tree;
	struct forecast *f = NULL;

	ck_assert_int_eq(forecast_tree_init(&tree, config), 0);
	ck_assert_int_eq(forecast_new(&f, &tree, config_find(config, path)->index), 0);
	forecast_tree_done(&tree);
	return f;
}

static void is_of(const char *path, const char *text, const char *wanted)
{
	cleanup(config_unrefp) struct config *config = load(text);
	cleanup(forecast_freep) struct forecast *f = make(config, path);
	cleanup(freep) char *got = write_forecast(f);

	ck_assert_str_eq(got, wanted);
}

static void is(const char *text, const char *wanted)
{
	is_of("", text, wanted);
}

#define ENDLESS "[swansong]\nshutdown-timeout=infinity\n"

START_TEST(a_service_that_waits_for_none_is_signalled_at_once)
{
	is("[swansong]\n", "0 0 90");
	is(ENDLESS "[a]\ncommand=x\nstop-timeout=3s\n[b]\ncommand=x\nstop-timeout=infinity\n",
	   "1 a 0..4 0..304\n"
	   "1 b 0..- 0..- *\n"
	   "0 - -");
	is(ENDLESS "[a]\ncommand=x\n[b]\ncommand=x\nstop-timeout=3s\n", "1 a 0..11 0..311 *\n"
									"1 b 0..4 0..304\n"
									"0 11 -");
}
END_TEST

START_TEST(each_waits_for_the_end_of_those_before)
{
	is("[a]\ncommand=x\nrequires=b\nstop-timeout=1s\n"
	   "[b]\ncommand=x\nafter=c\nstop-timeout=2s\n"
	   "[c]\ncommand=x\nwants=d\nstop-timeout=4s\n"
	   "[d]\ncommand=x\nstop-timeout=8s\n",
	   "1 a 0..2 0..89 *\n"
	   "2 b <a 2..5 90..91 *\n"
	   "3 c <b 5..10 90..91 *\n"
	   "4 d <c 10..19 90..91 *\n"
	   "0 19 91");
}
END_TEST

START_TEST(the_slower_side_of_a_diamond_counts)
{
	is(ENDLESS "[top]\ncommand=x\nrequires=left right\nstop-timeout=1s\n"
		   "[left]\ncommand=x\nrequires=base\nstop-timeout=1s\n"
		   "[right]\ncommand=x\nrequires=base\nstop-timeout=5s\n"
		   "[base]\ncommand=x\nstop-timeout=1s\n",
	   "1 top 0..2 0..302 *\n"
	   "2 left <top 2..4 -..-\n"
	   "2 right <top 2..8 -..- *\n"
	   "3 base <left,right 8..10 -..- *\n"
	   "0 10 -");
}
END_TEST

START_TEST(an_edge_of_a_group_is_one_of_all_in_it)
{
	is(ENDLESS "[web]\nrequires=data\n"
		   "[web/a]\ncommand=x\nstop-timeout=1s\n"
		   "[web/b]\ncommand=x\nrequires=web/a\nstop-timeout=1s\n"
		   "[data/x/y]\ncommand=x\nstop-timeout=1s\n"
		   "[data/z]\ncommand=x\nstop-timeout=0\n",
	   "1 web/b 0..2 0..302 *\n"
	   "2 web/a <web/b 2..4 -..- *\n"
	   "3 data/x/y <web 4..6 -..- *\n"
	   "3 data/z <web 4..5 -..-\n"
	   "0 6 -");
}
END_TEST

START_TEST(instances_of_a_template_are_nodes_as_all)
{
	is("[swansong]\nshutdown-timeout=20s\n"
	   "[w@]\ninstances=2\ncommand=x %i\nrequires=db\nstop-timeout=1s\n"
	   "[db]\ncommand=x\nstop-timeout=2s\n",
	   "1 w@1 0..2 0..19 *\n"
	   "1 w@2 0..2 0..19\n"
	   "2 db <w@1,w@2 2..5 20..21 *\n"
	   "0 5 21");
}
END_TEST

START_TEST(term_after_is_about_the_stop_alone)
{
	is(ENDLESS
	   "[a]\ncommand=x\nterm-after=b\nstop-timeout=1s\n[b]\ncommand=x\nstop-timeout=1s\n",
	   "1 b 0..2 0..302 *\n"
	   "2 a <b 2..4 -..- *\n"
	   "0 4 -");
}
END_TEST

START_TEST(a_drain_delay_begins_with_the_stop)
{
	is(ENDLESS "[a]\ncommand=x\nrequires=b\ndrain-delay=3s\nstop-timeout=1s\n"
		   "[b]\ncommand=x\ndrain-delay=4s\nstop-timeout=1s\n"
		   "[c]\ncommand=x\ndrain-delay=9s\nstop-timeout=1s\nterm-after=a\n"
		   "[d]\ncommand=x\nstop-timeout=1s\n",
	   "1 d 0..2 0..302\n"
	   "1 a 3..5 3..305\n"
	   "2 b <a 5..7 -..-\n"
	   "2 c <a 9..11 -..- *\n"
	   "9 11 -");
}
END_TEST

START_TEST(commands_after_the_end_have_their_time)
{
	is(ENDLESS "[a]\ncommand=x\nstop-timeout=3s\npost-stop=y\n", "1 a 0..8 0..308 *\n0 8 -");
	is(ENDLESS "[a]\ncommand=x\nstop-timeout=3s\nkill-signal=SIGABRT\n",
	   "1 a 0..5 0..305 *\n0 5 -");
	is(ENDLESS
	   "[g]\nstop-timeout=2s\nfinal=y\nfinal-timeout=2s\n[g/a]\ncommand=x\n[z]\ncommand=x\nterm-after=g\n",
	   "1 g/a 0..3 0..303 *\n"
	   "2 g! 3..6 -..- *\n"
	   "3 z <g 6..17 -..- *\n"
	   "0 17 -");
}
END_TEST

START_TEST(a_budget_cuts_all_below)
{
	/* The signal that never comes, and the one after which there is not enough time. */
	is("[swansong]\nshutdown-timeout=15s\n"
	   "[a]\ncommand=x\nrequires=b\n[b]\ncommand=x\nrequires=c\n[c]\ncommand=x\n",
	   "1 a 0..11 0..11 *\n"
	   "2 b <a 11..14.6667 15..16 * cut by swansong\n"
	   "3 c <b 14.6667..16 15..16 * cut by swansong\n"
	   "0 16 16");
	/* The children never outlive their parent's. */
	is("[g]\nshutdown-timeout=2s\n[g/a]\ncommand=x\nshutdown-timeout=8s\npost-stop=y\n",
	   "1 g/a 0..5.33333 0..5.33333 * cut by g\n"
	   "0 5.33333 90");
	/* Each final takes a third of the remaining time. */
	is("[swansong]\nshutdown-timeout=9s\nfinal=y\n[g]\nfinal=y\n[g/a]\ncommand=x\n",
	   "1 g/a 0..5 0..5 * cut by swansong\n"
	   "2 g! 5..8 5..8 * cut by swansong\n"
	   "3 ! 8..11 8..11 * cut by swansong\n"
	   "0 11 11");
	/* After five seconds nothing is waited for. */
	is("[swansong]\nshutdown-timeout=0\nfinal=y\n[g]\nfinal=y\n[g/a]\ncommand=x\n",
	   "1 g/a 0..1 0..1 * cut by swansong\n"
	   "2 g! 1..4 1..4 * cut by swansong\n"
	   "3 ! 4..5 4..5 * cut by swansong\n"
	   "0 5 5");
}
END_TEST

START_TEST(a_later_service_keeps_its_time)
{
	/* The last two seconds are for a post-stop, and the time of c is taken from that of b. */
	is("[swansong]\nshutdown-timeout=30s\n"
	   "[b]\ncommand=x\nstop-timeout=1min\nrequires=c\n[c]\ncommand=x\nstop-timeout=6s\n"
	   "[d]\ncommand=x\nstop-timeout=1min\npost-stop=y\n"
	   "[e]\ncommand=x\ndrain-delay=1min\nstop-timeout=4s\n",
	   "1 b 0..25 0..25 cut by swansong\n"
	   "1 d 0..32 0..32 * cut by swansong\n"
	   "1 e 26..31 26..31 cut by swansong\n"
	   "2 c <b 25..31 30..31 cut by swansong\n"
	   "26 32 32");
}
END_TEST

START_TEST(a_later_service_may_have_its_own_deadline)
{
	/* Four of the six seconds of c come after all that b has. */
	is("[swansong]\nshutdown-timeout=1min\n[g]\nshutdown-timeout=26s\n"
	   "[g/b]\ncommand=x\nstop-timeout=1min\nrequires=h/c\n"
	   "[h]\nshutdown-timeout=30s\n[h/c]\ncommand=x\nstop-timeout=6s\n",
	   "1 g/b 0..25 0..25 * cut by g\n"
	   "2 h/c <g/b 25..31 26..31 * cut by h\n"
	   "0 31 60");
}
END_TEST

START_TEST(a_busy_service_has_both_timeouts)
{
	is(ENDLESS "[a]\ncommand=x\nstop-timeout=3s\ndrain-timeout=7s\n",
	   "1 a 0..4 0..11 *\n0 4 -");
	/* A service that may request more time may do so without end. */
	is("[a]\ncommand=x\nstop-timeout=3s\ndrain-timeout=7s\nready=notify\n",
	   "1 a 0..4 0..91 *\n0 4 91");
}
END_TEST

START_TEST(the_grace_is_a_budget_of_the_root)
{
	cleanup(config_unrefp) struct config *config = load("[a]\ncommand=x\n");
	struct forecast_tree tree;
	struct forecast *f = NULL;

	ck_assert_int_eq(forecast_tree_init(&tree, config), 0);
	tree.grace_usec = 10 * USEC_PER_SEC;
	ck_assert_int_eq(forecast_new(&f, &tree, 0), 0);
	ck_assert_uint_eq(f->end_usec[FORECAST_IDLE], 10 * USEC_PER_SEC);
	ck_assert_uint_eq(f->end_usec[FORECAST_BUSY], 10 * USEC_PER_SEC);
	forecast_free(f);
	forecast_tree_done(&tree);
}
END_TEST

START_TEST(a_lower_stop_priority_gives_its_time_to_a_higher_one)
{
	is("[swansong]\nshutdown-timeout=20s\n"
	   "[low]\ncommand=x\nafter=mid\nstop-priority=-1\n"
	   "[mid]\ncommand=x\nafter=high\n"
	   "[high]\ncommand=x\nstop-priority=1\n",
	   "1 low 0..1 0..1 * cut by swansong early\n"
	   "2 mid <low 1..10 1..10 * cut by swansong early\n"
	   "3 high <mid 10..21 10..21 *\n"
	   "0 21 21");
}
END_TEST

START_TEST(a_higher_stop_priority_leaves_no_time_to_a_lower_one)
{
	is("[swansong]\nshutdown-timeout=12s\n"
	   "[high]\ncommand=x\nafter=low\nstop-priority=1\n[low]\ncommand=x\n",
	   "1 high 0..11 0..13 *\n"
	   "2 low <high 11..13 12..13 * cut by swansong\n"
	   "0 13 13");
}
END_TEST

/* It is required by a service of a higher priority, through another one, in a group. */
START_TEST(a_store_has_the_stop_priority_of_what_requires_it)
{
	is("[swansong]\nshutdown-timeout=22s\n"
	   "[job]\ncommand=x\nafter=data\nstop-priority=4\n"
	   "[web]\ncommand=x\nrequires=app\nstop-priority=5\nstop-timeout=2s\n"
	   "[app]\ncommand=x\nrequires=data\nstop-timeout=2s\n"
	   "[data]\nstop-priority=-5\n"
	   "[data/db]\ncommand=x\n",
	   "1 job 0..11 0..12 *\n"
	   "1 web 0..3 0..21\n"
	   "2 app <web 3..6 22..23\n"
	   "3 data/db <job,app 11..22 22..23 *\n"
	   "0 22 23");
}
END_TEST

START_TEST(a_node_is_stopped_with_its_dependents)
{
	static const char text[] = "[data]\nshutdown-timeout=30s\n"
				   "[data/db]\ncommand=x\nstop-timeout=1s\n"
				   "[web]\ncommand=x\nrequires=data/db\nstop-timeout=1s\n"
				   "[edge]\ncommand=x\nrequires=web\nstop-timeout=1s\n"
				   "[log]\ncommand=x\nafter=data/db\nstop-timeout=1s\n";

	is_of("data", text,
	      "1 edge 0..2 0..302 *\n"
	      "2 web <edge 2..4 -..- *\n"
	      "3 data/db <web 4..6 30..31 *\n"
	      "0 6 31");
	is_of("log", text, "1 log 0..2 0..302 *\n0 2 -");
}
END_TEST

START_TEST(a_large_tree_takes_no_recursion)
{
	enum { N = 20000 };
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	(void)fputs(ENDLESS, f);
	(void)fputs("[s0]\ncommand=x\nstop-timeout=1s\n", f);
	for (int i = 1; i < N; i++)
		(void)fprintf(f, "[s%d]\ncommand=x\nstop-timeout=1s\nterm-after=s%d\n", i, i - 1);
	ck_assert_int_eq(fclose(f), 0);

	cleanup(config_unrefp) struct config *config = load(text);
	cleanup(forecast_freep) struct forecast *forecast = make(config, "");

	free(text);
	ck_assert_uint_eq(forecast->n_rows, N);
	ck_assert_uint_eq(forecast->end_usec[FORECAST_IDLE], 2 * N * USEC_PER_SEC);
	for (int i = 0; i < N; i++)
		ck_assert_uint_eq(forecast->rows[i].step, (unsigned)i + 1);
}
END_TEST

static int try_all(const struct config *config)
{
	cleanup(forecast_freep) struct forecast *f = NULL;
	struct forecast_tree tree;
	int r = forecast_tree_init(&tree, config);

	if (r < 0)
		return r;
	r = forecast_new(&f, &tree, 0);
	forecast_tree_done(&tree);
	return r;
}

START_TEST(without_memory_there_is_no_forecast)
{
	cleanup(config_unrefp) struct config *config =
		load("[w@]\ninstances=20\ncommand=x\nrequires=db\n[db]\ncommand=x\nfinal=y\n");
	int r = -ENOMEM;

	for (long n = 0; r == -ENOMEM; n++) {
		allocations_left = n;
		r = try_all(config);
		allocations_left = -1;
		ck_assert(r == 0 || r == -ENOMEM);
	}
	ck_assert_int_eq(r, 0);
}
END_TEST

START_TEST(many_nodes_to_wait_for_are_counted)
{
	cleanup(config_unrefp) struct config *config =
		load("[w@]\ninstances=100\ncommand=x\nrequires=db\n[db]\ncommand=x\n");
	cleanup(forecast_freep) struct forecast *f = make(config, "");
	const struct forecast_row *db = &f->rows[100];

	ck_assert_str_eq(db->node->path, "db");
	ck_assert_uint_eq(db->n_waits, FORECAST_WAITS_MAX);
	ck_assert_uint_eq(db->n_waits + db->n_more, 100);
}
END_TEST

static const struct forecast_row *row_of(const struct forecast *f, const char *path)
{
	for (size_t i = 0; i < f->n_rows; i++)
		if (strcmp(f->rows[i].node->path, path) == 0)
			return &f->rows[i];
	ck_abort_msg("no row of %s", path);
	return NULL;
}

/* By the edges of a node, of a group around it, and of one beside it. */
START_TEST(a_node_that_is_waited_for_twice_counts_once)
{
	cleanup(config_unrefp) struct config *config =
		load("[a@]\ninstances=70\ncommand=x\nrequires=g g/db\n"
		     "[b@]\ninstances=50\ncommand=x\nrequires=g\n"
		     "[c@]\ninstances=3\ncommand=x\nrequires=g/in\n"
		     "[d@]\ninstances=80\ncommand=x\nafter=g/in/one\n"
		     "[g]\n[g/db]\ncommand=x\n"
		     "[g/in]\n[g/in/one]\ncommand=x\n[g/in/two]\ncommand=x\nrequires=g/db\n");
	static const struct {
		const char *top, *path;
		size_t n;
	} cases[] = {
		{ "", "g/db", 121 },
		{ "", "g/in/one", 203 },
		{ "", "g/in/two", 123 },
		/* A node that only comes after it is not stopped with it. */
		{ "g", "g/in/one", 123 },
		{ "g/in", "g/in/one", 3 },
		{ "g/in", "g/in/two", 3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(forecast_freep) struct forecast *f = make(config, cases[i].top);
		const struct forecast_row *row = row_of(f, cases[i].path);

		ck_assert_uint_eq(row->n_waits, MIN(cases[i].n, (size_t)FORECAST_WAITS_MAX));
		ck_assert_uint_eq(row->n_waits + row->n_more, cases[i].n);
		for (size_t k = 0; k < row->n_waits; k++)
			for (size_t j = 0; j < k; j++)
				ck_assert_ptr_ne(row->waits[k], row->waits[j]);
	}
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("forecast");
	TCase *t = tcase_create("forecast");

	tcase_add_test(t, a_service_that_waits_for_none_is_signalled_at_once);
	tcase_add_test(t, each_waits_for_the_end_of_those_before);
	tcase_add_test(t, the_slower_side_of_a_diamond_counts);
	tcase_add_test(t, an_edge_of_a_group_is_one_of_all_in_it);
	tcase_add_test(t, instances_of_a_template_are_nodes_as_all);
	tcase_add_test(t, term_after_is_about_the_stop_alone);
	tcase_add_test(t, a_drain_delay_begins_with_the_stop);
	tcase_add_test(t, commands_after_the_end_have_their_time);
	tcase_add_test(t, a_budget_cuts_all_below);
	tcase_add_test(t, a_later_service_keeps_its_time);
	tcase_add_test(t, a_later_service_may_have_its_own_deadline);
	tcase_add_test(t, a_busy_service_has_both_timeouts);
	tcase_add_test(t, the_grace_is_a_budget_of_the_root);
	tcase_add_test(t, a_lower_stop_priority_gives_its_time_to_a_higher_one);
	tcase_add_test(t, a_higher_stop_priority_leaves_no_time_to_a_lower_one);
	tcase_add_test(t, a_store_has_the_stop_priority_of_what_requires_it);
	tcase_add_test(t, a_node_is_stopped_with_its_dependents);
	tcase_add_test(t, a_large_tree_takes_no_recursion);
	tcase_add_test(t, without_memory_there_is_no_forecast);
	tcase_add_test(t, many_nodes_to_wait_for_are_counted);
	tcase_add_test(t, a_node_that_is_waited_for_twice_counts_once);
	suite_add_tcase(s, t);
	return s;
}
