#include "tests/unit/daemon/control/control-world.h"
#include "tests/unit/daemon/logger/fake-logger.h"

#include <string.h>
#include <unistd.h>

static const char services[] =
	"[shop/web]\ncommand = x\n[shop/api]\ncommand = x\n[db]\ncommand = x\n";

static const struct logger_view *hear_view(void)
{
	const struct logger_packet *packet = fake_logger_hears(LOGGER_VIEW);

	ck_assert_ptr_nonnull(packet);
	return &packet->message.view;
}

/* Returns a client of a tree with a ready logger and a stream of "db". */
static int begin_logged(void)
{
	int client;

	control_begin(services);
	client = client_new();
	fake_logger_begin();
	(void)fake_logger_stream("db", LOGGER_PLAIN);
	fake_logger_is_ready();
	return client;
}

static void end_logged(int client)
{
	(void)close(client);
	serve_later(0);
	fake_logger_end();
}

START_TEST(outputs_are_those_at_and_below_the_nodes)
{
	static const struct {
		const char *nodes;
		bool web, api, db;
	} table[] = {
		{ "\"nodes\":[\"db\"]", false, false, true },
		{ "\"nodes\":[\"shop\"]", true, true, false },
		{ "\"nodes\":[\"shop/api\",\"db\"]", false, true, true },
		{ "\"nodes\":[\"root\"]", true, true, true },
		{ "\"nodes\":[]", false, false, false },
	};
	int client;

	control_begin(services); /* without a logger */
	client = client_new();
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const char *text;

		call(client, "Logs", table[i].nodes);
		text = reply(client);
		ck_assert_ptr_nonnull(strstr(text, "\"outputs\":["));
		ck_assert_int_eq(strstr(text, "\"shop/web\"") != NULL, table[i].web);
		ck_assert_int_eq(strstr(text, "\"shop/api\"") != NULL, table[i].api);
		ck_assert_int_eq(strstr(text, "\"db\"") != NULL, table[i].db);
	}
	call(client, "Logs", "\"nodes\":[\"db\",\"none\"]");
	expect_in_reply(client, "{\"error\":\"io.swansong.NoSuchNode\"");
	(void)close(client);
}
END_TEST

START_TEST(wish_of_the_client_reaches_the_logger)
{
	static const struct {
		const char *parameters;
		uint64_t lines;
		bool more, older;
	} table[] = {
		{ "\"nodes\":[\"db\"]", 0, false, false },
		{ "\"nodes\":[\"db\"]", 0, true, false },
		{ "\"nodes\":[\"db\"],\"lines\":7,\"older\":false", 7, false, false },
		{ "\"nodes\":[\"db\"],\"lines\":7,\"older\":true", 7, true, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		int client = i ? client_new() : begin_logged();
		const struct logger_view *view;

		(table[i].more ? call_more : call)(client, "Logs", table[i].parameters);
		view = hear_view();
		ck_assert_uint_eq(view->lines, table[i].lines);
		ck_assert_uint_eq(view->follow, table[i].more);
		ck_assert_uint_eq(view->older, table[i].older);
		(void)close(client);
		serve_later(0);
	}
	fake_logger_end();
}
END_TEST

START_TEST(reader_that_does_not_follow_gets_one_reply)
{
	int client = begin_logged();

	call(client, "Logs", "\"nodes\":[\"db\"]");
	expect_in_reply(client, "{\"parameters\":{\"outputs\":[");
	ck_assert_ptr_nonnull(fake_logger_hears(LOGGER_BEGIN));
	serve_later(SEC);
	expect_reply(client, "");
	end_logged(client);
}
END_TEST

START_TEST(reader_that_follows_gets_its_last_reply_at_the_end_of_the_logger)
{
	int client = begin_logged();

	call_more(client, "Logs", "\"nodes\":[\"db\"]");
	expect_in_reply(client, "\"continues\":true");
	for (int i = 0; i < 3; i++) {
		context_update_soon(&ctx);
		serve_later(SEC);
		expect_reply(client, "");
	}
	fake_logger_ends();
	serve_later(SEC);
	fake_logger_is_ready();
	serve();
	expect_reply(client, "{\"parameters\":{}}");
	end_logged(client);
}
END_TEST

START_TEST(reader_waits_for_a_logger_that_is_not_ready)
{
	int client;

	control_begin(services);
	client = client_new();
	fake_logger_begin();
	(void)fake_logger_stream("db", LOGGER_PLAIN);
	call(client, "Logs", "\"nodes\":[\"db\"]");
	expect_reply(client, "");
	fake_logger_is_ready();
	serve();
	expect_in_reply(client, "{\"parameters\":{\"outputs\":[");
	(void)hear_view();
	end_logged(client);
}
END_TEST

START_TEST(reader_that_leaves_is_dropped_by_the_logger)
{
	int client = begin_logged();

	call_more(client, "Logs", "\"nodes\":[\"db\"]");
	(void)hear_view();
	(void)close(client);
	serve();
	serve_later(0);
	ck_assert_ptr_nonnull(fake_logger_hears(LOGGER_LEAVE));
	fake_logger_end();
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("logs");
	TCase *tc = control_case("logs");

	tcase_add_test(tc, outputs_are_those_at_and_below_the_nodes);
	tcase_add_test(tc, wish_of_the_client_reaches_the_logger);
	tcase_add_test(tc, reader_that_does_not_follow_gets_one_reply);
	tcase_add_test(tc, reader_that_follows_gets_its_last_reply_at_the_end_of_the_logger);
	tcase_add_test(tc, reader_waits_for_a_logger_that_is_not_ready);
	tcase_add_test(tc, reader_that_leaves_is_dropped_by_the_logger);
	suite_add_tcase(s, tc);
	return s;
}
