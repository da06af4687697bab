#include "tests/unit/daemon/control/control-world.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ERROR(name) "{\"error\":\"io.swansong." name "\""

/* --- stops --- */

static const char stopped[] = "[web]\nshutdown-timeout = 5s\n[web/api]\ncommand = x\n"
			      "[db]\nshutdown-timeout = 5s\n";

START_TEST(reply_to_a_stop_has_its_forced_kills)
{
	struct lease *leases[2];
	int client;

	control_begin(stopped);
	client = client_new();
	leases[0] = hold("web/api");
	leases[1] = hold("db");
	stop("db");
	call(client, "Stop", "\"node\":\"web\"");
	expect_reply(client, "");
	ends("web/api", 0);
	serve_later(6 * SEC);
	expect_in_reply(client,
			"{\"parameters\":{\"forced\":true,\"losses\":[{\"node\":\"web/api\","
			"\"what\":\"revoked, after ");
	ck_assert(find("db")->forced);
	lease_free(leases[0]);
	lease_free(leases[1]);
	(void)close(client);
}
END_TEST

START_TEST(forced_kills_of_other_nodes_are_not_in_the_reply)
{
	struct lease *lease;
	int client;

	control_begin("[web]\ncommand = x\nstop-timeout = 50s\n[db]\nshutdown-timeout = 5s\n");
	client = client_new();
	lease = hold("db");
	stop("db");
	call(client, "Stop", "\"node\":\"web\"");
	serve_later(6 * SEC);
	ck_assert(find("db")->forced);
	lease_free(lease);
	ends("web", 0);
	serve();
	expect_reply(client, "{\"parameters\":{}}");
	(void)close(client);
}
END_TEST

START_TEST(forced_kills_of_stopped_dependents_are_in_the_reply)
{
	struct lease *lease;
	int client;

	control_begin(
		"[web]\ncommand = x\n[user]\ncommand = x\nrequires = web\nshutdown-timeout = 5s\n");
	client = client_new();
	lease = hold("user");
	call(client, "Stop", "\"node\":\"web\"");
	ends("user", 0);
	serve_later(6 * SEC);
	ends("web", 0);
	serve();
	expect_in_reply(client, "\"losses\":[{\"node\":\"user\"");
	lease_free(lease);
	(void)close(client);
}
END_TEST

/* --- starts --- */

START_TEST(service_that_ends_while_it_settles_has_failed)
{
	int client;

	control_begin("[web]\ncommand = x\nautostart = no\n");
	client = client_new();
	call(client, "Start", "\"node\":\"web\",\"settle_usec\":5000000");
	expect("web up");
	expect_reply(client, "");
	serve_later(3 * SEC);
	expect_reply(client, "");
	ends("web", 3);
	serve();
	expect_in_reply(client, ERROR("Failed"));
	(void)close(client);
}
END_TEST

START_TEST(end_after_the_time_to_settle_is_no_failure_of_the_start)
{
	int client;

	control_begin("[web]\ncommand = x\nautostart = no\n");
	client = client_new();
	call(client, "Start", "\"node\":\"web\",\"settle_usec\":5000000");
	serve_later(5 * SEC);
	expect_reply(client, "{\"parameters\":{}}");
	ends("web", 3);
	serve();
	expect_reply(client, "");
	(void)close(client);
}
END_TEST

/* A run that has ended long before the call counts for the next one. */
START_TEST(earlier_end_of_a_service_is_none_of_its_settling)
{
	int client;

	control_begin("[web]\ncommand = x\nrestart-delay = 20s\n");
	serve_later(100 * SEC);
	ends("web", 3);
	expect("web backoff");
	serve_later(10 * SEC);
	client = client_new();
	call(client, "Wait", "\"node\":\"web\",\"until\":\"ready\",\"settle_usec\":5000000");
	expect_reply(client, "");
	serve_later(30 * SEC);
	expect("web up");
	serve_later(6 * SEC);
	expect_reply(client, "{\"parameters\":{}}");
	(void)close(client);
}
END_TEST

/* --- guards --- */

START_TEST(client_of_a_guard_is_notified_of_its_stop_and_its_end)
{
	int client;

	control_begin("[web]\nshutdown-timeout = 5s\n");
	client = client_new();
	call_more(client, "TakeGuard", "\"node\":\"web\"");
	expect_reply(client, "{\"parameters\":{\"id\":1},\"continues\":true}");
	stop("web");
	serve();
	expect_reply(client, "{\"parameters\":{\"id\":1,\"stopping\":true},\"continues\":true}");
	serve_later(5 * SEC);
	expect_reply(client, "{\"parameters\":{\"id\":1,\"lost\":\"revoked\"}}");
	call(client, "Guards", "\"node\":\"web\"");
	expect_reply(client, "{\"parameters\":{\"guards\":[]}}");
	(void)close(client);
}
END_TEST

START_TEST(client_of_a_guard_is_notified_of_its_expiry)
{
	int client;

	control_begin("[web]\n");
	client = client_new();
	call_more(client, "TakeGuard", "\"node\":\"web\",\"ttl_usec\":2000000");
	expect_reply(client, "{\"parameters\":{\"id\":1},\"continues\":true}");
	serve_later(SEC);
	expect_reply(client, "");
	serve_later(SEC);
	expect_reply(client, "{\"parameters\":{\"id\":1,\"lost\":\"expired\"}}");
	(void)close(client);
}
END_TEST

START_TEST(only_a_revoked_guard_without_more_ends_its_connection)
{
	int expires, revoked;

	control_begin("[web]\nshutdown-timeout = 5s\n");
	expires = client_new();
	revoked = client_new();
	call(expires, "TakeGuard", "\"node\":\"web\",\"ttl_usec\":1000000");
	call(revoked, "TakeGuard", "\"node\":\"web\"");
	expect_reply(expires, "{\"parameters\":{\"id\":1}}");
	expect_reply(revoked, "{\"parameters\":{\"id\":2}}");
	serve_later(2 * SEC);
	stop("web");
	serve_later(10 * SEC);
	expect_reply(expires, "");
	expect_reply(revoked, "end");
	ck_assert(find("web")->complete);
	(void)close(expires);
	(void)close(revoked);
}
END_TEST

START_TEST(guard_ends_with_its_connection)
{
	int client;

	control_begin("[web]\n");
	client = client_new();
	call(client, "TakeGuard", "\"node\":\"web\"");
	ck_assert(!list_is_empty(&find("web")->leases));
	(void)close(client);
	serve();
	serve_later(0);
	ck_assert(list_is_empty(&find("web")->leases));
}
END_TEST

START_TEST(work_that_uses_a_node_holds_a_node_beside_it)
{
	int client;

	control_begin("[web]\ncommand = x\n");
	client = client_new();
	call(client, "TakeGuard", "\"node\":\"web\",\"using\":true,\"why\":\"backup\"");
	expect_in_reply(client, "{\"parameters\":{\"id\":");
	ck_assert(list_is_empty(&find("web")->leases));
	ck_assert(!list_is_empty(&find("web+using")->leases));
	stop("web");
	serve();
	expect("web waiting");
	call(client, "Release", "\"why\":\"backup\"");
	expect_reply(client, "{\"parameters\":{}}");
	expect("web stopping");
	(void)close(client);
}
END_TEST

START_TEST(use_that_is_refused_leaves_no_node)
{
	static const struct {
		const char *node, *error;
	} table[] = {
		{ "root", ERROR("Failed") },
		{ "web", ERROR("NodeStopped") },
	};
	char parameters[64];
	int client;

	control_begin("[web]\ncommand = x\n");
	client = client_new();
	stop("web");
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		(void)snprintf(parameters, sizeof(parameters), "\"node\":\"%s\",\"using\":true",
			       table[i].node);
		call(client, "TakeGuard", parameters);
		expect_in_reply(client, table[i].error);
	}
	ck_assert_ptr_null(tree_find(&tree, "web+using"));
	(void)close(client);
}
END_TEST

START_TEST(guard_with_invalid_values_is_refused)
{
	char parameters[300], why[LEASE_WHY_MAX + 2];
	int client;

	memset(why, 'x', LEASE_WHY_MAX + 1);
	why[LEASE_WHY_MAX + 1] = '\0';
	control_begin("[web]\n");
	client = client_new();
	(void)snprintf(parameters, sizeof(parameters), "\"node\":\"web\",\"why\":\"%s\"", why);
	call(client, "TakeGuard", parameters);
	expect_in_reply(client, "the reason is longer than 200 bytes");
	call(client, "TakeGuard", "\"node\":\"web\",\"ttl_usec\":0");
	expect_in_reply(client, "invalid ttl 0");
	call(client, "Release", "");
	expect_in_reply(client, "no guard named");
	call(client, "Release", "\"id\":7");
	expect_in_reply(client, "this connection holds no such guard");
	ck_assert(list_is_empty(&find("web")->leases));
	(void)close(client);
}
END_TEST

/* --- reloads and upgrades --- */

START_TEST(events_of_a_reload_name_the_client_that_requested_it)
{
	static const char after[] = "[web]\ncommand = x\n[db]\ncommand = x\n";
	char cause[64];
	int client;

	control_begin("[web]\ncommand = x\n");
	client = client_new();
	write_file("config", after, strlen(after));
	call(client, "Reload", "");
	expect_reply(client, "");
	ck_assert_ptr_null(tree_find(&tree, "db"));
	serve_child();
	expect_in_reply(client, "{\"parameters\":{\"changes\":[{");
	expect("web up, db up");
	call(client, "Events", "\"node\":\"db\"");
	(void)snprintf(cause, sizeof(cause), "\"cause\":\"asked by pid %d, uid %u\"", (int)getpid(),
		       getuid());
	expect_in_reply(client, cause);
	(void)close(client);
}
END_TEST

START_TEST(reload_with_mistakes_changes_nothing)
{
	int client;

	control_begin("[web]\ncommand = x\n");
	client = client_new();
	write_file("config", "[web]\nnone = x\n", 15);
	call(client, "Reload", "");
	serve_child();
	expect_in_reply(client, ERROR("Failed"));
	expect("web up");
	(void)close(client);
}
END_TEST

/* The upgrade has been rehearsed by a program that is still there. */
static void rehearse(int client, const char *parameters)
{
	upgrade.closer.process.alive = true;
	upgrade.state = UPGRADE_REHEARSAL;
	call(client, "Upgrade", parameters);
	expect_reply(client, "");
	(void)strcpy(upgrade.text, "9.9");
	upgrade.state = UPGRADE_REHEARSED;
	serve();
	upgrade.closer.process.alive = false;
}

START_TEST(rehearsed_upgrade_is_carried_out)
{
	int client;

	control_begin("[web]\ncommand = x\n");
	client = client_new();
	/* Without a roster the service would be lost, and there is no time to wait for its end. */
	rehearse(client, "");
	expect_in_reply(client, "web is starting or stopping");
	ck_assert_int_eq(upgrade.state, UPGRADE_REFUSED);
	(void)close(client);
}
END_TEST

START_TEST(rehearsal_alone_replies_with_the_version)
{
	int client;

	control_begin("[web]\ncommand = x\n");
	client = client_new();
	rehearse(client, "\"dry_run\":true");
	expect_reply(client,
		     "{\"parameters\":{\"version\":\"9.9\",\"from\":\"" PACKAGE_VERSION "\"}}");
	ck_assert_int_eq(upgrade.state, UPGRADE_REHEARSED);
	(void)close(client);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("requests");
	TCase *tc = control_case("requests");

	tcase_add_test(tc, reply_to_a_stop_has_its_forced_kills);
	tcase_add_test(tc, forced_kills_of_other_nodes_are_not_in_the_reply);
	tcase_add_test(tc, forced_kills_of_stopped_dependents_are_in_the_reply);
	tcase_add_test(tc, service_that_ends_while_it_settles_has_failed);
	tcase_add_test(tc, end_after_the_time_to_settle_is_no_failure_of_the_start);
	tcase_add_test(tc, earlier_end_of_a_service_is_none_of_its_settling);
	tcase_add_test(tc, client_of_a_guard_is_notified_of_its_stop_and_its_end);
	tcase_add_test(tc, client_of_a_guard_is_notified_of_its_expiry);
	tcase_add_test(tc, only_a_revoked_guard_without_more_ends_its_connection);
	tcase_add_test(tc, guard_ends_with_its_connection);
	tcase_add_test(tc, work_that_uses_a_node_holds_a_node_beside_it);
	tcase_add_test(tc, use_that_is_refused_leaves_no_node);
	tcase_add_test(tc, guard_with_invalid_values_is_refused);
	tcase_add_test(tc, events_of_a_reload_name_the_client_that_requested_it);
	tcase_add_test(tc, reload_with_mistakes_changes_nothing);
	tcase_add_test(tc, rehearsed_upgrade_is_carried_out);
	tcase_add_test(tc, rehearsal_alone_replies_with_the_version);
	suite_add_tcase(s, tc);
	return s;
}
