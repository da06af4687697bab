#include "tests/unit/ctl/test-ctl.h"

#include <jansson.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/macro.h"
#include "ctl/session/session.h"

#define PROGRESS(state, guard, elapsed, more)                                                   \
	"{\"parameters\":{\"node\":" NODE(                                                      \
		"web", state, "1", ",\"deadline_usec\":18000000") ",\"guards\":[" guard         \
								  "],\"elapsed_usec\":" elapsed \
								  "}" more "}"
#define CONTINUES ",\"continues\":true"

static const struct answer shutdown_answers[] = {
	{ PROGRESS("shutting_down",
		   GUARD("3", "web/nginx", "process", ",\"pid\":812") "," GUARD(
			   "7", "web", "lease", ",\"why\":\"dump\",\"kill_usec\":18000000"),
		   "1000000", CONTINUES),
	  0, THEN_MORE },
	{ PROGRESS("shutting_down",
		   GUARD("3", "web/nginx", "process",
			 ",\"pid\":812") "," GUARD("7", "web", "lease", ",\"why\":\"dump\""),
		   "2000000", CONTINUES),
	  0, THEN_MORE },
	{ PROGRESS("shutting_down", GUARD("7", "web", "lease", ",\"why\":\"dump\",\"kill_usec\":0"),
		   "3000000", CONTINUES),
	  0, THEN_MORE },
	{ PROGRESS("complete", "", "4210000", ""), 0, THEN_NEXT },
};

START_TEST(a_shutdown_is_a_line_on_each_change)
{
	ck_assert_int_eq(run("shutdown web --force --reason deploy", shutdown_answers, 4), 0);
	ck_assert_str_eq(
		asked,
		"{\"method\":\"io.swansong.Shutdown\",\"parameters\":{\"node\":\"web\",\"wait\":true,"
		"\"force\":true,\"reason\":\"deploy\"},\"more\":true}\n");
	ck_assert_str_eq(
		out,
		"web: shutting down for 1.0s, 2 guards; kill in 18.0s: web/nginx (pid 812, for "
		"41.0s), web (\"dump\", for 41.0s, kill in 18.0s)\n"
		"web: shutting down for 3.0s, 1 guard; kill in 18.0s: web (\"dump\", for 41.0s, "
		"being killed)\n"
		"web: complete in 4.2s\n");
}
END_TEST

START_TEST(a_line_about_a_shutdown_has_a_limit)
{
	static char path[20000];
	char *reply;

	memset(path, 'x', sizeof(path) - 1);
	ck_assert_int_gt(asprintf(&reply,
				  "{\"parameters\":{\"node\":{\"path\":\"%s\",\"generation\":1,"
				  "\"state\":\"shutting_down\",\"since_usec\":1,\"guards\":0,"
				  "\"ready\":true,\"forced\":false},\"guards\":[],"
				  "\"elapsed_usec\":1}" CONTINUES "}",
				  path),
			 0);
	(void)RUN("shutdown web", { reply, 0, THEN_CLOSE });
	assert_has(out, "xxxx");
	ck_assert_uint_le(strlen(out), 12 * 1024);
	free(reply);
}
END_TEST

START_TEST(grace_is_sent_with_the_request)
{
	(void)run("shutdown --grace 90s web", shutdown_answers, 4);
	assert_has(asked, "\"force\":false,\"grace_usec\":90000000}");
	(void)run("shutdown --within 20s web", shutdown_answers, 4);
	assert_has(asked, "\"force\":false,\"grace_usec\":20000000}");
}
END_TEST

START_TEST(times_of_a_shutdown_are_changed)
{
	static const char now[] = "{\"parameters\":{\"node\":{\"path\":\"\",\"generation\":1,"
				  "\"state\":\"shutting_down\",\"since_usec\":1,\"guards\":1,"
				  "\"ready\":false,\"forced\":false,\"deadline_usec\":60000000},"
				  "\"guards\":[],\"elapsed_usec\":1}}";

	ck_assert_int_eq(RUN("shutdown --extend 30s", SAY(now)), 0);
	assert_has(asked, "\"node\":\"\",\"extend_usec\":30000000}");
	ck_assert_str_eq(out, "root: kill in 1min 0s\n");
	ck_assert_int_eq(RUN("shutdown --hold", SAY(now)), 0);
	assert_has(asked, "\"hold\":true}");
	ck_assert_int_eq(RUN("shutdown --release", SAY(now)), 0);
	assert_has(asked, "\"hold\":false}");
	ck_assert_int_eq(RUN("shutdown --release --hold", SAY(now)), 2);
}
END_TEST

START_TEST(a_forced_shutdown_has_not_succeeded_unless_force_was_asked_for)
{
	static const char forced[] = "{\"parameters\":{\"node\":{\"path\":\"web\",\"generation\":1,"
				     "\"state\":\"complete\",\"since_usec\":1,\"guards\":0,"
				     "\"ready\":false,\"forced\":true},\"guards\":[],"
				     "\"elapsed_usec\":4210000}}";

	ck_assert_int_eq(RUN("shutdown web", SAY(forced)), 1);
	ck_assert_str_eq(out, "web: complete in 4.2s, forced\n");
	ck_assert_int_eq(RUN("shutdown --force web", SAY(forced)), 0);
}
END_TEST

#define LOSS(node, what) "{\"node\":\"" node "\",\"what\":\"" what "\"}"
#define LOSSES(...)	 "{\"parameters\":{\"forced\":true,\"losses\":[" __VA_ARGS__ "]}}"

START_TEST(forced_kills_are_listed_at_the_end_of_a_stop)
{
	static const char killed[] =
		LOSSES(LOSS("web", "killed pid 812 (nginx), 5.0s after the stop") "," LOSS(
			"web/a", "revoked, after 12.0s, the guard of pid 9 (sh)"));
	static const char said[] =
		"swansongctl: web: killed pid 812 (nginx), 5.0s after the stop\n"
		"swansongctl: web/a: revoked, after 12.0s, the guard of pid 9 (sh)\n";

	ck_assert_int_eq(RUN("stop web", SAY(killed)), 1);
	ck_assert_str_eq(err, said);
	ck_assert_str_eq(out, "web: complete, forced\n");
	ck_assert_int_eq(RUN("restart web", SAY(killed)), 1);
	ck_assert_str_eq(err, said);
	ck_assert_str_eq(out, "web: ready, forced\n");
	/* --quiet keeps errors and warnings. */
	ck_assert_int_eq(RUN("stop -q web", SAY(killed)), 1);
	ck_assert_str_eq(err, said);
	ck_assert_str_eq(out, "");
}
END_TEST

START_TEST(a_forced_kill_does_not_keep_other_nodes_from_stopping)
{
	static const char killed[] = LOSSES(LOSS("a", "killed pid 812 (nginx)"));

	ck_assert_int_eq(RUN("stop a b", OK, OK, SAY(killed), OK), 1);
	ck_assert_str_eq(err, "swansongctl: a: killed pid 812 (nginx)\n");
	ck_assert_str_eq(out, "a: complete, forced\nb: complete\n");
	ck_assert_int_eq(RUN("stop --json a b", OK, OK, SAY(killed), SAY(killed)), 1);
	ck_assert_str_eq(err, "");
	ck_assert_str_eq(out, "{\"forced\":true,\"losses\":["
			      "{\"node\":\"a\",\"what\":\"killed pid 812 (nginx)\"},"
			      "{\"node\":\"a\",\"what\":\"killed pid 812 (nginx)\"}]}\n");
}
END_TEST

START_TEST(forced_kills_beyond_eight_are_counted)
{
#define THREE LOSS("a", "x") "," LOSS("a", "x") "," LOSS("a", "x")
	ck_assert_int_eq(RUN("stop a", SAY(LOSSES(THREE "," THREE "," THREE))), 1);
	assert_has(err, "and 1 more");
	/* More than the daemon remembers, or nothing that it has a name for. */
	ck_assert_int_eq(RUN("stop a", SAY(LOSSES(""))), 1);
	ck_assert_str_eq(out, "a: complete, forced\n");
}
END_TEST

START_TEST(a_shutdown_as_json_is_a_line_for_each_reply)
{
	char *line = out, *end;
	int n = 0;

	ck_assert_int_eq(run("--json shutdown web", shutdown_answers, 4), 0);
	while ((end = strchr(line, '\n'))) {
		*end = '\0';

		json_t *said = json_loads(line, 0, NULL);

		ck_assert_int_gt(json_integer_value(json_object_get(said, "elapsed_usec")), 0);
		json_decref(said);
		line = end + 1;
		n++;
	}
	ck_assert_int_eq(n, 4);
}
END_TEST

START_TEST(a_shutdown_that_is_not_waited_for_is_one_call)
{
	ck_assert_int_eq(RUN("shutdown --no-wait web", SAY(PROGRESS("shutting_down", "", "1", ""))),
			 0);
	ck_assert_str_eq(out, "web: shutting down\n");
	assert_lacks(asked, "more");
}
END_TEST

START_TEST(several_shutdowns_begin_before_any_is_waited_for)
{
	static const char begun[] = PROGRESS("shutting_down", "", "1", "");
	static const char ended[] = PROGRESS("complete", "", "4210000", "");

	ck_assert_int_eq(RUN("shutdown a b", SAY(begun), SAY(begun), SAY(ended), SAY(ended)), 0);
	ck_assert_str_eq(
		out,
		"a: shutting down\nb: shutting down\na: complete in 4.2s\nb: complete in 4.2s\n");
	ck_assert_ptr_nonnull(strstr(strstr(asked, "\"b\",\"wait\":false"), "\"a\",\"wait\":true"));
}
END_TEST

START_TEST(the_end_of_the_daemon_ends_a_shutdown_of_the_root)
{
	static const char begun[] = "{\"parameters\":{\"node\":" NODE(
		"", "shutting_down", "1", "") ",\"guards\":[],\"elapsed_usec\":1}" CONTINUES "}";

	ck_assert_int_eq(RUN("shutdown", { begun, 0, THEN_CLOSE }), 0);
	assert_has(out, "root: complete, the daemon has ended\n");
	/* The end of the daemon completes neither another node nor a shutdown without a reply. */
	ck_assert_int_eq(RUN("shutdown web", { begun, 0, THEN_CLOSE }), 1);
	ck_assert_int_eq(RUN("shutdown", { NULL, 0, THEN_CLOSE }), 1);
}
END_TEST

START_TEST(a_terminal_is_drawn_anew)
{
	char *argv[] = { (char[]){ "swansongctl" }, (char[]){ "shutdown" }, (char[]){ "web" },
			 NULL };
	int master, slave, err_fd = memfd_create("err", MFD_CLOEXEC);
	pid_t pid;

	out[0] = '\0';
	ck_assert_int_eq(openpty(&master, &slave, NULL, NULL,
				 &(struct winsize){ .ws_row = 4, .ws_col = 30 }),
			 0);
	start_server(shutdown_answers, 4);
	pid = start_program(argv, slave, err_fd);
	close(slave);
	ck_assert(read_until(master, "complete in 4.2s\r\n"));
	ck_assert_int_eq(end_program(pid), 0);
	end_server();
	/* The head, one guard, and the count of the other: cut to the width, and wiped by going up. */
	assert_has(out, "web: shutting down for 1.0s, 2\033[0m\r\n");
	assert_has(out, "and 1 more\r\n\033[3A\033[J");
	assert_has(out, "\033[2A\033[J"
			"web: complete in 4.2s\r\n");
	close(master);
	close(err_fd);
}
END_TEST

/* Standard error is the same terminal, and nothing is held back for it. */
START_TEST(forced_kills_stay_on_the_terminal)
{
	static const struct answer answers[] = {
		SAY(PROGRESS("shutting_down", GUARD("3", "web", "process", ""), "1", CONTINUES)),
		SAY("{\"parameters\":{\"node\":" NODE(
			"web", "complete", "0",
			"") ","
			    "\"guards\":[],\"elapsed_usec\":4210000,\"forced\":true,\"losses\":[" LOSS(
				    "web", "killed pid 812 (nginx)") "]}}"),
	};
	char *argv[] = { (char[]){ "swansongctl" }, (char[]){ "shutdown" }, (char[]){ "web" },
			 NULL };
	struct answer script[] = { answers[0], answers[1] };
	int master, slave;
	pid_t pid;

	script[0].then = THEN_MORE;
	out[0] = '\0';
	ck_assert_int_eq(openpty(&master, &slave, NULL, NULL,
				 &(struct winsize){ .ws_row = 24, .ws_col = 80 }),
			 0);
	start_server(script, 2);
	pid = start_program(argv, slave, slave);
	close(slave);
	ck_assert(read_until(master, "complete in 4.2s"));
	(void)end_program(pid);
	end_server();
	assert_has(out, "\033[2A\033[Jswansongctl: web: killed pid 812 (nginx)\r\n"
			"web: complete in 4.2s");
	close(master);
}
END_TEST

/* The times go on while the daemon sends no reply. */
START_TEST(a_terminal_shows_the_time_that_passes)
{
	char *argv[] = { (char[]){ "swansongctl" }, (char[]){ "shutdown" }, (char[]){ "web" },
			 NULL };
	int master, slave, err_fd = memfd_create("err", MFD_CLOEXEC);
	pid_t pid;

	out[0] = '\0';
	ck_assert_int_eq(openpty(&master, &slave, NULL, NULL, NULL), 0);
	start_server(shutdown_answers, 1);
	pid = start_program(argv, slave, err_fd);
	close(slave);
	/* Drawn again, though there was one reply only. */
	ck_assert(read_until(master, "\033[3A\033[J\033[1mweb: shutting down for "));
	kill(pid, SIGINT);
	ck_assert_int_eq(end_program(pid), CTL_INTERRUPTED);
	close(master);
	close(err_fd);
}
END_TEST

START_TEST(an_interrupt_detaches_and_prints_how_to_wait_again)
{
	char *argv[] = { (char[]){ "swansongctl" }, (char[]){ "shutdown" }, (char[]){ "web" },
			 NULL };
	int pipe_fds[2], err_fd = memfd_create("err", MFD_CLOEXEC);
	pid_t pid;

	out[0] = '\0';
	ck_assert_int_eq(pipe(pipe_fds), 0);
	/* After the first reply, silence. */
	start_server(shutdown_answers, 1);
	pid = start_program(argv, pipe_fds[1], err_fd);
	close(pipe_fds[1]);
	ck_assert(read_until(pipe_fds[0], "2 guards"));
	kill(pid, SIGINT);
	ck_assert_int_eq(end_program(pid), CTL_INTERRUPTED);
	read_back(err_fd, err);
	assert_has(
		err,
		"interrupted: shutdown of web continues; see: swansongctl wait --for complete web");
	close(pipe_fds[0]);
	close(err_fd);
}
END_TEST

/* Without answers there is no daemon. */
static void watch(const char *until, const struct answer *answers, size_t n, int status)
{
	char *argv[] = { (char[]){ "swansongctl" }, (char[]){ "wait" },	   (char[]){ "web" },
			 (char[]){ "--for" },	    (char *)(size_t)until, NULL };
	int master, slave, err_fd = memfd_create("err", MFD_CLOEXEC);
	pid_t pid;

	out[0] = '\0';
	ck_assert_int_eq(openpty(&master, &slave, NULL, NULL,
				 &(struct winsize){ .ws_row = 24, .ws_col = 80 }),
			 0);
	if (n)
		start_server(answers, n);
	pid = start_program(argv, slave, err_fd);
	close(slave);
	(void)read_until(master, "\1"); /* to the end */
	ck_assert_int_eq(end_program(pid), status);
	if (n)
		end_server();
	read_back(err_fd, err);
	close(master);
	close(err_fd);
}

START_TEST(a_wait_on_a_terminal_shows_the_awaited_nodes)
{
	static const char coming[] = "{\"parameters\":{\"node\":" NODE(
		"web", "running", "2",
		"") ",\"guards\":[],\"elapsed_usec\":3000000,"
		    "\"pending\":[" NODE("web/nginx", "running", "1",
					 ",\"service\":" SERVICE("starting",
								 ",\"next_usec\":"
								 "5000000")) "],"
									     "\"more_"
									     "pending\":"
									     "4}" CONTINUES "}";
	static const struct answer ready[] = { { coming, 0, THEN_MORE }, OK };
	static const struct answer failed[] = {
		{ coming, 0, THEN_MORE },
		ERROR("io.swansong.Failed", "{\"node\":\"web/nginx\",\"reason\":\"no\"}")
	};

	watch("ready", ready, 2, 0);
	assert_has(asked, "\"until\":\"ready\"},\"more\":true}");
	assert_has(out, "web: ready, waited for 3.0s, 5 services not ready\033[0m\r\n");
	assert_has(out, "  web/nginx\033[0m  \033[33mstarting\033[0m");
	assert_has(out, "must be ready in 5.0s\r\n");
	assert_has(out, "\033[2A\033[Jweb: ready\r\n");
	watch("ready", failed, 2, 1);
	assert_has(err, "web/nginx: no");
	watch("ready", NULL, 0, CTL_NO_DAEMON);
	ck_assert_str_eq(out, "");
}
END_TEST

START_TEST(a_wait_for_the_end_shows_the_guards_held)
{
	static const char held[] = "{\"parameters\":{\"node\":" NODE(
		"web", "shutting_down", "1",
		"") ",\"guards\":[" GUARD("7", "web", "lease",
					  ",\"pid\":9,\"why\":\"dump\",\"kill_usec\":"
					  "9040000") "],\"elapsed_usec\":3000000,"
						     "\"pending\":[]}" CONTINUES "}";
	static const struct answer answers[] = { { held, 0, THEN_MORE }, OK };

	watch("complete", answers, 2, 0);
	/* Since the stop, not since it is waited for. */
	assert_has(out, "web: shutting down for 12.0s, 1 guard\033[0m\r\n");
	assert_has(out, "  lease  41.0s  kill in 9.0s  pid 9, \"dump\"\r\n");
	assert_has(out, "web: complete\r\n");
}
END_TEST

/* The last reply is empty: a transient node is gone by then. */
START_TEST(a_node_that_is_gone_is_complete)
{
	static const char begun[] = "{\"parameters\":{\"node\":" NODE(
		"job", "shutting_down", "1", "") ",\"guards\":[],\"elapsed_usec\":1}" CONTINUES "}";

	ck_assert_int_eq(RUN("shutdown job", { begun, 0, THEN_MORE }, OK), 0);
	assert_has(out, "job: complete in ");
	assert_lacks(out, "forced");
	ck_assert_int_eq(RUN("shutdown job", { begun, 0, THEN_MORE },
			     SAY(LOSSES(LOSS("job", "killed pid 812 (nginx)")))),
			 1);
	ck_assert_str_eq(err, "swansongctl: job: killed pid 812 (nginx)\n");
	assert_has(out, ", forced");
}
END_TEST

TCase *ctl_shutdown_tests(void)
{
	TCase *tc = tcase_create("shutdown");

	ctl_fixture(tc);
	tcase_add_test(tc, a_shutdown_is_a_line_on_each_change);
	tcase_add_test(tc, a_line_about_a_shutdown_has_a_limit);
	tcase_add_test(tc, grace_is_sent_with_the_request);
	tcase_add_test(tc, times_of_a_shutdown_are_changed);
	tcase_add_test(tc, a_forced_shutdown_has_not_succeeded_unless_force_was_asked_for);
	tcase_add_test(tc, forced_kills_are_listed_at_the_end_of_a_stop);
	tcase_add_test(tc, a_forced_kill_does_not_keep_other_nodes_from_stopping);
	tcase_add_test(tc, forced_kills_beyond_eight_are_counted);
	tcase_add_test(tc, a_shutdown_as_json_is_a_line_for_each_reply);
	tcase_add_test(tc, a_shutdown_that_is_not_waited_for_is_one_call);
	tcase_add_test(tc, several_shutdowns_begin_before_any_is_waited_for);
	tcase_add_test(tc, the_end_of_the_daemon_ends_a_shutdown_of_the_root);
	tcase_add_test(tc, a_terminal_is_drawn_anew);
	tcase_add_test(tc, forced_kills_stay_on_the_terminal);
	tcase_add_test(tc, a_terminal_shows_the_time_that_passes);
	tcase_add_test(tc, an_interrupt_detaches_and_prints_how_to_wait_again);
	tcase_add_test(tc, a_wait_on_a_terminal_shows_the_awaited_nodes);
	tcase_add_test(tc, a_wait_for_the_end_shows_the_guards_held);
	tcase_add_test(tc, a_node_that_is_gone_is_complete);
	return tc;
}
