#include "tests/unit/ctl/test-ctl.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/macro.h"
#include "ctl/program/commands.h"
#include "ctl/terminal/forest.h"

START_TEST(every_verb_sends_its_requests)
{
	static const struct {
		const char *line, *asked, *said;
	} cases[] = {
		{ "start web",
		  "io.swansong.Start\",\"parameters\":{\"node\":\"web\",\"wait\":true,\"settle_usec\":1000000}}\n",
		  "web: ready\n" },
		{ "start --no-wait web",
		  "Start\",\"parameters\":{\"node\":\"web\",\"wait\":false}}\n",
		  "web: starting\n" },
		{ "--no-wait stop /", "Stop\",\"parameters\":{\"node\":\"\",\"wait\":false}}\n",
		  "root: stopping\n" },
		{ "stop web", "Stop\",\"parameters\":{\"node\":\"web\",\"wait\":true}}\n",
		  "web: complete\n" },
		{ "restart web -q --settle 0",
		  "Restart\",\"parameters\":{\"node\":\"web\",\"wait\":true}}\n", "" },
		{ "restart web", "Restart\"", "web: ready\n" },
		{ "wait web", "Wait\",\"parameters\":{\"node\":\"web\",\"until\":\"complete\"}}\n",
		  "web: complete\n" },
		{ "wait --for stopping web",
		  "Wait\",\"parameters\":{\"node\":\"web\",\"until\":\"stopping\"}}\n",
		  "web: stopping\n" },
		{ "wait --for ready",
		  "Wait\",\"parameters\":{\"node\":\"\",\"until\":\"ready\"}}\n", "root: ready\n" },
		{ "reload", "Reload\",\"parameters\":{}}\n", "reloaded\n" },
		{ "--json reload", "Reload\"", "{}\n" },
		{ "start web --json", "Start\"", "{}\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ck_assert_msg(RUN(cases[i].line, OK) == 0, "%s: %s", cases[i].line, err);
		assert_has(asked, cases[i].asked);
		ck_assert_str_eq(out, cases[i].said);
		ck_assert_str_eq(err, "");
	}
}
END_TEST

START_TEST(several_nodes_are_all_asked_before_any_is_waited_for)
{
	ck_assert_int_eq(RUN("start a b", OK, OK, OK, OK), 0);
	ck_assert_str_eq(
		asked,
		"{\"method\":\"io.swansong.Start\",\"parameters\":{\"node\":\"a\",\"wait\":false}}\n"
		"{\"method\":\"io.swansong.Start\",\"parameters\":{\"node\":\"b\",\"wait\":false}}\n"
		"{\"method\":\"io.swansong.Wait\",\"parameters\":{\"node\":\"a\",\"until\":\"ready\",\"settle_usec\":1000000}}\n"
		"{\"method\":\"io.swansong.Wait\",\"parameters\":{\"node\":\"b\",\"until\":\"ready\",\"settle_usec\":1000000}}\n");
	ck_assert_str_eq(out, "a: ready\nb: ready\n");
}
END_TEST

START_TEST(a_glob_is_every_node_that_matches)
{
	ck_assert_int_eq(RUN("stop e* */redis", SAY(tree), OK, OK, OK, OK), 0);
	ck_assert_str_eq(out, "edge: complete\nstore/redis: complete\n");
	ck_assert_int_eq(RUN("stop nope*", SAY(tree)), CTL_NO_NODE);
	assert_has(err, "nope*: no node matches");
	assert_lacks(asked, "Stop");
}
END_TEST

/* The time grows with the number of nodes, not with its square. */
START_TEST(a_glob_may_match_very_many)
{
	enum { MANY = 50000 };
	struct answer answer = { .then = THEN_NEXT };
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(file);
	fprintf(file, "{\"parameters\":{\"nodes\":[" NODE("", "running", "0", ""));
	for (int i = 0; i < MANY; i++)
		fprintf(file, "," NODE("s%d", "running", "0", ""), i);
	fprintf(file, "]}}");
	fclose(file);
	answer.text = text;
	ck_assert_int_eq(run("plan s*", &answer, 1), CTL_USAGE);
	assert_has(err, "several nodes match");
	free(text);
}
END_TEST

/* The root is called /, which no glob matches: "stop *" must not end the daemon. */
START_TEST(a_glob_is_never_the_root)
{
	ck_assert_int_eq(RUN("stop *", SAY(tree), OK, OK, OK, OK, OK, OK), 0);
	ck_assert_str_eq(out, "edge: complete\napp: complete\nstore: complete\n");
	assert_lacks(asked, "\"node\":\"\",\"wait\"");
}
END_TEST

START_TEST(errors_have_an_exit_status_each)
{
	static const struct {
		const char *line, *reply;
		int status;
		const char *said;
	} cases[] = {
		{ "start x",
		  "{\"error\":\"io.swansong.NoSuchNode\",\"parameters\":{\"node\":\"x\"}}", 4,
		  "x: no such node" },
		{ "start x",
		  "{\"error\":\"io.swansong.NodeStopped\",\"parameters\":{\"node\":\"x\"}}", 1,
		  "x: stopped" },
		{ "guard x -- true",
		  "{\"error\":\"io.swansong.NodeStopped\",\"parameters\":{\"node\":\"x\"}}", 75,
		  "x: stopped" },
		{ "stop x",
		  "{\"error\":\"io.swansong.NotPermitted\",\"parameters\":{\"reason\":\"no\"}}", 5,
		  "not permitted: no" },
		{ "start x",
		  "{\"error\":\"io.swansong.Failed\",\"parameters\":{\"node\":\"x\",\"reason\":\"r\"}}",
		  1, "x: r" },
		{ "guards", "{\"error\":\"io.swansong.TooMany\",\"parameters\":{\"reason\":\"r\"}}",
		  1, "too many: r" },
		{ "status", "{\"error\":\"org.varlink.service.MethodNotFound\",\"parameters\":{}}",
		  1, "the daemon refused the call" },
		{ "shutdown x",
		  "{\"error\":\"io.swansong.NoSuchNode\",\"parameters\":{\"node\":\"x\"}}", 4,
		  "no such node" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int status = RUN(cases[i].line, SAY(cases[i].reply));

		ck_assert_msg(status == cases[i].status, "%s: %d", cases[i].line, status);
		assert_has(err, cases[i].said);
		ck_assert_str_eq(out, "");
	}
	ck_assert_int_eq(RUN("start x --json", SAY(cases[0].reply)), 4);
	ck_assert_str_eq(
		out, "{\"error\":\"io.swansong.NoSuchNode\",\"parameters\":{\"node\":\"x\"}}\n");
}
END_TEST

START_TEST(a_reason_of_several_lines_is_printed_in_lines)
{
	ck_assert_int_eq(
		RUN("reload",
		    ERROR("io.swansong.Failed",
			  "{\"node\":\"\",\"reason\":\"\\na.ini:1: x\\nb.ini:2: \\u001b\"}")),
		CTL_FAILED);
	ck_assert_str_eq(
		err,
		"swansongctl: root: refused, nothing has changed:\na.ini:1: x\nb.ini:2: \\x1b\n");
}
END_TEST

START_TEST(without_a_daemon_the_path_is_named)
{
	ck_assert_int_eq(run("status", NULL, 0), CTL_NO_DAEMON);
	assert_has(err, socket_path);
	ck_assert_int_eq(run("status --socket /nowhere/sock", NULL, 0), CTL_NO_DAEMON);
	assert_has(err, "/nowhere/sock");
	ck_assert_int_eq(run("-s /nowhere/short status", NULL, 0), CTL_NO_DAEMON);
	assert_has(err, "/nowhere/short");
	ck_assert_int_eq(RUN("status", SAY(tree)), 0);
	/* It might yet come, but does not in time. */
	ck_assert_int_eq(run("wait --for ready --timeout 120ms --socket /nowhere/sock", NULL, 0),
			 CTL_NO_DAEMON);
	assert_has(err, "/nowhere/sock");
	/* It has gone, and its socket is still there. */
	ck_assert_int_eq(run("status", NULL, 0), CTL_NO_DAEMON);
	assert_has(err, socket_path);
}
END_TEST

START_TEST(wrong_usage_is_refused_before_the_daemon_is_asked)
{
	static const char *const lines[] = {
		"nope",
		"start",
		"stop --force web",
		"--nope",
		"status --for ready",
		"wait --for later",
		"guard",
		"guard web",
		"reload --dry-run web",
		"--timeout",
		"--timeout 5 status",
		"help nope",
		"--socket",
		"shutdown --why x",
		"interrupt",
		"interrupt web",
		"plan a b",
		"plan --grace",
		"plan --grace soon",
		"plan --config",
		"stop --grace 5s web",
		"check --config a b",
		"-z",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		int status = run(lines[i], NULL, 0);

		ck_assert_msg(status == CTL_USAGE, "%s: %d", lines[i], status);
		ck_assert_msg(err[0], "nothing said to: %s", lines[i]);
	}
	run("shutdwon", NULL, 0);
	assert_has(err, "did you mean shutdown?");
	run("status --timeuot 5s", NULL, 0);
	assert_has(err, "did you mean --timeout?");
}
END_TEST

START_TEST(an_empty_argument_vector_is_wrong_usage)
{
	char *argv[] = { NULL };

	ck_assert_int_eq(run_argv(argv), CTL_USAGE);
}
END_TEST

START_TEST(status_has_a_line_for_each_node)
{
	ck_assert_int_eq(RUN("", SAY(tree)), 0);
	assert_has(
		asked,
		"io.swansong.Status\",\"parameters\":{\"node\":\"\",\"programs\":true},\"more\":true");
	ck_assert_str_eq(
		out,
		"NODE         STATE          PID  GUARDS\n"
		"root         running        -    4       ready\n"
		"edge         running        -    1       ready\n"
		"edge/nginx   up             812  1       since 3d 0h\n"
		"app          shutting-down  -    2       since 12.0s, kill in 18.0s\n"
		"store        shutting-down  -    1       since 12.0s\n"
		"store/redis  waiting        805  1       since 12.0s, waits for app edge, 2 restarts\n"
		"6 nodes, 2 services: 1 up, 1 waiting\n");
}
END_TEST

/* "more": replies that continue. */
START_TEST(a_status_in_parts_is_one)
{
#define PART(path, continues) \
	"{\"parameters\":{\"nodes\":[" NODE(path, "running", "0", "") "]}" continues "}"
	const struct answer parts[] = {
		{ PART("a", ",\"continues\":true"), 0, THEN_MORE },
		{ "{\"parameters\":{\"nodes\":[]},\"continues\":true}", 0, THEN_MORE },
		{ PART("b", ""), 0, THEN_NEXT },
	};
	const struct answer bad[] = {
		{ PART("a", ",\"continues\":true"), 0, THEN_MORE },
		{ "{\"parameters\":{}}", 0, THEN_NEXT },
	};
	static const char *const lines[] = { "status", "list", "tree", "--json status" };

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		ck_assert_int_eq(run(lines[i], parts, ARRAY_SIZE(parts)), 0);
		assert_has(out, "b");
		ck_assert_int_eq(run(lines[i], bad, ARRAY_SIZE(bad)), CTL_FAILED);
		assert_has(err, "not the protocol");
	}
	ck_assert_int_eq(run("list", parts, ARRAY_SIZE(parts)), 0);
	ck_assert_str_eq(out, "a\nb\n");
}
END_TEST

START_TEST(a_tree_is_drawn_with_what_the_locale_has)
{
	ck_assert_int_eq(RUN("tree", SAY(tree)), 0);
	ck_assert_str_eq(
		out,
		"root       running        4 guards  ready\n"
		"├─edge     running        1 guard   ready\n"
		"│ └─nginx  up             pid 812   since 3d 0h\n"
		"├─app      shutting-down  2 guards  since 12.0s, kill in 18.0s\n"
		"└─store    shutting-down  1 guard   since 12.0s\n"
		"  └─redis  waiting        pid 805   since 12.0s, waits for app edge, 2 restarts\n");
	setenv("LC_ALL", "C", 1);
	ck_assert_int_eq(RUN("tree", SAY(tree)), 0);
	assert_has(out, "\n|-edge     running");
	assert_has(out, "\n| `-nginx  up");
	assert_has(out, "\n`-store  ");
}
END_TEST

START_TEST(health_is_an_exit_status)
{
#define ONE(state, node_state, more)                                    \
	SAY("{\"parameters\":{\"nodes\":[" NODE("web", node_state, "1", \
						",\"service\":" SERVICE(state, more)) "]}}")
#define HEALTH(state) ",\"health\":\"" state "\",\"health_since_usec\":1"

	ck_assert_int_eq(RUN("health web", ONE("up", "running", "")), 0);
	ck_assert_str_eq(out, "healthy\n");
	ck_assert_int_eq(RUN("health web", ONE("up", "running", HEALTH("healthy"))), 0);
	ck_assert_int_eq(RUN("health web", ONE("up", "running", HEALTH("unknown"))), CTL_COMING);
	ck_assert_str_eq(out, "web  not known yet\n");
	ck_assert_int_eq(
		RUN("health web",
		    ONE("up", "running", HEALTH("unhealthy") ",\"health_result\":\"no\\u001b\"")),
		CTL_FAILED);
	ck_assert_str_eq(out, "web  unhealthy: no\\x1b\n");
	ck_assert_int_eq(RUN("health web", ONE("stopping", "shutting_down", "")), CTL_FAILED);
	ck_assert_str_eq(out, "web  stopping\n");
	ck_assert_int_eq(RUN("health web", ONE("done", "running", ",\"ended\":true")), CTL_FAILED);
	ck_assert_str_eq(out, "web  ended\n");
	ck_assert_int_eq(RUN("-q health web", ONE("stopping", "shutting_down", "")), CTL_FAILED);
	ck_assert_str_eq(out, "");
	ck_assert_int_eq(RUN("--json health web", ONE("up", "running", HEALTH("unhealthy"))),
			 CTL_FAILED);
	ck_assert_str_eq(out, "{\"healthy\":false}\n");
}
END_TEST

START_TEST(health_has_a_status_for_services_that_are_coming_up)
{
#define DOES_NOT_SERVE(state, node_state, more)                                                       \
	SAY("{\"parameters\":{\"nodes\":[{\"path\":\"web\",\"generation\":1,\"state\":\"" node_state  \
	    "\",\"since_usec\":1,\"guards\":0,\"ready\":false,\"forced\":false,\"service\":" SERVICE( \
		    state, more) "}]}}")
	static const struct {
		struct answer answer;
		int status;
	} cases[] = {
		{ DOES_NOT_SERVE("down", "running", ""), CTL_COMING },
		{ DOES_NOT_SERVE("preparing", "running", ""), CTL_COMING },
		{ DOES_NOT_SERVE("starting", "running", ""), CTL_COMING },
		{ DOES_NOT_SERVE("readying", "running", ""), CTL_COMING },
		{ DOES_NOT_SERVE("cleaning", "running", ""), CTL_COMING },
		{ DOES_NOT_SERVE("finishing", "running", ""), CTL_COMING },
		{ DOES_NOT_SERVE("backoff", "running", ""), CTL_COMING },
		{ DOES_NOT_SERVE("failed", "running", ""), CTL_FAILED },
		{ DOES_NOT_SERVE("down", "running", ",\"stopped\":true"), CTL_FAILED },
		{ DOES_NOT_SERVE("waiting", "shutting_down", ""), CTL_FAILED },
		{ DOES_NOT_SERVE("down", "complete", ""), CTL_FAILED },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_int_eq(run("health web", &cases[i].answer, 1), cases[i].status);
}
END_TEST

START_TEST(a_page_shows_every_fact_about_a_node)
{
	static const char page[] = "{\"parameters\":{\"nodes\":[" NODE(
		"web/nginx", "shutting_down", "1",
		",\"deadline_usec\":25000000,\"service\":" SERVICE(
			"stopping",
			",\"pid\":812,\"next_usec\":9000000,\"status\":\"busy\\u001b[31m\"")) "]}}";

	ck_assert_int_eq(RUN("status web/nginx", SAY(page), SAY(guards),
			     ERROR("io.swansong.NotPermitted", "{}")),
			 0);
	assert_has(asked, "io.swansong.Guards\",\"parameters\":{\"node\":\"web/nginx\"}");
	ck_assert_str_eq(out, "web/nginx\n"
			      "     state:  stopping since 3d 0h\n"
			      "      node:  shutting down since 12.0s, generation 1\n"
			      "   kill in:  9.0s\n"
			      "   command:  nginx -g \"x\"\n"
			      "       pid:  812\n"
			      "     ready:  yes\n"
			      "  restarts:  0\n"
			      "    status:  busy\\x1b[31m\n"
			      "    guards:  process, nginx, pid 812, root, for 41.0s\n"
			      "             lease, pg_dump, pid 9911, \"nightly\", for 41.0s\n");
}
END_TEST

START_TEST(a_page_has_the_schedule_or_the_awaited_connection)
{
#define PAGE(state, more)                                                                     \
	SAY("{\"parameters\":{\"nodes\":[" NODE("web", "running", "0",                        \
						",\"service\":" SERVICE(state, more)) "]}}"), \
		SAY(guards), ERROR("io.swansong.NotPermitted", "{}")

	(void)RUN("status web", PAGE("done", ",\"schedule\":\"daily\",\"scheduled_usec\":1000000"));
	assert_has(out, "schedule:  daily, next run in 1.0s\n");
	(void)RUN("status web", PAGE("done", ",\"schedule\":\"02-29\""));
	assert_has(out, "schedule:  02-29, next run not within 30 years\n");
	(void)RUN("status web", PAGE("listening", ""));
	assert_has(out, "waits for:  a connection\n");
}
END_TEST

START_TEST(guards_are_listed_with_holder_and_reason)
{
	ck_assert_int_eq(RUN("guards --blocking", SAY(guards)), 0);
	assert_has(asked, "\"parameters\":{\"node\":\"\",\"blocking\":true}");
	ck_assert_str_eq(
		out, "ID  NODE       KIND     AGE    KILL IN  HOLDER AND REASON\n"
		     "3   web/nginx  process  41.0s  8.0s     nginx, pid 812, root\n"
		     "7   app        lease    41.0s  -        pg_dump, pid 9911, \"nightly\"\n");
	ck_assert_int_eq(RUN("guards", SAY(guards)), 0);
	ck_assert_str_eq(out, "ID  NODE       KIND     AGE    HOLDER AND REASON\n"
			      "3   web/nginx  process  41.0s  nginx, pid 812, root\n"
			      "7   app        lease    41.0s  pg_dump, pid 9911, \"nightly\"\n");
	ck_assert_int_eq(RUN("guards", SAY("{\"parameters\":{\"guards\":[]}}")), 0);
	ck_assert_str_eq(out, "");
}
END_TEST

START_TEST(json_output_is_the_reply_of_the_daemon)
{
	json_t *said, *reply = json_loads(tree, 0, NULL);

	ck_assert_int_eq(RUN("--json status", SAY(tree)), 0);
	said = json_loads(out, 0, NULL);
	ck_assert(json_equal(said, json_object_get(reply, "parameters")));
	json_decref(said);
	ck_assert_int_eq(RUN("tree e* --json", SAY(tree), SAY(tree)), 0);
	said = json_loads(out, 0, NULL);
	ck_assert(json_equal(said, json_object_get(reply, "parameters")));
	json_decref(said);
	json_decref(reply);
	ck_assert_int_eq(RUN("guards --json", SAY(guards)), 0);
	said = json_loads(out, 0, NULL);
	ck_assert_uint_eq(json_array_size(json_object_get(said, "guards")), 2);
	json_decref(said);
}
END_TEST

START_TEST(help_and_version_need_no_daemon)
{
	json_t *said;

	ck_assert_int_eq(run("help", NULL, 0), 0);
	assert_has(out, "shutdown     [NODE...] ");
	ck_assert_int_eq(run("--help", NULL, 0), 0);
	ck_assert_int_eq(run("guard --help", NULL, 0), 0);
	assert_has(out, "--why T");
	assert_lacks(out, "--force");
	ck_assert_int_eq(run("--version", NULL, 0), 0);
	ck_assert_str_eq(out, "swansongctl " PACKAGE_VERSION "\n");
	ck_assert_int_eq(run("help --json", NULL, 0), 0);
	said = json_loads(out, 0, NULL);
	ck_assert_uint_gt(json_array_size(json_object_get(said, "commands")), 10);
	json_decref(said);
}
END_TEST

START_TEST(a_parent_is_the_last_node_before_with_its_path)
{
	static const struct {
		const char *path;
		size_t parent;
	} cases[] = {
		{ "x/y", FOREST_NONE }, { "a/b/c", FOREST_NONE },
		{ "", FOREST_NONE },	{ "", FOREST_NONE },
		{ "/", 3 },		{ "//", 4 },
		{ "a", 3 },		{ "a/", 6 },
		{ "a/b", 6 },		{ "a", 3 },
		{ "a/b", 9 },		{ "a/b/c", 10 },
	};
	struct node_view views[ARRAY_SIZE(cases)] = {};
	struct forest *forest;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		views[i].path = cases[i].path;
	ck_assert_int_eq(forest_new(&forest, views, ARRAY_SIZE(cases)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_uint_eq(forest->parents[i], cases[i].parent);
	free(forest);
	ck_assert_int_eq(forest_new(&forest, views, 0), 0);
	free(forest);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("ctl");
	TCase *tc = tcase_create("ctl");

	ctl_fixture(tc);
	tcase_add_test(tc, every_verb_sends_its_requests);
	tcase_add_test(tc, several_nodes_are_all_asked_before_any_is_waited_for);
	tcase_add_test(tc, a_glob_is_every_node_that_matches);
	tcase_add_test(tc, a_glob_may_match_very_many);
	tcase_add_test(tc, a_glob_is_never_the_root);
	tcase_add_test(tc, errors_have_an_exit_status_each);
	tcase_add_test(tc, a_reason_of_several_lines_is_printed_in_lines);
	tcase_add_test(tc, without_a_daemon_the_path_is_named);
	tcase_add_test(tc, wrong_usage_is_refused_before_the_daemon_is_asked);
	tcase_add_test(tc, an_empty_argument_vector_is_wrong_usage);
	tcase_add_test(tc, status_has_a_line_for_each_node);
	tcase_add_test(tc, a_status_in_parts_is_one);
	tcase_add_test(tc, a_tree_is_drawn_with_what_the_locale_has);
	tcase_add_test(tc, health_is_an_exit_status);
	tcase_add_test(tc, health_has_a_status_for_services_that_are_coming_up);
	tcase_add_test(tc, a_page_shows_every_fact_about_a_node);
	tcase_add_test(tc, a_page_has_the_schedule_or_the_awaited_connection);
	tcase_add_test(tc, guards_are_listed_with_holder_and_reason);
	tcase_add_test(tc, json_output_is_the_reply_of_the_daemon);
	tcase_add_test(tc, help_and_version_need_no_daemon);
	tcase_add_test(tc, a_parent_is_the_last_node_before_with_its_path);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, ctl_check_tests());
	suite_add_tcase(s, ctl_session_tests());
	suite_add_tcase(s, ctl_shutdown_tests());
	suite_add_tcase(s, ctl_reload_tests());
	suite_add_tcase(s, ctl_guard_tests());
	suite_add_tcase(s, ctl_interrupt_tests());
	suite_add_tcase(s, ctl_plan_tests());
	suite_add_tcase(s, ctl_logs_tests());
	suite_add_tcase(s, ctl_lines_tests());
	suite_add_tcase(s, ctl_settings_tests());
	suite_add_tcase(s, ctl_hostile_tests());
	suite_add_tcase(s, ctl_report_tests());
	return s;
}
