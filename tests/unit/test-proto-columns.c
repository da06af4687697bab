#include "test-proto.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "proto/interface.h"
#include "proto/view.h"

#define NODES_MAX 40

/* The reply about some nodes, parsed. */
static json_t *reply_about(const struct node_view *nodes, size_t n)
{
	cleanup(columns_done) struct columns columns;
	cleanup(writer_done) struct writer members = { 0 };
	cleanup(freep) char *text = NULL, *whole = NULL;
	json_t *reply;

	node_columns_init(&columns);
	for (size_t i = 0; i < n; i++)
		node_columns_add(&columns, &nodes[i]);
	columns_append(&members, &columns);
	ck_assert_int_eq(writer_take(&members, &text), 0);
	ck_assert_int_ge(asprintf(&whole, "{\"nodes\":{%s}}", text), 0);
	reply = json_loads(whole, JSON_REJECT_DUPLICATES, NULL);
	ck_assert_msg(reply, "%s", whole);
	return reply;
}

/* A small generator, so that each run is the same. */
static unsigned next_random(unsigned *state)
{
	*state = *state * 1103515245 + 12345;
	return *state >> 16;
}

/* Mostly @often, so that lists have something to go on with. */
static uint64_t some_number(unsigned *random, uint64_t often)
{
	return next_random(random) % 4 ? often : next_random(random) % 3;
}

static const char *some_text(unsigned *random)
{
	static const char *const texts[] = { NULL, NULL, "", "a \"text\"\n", "exit status 1" };

	return texts[next_random(random) % ARRAY_SIZE(texts)];
}

static struct service_view some_service(unsigned *random, json_t *waiting)
{
	static const char *const states[] = { "up", "up", "up", "gated", "failed" };
	static const char *const healths[] = { NULL, NULL, "healthy", "unhealthy" };

	return (struct service_view){
		.state = states[next_random(random) % ARRAY_SIZE(states)],
		.since_usec = next_random(random) * UINT64_C(100),
		.pid = some_number(random, FIELD_NONE),
		.command = "true",
		.restarts = some_number(random, 0),
		.result = some_text(random),
		.status = some_text(random),
		.waiting = next_random(random) % 4 ? NULL : waiting,
		.next_usec = some_number(random, FIELD_NONE),
		.reloading_usec = some_number(random, FIELD_NONE),
		.ending = next_random(random) % 4 == 0,
		.health = healths[next_random(random) % ARRAY_SIZE(healths)],
	};
}

static struct node_view some_node(unsigned *random, const char *path, json_t *waiting)
{
	struct node_view node = {
		.path = path,
		.generation = some_number(random, 1),
		.state = (enum node_view_state)some_number(random, NODE_RUNNING),
		.since_usec = next_random(random) * UINT64_C(100),
		.guards = some_number(random, 1),
		.ready = next_random(random) % 4 != 0,
		.forced = next_random(random) % 4 == 0,
		.deadline_usec = some_number(random, FIELD_NONE),
		.is_service = next_random(random) % 4 != 0,
	};

	if (node.is_service)
		node.service = some_service(random, waiting);
	return node;
}

static void assert_text(const char *is, const char *expected)
{
	ck_assert_int_eq(!is, !expected);
	if (is)
		ck_assert_str_eq(is, expected);
}

static uint64_t milliseconds(uint64_t usec)
{
	return usec / 1000 * 1000;
}

static void assert_service(const struct service_view *is, const struct service_view *expected)
{
	ck_assert_str_eq(is->state, expected->state);
	ck_assert_uint_eq(is->since_usec, milliseconds(expected->since_usec));
	ck_assert_uint_eq(is->pid, expected->pid);
	ck_assert_uint_eq(is->restarts, expected->restarts);
	assert_text(is->result, expected->result);
	assert_text(is->status, expected->status);
	ck_assert_uint_eq(json_array_size(is->waiting), json_array_size(expected->waiting));
	ck_assert_uint_eq(is->next_usec, expected->next_usec);
	ck_assert_uint_eq(is->reloading_usec, expected->reloading_usec);
	ck_assert_int_eq(is->ending, expected->ending);
	assert_text(is->health, expected->health);
	/* What is not sent has no value. */
	ck_assert(!is->command && !is->log && !is->health_result);
	ck_assert_uint_eq(is->error, FIELD_NONE);
	ck_assert_uint_eq(is->watchdog_usec, FIELD_NONE);
	ck_assert_uint_eq(is->stored, FIELD_NONE);
	ck_assert_uint_eq(is->health_since_usec, FIELD_NONE);
}

static void assert_node(const struct node_view *is, const struct node_view *expected)
{
	ck_assert_str_eq(is->path, expected->path);
	ck_assert_uint_eq(is->generation, expected->generation);
	ck_assert_int_eq(is->state, expected->state);
	ck_assert_uint_eq(is->guards, expected->guards);
	ck_assert_int_eq(is->ready, expected->ready);
	ck_assert_int_eq(is->forced, expected->forced);
	ck_assert_uint_eq(is->deadline_usec, expected->deadline_usec);
	ck_assert_int_eq(is->is_service, expected->is_service);
	if (is->is_service)
		assert_service(&is->service, &expected->service);
	else
		ck_assert_uint_eq(is->since_usec, milliseconds(expected->since_usec));
}

START_TEST(many_nodes_come_back_as_they_went)
{
	cleanup(json_decrefp) json_t *waiting = json_pack("[s, s]", "app", "db");
	char paths[NODES_MAX][16];
	struct node_view nodes[NODES_MAX];
	unsigned random = (unsigned)_i;

	for (size_t n = 1; n <= NODES_MAX; n += 1 + n / 2) {
		cleanup(json_decrefp) json_t *reply = NULL;
		cleanup(freep) struct node_view *back = NULL;
		size_t n_back = 0;

		for (size_t i = 0; i < n; i++) {
			(void)snprintf(paths[i], sizeof(paths[i]), "web/%zu", i / 2);
			nodes[i] = some_node(&random, paths[i], waiting);
		}
		reply = reply_about(nodes, n);
		ck_assert_int_eq(node_view_parse_columns(reply, "nodes", &back, &n_back), 0);
		ck_assert_uint_eq(n_back, n);
		for (size_t i = 0; i < n; i++)
			assert_node(&back[i], &nodes[i]);
	}
}
END_TEST

static int parse(const json_t *reply)
{
	struct node_view *nodes;
	size_t n;
	int r = node_view_parse_columns(reply, "nodes", &nodes, &n);

	if (r == 0)
		free(nodes);
	return r;
}

static json_t *times_of(const json_t *reply, const char *key)
{
	const json_t *nodes = json_object_get(reply, "nodes");

	return json_object_get(json_object_get(nodes, "times"), key);
}

START_TEST(a_number_is_told_by_what_it_is_more)
{
	static const uint64_t pids[] = { FIELD_NONE, 812, 812, 813, FIELD_NONE, FIELD_NONE,
					 40,	     40,  900, 900, 900 };
	cleanup(json_decrefp) json_t *expected =
		json_pack("[n, i, i, i, n, n, i, i, i, i, i]", 812, 0, 1, -773, 0, 860, 0, 0);
	cleanup(json_decrefp) json_t *reply = NULL;
	cleanup(freep) struct node_view *back = NULL;
	struct node_view nodes[ARRAY_SIZE(pids)];
	size_t n_back;

	for (size_t i = 0; i < ARRAY_SIZE(pids); i++)
		nodes[i] = (struct node_view){ .path = "web",
					       .is_service = true,
					       .service = { .state = "up", .pid = pids[i] } };
	nodes[1].guards = INT64_MAX;
	nodes[3].guards = UINT64_MAX - 1;
	reply = reply_about(nodes, ARRAY_SIZE(nodes));
	ck_assert(json_equal(json_object_get(json_object_get(reply, "nodes"), "pid"), expected));
	ck_assert_ptr_null(times_of(reply, "pid"));
	ck_assert_int_eq(node_view_parse_columns(reply, "nodes", &back, &n_back), 0);
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
		ck_assert_uint_eq(back[i].service.pid, pids[i]);
		ck_assert_uint_eq(back[i].guards, i == 1 || i == 3 ? INT64_MAX : 0);
	}
}
END_TEST

START_TEST(a_number_below_zero_or_beyond_all_is_refused)
{
	static const char *const lists[] = { "[0, 0, -1]", "[5, 3, -9]", "[-9223372036854775808]",
					     "[9223372036854775807, 1, 0]",
					     "[9223372036854775807]" };
	struct node_view nodes[3];
	unsigned random = 5;
	json_t *reply;

	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++)
		nodes[i] = some_node(&random, "web", NULL);
	reply = reply_about(nodes, ARRAY_SIZE(nodes));
	json_object_clear(json_object_get(json_object_get(reply, "nodes"), "times"));
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		json_object_set_new(json_object_get(reply, "nodes"), "guards",
				    json_loads(lists[i], 0, NULL));
		ck_assert_msg(parse(reply) == -EBADMSG, "%s was taken", lists[i]);
	}
	json_decref(reply);
}
END_TEST

/* So that it stays short, however many there are. */
START_TEST(what_is_the_same_for_all_is_said_once)
{
	struct node_view nodes[NODES_MAX];
	const char *key;
	json_t *list, *reply;

	for (size_t i = 0; i < NODES_MAX; i++)
		nodes[i] = (struct node_view){ .path = "web", .deadline_usec = FIELD_NONE };
	nodes[1].guards = 7;
	nodes[NODES_MAX - 1].forced = true;
	for (size_t i = 10; i < NODES_MAX; i++)
		nodes[i].generation = 7 * i;
	reply = reply_about(nodes, NODES_MAX);
	json_object_foreach(json_object_get(reply, "nodes"), key, list)
	{
		size_t expected = 1;

		if (strcmp(key, "path") == 0)
			expected = NODES_MAX;
		else if (strcmp(key, "forced") == 0)
			expected = 2;
		else if (strcmp(key, "generation") == 0 || strcmp(key, "times") == 0)
			expected = 3;
		else if (strcmp(key, "guards") == 0)
			expected = 4;
		if (json_is_object(list))
			ck_assert_uint_eq(json_object_size(list), expected);
		else
			ck_assert_msg(json_array_size(list) == expected, "%s: %zu", key,
				      json_array_size(list));
	}
	json_decref(reply);
}
END_TEST

START_TEST(entries_that_are_not_about_all_are_refused)
{
	static const char *const wrong[] = {
		"[]",      "[3]",	"[1, 1]",	 "[2, 2]",  "[3, 0]",
		"[4, -1]", "[2, \"1\"]", "[2, 1, 0]",	 "{}",	    "null",
		"[2.0, 1]", "3",	"[9223372036854775807, 9223372036854775807, 5]",
	};
	const struct node_view nodes[] = { { .path = "" },
					   { .path = "a" },
					   { .path = "b", .ready = true } };
	cleanup(json_decrefp) json_t *reply = reply_about(nodes, ARRAY_SIZE(nodes));
	json_t *times = json_object_get(json_object_get(reply, "nodes"), "times");

	ck_assert_int_eq(parse(reply), 0);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		json_object_set_new(times, "ready", json_loads(wrong[i], JSON_DECODE_ANY, NULL));
		ck_assert_msg(parse(reply) == -EBADMSG, "%s was taken", wrong[i]);
	}
	/* Two entries for three nodes. */
	json_object_del(times, "ready");
	ck_assert_int_eq(parse(reply), -EBADMSG);
	/* A list that is missing has no times. */
	json_object_set_new(times, "ready", json_pack("[i, i]", 2, 1));
	ck_assert_int_eq(parse(reply), 0);
	json_object_del(json_object_get(reply, "nodes"), "pid");
	ck_assert_int_eq(parse(reply), 0);
	json_object_set_new(times, "pid", json_pack("[i]", 3));
	ck_assert_int_eq(parse(reply), -EBADMSG);
}
END_TEST

/* Return: may the list be missing? */
static bool assert_list_matters(const json_t *original, const char *key)
{
	static const char *const others[] = {
		"7",	   "{}",    "[]",	 "[{}]", "[-1, 0, 0]",
		"[[[1]]]", "[1.5]", "[\"?\",7]", "\"\"", "[1,2,3,4]"
	};
	cleanup(json_decrefp) json_t *reply = json_deep_copy(original);
	json_t *nodes = json_object_get(reply, "nodes");

	(void)json_object_del(json_object_get(nodes, "times"), key);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		json_object_set_new(nodes, key, json_loads(others[i], JSON_DECODE_ANY, NULL));
		ck_assert_msg(parse(reply) == -EBADMSG, "%s: %s was taken", key, others[i]);
	}
	json_object_del(nodes, key);
	return parse(reply) == 0;
}

START_TEST(lists_that_are_not_right_are_refused)
{
	struct node_view nodes[3];
	unsigned random = 5;
	size_t missed = 0;
	json_t *reply, *list;
	const char *key;

	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++)
		nodes[i] = some_node(&random, "web", NULL);
	reply = reply_about(nodes, ARRAY_SIZE(nodes));
	ck_assert_int_eq(parse(reply), 0);
	json_object_foreach(json_object_get(reply, "nodes"), key, list)
	{
		if (strcmp(key, "path") != 0 && strcmp(key, "times") != 0)
			missed += assert_list_matters(reply, key);
	}
	/* Those that may be null. */
	ck_assert_uint_eq(missed, 8);
	json_object_set_new(json_object_get(reply, "nodes"), "path", json_array());
	ck_assert_int_eq(parse(reply), -EBADMSG);
	json_object_set_new(reply, "nodes", json_array());
	ck_assert_int_eq(parse(reply), -EBADMSG);
	json_object_del(reply, "nodes");
	ck_assert_int_eq(parse(reply), -EBADMSG);
	json_decref(reply);
}
END_TEST

/* Each list is about all or one by one, so there is nothing in it; without it nobody knows that. */
START_TEST(what_has_no_times_is_no_overview)
{
	const struct node_view node = { .path = "" };
	cleanup(json_decrefp) json_t *reply = reply_about(&node, 1);
	json_t *nodes = json_object_get(reply, "nodes");

	ck_assert_uint_eq(json_object_size(json_object_get(nodes, "times")), 0);
	ck_assert_int_eq(parse(reply), 0);
	json_object_set_new(nodes, "times", json_array());
	ck_assert_int_eq(parse(reply), -EBADMSG);
	json_object_del(nodes, "times");
	ck_assert_int_eq(parse(reply), -EBADMSG);
}
END_TEST

/* "\tstate: [](a, b),\n" for each list, in the order they are sent. */
START_TEST(the_lists_are_those_of_the_text)
{
	const struct node_view node = { .path = "" };
	json_t *reply = reply_about(&node, 1), *list;
	const char *p = strstr(interface_text, "\ntype Nodes (\n"), *key;

	ck_assert_ptr_nonnull(p);
	p = strchr(p + 1, '\n') + 1;
	json_object_foreach(json_object_get(reply, "nodes"), key, list)
	{
		size_t length = strlen(key);

		ck_assert_msg(p[0] == '\t' && strncmp(p + 1, key, length) == 0 &&
				      (strncmp(p + 1 + length, ": []", 4) == 0 ||
				       strcmp(key, "times") == 0),
			      "%s is not where %.40s is", key, p);
		/* Here all that has no value is null. */
		if (json_is_null(json_array_get(list, 0)))
			ck_assert_int_eq(p[1 + length + 4], '?');
		p = strchr(p, '\n') + 1;
	}
	ck_assert_int_eq(*p, ')');
	json_decref(reply);
}
END_TEST

/* What is written twice is the same. */
START_TEST(the_states_of_a_service_are_those_of_the_type_service)
{
	const char *one = strstr(interface_text, "\n\tstate: (down,");
	const char *many = strstr(interface_text, "\n\tservice: []?(down,");
	size_t length;

	ck_assert(one && many);
	one = strchr(one, '(');
	many = strchr(many, '(');
	length = (size_t)(strchr(one, ')') - one) + 1;
	ck_assert_int_eq(strncmp(one, many, length), 0);
}
END_TEST

TCase *columns_tests(void)
{
	TCase *tc = tcase_create("columns");

	tcase_add_loop_test(tc, many_nodes_come_back_as_they_went, 0, 60);
	tcase_add_test(tc, a_number_is_told_by_what_it_is_more);
	tcase_add_test(tc, a_number_below_zero_or_beyond_all_is_refused);
	tcase_add_test(tc, what_is_the_same_for_all_is_said_once);
	tcase_add_test(tc, entries_that_are_not_about_all_are_refused);
	tcase_add_test(tc, lists_that_are_not_right_are_refused);
	tcase_add_test(tc, what_has_no_times_is_no_overview);
	tcase_add_test(tc, the_lists_are_those_of_the_text);
	tcase_add_test(tc, the_states_of_a_service_are_those_of_the_type_service);
	return tc;
}
