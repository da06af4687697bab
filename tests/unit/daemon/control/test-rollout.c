#include "tests/unit/daemon/control/control-world.h"

/* Rollouts, and reloads that must be confirmed, by the calls of clients. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ERROR(name) "{\"error\":\"io.swansong." name "\""
#define STATE(name) "\"state\":\"" name "\""

/* A configuration of three instances and a service with a dependent, of the version. */
static const char *tree_of(const char *version)
{
	static char text[512];

	(void)snprintf(text, sizeof(text),
		       "[web@]\ninstances = 3\ncommand = %s\n[db]\ncommand = %s\n"
		       "[user]\ncommand = x\nrequires = db\n",
		       version, version);
	return text;
}

static void use(const char *version)
{
	const char *text = tree_of(version);

	write_file("config", text, strlen(text));
}

static int rollout_begin(const char *parameters)
{
	int client = client_new();

	call_more(client, "Rollout", parameters);
	serve_child();
	return client;
}

/* The files have other settings, y in place of x, and a rollout of them begins. */
static int rollout_to_y(const char *parameters)
{
	control_begin(tree_of("x"));
	use("y");
	return rollout_begin(parameters);
}

static const char *command_of(const char *path)
{
	return service(path)->setup.launch.config->argv[0];
}

static void expect_commands(const char *web1, const char *web2, const char *web3)
{
	ck_assert_str_eq(command_of("web@1"), web1);
	ck_assert_str_eq(command_of("web@2"), web2);
	ck_assert_str_eq(command_of("web@3"), web3);
}

/* The service ends as it was asked to, and has started again. */
static void renew(const char *path)
{
	ck_assert(is_asked(service(path)));
	ends(path, 0);
	serve();
}

static void expect_state(enum rollout_state state)
{
	ck_assert_int_eq(rollout.state, state);
}

#define BEGIN \
	"\"action\":\"begin\",\"nodes\":[\"web@1\",\"web@2\",\"web@3\"],\"settle_usec\":1000000"

START_TEST(services_are_restarted_one_after_another)
{
	int client = rollout_to_y(BEGIN);
	expect_in_reply(client, STATE("running"));
	expect("web@1 stopping, web@2 up, web@3 up");
	renew("web@1");
	expect("web@1 up, web@2 up, web@3 up");
	serve_later(SEC / 2);
	expect("web@1 up, web@2 up, web@3 up");
	serve_later(SEC / 2);
	expect("web@1 up, web@2 stopping, web@3 up");
	renew("web@2");
	serve_later(SEC);
	renew("web@3");
	serve_later(SEC);
	expect_state(ROLLOUT_DONE);
	expect_commands("y", "y", "y");
	ck_assert_str_eq(command_of("db"), "x");
	(void)close(client);
}
END_TEST

START_TEST(failure_leads_back_in_reverse)
{
	pid_t third;
	int client;

	control_begin(tree_of("x"));
	third = service("web@3")->main.pid;
	use("y");
	client = rollout_begin(BEGIN ",\"or_undo\":true");
	renew("web@1");
	serve_later(SEC);
	renew("web@2");
	ends("web@2", 3);
	serve();
	expect_state(ROLLOUT_UNDOING);
	serve_child();
	/* It has no process, so it starts at once; the first one waits until it is ready for long enough. */
	expect("web@1 up, web@2 up, web@3 up");
	ck_assert_str_eq(command_of("web@2"), "x");
	serve_later(SEC);
	renew("web@1");
	serve_later(SEC);
	expect_state(ROLLOUT_UNDONE);
	expect_commands("x", "x", "x");
	ck_assert_int_eq(service("web@3")->main.pid, third);
	ck_assert_str_eq(json_string_value(json_object_get(rollout.shown, "reason")),
			 "web@2: exited with status 3");
	(void)close(client);
}
END_TEST

START_TEST(failure_without_or_undo_ends_the_rollout)
{
	int client = rollout_to_y(BEGIN);
	renew("web@1");
	ends("web@1", 3);
	serve();
	expect_state(ROLLOUT_FAILED);
	expect("web@2 up, web@3 up");
	expect_commands("y", "x", "x");
	call(client_new(), "Rollout", "\"action\":\"continue\"");
	serve();
	expect_state(ROLLOUT_RUNNING);
	(void)close(client);
}
END_TEST

START_TEST(rollout_of_the_same_settings_has_no_way_back)
{
	int client;

	control_begin(tree_of("x"));
	use("x");
	client = rollout_begin(BEGIN ",\"or_undo\":true");
	renew("web@1");
	ends("web@1", 3);
	serve();
	expect_state(ROLLOUT_FAILED);
	(void)close(client);
}
END_TEST

START_TEST(rollout_pauses_and_goes_on)
{
	int client, other;

	client = rollout_to_y(BEGIN ",\"pause_after\":1");
	renew("web@1");
	serve_later(SEC);
	expect_state(ROLLOUT_PAUSED);
	expect("web@1 up, web@2 up, web@3 up");
	other = client_new();
	call(other, "Reload", "");
	serve_child();
	expect_in_reply(other, ERROR("Failed"));
	call(other, "Status", "");
	expect_in_reply(other, STATE("paused"));
	call(other, "Rollout", "\"action\":\"continue\"");
	expect("web@1 up, web@2 stopping, web@3 up");
	(void)close(client);
	(void)close(other);
}
END_TEST

START_TEST(rollout_goes_on_without_its_client)
{
	(void)close(rollout_to_y(BEGIN));
	renew("web@1");
	serve_later(SEC);
	renew("web@2");
	serve_later(SEC);
	renew("web@3");
	serve_later(SEC);
	expect_state(ROLLOUT_DONE);
}
END_TEST

START_TEST(stop_by_hand_fails_the_rollout_at_its_node)
{
	int client = rollout_to_y(BEGIN ",\"or_undo\":true");
	stop("web@1");
	serve();
	expect_state(ROLLOUT_UNDOING);
	serve_child();
	expect_state(ROLLOUT_UNDONE);
	ends("web@1", 0);
	serve();
	expect("web@1 down, web@2 up, web@3 up");
	ck_assert_int_eq(start("web@1"), 0);
	expect_commands("x", "x", "x");
	(void)close(client);
}
END_TEST

START_TEST(shutdown_ends_the_rollout)
{
	int client = rollout_to_y(BEGIN ",\"or_undo\":true");
	stop("");
	serve();
	expect_state(ROLLOUT_FAILED);
	(void)close(client);
}
END_TEST

START_TEST(dependents_are_restarted_once_and_waited_for)
{
	int client =
		rollout_to_y("\"action\":\"begin\",\"nodes\":[\"db\",\"user\"],\"settle_usec\":0");
	expect("user stopping, db waiting");
	end_asked();
	serve();
	expect("user up, db up");
	expect_state(ROLLOUT_DONE);
	ck_assert_uint_eq(find("user")->generation, 2);
	(void)close(client);
}
END_TEST

START_TEST(dry_run_names_the_services_and_changes_nothing)
{
	int client = rollout_to_y("\"action\":\"begin\",\"nodes\":[\"db\"],\"dry_run\":true");
	expect_in_reply(client, "{\"node\":\"user\",\"state\":\"pending\",\"with\":\"db\"}");
	expect_state(ROLLOUT_NONE);
	expect("db up, user up");
	ck_assert(!service_is_outdated(service("db")));
	(void)close(client);
}
END_TEST

/* --- reloads that must be confirmed --- */

static int reload_unconfirmed(const char *version)
{
	int client = client_new();

	use(version);
	call(client, "Reload", "\"confirm_usec\":60000000");
	serve_child();
	end_asked();
	serve();
	return client;
}

START_TEST(reload_that_is_not_confirmed_goes_back)
{
	struct config *before;
	int client;

	control_begin(tree_of("x"));
	before = tree.config;
	client = reload_unconfirmed("y");
	expect_commands("y", "y", "y");
	expect_state(ROLLOUT_UNCONFIRMED);
	serve_later(59 * SEC);
	expect_state(ROLLOUT_UNCONFIRMED);
	serve_later(SEC);
	serve_child();
	end_asked();
	serve();
	expect_state(ROLLOUT_UNDONE);
	expect_commands("x", "x", "x");
	expect("web@1 up, web@2 up, web@3 up, db up, user up");
	ck_assert_ptr_eq(tree.config, before);
	(void)close(client);
}
END_TEST

START_TEST(confirmed_reload_stays)
{
	int client;

	control_begin(tree_of("x"));
	client = reload_unconfirmed("y");
	call(client, "Rollout", "\"action\":\"confirm\"");
	serve_later(100 * SEC);
	expect_state(ROLLOUT_DONE);
	expect_commands("y", "y", "y");
	call(client, "Rollout", "\"action\":\"confirm\"");
	(void)reply(client);
	(void)reply(client);
	expect_in_reply(client, ERROR("Failed"));
	(void)close(client);
}
END_TEST

START_TEST(second_reload_has_the_way_back_of_the_first)
{
	int client;

	control_begin(tree_of("x"));
	(void)close(reload_unconfirmed("y"));
	serve_later(30 * SEC);
	client = reload_unconfirmed("z");
	expect_commands("z", "z", "z");
	serve_later(59 * SEC);
	expect_state(ROLLOUT_UNCONFIRMED);
	serve_later(SEC);
	serve_child();
	end_asked();
	serve();
	expect_commands("x", "x", "x");
	(void)close(client);
}
END_TEST

START_TEST(other_reloads_are_refused_until_it_is_confirmed)
{
	int client;

	control_begin(tree_of("x"));
	client = reload_unconfirmed("y");
	(void)reply(client);
	use("z");
	call(client, "Reload", "");
	serve_child();
	expect_in_reply(client, ERROR("Failed"));
	call(client, "Rollout", BEGIN);
	serve_child();
	expect_in_reply(client, ERROR("Failed"));
	expect_commands("y", "y", "y");
	(void)close(client);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("rollout");
	TCase *tc = control_case("rollout");

	tcase_add_test(tc, services_are_restarted_one_after_another);
	tcase_add_test(tc, failure_leads_back_in_reverse);
	tcase_add_test(tc, failure_without_or_undo_ends_the_rollout);
	tcase_add_test(tc, rollout_of_the_same_settings_has_no_way_back);
	tcase_add_test(tc, rollout_pauses_and_goes_on);
	tcase_add_test(tc, rollout_goes_on_without_its_client);
	tcase_add_test(tc, stop_by_hand_fails_the_rollout_at_its_node);
	tcase_add_test(tc, shutdown_ends_the_rollout);
	tcase_add_test(tc, dependents_are_restarted_once_and_waited_for);
	tcase_add_test(tc, dry_run_names_the_services_and_changes_nothing);
	tcase_add_test(tc, reload_that_is_not_confirmed_goes_back);
	tcase_add_test(tc, confirmed_reload_stays);
	tcase_add_test(tc, second_reload_has_the_way_back_of_the_first);
	tcase_add_test(tc, other_reloads_are_refused_until_it_is_confirmed);
	suite_add_tcase(s, tc);
	return s;
}
