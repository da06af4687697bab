/*
 * An attached program, and a daemon that the test plays in the same process.  For the page see
 * test-attach-page.c; for other processes see test-attach-process.c.
 */
#include "tests/unit/fixtures/swansong/attached-pair.h"

#include <errno.h>
#include <inttypes.h>

#include "base/macro.h"
#include "swansong/count/count-private.h"

/* ---- the descriptors passed ---- */

START_TEST(without_a_daemon_it_is_an_ordinary_root)
{
	struct swansong_guard g;

	ck_assert_int_eq(unsetenv(PAGE_VARIABLE), 0);
	ck_assert_int_eq(swansong_attach(&root), 0);
	ck_assert_uint_eq(root->entry, COUNT_FROM_HOME);
	g = swansong_guard(root);
	swansong_shut_down(root);
	ck_assert_int_eq(swansong_state(root), SWANSONG_SHUTTING_DOWN);
	swansong_guard_drop(&g);
	ck_assert_int_eq(swansong_wait(root, 0), 0);
	root = swansong_unref(root);
}
END_TEST

START_TEST(the_variable_is_taken_and_the_descriptors_are_not_for_others)
{
	ck_assert_ptr_null(getenv(PAGE_VARIABLE));
	ck_assert_int_eq(fcntl(fake.passed, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(fcntl(fake.passed_end, F_GETFD), FD_CLOEXEC);
}
END_TEST

START_TEST(a_second_root_is_an_ordinary_one)
{
	struct swansong *second;

	ck_assert_int_eq(swansong_attach(&second), 0);
	ck_assert_ptr_null(second->tally);
	second = swansong_unref(second);
	ck_assert_int_eq(fake.page->stop, 0);
	ck_assert_int_eq(swansong_state(root), SWANSONG_RUNNING);
}
END_TEST

static const struct {
	const char *text;
	int error;
} variables[] = {
	{ "", -EPROTO },
	{ "5", -EPROTO },
	{ "5:", -EPROTO },
	{ ":5", -EPROTO },
	{ "5:6:7", -EPROTO },
	{ "-1:6", -EPROTO },
	{ "5 :6", -EPROTO },
	{ "99999999999:6", -EPROTO },
	{ "00000000000000000000000000000000000000000000005:6", -EPROTO },
	{ "1000:1001", -EBADF }, /* no descriptor */
	{ "0:0", -EPROTO },
};

START_TEST(a_bad_variable_is_refused_and_gone)
{
	struct swansong *s = NULL;

	ck_assert_int_eq(setenv(PAGE_VARIABLE, variables[_i].text, 1), 0);
	ck_assert_int_eq(swansong_attach(&s), variables[_i].error);
	ck_assert_ptr_null(s);
	ck_assert_ptr_null(getenv(PAGE_VARIABLE));
	ck_assert_int_eq(swansong_attach(&s), 0);
	s = swansong_unref(s);
}
END_TEST

enum bad { UNSEALED, HALF_SEALED, NO_PAGE, OTHER_VERSION, SHORT, NOT_A_SOCKET, STREAM, N_BAD };

static void make_bad(enum bad bad)
{
	int pair[2];

	ck_assert(fake_daemon_make(&fake, LANES,
				   bad == UNSEALED	? F_SEAL_SEAL
				   : bad == HALF_SEALED ? F_SEAL_GROW
							: FAKE_DAEMON_SEALS));
	if (bad == NO_PAGE)
		fake.page->magic++;
	if (bad == OTHER_VERSION)
		fake.page->version++;
	if (bad == SHORT)
		fake.page->n_lanes++;
	if (bad == NOT_A_SOCKET)
		ck_assert_int_eq(dup2(fake.passed, fake.passed_end), fake.passed_end);
	if (bad == STREAM) {
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
		ck_assert_int_eq(dup2(pair[0], fake.passed_end), fake.passed_end);
	}
}

START_TEST(descriptors_of_other_kinds_are_refused_and_left_open)
{
	struct swansong *s = NULL;

	make_bad(_i);
	ck_assert_int_eq(swansong_attach(&s), -EPROTO);
	ck_assert_ptr_null(s);
	ck_assert_int_eq(fcntl(fake.passed, F_GETFD), 0);
	ck_assert_int_eq(fcntl(fake.passed_end, F_GETFD), 0);
}
END_TEST

START_TEST(a_page_that_is_empty_or_a_pipe_is_refused)
{
	struct swansong *s = NULL;
	int empty = memfd_create("empty", MFD_ALLOW_SEALING), pipe_fd[2];

	make_daemon();
	ck_assert_int_eq(fcntl(empty, F_ADD_SEALS, FAKE_DAEMON_SEALS), 0);
	ck_assert_int_eq(dup2(empty, fake.passed), fake.passed);
	ck_assert_int_eq(swansong_attach(&s), -EPROTO);
	fake_daemon_announce(&fake);
	ck_assert_int_eq(pipe(pipe_fd), 0);
	ck_assert_int_eq(dup2(pipe_fd[0], fake.passed), fake.passed);
	ck_assert_int_eq(swansong_attach(&s), -EPROTO);
}
END_TEST

/* ---- messages ---- */

START_TEST(a_stop_wakes_and_the_end_is_reported)
{
	struct swansong_guard g = swansong_guard(child);
	struct swansong_interrupt *interrupt;

	ck_assert_int_eq(swansong_interrupt_new(child, &interrupt), 0);
	say("STOP");
	ck_assert_int_eq(swansong_interrupt_wait(interrupt, clock_now_usec() + LONG), 0);
	ck_assert(swansong_interrupted(interrupt));
	interrupt = swansong_interrupt_unref(interrupt);
	ck_assert_int_eq(swansong_state(root), SWANSONG_SHUTTING_DOWN);
	ck_assert(!is_readable(fake.socket));
	swansong_guard_drop(&g);
}
END_TEST

START_TEST(a_stop_that_came_before_is_seen)
{
	make_daemon();
	fake.page->stop = 1;
	say("STOP");
	ck_assert_int_eq(swansong_attach(&root), 1);
	ck_assert_int_eq(swansong_state(root), SWANSONG_COMPLETE);
	ck_assert_int_eq(swansong_child(root, &child), 0);
	hear("ATTACHED");
}
END_TEST

START_TEST(other_messages_are_no_matter)
{
	static const char long_one[1000] = "STOP";

	say("STOPPED");
	say("stop");
	say("X");
	ck_assert_int_eq(send(fake.socket, long_one, sizeof(long_one), 0), sizeof(long_one));
	say("REPORT");
	hear("REPORT\n");
	ck_assert_int_eq(swansong_state(root), SWANSONG_RUNNING);
}
END_TEST

START_TEST(the_end_of_the_daemon_is_no_stop)
{
	struct swansong_guard g;

	ck_assert_int_eq(shutdown(fake.socket, SHUT_RDWR), 0);
	g = swansong_guard(child);
	ck_assert_int_eq(swansong_state(root), SWANSONG_RUNNING);
	ck_assert_int_eq(fake_daemon_guards(&fake), 1);
	swansong_shut_down(root);
	swansong_guard_drop(&g);
	ck_assert_int_eq(swansong_wait(root, clock_now_usec() + LONG), 0);
	drop_pair();
	fake.socket = -1;
}
END_TEST

START_TEST(a_report_names_the_places)
{
	struct swansong_guard unknown = swansong_guard(root), g[3];
	uint64_t begun = clock_now_usec(), guards, since;
	char buf[PAGE_MESSAGE_MAX + 1] = "", place[256], wanted[256];

	ck_assert_int_eq(swansong_report_enable(root), 0);
	say("REPORT");
	hear("REPORT\n");
	for (size_t i = 0; i < ARRAY_SIZE(g); i++)
		g[i] = swansong_guard_at(child, "web.c\n9 9 x", 41, "serve");
	say("REPORT");
	ck_assert_int_gt(recv(fake.socket, buf, PAGE_MESSAGE_MAX, 0), 0);
	ck_assert_int_eq(
		sscanf(buf, "REPORT\n%" SCNu64 " %" SCNu64 " %255[^\n]\n", &guards, &since, place),
		3);
	ck_assert_uint_eq(guards, 3);
	ck_assert_uint_ge(since, begun);
	ck_assert_uint_le(since, clock_now_usec());
	(void)snprintf(wanted, sizeof(wanted), "web.c?9 9 x:41 serve");
	ck_assert_str_eq(place, wanted);
	swansong_guard_drop(&unknown);
	for (size_t i = 0; i < ARRAY_SIZE(g); i++)
		swansong_guard_drop(&g[i]);
}
END_TEST

START_TEST(a_report_ends_with_a_whole_line)
{
	static char file[300];
	struct swansong_guard g[100];
	char buf[2 * PAGE_MESSAGE_MAX] = "";
	ssize_t n;

	memset(file, 'f', sizeof(file) - 1);
	ck_assert_int_eq(swansong_report_enable(root), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(g); i++)
		g[i] = swansong_guard_at(child, file, i, "serve");
	say("REPORT");
	n = recv(fake.socket, buf, sizeof(buf), 0);
	ck_assert_int_gt(n, PAGE_MESSAGE_MAX - 400);
	ck_assert_int_le(n, PAGE_MESSAGE_MAX);
	ck_assert_int_eq(buf[n - 1], '\n');
	for (size_t i = 0; i < ARRAY_SIZE(g); i++)
		swansong_guard_drop(&g[i]);
}
END_TEST

/* ---- its end ---- */

static void drop_root(void *arg)
{
	(void)arg;
	root = swansong_unref(root);
}

/* On the thread that listens, as there is no guard. */
START_TEST(the_root_may_be_dropped_by_a_function_that_the_stop_calls)
{
	struct swansong_completion *c;

	ck_assert_int_eq(swansong_completion_new(root, &c), 0);
	ck_assert_int_eq(swansong_completion_notify(c, drop_root, NULL), 0);
	say("STOP");
	hear("COMPLETE");
	hear("");
	ck_assert_ptr_null(root);
	c = swansong_completion_unref(c);
	child = swansong_unref(child);
	fake.socket = -1;
}
END_TEST

START_TEST(the_end_waits_for_guards_and_not_for_nodes)
{
	struct swansong_guard g = swansong_guard(child);

	root = swansong_unref(root);
	ck_assert_int_eq(fake_daemon_guards(&fake), 1);
	say("REPORT");
	hear("REPORT\n");
	swansong_guard_drop(&g);
	hear("COMPLETE");
	hear("");
	g = swansong_guard(child);
	swansong_guard_drop(&g);
	child = swansong_unref(child);
	fake.socket = -1;
}
END_TEST

START_TEST(it_may_be_stopped_and_dropped_at_once)
{
	for (unsigned int i = 0; i < 200; i++) {
		struct swansong_guard g;

		make_attached();
		g = swansong_guard(child);
		say("STOP");
		if (i % 2)
			swansong_guard_drop(&g);
		drop_pair();
		swansong_guard_drop(&g);
		hear("COMPLETE");
		hear("");
		fake_daemon_end(&fake);
	}
}
END_TEST

static TCase *checks(void)
{
	TCase *tc = tcase_create("checks");

	tcase_add_test(tc, without_a_daemon_it_is_an_ordinary_root);
	tcase_add_loop_test(tc, a_bad_variable_is_refused_and_gone, 0, ARRAY_SIZE(variables));
	tcase_add_loop_test(tc, descriptors_of_other_kinds_are_refused_and_left_open, 0, N_BAD);
	tcase_add_test(tc, a_page_that_is_empty_or_a_pipe_is_refused);
	tcase_add_test(tc, it_may_be_stopped_and_dropped_at_once);
	return tc;
}

static TCase *stopped_before(void)
{
	TCase *tc = tcase_create("stopped before");

	tcase_add_checked_fixture(tc, NULL, drop_attached);
	tcase_add_test(tc, a_stop_that_came_before_is_seen);
	return tc;
}

static TCase *attached(void)
{
	TCase *tc = tcase_create("attached");

	tcase_add_checked_fixture(tc, make_attached, drop_attached);
	tcase_add_test(tc, the_variable_is_taken_and_the_descriptors_are_not_for_others);
	tcase_add_test(tc, a_second_root_is_an_ordinary_one);
	tcase_add_test(tc, a_stop_wakes_and_the_end_is_reported);
	tcase_add_test(tc, other_messages_are_no_matter);
	tcase_add_test(tc, the_end_of_the_daemon_is_no_stop);
	tcase_add_test(tc, a_report_names_the_places);
	tcase_add_test(tc, a_report_ends_with_a_whole_line);
	tcase_add_test(tc, the_root_may_be_dropped_by_a_function_that_the_stop_calls);
	tcase_add_test(tc, the_end_waits_for_guards_and_not_for_nodes);
	return tc;
}

Suite *test_suite(void)
{
	Suite *suite = suite_create("swansong-attach");

	suite_add_tcase(suite, checks());
	suite_add_tcase(suite, stopped_before());
	suite_add_tcase(suite, attached());
	return suite;
}
