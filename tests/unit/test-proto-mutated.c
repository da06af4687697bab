#include "test-proto.h"

/*
 * An overview that anybody may have written: it is refused, or every value of every node is what the
 * header of columns.h says.  That is read here a second time, value after value, as it is written
 * there.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "proto/view.h"

#define NODES_MAX 12
#define ROUNDS	  400 /* of each loop */

static const struct {
	const char *name;
	enum field_type type;
	bool optional;
	size_t offset;
} lists[] = {
#define LIST(name, type, member, optional)                               \
	{                                                                \
		name, type, optional, offsetof(struct node_view, member) \
	}
	LIST("path", FIELD_STRING, path, false),
	LIST("generation", FIELD_INT, generation, false),
	LIST("state", FIELD_CHOICE, state, false),
	LIST("since_usec", FIELD_INT, since_usec, false),
	LIST("guards", FIELD_INT, guards, false),
	LIST("ready", FIELD_BOOL, ready, false),
	LIST("forced", FIELD_BOOL, forced, false),
	LIST("deadline_usec", FIELD_INT, deadline_usec, true),
	LIST("service", FIELD_ENUM, service.state, true),
	LIST("pid", FIELD_INT, service.pid, true),
	LIST("restarts", FIELD_INT, service.restarts, false),
	LIST("result", FIELD_STRING, service.result, true),
	LIST("status", FIELD_STRING, service.status, true),
	LIST("waiting", FIELD_STRINGS, service.waiting, false),
	LIST("next_usec", FIELD_INT, service.next_usec, true),
	LIST("reloading_usec", FIELD_INT, service.reloading_usec, true),
	LIST("ending", FIELD_BOOL, service.ending, false),
	LIST("health", FIELD_ENUM, service.health, true),
#undef LIST
};

/* --- what comes --- */

static unsigned next_random(unsigned *state)
{
	*state = *state * 1103515245 + 12345;
	return *state >> 16;
}

static unsigned below(unsigned *random, unsigned n)
{
	return next_random(random) % n;
}

static struct node_view some_node(unsigned *random, const char *path)
{
	bool service = below(random, 3);

	return (struct node_view){
		.path = path,
		.generation = 1 + below(random, 2),
		.since_usec = below(random, 3) * UINT64_C(7000),
		.guards = below(random, 5) ? 1 : INT64_MAX,
		.ready = below(random, 4),
		.deadline_usec = below(random, 2) ? FIELD_NONE : below(random, 3),
		.is_service = service,
		.service = { .state = below(random, 3) ? "up" : "failed",
			     .pid = below(random, 4) ? 800 + below(random, 9) : FIELD_NONE,
			     .result = below(random, 2) ? "exit status 1" : NULL,
			     .next_usec = FIELD_NONE,
			     .reloading_usec = FIELD_NONE,
			     .health = below(random, 3) ? NULL : "healthy" },
	};
}

static json_t *some_reply(unsigned *random)
{
	static const char *const paths[] = { "", "web", "web/a" };
	cleanup(columns_done) struct columns columns;
	cleanup(writer_done) struct writer members = { 0 };
	cleanup(freep) char *text = NULL, *whole = NULL;
	json_t *reply;

	node_columns_init(&columns);
	for (unsigned n = below(random, NODES_MAX); n > 0; n--) {
		struct node_view node = some_node(random, paths[below(random, ARRAY_SIZE(paths))]);

		node_columns_add(&columns, &node);
	}
	columns_append(&members, &columns);
	ck_assert_int_eq(writer_take(&members, &text), 0);
	ck_assert_int_ge(asprintf(&whole, "{\"nodes\":{%s}}", text), 0);
	reply = json_loads(whole, 0, NULL);
	ck_assert_msg(reply, "%s", whole);
	return reply;
}

static json_t *some_value(unsigned *random)
{
	static const char *const values[] = {
		"null",
		"0",
		"1",
		"-1",
		"2",
		"12",
		"4611686018427387904",
		"9223372036854775807",
		"-9223372036854775808",
		"\"\"",
		"\"up\"",
		"\"failed\"",
		"\"running\"",
		"\"healthy\"",
		"true",
		"false",
		"[]",
		"[\"a\"]",
		"[[]]",
		"[1,2]",
		"{}",
		"1.5",
		"\"x\\u001b\"",
	};

	return json_loads(values[below(random, ARRAY_SIZE(values))], JSON_DECODE_ANY, NULL);
}

/* An entry of @list comes, goes or is another one. */
static void mutate_list(json_t *list, unsigned *random)
{
	size_t n = json_array_size(list), at = n ? below(random, (unsigned)n) : 0;

	switch (below(random, 4)) {
	case 0:
		(void)json_array_insert_new(list, at, some_value(random));
		break;
	case 1:
		(void)json_array_remove(list, at);
		break;
	case 2:
		(void)json_array_insert_new(list, at, json_deep_copy(json_array_get(list, at)));
		break;
	default:
		(void)json_array_set_new(list, at, some_value(random));
		break;
	}
}

static void mutate(json_t *reply, unsigned *random)
{
	const char *name = lists[below(random, ARRAY_SIZE(lists))].name;
	json_t *nodes = json_object_get(reply, "nodes");
	json_t *times;

	if (below(random, 40) == 0)
		(void)json_object_set_new(nodes, "times", some_value(random));
	times = json_object_get(nodes, "times");
	switch (below(random, 8)) {
	case 0:
		(void)json_object_set_new(nodes, name, some_value(random));
		break;
	case 1:
		(void)json_object_del(nodes, name);
		break;
	case 2:
		(void)json_object_del(times, name);
		break;
	case 3:
		(void)json_object_set_new(times, name, some_value(random));
		break;
	case 4:
	case 5:
		mutate_list(json_object_get(times, name), random);
		break;
	default:
		mutate_list(json_object_get(nodes, name), random);
		break;
	}
}

/* --- what it says --- */

/* Which entry of list @i is about node @row; -1: that is not said as it should be. */
static long entry_of(const json_t *nodes, size_t i, size_t rows, size_t row)
{
	const json_t *list = json_object_get(nodes, lists[i].name);
	const json_t *times = json_object_get(json_object_get(nodes, "times"), lists[i].name);
	json_int_t sum = 0;
	long entry = -1;

	if (!times && (json_array_size(list) == rows || json_array_size(list) == 1))
		return json_array_size(list) == rows ? (long)row : 0;
	if (!json_is_array(times) || json_array_size(times) != json_array_size(list))
		return -1;
	for (size_t k = 0; k < json_array_size(times); k++) {
		json_int_t n = json_integer_value(json_array_get(times, k));

		if (n <= 0 || n > NODES_MAX * 4)
			return -1;
		sum += n;
		if (entry < 0 && sum > (json_int_t)row)
			entry = (long)k;
	}
	return sum == (json_int_t)rows ? entry : -1;
}

static bool has_value(size_t i, const json_t *value)
{
	struct node_view scratch;
	static const char *const states[] = { "running", "shutting_down", "complete", NULL };
	static const char *const all[] = { "up", "failed", NULL }, *const well[] = { "healthy",
										     NULL };
	struct field f = { .type = lists[i].type, .optional = lists[i].optional };

	if (f.type == FIELD_CHOICE)
		f.values = states;
	else if (f.type == FIELD_ENUM)
		f.values = strcmp(lists[i].name, "health") == 0 ? well : all;
	/* How much more it is may be less. */
	if (f.type == FIELD_INT && json_is_integer(value))
		return true;
	return field_read_value(&f, (json_t *)value, &scratch);
}

/* The values of list @i, one for each node.  Return: are they all said as they should be? */
static bool expand(const json_t *nodes, size_t i, size_t rows, const json_t **values,
		   uint64_t *numbers)
{
	const json_t *list = json_object_get(nodes, lists[i].name);
	const json_t *times = json_object_get(json_object_get(nodes, "times"), lists[i].name);
	__int128 number = 0;

	for (size_t row = 0; row < rows; row++)
		values[row] = NULL;
	if (!list || json_is_null(list))
		return lists[i].optional && !times;
	if (!json_is_array(list) || (rows == 0 && json_array_size(list) > 0))
		return false;
	if (rows == 0 && times && (!json_is_array(times) || json_array_size(times) > 0))
		return false;
	for (size_t row = 0; row < rows; row++) {
		long entry = entry_of(nodes, i, rows, row);

		if (entry < 0)
			return false;
		values[row] = json_array_get(list, (size_t)entry);
		if (!has_value(i, values[row]))
			return false;
		if (lists[i].type != FIELD_INT || json_is_null(values[row]))
			continue;
		number += json_integer_value(values[row]);
		if (number < 0 || number > INT64_MAX)
			return false;
		numbers[row] = (uint64_t)number;
	}
	return true;
}

static void assert_value(size_t i, const json_t *value, uint64_t number, const void *member)
{
	const char *text = json_string_value(value);

	switch (lists[i].type) {
	case FIELD_STRING:
	case FIELD_ENUM:
		ck_assert_int_eq(!*(const char *const *)member, !text);
		if (text)
			ck_assert_str_eq(*(const char *const *)member, text);
		break;
	case FIELD_CHOICE:
		ck_assert_str_eq(node_view_state_name(*(const enum node_view_state *)member), text);
		break;
	case FIELD_INT:
		ck_assert_uint_eq(*(const uint64_t *)member,
				  json_is_integer(value) ? number : FIELD_NONE);
		break;
	case FIELD_BOOL:
		ck_assert_int_eq(*(const bool *)member, json_is_true(value));
		break;
	default:
		ck_assert_ptr_eq(*(json_t *const *)member, (json_t *)value);
		break;
	}
}

/* It is refused, as it should be, or read as it says. */
static void assert_read(const json_t *reply, unsigned *refused)
{
	const json_t *nodes = json_object_get(reply, "nodes"), *values[NODES_MAX * 4];
	size_t rows = json_array_size(json_object_get(nodes, "path")), n;
	cleanup(freep) char *text = json_dumps(reply, JSON_COMPACT);
	cleanup(freep) struct node_view *views = NULL;
	int r = node_view_parse_columns(reply, "nodes", &views, &n);
	uint64_t numbers[NODES_MAX * 4];
	bool good = json_is_object(json_object_get(nodes, "times"));

	ck_assert_uint_le(rows, ARRAY_SIZE(values));
	ck_assert(r == 0 || r == -EBADMSG);
	if (r == 0)
		ck_assert_uint_eq(n, rows);
	for (size_t i = 0; good && i < ARRAY_SIZE(lists); i++) {
		good = expand(nodes, i, rows, values, numbers);
		for (size_t row = 0; r == 0 && good && row < rows; row++)
			assert_value(i, values[row], numbers[row],
				     (const char *)&views[row] + lists[i].offset);
	}
	ck_assert_msg((r == 0) == good, "%s was %s", text, good ? "refused" : "taken");
	*refused += r < 0;
}

START_TEST(a_mutated_overview_is_refused_or_read_as_it_says)
{
	unsigned random = (unsigned)_i, refused = 0;

	for (int round = 0; round < ROUNDS; round++) {
		cleanup(json_decrefp) json_t *reply = some_reply(&random);

		for (unsigned edits = below(&random, 5); edits > 0; edits--)
			mutate(reply, &random);
		assert_read(reply, &refused);
	}
	/* Neither is what nearly all of them are. */
	ck_assert_uint_gt(refused, ROUNDS / 5);
	ck_assert_uint_lt(refused, ROUNDS - ROUNDS / 5);
}
END_TEST

TCase *mutated_tests(void)
{
	TCase *tc = tcase_create("mutated");

	tcase_add_loop_test(tc, a_mutated_overview_is_refused_or_read_as_it_says, 0, 20);
	return tc;
}
