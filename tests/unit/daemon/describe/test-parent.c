#include "daemon/describe/parent.h"
#include "daemon/main/update.h"
#include "daemon/tree/deadline.h"
#include "tests/unit/fixtures/daemon/tree-world.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define STOPPING "STOPPING=1\nX_SWANSONG_STATE=ShuttingDown\nEXTEND_TIMEOUT_USEC=15000000\n"

static int receiver;
static struct sockaddr_un address;
static socklen_t address_length;
static char name[32]; /* "@..." of the receiver */
static struct parent *parent;

static void setup(void)
{
	receiver = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	address_length = sizeof(address);
	ck_assert_int_eq(bind(receiver, (struct sockaddr *)&address, sizeof(sa_family_t)), 0);
	ck_assert_int_eq(getsockname(receiver, (struct sockaddr *)&address, &address_length), 0);
	(void)snprintf(name, sizeof(name), "@%.*s",
		       (int)(address_length - offsetof(struct sockaddr_un, sun_path) - 1),
		       address.sun_path + 1);
}

static void teardown(void)
{
	parent = parent_free(parent);
	finish();
	(void)close(receiver);
}

/* Runs a turn at least, as after each event of the loop. */
static void parent_turns(void)
{
	struct update update = { .tree = &tree, .parent = parent };

	do
		update_turn(&update);
	while (agenda_is_due(&ctx.agenda));
}

static void parent_pass(uint64_t usec)
{
	pass(usec);
	parent_turns();
}

/* Returns the messages since the last call, a ";" after each. */
static const char *heard(void)
{
	static char text[4096];
	size_t used = 0;
	ssize_t n;

	while ((n = recv(receiver, text + used, sizeof(text) - used - 2, MSG_DONTWAIT)) > 0) {
		used += (size_t)n;
		text[used++] = ';';
	}
	text[used] = '\0';
	return text;
}

static void begin_notified(const char *text, uint64_t watchdog_usec)
{
	struct parent_address to = { .socket = name, .watchdog_usec = watchdog_usec };

	begin_with(load(text));
	ck_assert_int_eq(parent_new(&parent, &tree, &to), 0);
	parent_turns();
}

/* --- phases --- */

START_TEST(tree_is_ready_after_the_first_outcome_of_each_service)
{
	begin_notified("[web]\ncommand = x\n[db]\ncommand = x\nready = notify\n", USEC_INFINITY);
	ck_assert_str_eq(heard(), "STATUS=Running: 0 of 2 services ready;");
	parent_pass(SEC);
	ck_assert_str_eq(heard(), "STATUS=Running: 1 of 2 services ready;");
	ready("db");
	parent_turns();
	ck_assert_str_eq(heard(), "READY=1\nSTATUS=Running: 2 of 2 services ready;");
}
END_TEST

START_TEST(stop_of_the_root_is_reported_from_its_begin_to_its_end)
{
	begin_notified("[web]\ncommand = x\n", USEC_INFINITY);
	ck_assert_str_eq(heard(), "STATUS=Running: 0 of 1 services ready;"
				  "READY=1\nSTATUS=Running: 1 of 1 services ready;");
	stop("root");
	parent_turns();
	ck_assert_ptr_eq(
		strstr(heard(), STOPPING "STATUS=ShuttingDown: 1 of 1 services: web (pid "),
		heard());
	end_asked();
	parent_turns();
	ck_assert_str_eq(heard(), "STOPPING=1\nX_SWANSONG_STATE=Complete\nSTATUS=Complete in 0ms;");
}
END_TEST

START_TEST(tree_without_work_is_complete_at_once)
{
	begin_notified("[web]\n", USEC_INFINITY);
	(void)heard();
	stop("root");
	parent_turns();
	ck_assert_str_eq(heard(), "STOPPING=1\nX_SWANSONG_STATE=Complete\nSTATUS=Complete in 0ms;");
}
END_TEST

START_TEST(stop_of_another_node_is_no_phase)
{
	begin_notified("[web]\ncommand = x\n[db]\ncommand = x\n", USEC_INFINITY);
	(void)heard();
	stop("web");
	end_asked();
	parent_pass(SEC);
	ck_assert_str_eq(heard(), "STATUS=Running: 1 of 2 services ready;");
}
END_TEST

START_TEST(reload_is_reported_by_a_ready_tree_only)
{
	begin_notified("[web]\ncommand = x\nready = notify\n", USEC_INFINITY);
	(void)heard();
	parent_reloading(parent);
	parent_reloaded(parent, "reloaded");
	ck_assert_str_eq(heard(), "");
	ready("web");
	parent_turns();
	(void)heard();
	parent_reloading(parent);
	ck_assert_ptr_nonnull(strstr(heard(), "RELOADING=1\nMONOTONIC_USEC="));
	parent_reloaded(parent, "reloaded");
	ck_assert_str_eq(heard(), "READY=1\nSTATUS=reloaded;");
}
END_TEST

/* --- times --- */

START_TEST(status_is_sent_four_times_in_a_second)
{
	begin_notified("[web]\ncommand = x\n[db]\ncommand = x\nrestart-delay = 30s\n",
		       USEC_INFINITY);
	(void)heard();
	ends("db", 1);
	parent_turns();
	ck_assert_str_eq(heard(), "");
	parent_pass(SEC / 4);
	ck_assert_str_eq(heard(), "STATUS=Running: 1 of 2 services ready;");
	parent_pass(SEC);
	ck_assert_str_eq(heard(), "");
	ends("web", 1);
	parent_turns();
	ck_assert_str_eq(heard(), "STATUS=Running: 0 of 2 services ready;");
}
END_TEST

START_TEST(watchdog_is_fed_once_in_half_its_interval)
{
	begin_notified("[web]\ncommand = x\n", 10 * SEC);
	(void)heard();
	parent_pass(0);
	ck_assert_str_eq(heard(), "WATCHDOG=1;");
	parent_turns();
	parent_turns();
	ck_assert_str_eq(heard(), "");
	for (int i = 0; i < 3; i++) {
		parent_pass(5 * SEC);
		ck_assert_str_eq(heard(), "WATCHDOG=1;");
	}
	parent_pass(4 * SEC);
	ck_assert_str_eq(heard(), "");
}
END_TEST

START_TEST(without_a_watchdog_none_is_fed)
{
	begin_notified("[web]\ncommand = x\n", USEC_INFINITY);
	(void)heard();
	parent_pass(100 * SEC);
	ck_assert_str_eq(heard(), "");
}
END_TEST

START_TEST(start_is_extended_while_it_lasts)
{
	begin_notified("[web]\ncommand = x\nready = notify\nstart-timeout = infinity\n",
		       USEC_INFINITY);
	(void)heard();
	for (int i = 0; i < 3; i++) {
		parent_pass(5 * SEC);
		ck_assert_str_eq(heard(), "EXTEND_TIMEOUT_USEC=15000000;");
	}
	ready("web");
	parent_turns();
	(void)heard();
	parent_pass(20 * SEC);
	ck_assert_str_eq(heard(), "");
}
END_TEST

static unsigned count_extensions(void)
{
	const char *text = heard();
	unsigned n = 0;

	while ((text = strstr(text, "EXTEND_TIMEOUT_USEC=15000000;"))) {
		text++;
		n++;
	}
	return n;
}

START_TEST(stop_is_extended_only_while_it_makes_progress)
{
	begin_notified(
		"[swansong]\nshutdown-timeout = 90s\n[web]\ncommand = x\nstop-timeout = 80s\n"
		"[db]\ncommand = x\nstop-timeout = 80s\n",
		USEC_INFINITY);
	(void)heard();
	stop("root");
	parent_turns();
	ck_assert_uint_eq(count_extensions(), 0); /* the phase has the first */
	parent_pass(20 * SEC);
	ck_assert_uint_eq(count_extensions(), 0);
	ends("db", 0);
	parent_turns();
	ck_assert_uint_eq(count_extensions(), 1);
}
END_TEST

START_TEST(stop_is_extended_for_guards_within_its_budget)
{
	struct lease *lease;

	begin_notified("[swansong]\nshutdown-timeout = 12s\n[web]\n", USEC_INFINITY);
	lease = hold("web");
	(void)heard();
	stop("root");
	parent_turns();
	(void)heard();
	parent_pass(5 * SEC);
	ck_assert_uint_eq(count_extensions(), 1);
	parent_pass(5 * SEC);
	ck_assert_uint_eq(count_extensions(), 1);
	parent_pass(10 * SEC);
	ck_assert_uint_eq(count_extensions(), 0);
	lease_free(lease);
}
END_TEST

START_TEST(stop_is_extended_while_an_operator_holds_it)
{
	begin_notified(
		"[swansong]\nshutdown-timeout = 12s\n[web]\ncommand = x\nstop-timeout = 10s\n",
		USEC_INFINITY);
	ctx.grace_usec = 13 * SEC;
	ctx.parent_waits = true; /* as below systemd */
	stop("root");
	parent_turns();
	(void)heard();
	ck_assert(deadline_hold(tree.root, clock_now_usec()));
	parent_turns();
	for (unsigned i = 0; i < 6; i++) {
		(void)heard();
		parent_pass(5 * SEC);
		ck_assert_uint_eq(count_extensions(), 1);
	}
	ck_assert_ptr_nonnull(find("web")->service);
	ck_assert(find("web")->service->main.alive);
	deadline_release(tree.root, "test");
	parent_turns();
	/* The clock of the test goes on by itself, too. */
	ck_assert_uint_ge(tree.root->deadline_usec - tree.root->stop_usec, 42 * SEC);
	ck_assert_uint_lt(tree.root->deadline_usec - tree.root->stop_usec, 43 * SEC);
	parent_pass(9 * SEC);
	ck_assert_int_eq(find("web")->service->state, STATE_STOPPING);
	parent_pass(2 * SEC);
	ck_assert_int_ne(find("web")->service->state, STATE_STOPPING);
}
END_TEST

/* --- receivers --- */

START_TEST(phase_that_a_full_socket_refuses_is_sent_later)
{
	int other = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	begin_notified("[web]\ncommand = x\nready = notify\n", USEC_INFINITY);
	while (sendto(other, "", 0, MSG_DONTWAIT, (struct sockaddr *)&address, address_length) >= 0)
		;
	ready("web");
	parent_turns();
	while (recv(receiver, NULL, 0, MSG_DONTWAIT) >= 0)
		;
	parent_turns();
	ck_assert_str_eq(heard(), "");
	parent_pass(SEC / 4);
	ck_assert_str_eq(heard(), "READY=1\nSTATUS=Running: 1 of 1 services ready;");
	(void)close(other);
}
END_TEST

START_TEST(without_a_valid_address_nothing_is_sent)
{
	static const char *const names[] = { NULL, "relative", "vsock:2:1" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct parent_address to = { .socket = (char *)names[i], .watchdog_usec = SEC };

		begin_with(load("[web]\ncommand = x\n"));
		ck_assert_int_eq(parent_new(&parent, &tree, &to), 0);
		parent_turns();
		stop("root");
		parent_pass(10 * SEC);
		parent = parent_free(parent);
		finish();
		ck_assert_str_eq(heard(), "");
	}
}
END_TEST

START_TEST(socket_with_a_path_is_notified)
{
	char path[64];
	struct parent_address to = { .socket = path, .watchdog_usec = USEC_INFINITY };
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	(void)snprintf(path, sizeof(path), "/tmp/test-parent-%d", (int)getpid());
	(void)strcpy(at.sun_path, path);
	(void)unlink(path);
	(void)close(receiver);
	receiver = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(receiver, (struct sockaddr *)&at, sizeof(at)), 0);
	begin_with(load("[web]\ncommand = x\n"));
	ck_assert_int_eq(parent_new(&parent, &tree, &to), 0);
	parent_turns();
	(void)unlink(path);
	ck_assert_ptr_nonnull(strstr(heard(), "READY=1\nSTATUS=Running: 1 of 1 services ready;"));
}
END_TEST

START_TEST(address_is_taken_out_of_the_environment)
{
	static const struct {
		const char *usec, *pid; /* "self": this one */
		uint64_t watchdog_usec;
	} table[] = {
		{ NULL, NULL, USEC_INFINITY },	   { "5000000", NULL, 5 * SEC },
		{ "5000000", "self", 5 * SEC },	   { "5000000", "1", USEC_INFINITY },
		{ "5000000", "x", USEC_INFINITY }, { "0", NULL, USEC_INFINITY },
		{ "5s", NULL, USEC_INFINITY },	   { "-1", "self", USEC_INFINITY },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const char *pid = table[i].pid;
		struct parent_address to;
		char self[16];

		(void)snprintf(self, sizeof(self), "%d", (int)getpid());
		(void)setenv("NOTIFY_SOCKET", i ? name : "", 1);
		if (table[i].usec)
			(void)setenv("WATCHDOG_USEC", table[i].usec, 1);
		if (pid)
			(void)setenv("WATCHDOG_PID", strcmp(pid, "self") == 0 ? self : pid, 1);
		ck_assert_int_eq(parent_address_take(&to), 0);
		ck_assert_uint_eq(to.watchdog_usec, table[i].watchdog_usec);
		ck_assert_int_eq(to.socket != NULL, i > 0);
		ck_assert(!getenv("NOTIFY_SOCKET") && !getenv("WATCHDOG_USEC") &&
			  !getenv("WATCHDOG_PID"));
		free(to.socket);
	}
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("parent manager");
	TCase *tc = tcase_create("parent");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, tree_is_ready_after_the_first_outcome_of_each_service);
	tcase_add_test(tc, stop_of_the_root_is_reported_from_its_begin_to_its_end);
	tcase_add_test(tc, tree_without_work_is_complete_at_once);
	tcase_add_test(tc, stop_of_another_node_is_no_phase);
	tcase_add_test(tc, reload_is_reported_by_a_ready_tree_only);
	tcase_add_test(tc, status_is_sent_four_times_in_a_second);
	tcase_add_test(tc, watchdog_is_fed_once_in_half_its_interval);
	tcase_add_test(tc, without_a_watchdog_none_is_fed);
	tcase_add_test(tc, start_is_extended_while_it_lasts);
	tcase_add_test(tc, stop_is_extended_only_while_it_makes_progress);
	tcase_add_test(tc, stop_is_extended_for_guards_within_its_budget);
	tcase_add_test(tc, stop_is_extended_while_an_operator_holds_it);
	tcase_add_test(tc, phase_that_a_full_socket_refuses_is_sent_later);
	tcase_add_test(tc, without_a_valid_address_nothing_is_sent);
	tcase_add_test(tc, socket_with_a_path_is_notified);
	tcase_add_test(tc, address_is_taken_out_of_the_environment);
	suite_add_tcase(s, tc);
	return s;
}
