#include "tests/unit/daemon/control/control-world.h"

/* Looks for services with files that were replaced: here each service has one process, of which a test has the result. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/demand/programs.h"
#include "sys/process/proc.h"

#define LOOK	 "\"programs\":true"
#define TREE	 "[a]\ncommand = x\n[b]\ncommand = x\n[c]\ncommand = x\n"
#define OUTDATED "\"action\":\"begin\",\"outdated\":true,\"settle_usec\":0"

/* The results in a child: a path, "" if nothing was replaced, "!" if the kernel refuses, "hang" or "crash". */
static const char *results[8];
static pid_t pids[8];

int __wrap_proc_find_replaced(struct proc_files *files, pid_t pid, char **ret);
int __wrap_proc_find_replaced(struct proc_files *files, pid_t pid, char **ret)
{
	size_t i = 0;

	(void)files;
	while (pids[i] && pids[i] != pid)
		i++;
	if (!pids[i] || strcmp(results[i], "") == 0)
		return 0;
	if (strcmp(results[i], "hang") == 0)
		(void)pause();
	if (strcmp(results[i], "crash") == 0)
		(void)raise(SIGKILL);
	if (strcmp(results[i], "!") == 0)
		return -EACCES;
	*ret = strdup(results[i]);
	return 1;
}

static void finds(const char *path, const char *result)
{
	pid_t pid = service(path)->main.pid;
	size_t i = 0;

	while (pids[i] && pids[i] != pid)
		i++;
	pids[i] = pid;
	results[i] = result;
}

static void begin_programs(void)
{
	memset(pids, 0, sizeof(pids));
}

static void expect_program(const char *path, const char *word, const char *file)
{
	const char *found, *of = service_program(service(path), &found);

	if (word)
		ck_assert_str_eq(of, word);
	else
		ck_assert_ptr_null(of);
	if (file)
		ck_assert_str_eq(found, file);
	else
		ck_assert_ptr_null(found);
}

/* The number of children of the daemon: it has none but a look. */
static bool has_child(void)
{
	return waitid(P_ALL, 0, &(siginfo_t){ .si_pid = 0 }, WEXITED | WNOHANG | WNOWAIT) == 0;
}

START_TEST(status_shows_what_was_replaced)
{
	int client;

	control_begin(TREE);
	finds("b", "/lib/b.so");
	finds("c", "!");
	client = client_new();
	call(client, "Status", LOOK);
	ck_assert_str_eq(reply(client), "");
	serve_child();
	expect_in_reply(client, "\"program\":\"current\"");
	expect_program("a", "current", NULL);
	expect_program("b", "replaced", "/lib/b.so");
	expect_program("c", "unknown", NULL);
	ck_assert(!has_child());
	(void)close(client);
}
END_TEST

START_TEST(only_a_request_makes_a_look)
{
	int client;

	control_begin(TREE);
	finds("a", "/a");
	client = client_new();
	call(client, "Status", "");
	ck_assert_ptr_nonnull(strstr(reply(client), "\"path\":\"a\""));
	serve_later(3600 * SEC);
	ck_assert(!has_child());
	expect_program("a", NULL, NULL);
	(void)close(client);
}
END_TEST

START_TEST(others_are_served_meanwhile)
{
	int looking, other;

	control_begin(TREE);
	finds("a", "hang");
	looking = client_new();
	other = client_new();
	call(looking, "Status", LOOK);
	call(other, "Status", "");
	ck_assert_ptr_nonnull(strstr(reply(other), "\"path\":\"a\""));
	ck_assert_str_eq(reply(looking), "");
	serve_child();
	serve_child();
	ck_assert_ptr_nonnull(strstr(reply(looking), "unknown"));
	(void)close(other);
	(void)close(looking);
}
END_TEST

/* The present look may have passed the service already. */
START_TEST(request_during_a_look_gets_the_next_one)
{
	int first, second;

	control_begin(TREE);
	first = client_new();
	second = client_new();
	call(first, "Status", LOOK);
	finds("a", "/a");
	call(second, "Status", LOOK);
	serve_child();
	ck_assert_ptr_nonnull(strstr(reply(first), "current"));
	ck_assert_str_eq(reply(second), "");
	serve_child();
	ck_assert_ptr_nonnull(strstr(reply(second), "\"replaced\":\"/a\""));
	(void)close(first);
	(void)close(second);
}
END_TEST

START_TEST(look_is_at_the_services_of_the_node)
{
	int client;

	control_begin("[a]\ncommand = x\n[web]\n[web/b]\ncommand = x\n[web/c]\ncommand = x\n");
	finds("a", "hang");
	finds("web/c", "/c");
	client = client_new();
	call(client, "Status", "\"node\":\"web\"," LOOK);
	serve_child();
	expect_in_reply(client, "\"replaced\":\"/c\"");
	expect_program("a", NULL, NULL);
	expect_program("web/b", "current", NULL);
	(void)close(client);
}
END_TEST

/* The second one waits; its earlier result stays meanwhile. */
START_TEST(requests_for_two_nodes_have_a_look_each)
{
	int first, second;

	control_begin(TREE);
	finds("b", "/b");
	first = client_new();
	second = client_new();
	call(second, "Status", "\"node\":\"b\"," LOOK);
	serve_child();
	expect_in_reply(second, "\"replaced\":\"/b\"");
	call(first, "Status", "\"node\":\"a\"," LOOK);
	call(second, "Status", "\"node\":\"b\"," LOOK);
	expect_program("b", "replaced", "/b");
	serve_child();
	expect_in_reply(first, "\"program\":\"current\"");
	ck_assert_str_eq(reply(second), "");
	serve_child();
	expect_in_reply(second, "\"replaced\":\"/b\"");
	expect_program("c", NULL, NULL);
	ck_assert(!has_child());
	(void)close(first);
	(void)close(second);
}
END_TEST

static bool is_known_to_a_client_that_may_only_look(void)
{
	return programs_are_known(&programs, tree.root, programs_look(&programs, false));
}

START_TEST(client_that_may_only_look_has_a_look_every_six_seconds)
{
	control_begin(TREE);
	ck_assert(!is_known_to_a_client_that_may_only_look());
	serve_child();
	ck_assert(is_known_to_a_client_that_may_only_look());
	expect_program("c", "current", NULL);
	serve_later(5 * SEC);
	ck_assert(is_known_to_a_client_that_may_only_look());
	serve_later(2 * SEC);
	ck_assert(!is_known_to_a_client_that_may_only_look());
	serve_child();
	ck_assert(is_known_to_a_client_that_may_only_look());
}
END_TEST

/* It is ended by its own alarm, or has a fault. */
START_TEST(service_that_holds_up_a_child_hides_no_other)
{
	static const char *const bad[] = { "hang", "crash" };

	control_begin(TREE);
	for (size_t i = 0; i < 2; i++) {
		int client = client_new();

		finds("a", "/a");
		finds("b", bad[i]);
		finds("c", "/c");
		call(client, "Status", LOOK);
		serve_child();
		ck_assert_str_eq(reply(client), "");
		serve_child();
		ck_assert_str_ne(reply(client), "");
		expect_program("a", "replaced", "/a");
		expect_program("b", "unknown", NULL);
		expect_program("c", "replaced", "/c");
		(void)close(client);
	}
}
END_TEST

START_TEST(look_has_a_limit)
{
	int client;

	control_begin(TREE);
	finds("b", "hang");
	client = client_new();
	call(client, "Status", LOOK);
	serve_later(4 * SEC);
	ck_assert_str_ne(reply(client), "");
	expect_program("b", "unknown", NULL);
	/* While the child is there, no other one is made, and the next look is over at once. */
	call(client, "Status", LOOK);
	ck_assert_str_ne(reply(client), "");
	expect_program("a", "unknown", NULL);
	serve_child();
	finds("b", "");
	call(client, "Status", LOOK);
	serve_child();
	ck_assert_str_ne(reply(client), "");
	expect_program("b", "current", NULL);
	(void)close(client);
}
END_TEST

START_TEST(new_run_has_no_result)
{
	int client;

	control_begin(TREE);
	finds("a", "/a");
	client = client_new();
	call(client, "Status", LOOK);
	serve_child();
	expect_program("a", "replaced", "/a");
	restart("a");
	ends("a", 0);
	expect("a up");
	expect_program("a", NULL, NULL);
	(void)close(client);
}
END_TEST

START_TEST(rollout_restarts_only_outdated_services)
{
	int client;

	control_begin("[a]\ncommand = x\n[b]\ncommand = x\n[c]\ncommand = x\n[d]\ncommand = x\n");
	finds("b", "/b");
	finds("d", "!");
	write_file("config",
		   "[a]\ncommand = x\n[b]\ncommand = x\n[c]\ncommand = y\n[d]\ncommand = x\n", 64);
	client = client_new();
	call_more(client, "Rollout", OUTDATED ",\"dry_run\":true");
	serve_child();
	serve_child();
	expect_in_reply(
		client,
		"\"steps\":[{\"node\":\"b\",\"state\":\"pending\"},{\"node\":\"c\",\"state\":\"pending\"}]");
	call_more(client, "Rollout", OUTDATED);
	serve_child();
	serve_child();
	expect("a up, b stopping, c up, d up");
	ends("b", 0);
	serve();
	expect("a up, b up, c stopping, d up");
	ends("c", 0);
	serve();
	ck_assert_int_eq(rollout.state, ROLLOUT_DONE);
	expect("a up, b up, c up, d up");
	(void)close(client);
}
END_TEST

START_TEST(shutdown_during_a_look_is_not_held_up)
{
	int client;

	control_begin(TREE);
	finds("a", "hang");
	client = client_new();
	call_more(client, "Rollout", OUTDATED);
	stop("");
	expect("a stopping, b stopping, c stopping");
	ends("a", 0);
	ends("b", 0);
	ends("c", 0);
	ck_assert(tree.root->complete);
	(void)close(client);
}
END_TEST

static void end_programs(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

Suite *test_suite(void)
{
	Suite *suite = suite_create("programs");
	TCase *t = control_case("programs");

	tcase_add_checked_fixture(t, begin_programs, end_programs);
	tcase_add_test(t, status_shows_what_was_replaced);
	tcase_add_test(t, only_a_request_makes_a_look);
	tcase_add_test(t, others_are_served_meanwhile);
	tcase_add_test(t, request_during_a_look_gets_the_next_one);
	tcase_add_test(t, look_is_at_the_services_of_the_node);
	tcase_add_test(t, requests_for_two_nodes_have_a_look_each);
	tcase_add_test(t, client_that_may_only_look_has_a_look_every_six_seconds);
	tcase_add_test(t, service_that_holds_up_a_child_hides_no_other);
	tcase_add_test(t, look_has_a_limit);
	tcase_add_test(t, new_run_has_no_result);
	tcase_add_test(t, rollout_restarts_only_outdated_services);
	tcase_add_test(t, shutdown_during_a_look_is_not_held_up);
	suite_add_tcase(suite, t);
	return suite;
}
