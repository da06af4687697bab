#include "tests/unit/daemon/control/control-world.h"

/* The method Inhibit: the names that the host waits for, and the services that are stopped before it sleeps. */

#include <string.h>
#include <unistd.h>

#define NOTHING \
	"{\"parameters\":{\"shutdown_delay\":[],\"shutdown_block\":[],\"sleep_delay\":[],\"sleep_block\":[]}"
#define SLEEP "\"sleep\":true"
#define TREE                                                                   \
	"[store]\ncommand = x\non-sleep = stop\n[web]\ncommand = x\nrequires = store\n" \
	"[other]\ncommand = x\n"

START_TEST(nodes_with_guards_are_named)
{
	struct lease *lease;
	int client;

	control_begin("[a]\ninhibit = shutdown:sleep\n[b]\ninhibit = shutdown:block\n"
		      "[c]\ninhibit = sleep:block\non-sleep = stop\n[c/s]\ncommand = x\nautostart = no\n");
	client = client_new();
	call(client, "Inhibit", "");
	expect_reply(client, NOTHING "}");
	call_more(client, "Inhibit", "");
	expect_reply(client, NOTHING ",\"continues\":true}");
	lease = hold("a");
	serve_later(SEC);
	expect_reply(client, "{\"parameters\":{\"shutdown_delay\":[\"a\"],\"shutdown_block\":[],"
			     "\"sleep_delay\":[\"a\"],\"sleep_block\":[]},\"continues\":true}");
	release(lease);
	serve_later(SEC);
	expect_reply(client, NOTHING ",\"continues\":true}");
	lease = hold("b");
	(void)start("c/s");
	serve_later(SEC);
	expect_reply(client, "{\"parameters\":{\"shutdown_delay\":[],\"shutdown_block\":[\"b\"],"
			     "\"sleep_delay\":[\"c/s\"],\"sleep_block\":[\"c\"]},\"continues\":true}");
	release(lease);
	(void)close(client);
}
END_TEST

START_TEST(nothing_is_sent_without_a_change)
{
	int client;

	control_begin("[a]\ncommand = x\n[b]\ncommand = x\ninhibit = sleep\n");
	client = client_new();
	call_more(client, "Inhibit", "");
	expect_in_reply(client, "\"sleep_delay\":[\"b\"]");
	stop("a");
	ends("a", 0);
	serve_later(SEC);
	expect_reply(client, "");
	(void)close(client);
}
END_TEST

START_TEST(services_are_stopped_in_order_until_the_client_leaves)
{
	int client;

	control_begin(TREE);
	client = client_new();
	call_more(client, "Inhibit", SLEEP);
	expect_in_reply(client, "\"sleep_delay\":[\"store\"]");
	expect("store waiting, web stopping, other up");
	ends("web", 0);
	expect("store stopping, web down");
	ends("store", 0);
	serve_later(SEC);
	expect_reply(client, NOTHING ",\"continues\":true}");
	(void)close(client);
	serve();
	expect("store up, web up, other up");
}
END_TEST

START_TEST(last_of_several_clients_ends_the_sleep)
{
	int first, second;

	control_begin(TREE);
	first = client_new();
	second = client_new();
	call_more(first, "Inhibit", SLEEP);
	call_more(second, "Inhibit", SLEEP);
	end_asked();
	(void)close(first);
	serve();
	expect("store down, web down");
	(void)close(second);
	serve();
	expect("store up, web up");
}
END_TEST

START_TEST(request_by_hand_replaces_the_sleep)
{
	int client;

	control_begin(TREE);
	client = client_new();
	call_more(client, "Inhibit", SLEEP);
	end_asked();
	stop("web");
	(void)close(client);
	serve();
	expect("store up, web down");
	client = client_new();
	call_more(client, "Inhibit", SLEEP);
	end_asked();
	(void)start("store");
	expect("store up, web down");
	stop("store");
	end_asked();
	(void)close(client);
	serve();
	expect("store down, web down");
}
END_TEST

START_TEST(nothing_starts_in_a_shutdown)
{
	int client;

	control_begin(TREE);
	client = client_new();
	call_more(client, "Inhibit", SLEEP);
	end_asked();
	stop("");
	(void)close(client);
	serve();
	end_asked();
	expect("store down, web down, other down");
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("inhibit");
	TCase *t = control_case("inhibit");

	tcase_add_test(t, nodes_with_guards_are_named);
	tcase_add_test(t, nothing_is_sent_without_a_change);
	tcase_add_test(t, services_are_stopped_in_order_until_the_client_leaves);
	tcase_add_test(t, last_of_several_clients_ends_the_sleep);
	tcase_add_test(t, request_by_hand_replaces_the_sleep);
	tcase_add_test(t, nothing_starts_in_a_shutdown);
	suite_add_tcase(suite, t);
	return suite;
}
