/* A child of the test is the program that is attached to the node "web". */
#include "daemon/guard/attach.h"
#include "tests/unit/fixtures/daemon/tree-world.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/page.h"

static struct attach *attach;
static int page; /* of the present run */
static int program_end;
static pid_t program; /* 0: none */
static int sent[2];   /* a pipe: it has a byte for each message of the program */

static void setup(void)
{
	begin("[web]\ncommand = x\n[db]\ncommand = x\n");
	ck_assert_int_eq(attach_new(&attach, find("web")), 0);
	ck_assert_int_eq(pipe2(sent, O_CLOEXEC), 0);
	program_end = -1;
	program = 0;
}

static void end_program(void)
{
	if (!program)
		return;
	(void)kill(program, SIGKILL);
	ck_assert_int_eq(waitpid(program, NULL, 0), program);
	program = 0;
}

static void teardown(void)
{
	end_program();
	attach = attach_free(attach);
	(void)fd_close(program_end);
	(void)close(sent[0]);
	(void)close(sent[1]);
	finish();
}

static void begin_run(void)
{
	struct handover handover[ATTACH_HANDOVER];

	(void)fd_close(program_end);
	ck_assert_int_eq(attach_begin(attach, handover, &program_end), 0);
	page = handover[0].fd;
	ck_assert_int_eq(handover[1].fd, program_end);
}

static void hold_guards(int64_t n)
{
	ck_assert_int_eq(pwrite(page, &n, sizeof(n), offsetof(struct page, elsewhere)), sizeof(n));
}

/* Waits until the program has sent its next message, and lets the loop handle it. */
static void await_message(void)
{
	char byte;

	ck_assert_int_eq(read(sent[0], &byte, 1), 1);
	while (sd_event_run(ctx.event, 0) > 0)
		;
	turns();
}

/* In the child. */
static void send_message(int fd, const char *text)
{
	if (send(fd, text, strlen(text), 0) < 0 || write(sent[1], "", 1) != 1)
		_exit(2);
}

/* In the child: sends @unasked, then answers each request for a report. */
static void run_program(int fd, const char *unasked, const char *answer)
{
	struct flock lock = { .l_type = F_WRLCK, .l_len = 1 };
	char text[PAGE_MESSAGE_MAX];
	ssize_t n;

	if (fcntl(page, F_SETLK, &lock) < 0 || fcntl(fd, F_SETFL, 0) < 0)
		_exit(1);
	send_message(fd, unasked);
	while ((n = recv(fd, text, sizeof(text), 0)) > 0)
		if (n == 6 && memcmp(text, "REPORT", 6) == 0 && answer)
			send_message(fd, answer);
		else if (n == 4 && memcmp(text, "STOP", 4) == 0)
			send_message(fd, "COMPLETE");
	_exit(0);
}

/* Attaches a program with @n guards.  @answer: to each request for a report; NULL: it is silent. */
static void begin_program(int64_t n, const char *unasked, const char *answer)
{
	begin_run();
	hold_guards(n);
	program = fork();
	ck_assert_int_ge(program, 0);
	if (program == 0)
		run_program(program_end, unasked, answer);
	await_message();
	ck_assert_uint_eq(attach_guards(attach), (uint64_t)n);
}

static struct attach_view view(void)
{
	struct attach_view found;

	ck_assert(attach_view(attach, clock_now_usec(), &found));
	return found;
}

START_TEST(report_shows_the_places_of_the_guards)
{
	uint64_t since = clock_now_usec();
	char answer[128];
	struct attach_view v;

	(void)snprintf(answer, sizeof(answer),
		       "REPORT\n2 %" PRIu64 " web.c:41 serve\n1 %" PRIu64 " db.c:7\n", since + 5,
		       since);
	begin_program(3, "ATTACHED", answer);
	pass(10 * SEC);
	v = view();
	ck_assert_int_eq(v.pid, program);
	ck_assert_uint_eq(v.guards, 3);
	ck_assert_ptr_null(v.why);
	await_message();
	v = view();
	ck_assert_str_eq(v.why, "2 x web.c:41 serve, 1 x db.c:7");
	ck_assert_uint_ge(v.age_usec, 10 * SEC);
	ck_assert_uint_lt(v.age_usec, 11 * SEC);
}
END_TEST

START_TEST(report_that_is_invalid_or_was_not_requested_is_ignored)
{
	static const struct {
		const char *unasked, *answer;
	} table[] = {
		{ "REPORT\n1 1 forged\n", NULL },
		{ "ATTACHED", "REPORT\n1 forged\n" },
		{ "ATTACHED", "REPORT" },
		{ "ATTACHED", "REPORTS\n1 1 forged\n" },
	};

	begin_program(1, table[_i].unasked, table[_i].answer);
	ck_assert_ptr_null(view().why);
	if (table[_i].answer)
		await_message();
	ck_assert_ptr_null(view().why);
	ck_assert_uint_eq(view().guards, 1);
}
END_TEST

START_TEST(report_is_awaited_until_it_comes)
{
	begin_program(1, "ATTACHED", "REPORT\n1 1 web.c:41\n");
	ck_assert(!attach_is_awaited(tree.root, clock_now_usec()));
	attach_ask(tree.root, clock_now_usec());
	ck_assert(attach_is_awaited(tree.root, clock_now_usec()));
	ck_assert(attach_is_awaited(find("web"), clock_now_usec()));
	ck_assert(!attach_is_awaited(find("db"), clock_now_usec()));
	await_message();
	ck_assert(!attach_is_awaited(tree.root, clock_now_usec()));
}
END_TEST

START_TEST(silent_program_is_awaited_for_a_short_time)
{
	uint64_t now;

	begin_program(1, "ATTACHED", NULL);
	now = clock_now_usec();
	attach_ask(tree.root, now);
	ck_assert(attach_is_awaited(tree.root, now + ATTACH_ANSWER_USEC - 1));
	ck_assert(!attach_is_awaited(tree.root, now + ATTACH_ANSWER_USEC));
}
END_TEST

START_TEST(program_that_has_ended_is_not_awaited)
{
	begin_program(1, "ATTACHED", NULL);
	attach_ask(tree.root, clock_now_usec());
	end_program();
	ck_assert_uint_eq(attach_guards(attach), 0);
	ck_assert(!attach_is_awaited(tree.root, clock_now_usec()));
}
END_TEST

START_TEST(program_without_guards_is_not_asked)
{
	begin_program(0, "ATTACHED", NULL);
	attach_ask(tree.root, clock_now_usec());
	ck_assert(!attach_is_awaited(tree.root, clock_now_usec()));
}
END_TEST

/* Users name guards by their ids. */
START_TEST(guards_of_a_program_have_an_id_of_their_own)
{
	uint64_t web = service("web")->main.id, db = service("db")->main.id, first;
	struct lease *lease;

	begin_program(1, "ATTACHED", NULL);
	first = view().id;
	ck_assert_uint_gt(first, web);
	ck_assert_uint_gt(first, db);
	lease = hold("db");
	ck_assert_uint_gt(lease->id, first);
	end_program();
	begin_program(1, "ATTACHED", NULL);
	ck_assert_uint_gt(view().id, lease->id);
	release(lease);
}
END_TEST

START_TEST(stopped_program_holds_nothing_once_it_is_complete)
{
	begin_program(2, "ATTACHED", NULL);
	attach_stop(attach);
	ck_assert_uint_eq(attach_guards(attach), 2);
	await_message();
	ck_assert_uint_eq(attach_guards(attach), 0);
}
END_TEST

START_TEST(program_is_not_complete_before_it_is_stopped)
{
	begin_program(2, "COMPLETE", NULL);
	ck_assert_uint_eq(attach_guards(attach), 2);
}
END_TEST

START_TEST(guards_are_counted_in_all_nodes_above)
{
	begin_program(3, "ATTACHED", NULL);
	attach_count(find("db"));
	ck_assert_uint_eq(tree.root->program_guards, 0);
	attach_count(find("web"));
	ck_assert_uint_eq(find("web")->program_guards, 3);
	ck_assert_uint_eq(tree.root->program_guards, 3);
	ck_assert_uint_eq(find("db")->program_guards, 0);
	hold_guards(1);
	attach_count(tree.root);
	ck_assert_uint_eq(tree.root->program_guards, 1);
	attach_end(attach);
	ck_assert_uint_eq(tree.root->program_guards, 0);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("attached program");
	TCase *tc = tcase_create("attached");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, report_shows_the_places_of_the_guards);
	tcase_add_loop_test(tc, report_that_is_invalid_or_was_not_requested_is_ignored, 0, 4);
	tcase_add_test(tc, report_is_awaited_until_it_comes);
	tcase_add_test(tc, silent_program_is_awaited_for_a_short_time);
	tcase_add_test(tc, program_that_has_ended_is_not_awaited);
	tcase_add_test(tc, program_without_guards_is_not_asked);
	tcase_add_test(tc, guards_of_a_program_have_an_id_of_their_own);
	tcase_add_test(tc, stopped_program_holds_nothing_once_it_is_complete);
	tcase_add_test(tc, program_is_not_complete_before_it_is_stopped);
	tcase_add_test(tc, guards_are_counted_in_all_nodes_above);
	suite_add_tcase(s, tc);
	return s;
}
