#include "tests/unit/proto/test-proto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "proto/address.h"
#include "proto/interface.h"
#include "proto/message.h"
#include "proto/node-view.h"

static const struct service_view service = {
	.state = "stopping",
	.since_usec = 12,
	.pid = 812,
	.command = "nginx -g \"daemon off;\"",
	.ready = true,
	.restarts = 3,
	.result = NULL,
	.status = "busy",
	.turn = "web",
	.pressure = "root",
	.next_usec = 18000000,
};

static const struct node_view node = {
	.path = "web/nginx",
	.generation = 2,
	.state = NODE_SHUTTING_DOWN,
	.since_usec = 12,
	.guards = 4,
	.forced = true,
	.held_usec = 5000000,
	.deadline_usec = FIELD_NONE,
	.is_service = true,
};

START_TEST(a_node_is_parsed_as_it_was_built)
{
	struct node_view out = node, in;
	json_t *object;

	out.service = service;
	out.service.waiting = json_pack("[s, s]", "app", "db");
	out.service.logs = json_pack("[s]", "/var/log/nginx");
	object = node_view_build(&out);
	ck_assert_ptr_null(json_object_get(object, "deadline_usec"));
	ck_assert_int_eq(node_view_parse(object, &in), 0);
	ck_assert_str_eq(in.path, node.path);
	ck_assert_int_eq(in.state, NODE_SHUTTING_DOWN);
	ck_assert_uint_eq(in.guards, 4);
	ck_assert_uint_eq(in.deadline_usec, FIELD_NONE);
	ck_assert(in.forced && !in.ready && in.is_service && in.service.ready);
	ck_assert_str_eq(in.service.state, "stopping");
	ck_assert_str_eq(in.service.status, "busy");
	ck_assert_ptr_null(in.service.result);
	ck_assert_uint_eq(in.service.pid, 812);
	ck_assert_uint_eq(json_array_size(in.service.waiting), 2);
	ck_assert_uint_eq(json_array_size(in.service.logs), 1);
	json_decref(object);
	json_decref(out.service.logs);
	json_decref(out.service.waiting);
}
END_TEST

START_TEST(a_group_has_no_service_and_infinity_stays_a_number)
{
	struct node_view out = node, in;
	json_t *object;

	out.is_service = false;
	out.since_usec = UINT64_MAX;
	object = node_view_build(&out);
	ck_assert_ptr_null(json_object_get(object, "service"));
	ck_assert_int_eq(node_view_parse(object, &in), 0);
	ck_assert(!in.is_service);
	ck_assert_uint_eq(in.since_usec, INT64_MAX);
	json_decref(object);
}
END_TEST

/* Each member in turn missing, null, and of each wrong type. */
static void assert_members_matter(json_t *object, int (*parse)(const json_t *), size_t n_optional)
{
	static const char *const others[] = { "null", "-1", "1.5", "\"?\"", "[1]", "{}", "true" };
	size_t missed = 0;
	const char *key;
	json_t *value;

	json_object_foreach (object, key, value) {
		json_t *copy = json_copy(object);
		int nothing;

		json_object_del(copy, key);
		nothing = parse(copy);
		missed += nothing == 0;
		for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
			json_t *other = json_loads(others[i], JSON_DECODE_ANY, NULL);
			bool same_type = json_typeof(other) == json_typeof(value) ||
					 (json_is_boolean(other) && json_is_boolean(value));

			json_object_set(copy, key, other);
			if (json_is_null(other))
				ck_assert_int_eq(parse(copy), nothing);
			else if (!same_type || json_is_array(other))
				ck_assert_msg(parse(copy) == -EBADMSG, "%s: %s was taken", key,
					      others[i]);
			json_decref(other);
		}
		json_decref(copy);
	}
	ck_assert_uint_eq(missed, n_optional);
}

static int parse_node(const json_t *object)
{
	struct node_view view;

	return node_view_parse(object, &view);
}

static int parse_guard(const json_t *object)
{
	cleanup(json_decrefp) json_t *parameters = json_pack("{s:[O]}", "guards", object);
	struct guard_view *guards;
	size_t n;
	int r = guard_view_parse_array(parameters, "guards", &guards, &n);

	if (r == 0)
		free(guards);
	return r;
}

START_TEST(an_object_with_an_invalid_member_is_refused)
{
	struct node_view view = node;
	struct guard_view guard = { .id = 7,
				    .node = "web",
				    .kind = "lease",
				    .pid = 1,
				    .uid = 0,
				    .command = "pg_dump",
				    .why = "nightly",
				    .age_usec = 41,
				    .count = 2,
				    .ttl_usec = 5 };
	json_t *object;

	view.service = service;
	view.deadline_usec = 5;
	object = node_view_build(&view);
	assert_members_matter(object, parse_node, 3);
	json_object_set_new(json_object_get(object, "service"), "state", json_string("nope"));
	ck_assert_int_eq(parse_node(object), -EBADMSG);
	json_decref(object);

	object = guard_view_build(&guard);
	assert_members_matter(object, parse_guard, 7);
	json_decref(object);
	ck_assert_int_eq(parse_node(NULL), -EBADMSG);
}
END_TEST

/* "\ttype: (a, b),\n" for each member of the built object, in its order. */
START_TEST(the_types_of_the_text_are_those_of_the_structs)
{
	struct node_view view = node;
	struct guard_view guard = { .node = "", .kind = "lease", .command = "", .why = "" };
	json_t *objects[3];
	static const char *const types[] = { "\ntype Service (\n", "\ntype Node (\n",
					     "\ntype Guard (\n" };

	view.restarting = true;
	view.deadline_usec = 1;
	view.agent = "drain";
	view.service = service;
	view.service.result = "";
	view.service.schedule = "daily";
	view.service.health = "healthy";
	view.service.health_result = "";
	view.service.log_trouble = "";
	view.service.claim = "";
	view.service.program = "replaced";
	view.service.replaced = "";
	view.service.waiting = json_array();
	view.service.aside = json_array();
	view.service.logs = json_array();
	view.service.ending = view.service.ended = view.service.stopped = true;
	view.service.disabled = true;
	view.service.outdated = true;
	objects[1] = node_view_build(&view);
	objects[0] = json_object_get(objects[1], "service");
	objects[2] = guard_view_build(&guard);
	for (size_t i = 0; i < 3; i++) {
		const char *p = strstr(interface_text, types[i]);
		const char *key;
		json_t *value;

		ck_assert_ptr_nonnull(p);
		p += strlen(types[i]);
		json_object_foreach (objects[i], key, value) {
			ck_assert_msg(p[0] == '\t' && strncmp(p + 1, key, strlen(key)) == 0 &&
					      p[1 + strlen(key)] == ':',
				      "%s is not where %.40s is", key, p);
			p = strchr(p, '\n') + 1;
		}
		ck_assert_int_eq(*p, ')');
	}
	json_decref(view.service.logs);
	json_decref(view.service.aside);
	json_decref(view.service.waiting);
	json_decref(objects[1]);
	json_decref(objects[2]);
}
END_TEST

START_TEST(arrays_are_whole_or_refused)
{
	struct guard_view *guards = NULL;
	struct node_view *nodes = NULL;
	size_t n = 7;
	json_t *parameters = json_pack("{s:[], s:[{}], s:{}}", "none", "bad", "object");

	ck_assert_int_eq(guard_view_parse_array(parameters, "none", &guards, &n), 0);
	ck_assert_uint_eq(n, 0);
	free(guards);
	ck_assert_int_eq(guard_view_parse_array(parameters, "bad", &guards, &n), -EBADMSG);
	ck_assert_int_eq(node_view_parse_array(parameters, "object", &nodes, &n), -EBADMSG);
	ck_assert_int_eq(node_view_parse_array(parameters, "missing", &nodes, &n), -EBADMSG);
	json_decref(parameters);
}
END_TEST

static void assert_address(const char *given, const char *expected)
{
	char *path;

	ck_assert_int_eq(address_find(given, &path), 0);
	ck_assert_str_eq(path, expected);
	free(path);
}

START_TEST(the_socket_path_follows_the_environment)
{
	setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
	setenv("SWANSONG_SOCKET", "/x/sock", 1);
	assert_address("/given", "/given");
	assert_address(NULL, "/x/sock");
	setenv("SWANSONG_SOCKET", "", 1);
	assert_address(NULL, geteuid() == 0 ? "/run/swansong/control.sock"
					    : "/run/user/7/swansong/control.sock");
	if (geteuid() == 0)
		ck_assert_int_eq(seteuid(1000), 0);
	assert_address(NULL, "/run/user/7/swansong/control.sock");
	unsetenv("XDG_RUNTIME_DIR");

	char expected[64];

	(void)snprintf(expected, sizeof(expected), "/tmp/swansong-%u/control.sock",
		       (unsigned)geteuid());
	assert_address(NULL, expected);
	/* Otherwise the leak checker may not inspect this process. */
	if (getuid() == 0)
		ck_assert_int_eq(seteuid(0), 0);
}
END_TEST

TCase *view_tests(void)
{
	TCase *tc = tcase_create("view");

	tcase_add_test(tc, a_node_is_parsed_as_it_was_built);
	tcase_add_test(tc, a_group_has_no_service_and_infinity_stays_a_number);
	tcase_add_test(tc, an_object_with_an_invalid_member_is_refused);
	tcase_add_test(tc, the_types_of_the_text_are_those_of_the_structs);
	tcase_add_test(tc, arrays_are_whole_or_refused);
	tcase_add_test(tc, the_socket_path_follows_the_environment);
	return tc;
}
