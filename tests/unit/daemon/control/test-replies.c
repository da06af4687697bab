/* Replies of requests that need no client: the test has the reply. */
#include "tests/unit/fixtures/daemon/tree-world.h"

#include <errno.h>
#include <string.h>

#include "daemon/control/requests-private.h"
#include "tests/unit/fixtures/nomem.h"

static struct connection connection;
static struct request request;
static json_t *reply;
static char failure[256];

void __wrap_connection_reply(struct connection *c, json_t *parameters, bool continues);
void __wrap_connection_reply(struct connection *c, json_t *parameters, bool continues)
{
	allocations_left = -1; /* of the test */
	ck_assert_ptr_eq(c, &connection);
	ck_assert(!continues);
	ck_assert_ptr_null(reply);
	reply = parameters;
}

void __wrap_connection_fail(struct connection *c, enum interface_error error, const char *node,
			    const char *reason, json_t *more);
void __wrap_connection_fail(struct connection *c, enum interface_error error, const char *node,
			    const char *reason, json_t *more)
{
	allocations_left = -1; /* of the test */
	ck_assert_ptr_eq(c, &connection);
	(void)snprintf(failure, sizeof(failure), "%s %s: %s", interface_error_name(error), node,
		       reason);
	json_decref(more);
}

static void begin_requests(const char *text)
{
	begin(text);
	connection.ctx = &ctx;
	request_init(&request, &tree, &connection);
}

static void end_requests(void)
{
	json_decref(reply);
	request_done(&request);
	finish();
}

/* --- forecasts --- */

START_TEST(plan_without_memory_is_an_error)
{
	const struct message_call call = { .parameters = NULL };
	struct node *root;
	long n = 0;

	begin_requests("[swansong]\nshutdown-timeout = 9s\n[a]\ncommand = x\n"
		       "[b]\ncommand = x\nafter = a\n");
	root = find("root");
	for (; !reply; n++) {
		ck_assert_int_lt(n, 1000);
		*failure = '\0';
		allocations_left = n;
		request_plan(&request, root, &call);
		ck_assert_str_eq(failure, reply ? "" : "io.swansong.Failed root: out of memory");
	}
	ck_assert_int_gt(n, 3);
	ck_assert_ptr_nonnull(json_object_get(reply, "entries"));
}
END_TEST

/* --- forced kills --- */

static json_t *kills_since(uint64_t usec, const struct node *node)
{
	json_decref(reply);
	reply = json_object();
	request.stopped_usec = usec;
	request_add_forced_kills(&request, node, reply);
	return json_object_get(reply, "losses");
}

START_TEST(reply_has_the_forced_kills_from_the_time_of_the_stop_on)
{
	struct forced_kill kill;

	begin_requests("[web]\ncommand = x\n");
	(void)strcpy(request.path, "web");
	forced_kills_add(ctx.forced_kills, "web", "killed pid %d", 7);
	ck_assert(forced_kills_get(ctx.forced_kills, 0, &kill));
	ck_assert_uint_eq(json_array_size(kills_since(kill.usec - 1, find("web"))), 1);
	ck_assert_uint_eq(json_array_size(kills_since(kill.usec, NULL)), 1);
	ck_assert(json_is_true(json_object_get(reply, "forced")));
	ck_assert_ptr_null(kills_since(kill.usec + 1, find("web")));
	ck_assert_ptr_null(json_object_get(reply, "forced"));
	ck_assert_ptr_null(kills_since(0, find("web")));
}
END_TEST

START_TEST(stop_was_forced_although_the_ring_has_lost_its_kills)
{
	begin_requests("[web]\ncommand = x\n");
	find("web")->force.any_usec = 5000;
	for (uint64_t usec = 4999; usec <= 5000; usec++) {
		ck_assert_uint_eq(json_array_size(kills_since(usec, find("web"))), 0);
		ck_assert(json_is_true(json_object_get(reply, "forced")));
	}
	ck_assert_ptr_null(kills_since(5001, find("web")));
	ck_assert_ptr_null(kills_since(5000, NULL));
	find("web")->force.any_usec = 0;
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("replies");
	TCase *tc = tcase_create("replies");

	tcase_add_checked_fixture(tc, NULL, end_requests);
	tcase_add_test(tc, plan_without_memory_is_an_error);
	tcase_add_test(tc, reply_has_the_forced_kills_from_the_time_of_the_stop_on);
	tcase_add_test(tc, stop_was_forced_although_the_ring_has_lost_its_kills);
	suite_add_tcase(suite, tc);
	return suite;
}
