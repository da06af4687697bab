#include "tests/unit/fixtures/main.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "model/base/nodes.h"
#include "model/config/graph.h"

/*
 * Graphs are written as lines "A > B" (A requires B), "A = B" (binds-to), "A + B" (wants), "A ~ B" (after) and "A ! B"
 * (term-after); naming a node makes it.
 * The line's number is the edge's.
 */
static struct node_config *node(struct config *config, const char *path)
{
	struct node_config *n = NULL;

	ck_assert_int_eq(config_add_node(config, path, (struct place){ "g", 0 }, &n), 0);
	return n;
}

static void add(struct node_config *from, enum edge edge, struct node_config *target)
{
	struct stated_edges *edges = node_config_own_part(from, PART_EDGES);
	struct node_config ***list = &edges->nodes[edge];
	size_t n = 0;

	while (*list && (*list)[n])
		n++;
	*list = reallocarray(*list, n + 2, sizeof(**list));
	(*list)[n] = target;
	(*list)[n + 1] = NULL;
}

static struct config *graph(const char *text)
{
	struct config *config = NULL;
	static const char kinds[] = ">=+~!";
	char from[64], kind, to[64];
	int length;

	ck_assert_int_eq(config_new(&config), 0);
	for (unsigned line = 1; sscanf(text, " %63s %c %63s%n", from, &kind, to, &length) == 3;
	     line++) {
		struct node_config *a = node(config, from), *b = node(config, to);

		enum edge edge = (enum edge)(strchr(kinds, kind) - kinds);

		add(a, edge, b);
		a->parts.edges->places[edge] = (struct place){ a->place.file, line };
		text += length;
	}
	return config;
}

static void keep(enum diag_level level, struct place place, const char *text, void *arg)
{
	(void)level;
	(void)snprintf(arg, 4096, "%s", text);
}

/* The number of cycles, and the last one's text in @text. */
static size_t cycles(struct config *config, char *text)
{
	cleanup(diag_freep) struct diag *diag = NULL;

	ck_assert_int_eq(diag_new(&diag), 0);
	ck_assert_int_eq(graph_check(config, diag), 0);
	diag_each(diag, keep, text);
	return diag_errors(diag);
}

static void is_cycle(const char *edges, const char *place, const char *path)
{
	cleanup(config_unrefp) struct config *config = graph(edges);
	char text[4096] = "";

	ck_assert_uint_eq(cycles(config, text), 1);
	ck_assert_msg(strncmp(text, place, strlen(place)) == 0, "'%s' is not at '%s'", text, place);
	ck_assert_msg(strlen(text) > strlen(path) &&
			      strcmp(text + strlen(text) - strlen(path), path) == 0,
		      "'%s' does not end with '%s'", text, path);
}

static void is_fine(const char *edges)
{
	cleanup(config_unrefp) struct config *config = graph(edges);
	char text[4096] = "";

	ck_assert_msg(cycles(config, text) == 0, "%s", text);
}

START_TEST(an_order_is_fine)
{
	is_fine("");
	is_fine("a > b  a ~ c  b > c");
	is_fine("a/x > b  a/y > a/x  b > c/z");
	is_fine("a/x > a/y  a/z > a/y  a/x ~ a/z");
	is_fine("a > d  b > d  a > e/f  b > e/f  e/f > d");
}
END_TEST

START_TEST(a_cycle_is_reported_with_its_whole_path)
{
	is_cycle("a > a", "g:1: [a] requires: ", ": a requires a");
	is_cycle("a > b  b > a", "g:1: [a] requires: ", ": a requires b; b requires a");
	is_cycle("a > b  b ~ c  c > a", "g:1: [a] requires: dependency cycle: a → b → c → a: ",
		 ": a requires b; b after c; c requires a");
	is_cycle("x > a  a ~ b  b > a", "g:2: [a] after: ", ": a after b; b requires a");
}
END_TEST

START_TEST(a_cycle_goes_through_nesting)
{
	is_cycle("a > b/x  b ~ a", "g:1: [a] requires: dependency cycle: a → b/x → b → a: ",
		 ": a requires b/x, which is in b; b after a");
	is_cycle("a > b  b/x ~ a",
		 "g:1: [a] requires: ", ": a requires b, which contains b/x; b/x after a");
	is_cycle("a/x > b/x  b/y > a/y  a > c  b > c  c > a/z",
		 "g:", "c requires a/z, which is in a");
	is_cycle("a/x > b  b > a",
		 "g:1: [a/x] requires: ", ": a/x requires b; b requires a, which contains a/x");
}
END_TEST

START_TEST(a_wanted_node_comes_before)
{
	is_fine("a + b  b + c  a > c");
	is_cycle("a + b  b ~ a", "g:1: [a] wants: ", ": a wants b; b after a");
}
END_TEST

START_TEST(a_stop_has_an_order_of_its_own)
{
	is_fine("a ! b");
	is_fine("b > a  a ! b"); /* as it is without */
	is_fine("a ! b  a ! c  b ! c");
	is_fine("a/x ! b  b ~ c  c ! a/y");
	is_cycle("a ! b  b ! a", "g:2: [b] term-after: dependency cycle at the stop: a → b → a: ",
		 ": a ends before (term-after) b; b ends before (term-after) a");
	is_cycle("a > b  a ! b", "g:1: [a] requires: dependency cycle at the stop: a → b → a: ",
		 ": a requires b; b ends before (term-after) a");
	is_cycle("x > a  a ! a", "g:2: [a] term-after: ", ": a ends before (term-after) a");
	is_cycle("a/x ! a", "g:1: [a/x] term-after: ", "");
	is_cycle("a ! a/x", "g:1: [a] term-after: ", "");
}
END_TEST

START_TEST(a_node_and_a_node_in_it_cannot_wait_for_each_other)
{
	is_cycle("a > a/b", "g:1: [a] requires: ", ": a requires a/b, which is in a");
	is_cycle("a/b/c ~ a", "g:1: [a/b/c] after: ", ": a/b/c after a, which contains a/b/c");
}
END_TEST

START_TEST(a_large_group_in_a_cycle_is_one_cycle)
{
	is_cycle("g/1 > x  g/2 > y  g/3 > y  g > z  z > g",
		 "g:4: [g] requires: ", ": g requires z; z requires g");
}
END_TEST

START_TEST(every_cycle_is_one_error)
{
	cleanup(config_unrefp) struct config *config =
		graph("a > b  b > a  c > d  d > c  e > e  f > a  f > c  g > f");
	char text[4096] = "";

	ck_assert_uint_eq(cycles(config, text), 3);
}
END_TEST

START_TEST(cycles_that_share_a_node_are_all_found)
{
	cleanup(config_unrefp) struct config *config =
		graph("a > b  a > c  a > d  b > a  c > a  d > a");
	char text[4096] = "";

	ck_assert_uint_eq(cycles(config, text), 3);
}
END_TEST

/* Compares the search with the plain definition: a cycle has a vertex that needs itself. */
static bool has_cycle(const struct config *config)
{
	enum { MAX = 64 };
	bool needs[MAX][MAX] = { { false } };
	size_t n = config->n_nodes;

	ck_assert_uint_le(2 * n, MAX);
	for (size_t i = 0; i < n; i++) {
		const struct node_config *a = config->nodes[i];

		needs[n + i][i] = true;
		if (a->parent) {
			needs[i][a->parent->index] = true;
			needs[n + a->parent->index][n + i] = true;
		}
		for (enum edge e = 0; e < EDGE_TERM_AFTER; e++)
			for (struct node_config **b = node_config_edges(a, e); b && *b; b++)
				needs[i][n + (*b)->index] = true;
		for (struct node_config **b = node_config_edges(a, EDGE_TERM_AFTER); b && *b; b++)
			needs[(*b)->index][n + i] = true;
	}
	for (size_t k = 0; k < 2 * n; k++)
		for (size_t i = 0; i < 2 * n; i++)
			for (size_t j = 0; j < 2 * n; j++)
				needs[i][j] |= needs[i][k] && needs[k][j];
	for (size_t i = 0; i < 2 * n; i++)
		if (needs[i][i])
			return true;
	return false;
}

START_TEST(cycles_are_found_exactly_where_they_are)
{
	static const char *const names[] = {
		"a", "b", "c", "a/x", "a/y", "b/x", "b/x/z", "c/x", "d"
	};
	unsigned seed = 12345;
	unsigned with = 0;

	for (int round = 0; round < 3000; round++) {
		cleanup(config_unrefp) struct config *config = graph("");
		char text[4096] = "";
		int edges = rand_r(&seed) % 6 + 1;

		for (int i = 0; i < edges; i++) {
			struct node_config *a = node(config, names[rand_r(&seed) % 9]);

			add(a, (enum edge)(rand_r(&seed) % N_EDGES),
			    node(config, names[rand_r(&seed) % 9]));
		}
		with += has_cycle(config);
		ck_assert_int_eq(cycles(config, text) > 0, has_cycle(config));
	}
	ck_assert_uint_gt(with, 100);
	ck_assert_uint_lt(with, 2900);
}
END_TEST

static struct config *chain(size_t n)
{
	struct config *config = graph("");
	struct node_config *before = NULL;
	char name[32];

	for (size_t i = 0; i < n; i++) {
		struct node_config *next;

		(void)snprintf(name, sizeof(name), "n%zu", i);
		next = node(config, name);
		if (before)
			add(before, EDGE_REQUIRES, next);
		before = next;
	}
	return config;
}

START_TEST(depth_does_not_matter)
{
	const struct rlimit small = { .rlim_cur = 256 * 1024, .rlim_max = 256 * 1024 };
	cleanup(config_unrefp) struct config *config = chain(CONFIG_NODES_MAX - 1);
	char text[4096] = "";

	ck_assert_int_eq(setrlimit(RLIMIT_STACK, &small), 0);
	ck_assert_uint_eq(cycles(config, text), 0);

	add(config->nodes[CONFIG_NODES_MAX - 1], EDGE_REQUIRES, config->nodes[1]);
	ck_assert_uint_eq(cycles(config, text), 1);
	ck_assert_ptr_nonnull(strstr(text, "n0 requires n1; n1 requires n2; "));
	ck_assert_ptr_nonnull(strstr(text, "; and 99958 more; n99998 requires n0"));
}
END_TEST

START_TEST(many_cycles_end)
{
	cleanup(config_unrefp) struct config *config = chain(2000);
	char text[4096] = "";

	for (size_t i = 2; i < config->n_nodes; i++)
		add(config->nodes[i], EDGE_AFTER, config->nodes[1]);
	ck_assert_uint_eq(cycles(config, text), DIAG_MAX);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("graph");
	TCase *tc = tcase_create("graph");

	tcase_add_test(tc, an_order_is_fine);
	tcase_add_test(tc, a_cycle_is_reported_with_its_whole_path);
	tcase_add_test(tc, a_cycle_goes_through_nesting);
	tcase_add_test(tc, a_wanted_node_comes_before);
	tcase_add_test(tc, a_stop_has_an_order_of_its_own);
	tcase_add_test(tc, a_node_and_a_node_in_it_cannot_wait_for_each_other);
	tcase_add_test(tc, a_large_group_in_a_cycle_is_one_cycle);
	tcase_add_test(tc, every_cycle_is_one_error);
	tcase_add_test(tc, cycles_that_share_a_node_are_all_found);
	tcase_add_test(tc, cycles_are_found_exactly_where_they_are);
	tcase_add_test(tc, depth_does_not_matter);
	tcase_add_test(tc, many_cycles_end);
	suite_add_tcase(s, tc);
	return s;
}
