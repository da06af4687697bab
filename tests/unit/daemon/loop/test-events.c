#include "tests/unit/fixtures/main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/loop/events.h"

static struct events *events;

static void setup(void)
{
	ck_assert_int_eq(events_new(&events), 0);
}

static void teardown(void)
{
	events_free(events);
}

static void add(const char *node, const char *reason)
{
	events_add(events, &(struct event){ .kind = "node",
					    .node = node,
					    .generation = 2,
					    .from = "a",
					    .to = "b",
					    .reason = reason });
}

START_TEST(added_event_is_kept)
{
	struct event e;

	events_because(events, "somebody");
	add("web", "it was");
	events_because(events, NULL);
	add("db", "");
	ck_assert(events_get(events, 0, &e));
	ck_assert_str_eq(e.node, "web");
	ck_assert_str_eq(e.reason, "it was");
	ck_assert_str_eq(e.cause, "somebody");
	ck_assert_uint_eq(e.generation, 2);
	ck_assert(events_get(events, 1, &e));
	ck_assert_str_eq(e.node, "db");
	ck_assert_str_eq(e.reason, "");
	ck_assert_str_eq(e.cause, "");
	ck_assert(!events_get(events, 2, &e));
	ck_assert_uint_eq(events_next(events), 2);
}
END_TEST

START_TEST(oldest_events_are_dropped_first)
{
	char name[16];
	struct event e;

	for (unsigned i = 0; i < 3 * EVENTS_MIN + 5; i++) {
		uint64_t first = events_first(events);

		ck_assert_uint_eq(first, i > EVENTS_MIN ? i - EVENTS_MIN : 0);
		(void)snprintf(name, sizeof(name), "n%u", i);
		add(name, "");
		ck_assert(!events_get(events, events_next(events), &e));
	}
	ck_assert(!events_get(events, events_first(events) - 1, &e));
	for (uint64_t n = events_first(events); n < events_next(events); n++) {
		(void)snprintf(name, sizeof(name), "n%u", (unsigned)n);
		ck_assert(events_get(events, n, &e));
		ck_assert_str_eq(e.node, name);
		ck_assert_uint_eq(e.number, n);
	}
}
END_TEST

/* Also those that were kept before. */
START_TEST(a_large_tree_has_more_of_them)
{
	char name[16], text[40];
	struct event e;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (unsigned i = 0; i < 9000; i++) {
		if (i == EVENTS_MIN + 200)
			events_reserve(events, 1000);
		(void)snprintf(name, sizeof(name), "n%u", i);
		add(name, text);
	}
	ck_assert_uint_eq(events_first(events), 1000);
	events_reserve(events, 10);
	for (uint64_t n = events_first(events); n < events_next(events); n++) {
		(void)snprintf(name, sizeof(name), "n%u", (unsigned)n);
		ck_assert(events_get(events, n, &e));
		ck_assert_str_eq(e.node, name);
		ck_assert_str_eq(e.reason, text);
	}
	events_reserve(events, 2000);
	ck_assert_uint_eq(events_first(events), 1000);
	ck_assert(events_get(events, 1000, &e));
	ck_assert_str_eq(e.node, "n1000");
}
END_TEST

/* Texts of every length: nothing is written beyond the end, and a cut text has its mark. */
START_TEST(long_texts_are_cut_with_a_mark)
{
	char text[2 * EVENT_TEXT_MAX];
	struct event e;

	for (size_t n = 0; n < sizeof(text); n++) {
		memset(text, 'x', n);
		text[n] = '\0';
		events_because(events, "c");
		add("web/nginx", text);
		ck_assert(events_get(events, events_next(events) - 1, &e));
		ck_assert_str_eq(e.node, "web/nginx");
		ck_assert(strcmp(e.reason, text) == 0 ||
			  strcmp(e.reason + strlen(e.reason) - 3, "...") == 0);
		ck_assert(*e.cause == 'c' || n + 13 > EVENT_TEXT_MAX);
		add(n <= 200 ? text : "n", "r");
		ck_assert(events_get(events, events_next(events) - 1, &e));
		ck_assert_str_eq(e.node, n <= 200 ? text : "n");
	}
}
END_TEST

START_TEST(null_events_are_accepted)
{
	events_because(NULL, "x");
	events_add(NULL, &(struct event){ .node = "x" });
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("daemon-events");
	TCase *tc = tcase_create("daemon-events");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, added_event_is_kept);
	tcase_add_test(tc, oldest_events_are_dropped_first);
	tcase_add_test(tc, a_large_tree_has_more_of_them);
	tcase_add_test(tc, long_texts_are_cut_with_a_mark);
	tcase_add_test(tc, null_events_are_accepted);
	suite_add_tcase(s, tc);
	return s;
}
