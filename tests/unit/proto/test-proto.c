#include "tests/unit/proto/test-proto.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "proto/interface.h"
#include "proto/node-view.h"

START_TEST(a_call_is_an_object_with_a_qualified_method)
{
	static const char *const bad[] = {
		"",
		"null",
		"[]",
		"7",
		"{",
		"{}",
		"{}x",
		"{\"method\":7}",
		"{\"method\":\"\"}",
		"{\"method\":\"a\"}",
		"{\"method\":\".a\"}",
		"{\"method\":\"a.\"}",
		"{\"method\":\"a.b\",\"parameters\":[]}",
		"{\"method\":\"a.b\",\"more\":1}",
		"{\"method\":\"a.b\",\"oneway\":\"true\"}",
		"{\"method\":\"a.b\",\"method\":\"a.b\"}",
		"{\"method\":\"a.b\",\"parameters\":{\"x\":\"\\u0000\"}}",
		"{\"method\":\"a.\xff\"}",
	};
	struct message_call call = { .method = "untouched" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(message_parse_call(bad[i], &call) == -EBADMSG, "taken: %s", bad[i]);
	ck_assert_str_eq(call.method, "untouched");
	ck_assert_int_eq(
		message_parse_call("{\"method\":\"a.b.C\",\"more\":true,\"future\":[1]}", &call),
		0);
	ck_assert_str_eq(call.method, "a.b.C");
	ck_assert(call.more && !call.oneway && !call.upgrade);
	ck_assert_uint_eq(json_object_size(call.parameters), 0);
	message_call_done(&call);
}
END_TEST

START_TEST(depth_is_limited)
{
	enum { DEPTH = 200000 };
	char *text = malloc(DEPTH + 64);
	struct message_call call;
	struct message_reply reply;

	for (int i = 0; i < 2; i++) {
		int n = sprintf(text, "%s",
				i ? "{\"parameters\":{\"x\":"
				  : "{\"method\":\"a.b\",\"parameters\":{\"x\":");

		memset(text + n, '[', DEPTH);
		text[n + DEPTH] = '\0';
		ck_assert_int_eq(message_parse_call(text, &call), -EBADMSG);
		ck_assert_int_eq(message_parse_reply(text, &reply), -EBADMSG);
	}
	free(text);
}
END_TEST

START_TEST(built_messages_can_be_parsed)
{
	struct message_call call;
	struct message_reply reply;
	char *text;

	ck_assert_int_eq(
		message_build_call(&text, "a.b", json_pack("{s:s}", "x", "ü"), MESSAGE_MORE), 0);
	ck_assert_int_eq(message_parse_call(text, &call), 0);
	ck_assert(call.more && !call.oneway);
	ck_assert_str_eq(message_get_string(call.parameters, "x", NULL), "ü");
	ck_assert_ptr_null(message_get_string(call.parameters, "y", NULL));
	ck_assert(message_get_bool(call.parameters, "y", true));
	message_call_done(&call);
	free(text);

	ck_assert_int_eq(message_build_reply(&text, json_object(), MESSAGE_CONTINUES), 0);
	ck_assert_int_eq(message_parse_reply(text, &reply), 0);
	ck_assert(reply.continues && !reply.error);
	message_reply_done(&reply);
	free(text);

	ck_assert_int_eq(message_build_reply(&text, NULL, 0), -ENOMEM);
	ck_assert_int_eq(message_build_error(&text, "a.b", NULL), -ENOMEM);
	ck_assert_int_eq(message_build_call(&text, "a.b", NULL, 0), -ENOMEM);
}
END_TEST

START_TEST(any_bytes_become_a_string)
{
	static const struct {
		const char *bytes, *string;
	} cases[] = {
		{ "", "" },
		{ "plain → ü", "plain → ü" },
		{ "\xff", "\xef\xbf\xbd" },
		{ "a\xc3", "a\xef\xbf\xbd" },
		{ "\xed\xa0\x80z", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz" },
		{ "\033[31m", "\033[31m" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *string = message_string(cases[i].bytes);

		ck_assert_str_eq(json_string_value(string), cases[i].string);
		json_decref(string);
	}
}
END_TEST

static long allocations_left;

static void *failing_malloc(size_t size)
{
	return allocations_left-- > 0 ? malloc(size) : NULL;
}

/* A call, its reply, and an error, with every kind of allocation.  Return: 0 or -errno. */
static int converse(void)
{
	cleanup(freep) char *text = NULL, *answer = NULL, *error = NULL, *reply = NULL;
	struct node_view node = { .path = "w\xff", .is_service = true };
	struct message_call call;
	enum interface_method method;
	int r;

	node.service = (struct service_view){ .state = "up", .command = "x", .status = "\xff" };
	r = message_build_reply(&reply, json_pack("{s:[o]}", "nodes", node_view_build(&node)),
				MESSAGE_CONTINUES);
	if (r == 0)
		r = interface_build_error(&error, ERROR_FAILED, "web", "why", NULL);
	if (r == 0)
		r = message_build_call(&text, "org.varlink.service.GetInfo", json_object(),
				       MESSAGE_MORE);
	if (r == 0)
		r = message_parse_call(text, &call);
	if (r < 0)
		return r;
	r = interface_dispatch(&call, &method, &answer);
	message_call_done(&call);
	return r < 0 ? r : 0;
}

START_TEST(without_memory_no_message_is_built_and_none_leaks)
{
	long n = 0;
	int r;

	json_set_alloc_funcs(failing_malloc, free);
	do {
		allocations_left = n++;
		r = converse();
		/* jansson may report an invalid text if it is out of memory. */
		ck_assert_msg(r == 0 || r == -ENOMEM || r == -EBADMSG, "%ld allocations: %d", n, r);
	} while (r < 0);
	json_set_alloc_funcs(malloc, free);
	ck_assert_int_gt(n, 50);
}
END_TEST

/* A small generator, so that each run is the same. */
static unsigned next_random(unsigned *state)
{
	*state = *state * 1103515245 + 12345;
	return *state >> 16;
}

static void feed(const char *text)
{
	enum interface_method method;
	struct message_call call;
	struct message_reply reply;
	struct node_view *nodes;
	struct guard_view *guards;
	char *answer = NULL;
	size_t n;

	if (message_parse_call(text, &call) == 0) {
		ck_assert_int_ge(interface_dispatch(&call, &method, &answer), 0);
		free(answer);
		message_call_done(&call);
	}
	if (message_parse_reply(text, &reply) == 0) {
		if (node_view_parse_array(reply.parameters, "nodes", &nodes, &n) == 0)
			free(nodes);
		if (guard_view_parse_array(reply.parameters, "guards", &guards, &n) == 0)
			free(guards);
		message_reply_done(&reply);
	}
}

START_TEST(mutated_messages_are_accepted_or_refused)
{
	static const char *const seeds[] = {
		"{\"method\":\"io.swansong.Shutdown\",\"parameters\":{\"node\":\"web\",\"force\":true},\"more\":true}",
		"{\"method\":\"org.varlink.service.GetInterfaceDescription\",\"parameters\":{\"interface\":\"io.swansong\"}}",
		"{\"parameters\":{\"nodes\":[{\"path\":\"a\",\"generation\":1,\"state\":\"running\",\"since_usec\":1,"
		"\"guards\":0,\"ready\":true,\"forced\":false,\"service\":{\"state\":\"up\",\"since_usec\":1,"
		"\"command\":\"x\",\"ready\":true,\"restarts\":0,\"waiting\":[\"b\"]}}]},\"continues\":true}",
		"{\"parameters\":{\"guards\":[{\"id\":1,\"node\":\"\",\"generation\":1,\"kind\":\"lease\",\"age_usec\":1}]}}",
	};
	static const char interesting[] = "{}[]\",:\\u0tfn-19.e \x80\xff\xc3\x01";
	unsigned random = 1;
	char text[1024];

	for (int round = 0; round < 50000; round++) {
		size_t n = (size_t)snprintf(text, sizeof(text), "%s",
					    seeds[round % (int)ARRAY_SIZE(seeds)]);

		for (unsigned edits = next_random(&random) % 4 + 1; edits; edits--) {
			size_t at = next_random(&random) % n;
			size_t length = next_random(&random) % 8;

			switch (next_random(&random) % 3) {
			case 0:
				text[at] = interesting[next_random(&random) %
						       (sizeof(interesting) - 1)];
				break;
			case 1:
				text[at] = '\0';
				break;
			case 2:
				length = MIN(length, n - at);
				memmove(text + at, text + at + length, n - at - length + 1);
				break;
			}
			n = strlen(text);
			if (!n)
				break;
		}
		feed(text);
	}
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("proto");
	TCase *tc = tcase_create("message");

	tcase_add_test(tc, a_call_is_an_object_with_a_qualified_method);
	tcase_add_test(tc, depth_is_limited);
	tcase_add_test(tc, built_messages_can_be_parsed);
	tcase_add_test(tc, any_bytes_become_a_string);
	tcase_add_test(tc, without_memory_no_message_is_built_and_none_leaks);
	tcase_add_test(tc, mutated_messages_are_accepted_or_refused);
	suite_add_tcase(s, tc);

	suite_add_tcase(s, interface_tests());
	suite_add_tcase(s, view_tests());
	return s;
}
