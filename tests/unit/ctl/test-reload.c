#include "tests/unit/ctl/test-ctl.h"

#include "base/macro.h"
#include "ctl/session/session.h"

/* Reloads, rollouts, signals, and events. */

#define CHANGES                                                                                     \
	"{\"parameters\":{\"changes\":["                                                            \
	"{\"kind\":\"add\",\"node\":\"new\",\"service\":true,\"restart\":false,\"keys\":[]},"       \
	"{\"kind\":\"change\",\"node\":\"web\",\"service\":true,\"restart\":true,\"keys\":["        \
	"{\"key\":\"command\",\"from\":\"x\\u001b\",\"to\":\"y z\",\"apply\":\"restart\"},"         \
	"{\"key\":\"stop-timeout\",\"from\":\"10s\",\"to\":\"20s\",\"apply\":\"live\"},"            \
	"{\"key\":\"ready\",\"from\":null,\"to\":\"notify\",\"apply\":\"next_start\"}]},"           \
	"{\"kind\":\"change\",\"node\":\"\",\"service\":false,\"restart\":false,\"keys\":["         \
	"{\"key\":\"control-mode\",\"from\":\"0660\",\"to\":\"0600\",\"apply\":\"daemon\"}]},"      \
	"{\"kind\":\"add\",\"node\":\"nap\",\"service\":true,\"autostart\":false,"                  \
	"\"restart\":false,\"keys\":[]},"                                                           \
	"{\"kind\":\"change\",\"node\":\"late\",\"service\":true,\"restart\":false,\"start\":true," \
	"\"keys\":[{\"key\":\"autostart\",\"from\":\"no\",\"to\":\"yes\",\"apply\":\"live\"}]},"    \
	"{\"kind\":\"change\",\"node\":\"app\",\"service\":true,\"restart\":true,"                  \
	"\"because\":\"web\",\"keys\":[]},"                                                         \
	"{\"kind\":\"remove\",\"node\":\"old\",\"service\":true,\"restart\":false,\"keys\":[]}]}}"

START_TEST(a_reload_shows_what_it_does)
{
	ck_assert_int_eq(RUN("reload", SAY(CHANGES)), 0);
	ck_assert_str_eq(asked, "{\"method\":\"io.swansong.Reload\",\"parameters\":{}}\n");
	assert_has(out, "add      new");
	assert_has(out, "is started\n");
	assert_has(out, "add      nap");
	assert_has(out, "waits to be started\n");
	assert_has(out, "change   web   command       x\\x1b  y z     now, by a restart\n");
	assert_has(out, "change   web   stop-timeout  10s    20s     now\n");
	assert_has(out, "change   web   ready         -      notify  at the next start\n");
	assert_has(out,
		   "change   root  control-mode  0660   0600    at the next start of the daemon");
	assert_has(out, "change   late  autostart     no     yes     now: starts the service\n");
	assert_has(out, "restart  app ");
	assert_has(out, "now, by a restart: it requires web\n");
	assert_has(out, "remove   old");
	assert_has(out, "\nreloaded\n");
}
END_TEST

START_TEST(a_dry_run_is_announced)
{
	ck_assert_int_eq(RUN("reload --dry-run", SAY(CHANGES)), 0);
	ck_assert_str_eq(asked,
			 "{\"method\":\"io.swansong.Reload\",\"parameters\":{\"dry_run\":true}}\n");
	assert_has(out, "\nnothing was done: this is a dry run\n");
	assert_lacks(out, "reloaded");
	ck_assert_int_eq(RUN("reload --dry-run", SAY("{\"parameters\":{\"changes\":[]}}")), 0);
	ck_assert_str_eq(out, "nothing would change\n");
	ck_assert_int_eq(RUN("reload --dry-run --json", SAY("{\"parameters\":{\"changes\":[]}}")),
			 0);
	ck_assert_str_eq(out, "{\"changes\":[]}\n");
	ck_assert_int_eq(RUN("reload --dry-run -q", SAY(CHANGES)), 0);
	ck_assert_str_eq(out, "");
}
END_TEST

START_TEST(a_node_is_asked_to_reload_itself)
{
	ck_assert_int_eq(RUN("reload web db", OK, OK), 0);
	assert_has(asked, "ReloadService\",\"parameters\":{\"node\":\"web\"}}\n");
	assert_has(asked, "ReloadService\",\"parameters\":{\"node\":\"db\"}}\n");
	ck_assert_str_eq(out, "web: asked to reload\ndb: asked to reload\n");
}
END_TEST

#define WEB(n, state) NODE("web@" n, "running", "1", ",\"service\":" SERVICE(state, ""))
#define WEBS                                                                        \
	"{\"parameters\":{\"nodes\":[" WEB("1", "up") "," WEB("2", "down") "," WEB( \
		"5", "listening") "," WEB("3", "up") "," WEB("4", "up") "]}}"
#define ROOT "{\"parameters\":{\"nodes\":[" NODE("", "running", "0", "") "]}}"
#define CHANGE(node, outdated)                               \
	"{\"kind\":\"change\",\"node\":\"" node              \
	"\",\"service\":true,\"restart\":false,\"keys\":[]," \
	"\"outdated\":" outdated "}"

#define RESTART(node)                                                          \
	"{\"method\":\"io.swansong.Restart\",\"parameters\":{\"node\":\"" node \
	"\",\"wait\":false,\"min_ready\":9223372036854775807}}\n"
#define STAY(node)                                                          \
	"{\"method\":\"io.swansong.Wait\",\"parameters\":{\"node\":\"" node \
	"\",\"until\":\"ready\","                                           \
	"\"settle_usec\":2000000,\"stay\":true}}\n"

START_TEST(a_rollout_restarts_running_services_in_parts)
{
	ck_assert_int_eq(RUN("rollout / --settle 2s --parallel 2", SAY(ROOT),
			     SAY("{\"parameters\":{\"changes\":[]}}"), SAY(WEBS), OK, OK, OK, OK,
			     OK, OK),
			 0);
	assert_has(asked, "Reload\",\"parameters\":{\"rollout\":\"begin\"}}\n");
	assert_has(asked, RESTART("web@1") RESTART("web@3") STAY("web@1") STAY("web@3")
				  RESTART("web@4") STAY("web@4"));
	ck_assert_str_eq(out, "web@1: ready, 1 of 3\nweb@3: ready, 2 of 3\nweb@4: ready, 3 of 3\n");
}
END_TEST

START_TEST(a_rollout_restarts_a_service_once_that_has_restarted_with_another)
{
	ck_assert_int_eq(RUN("rollout / --settle 2s", SAY(ROOT),
			     SAY("{\"parameters\":{\"changes\":[]}}"), SAY(WEBS),
			     SAY("{\"parameters\":{\"with\":[\"web@4\"]}}"), OK, OK, OK, OK),
			 0);
	assert_has(asked,
		   RESTART("web@1") STAY("web@1") STAY("web@4") RESTART("web@3") STAY("web@3"));
	ck_assert_str_eq(out, "web@4: stopped with web@1, which it requires\n"
			      "web@1: ready, 1 of 3\nweb@4: ready, 2 of 3\nweb@3: ready, 3 of 3\n");
}
END_TEST

START_TEST(a_rollout_stops_at_the_first_failure)
{
	ck_assert_int_eq(
		RUN("rollout /", SAY(ROOT), SAY("{\"parameters\":{\"changes\":[]}}"), SAY(WEBS), OK,
		    OK, OK,
		    ERROR("io.swansong.Failed", "{\"node\":\"web@3\",\"reason\":\"died\"}")),
		CTL_FAILED);
	ck_assert_str_eq(out, "web@1: ready, 1 of 3\n");
	ck_assert_str_eq(err, "swansongctl: web@3: died\nswansongctl: 1 of 3 are done; to go on: "
			      "swansongctl rollout web@3 web@4; to go back: swansongctl rollout "
			      "--undo /\n");
	assert_lacks(asked, "Restart\",\"parameters\":{\"node\":\"web@4\"");
}
END_TEST

START_TEST(an_undo_restarts_outdated_services)
{
	ck_assert_int_eq(RUN("rollout --undo /", SAY(ROOT),
			     SAY("{\"parameters\":{\"changes\":[" CHANGE(
				     "web@3", "true") "," CHANGE("web@4", "false") "]}}"),
			     SAY(WEBS), OK, OK),
			 0);
	assert_has(asked, "Reload\",\"parameters\":{\"rollout\":\"undo\"}}\n");
	ck_assert_str_eq(out, "web@3: ready, 1 of 1\n"
			      "undone: the next reload or rollout reads the files again\n");
}
END_TEST

#define NO_CHANGES SAY("{\"parameters\":{\"changes\":[]}}")
#define WITH_4	   SAY("{\"parameters\":{\"with\":[\"web@4\"]}}")
#define FORESEE(node, beside)                                                                      \
	"{\"method\":\"io.swansong.Restart\",\"parameters\":{\"node\":\"" node                     \
	"\",\"wait\":false,\"min_ready\":9223372036854775807,\"dry_run\":true,\"beside\":[" beside \
	"]}}\n"

START_TEST(a_dry_run_of_a_rollout_names_the_restarts)
{
	static const struct answer answers[] = { SAY(ROOT), NO_CHANGES, SAY(WEBS),
						 WITH_4,    WITH_4,	OK };

	ck_assert_int_eq(run("rollout / --dry-run --parallel 2", answers, ARRAY_SIZE(answers)), 0);
	assert_has(asked, "Reload\",\"parameters\":{\"rollout\":\"begin\",\"dry_run\":true}}\n");
	/* The first two would restart at the same time. */
	assert_has(asked, FORESEE("web@1", "") FORESEE("web@3", "\"web@1\"") FORESEE("web@4", ""));
	ck_assert_str_eq(out, "web@1: would be restarted, 1 of 3\n"
			      "web@4: would be restarted with web@1, which it requires\n"
			      "web@3: would be restarted, 2 of 3\n"
			      "web@4: would be restarted, 3 of 3\n"
			      "nothing was done: this is a dry run\n");
	ck_assert_int_eq(run("rollout / --dry-run --json", answers, ARRAY_SIZE(answers)), 0);
	ck_assert_str_eq(out, "{\"restarted\":[\"web@1\",\"web@3\",\"web@4\"],"
			      "\"with\":[\"web@4\"],\"changes\":[]}\n");
}
END_TEST

START_TEST(a_rollout_without_a_running_service_has_nothing_to_restart)
{
	ck_assert_int_eq(RUN("rollout /", SAY(ROOT), NO_CHANGES, SAY(ROOT)), 0);
	ck_assert_str_eq(out, "nothing to restart\n");
	ck_assert_int_eq(RUN("rollout /", SAY(ROOT), NO_CHANGES,
			     SAY("{\"parameters\":{\"nodes\":[" WEB("1", "up") "]}}"), OK, OK),
			 0);
	ck_assert_str_eq(out, "web@1: ready, 1 of 1\n");
}
END_TEST

START_TEST(a_signal_is_checked_and_sent)
{
	ck_assert_int_eq(RUN("signal USR1 web", OK), 0);
	assert_has(asked, "Signal\",\"parameters\":{\"node\":\"web\",\"signal\":\"USR1\","
			  "\"scope\":\"main\"}}\n");
	ck_assert_str_eq(out, "web: sent SIGUSR1\n");
	ck_assert_int_eq(RUN("signal --scope all 15 web", OK), 0);
	assert_has(asked, "\"signal\":\"15\",\"scope\":\"all\"}}\n");
	ck_assert_int_eq(run("signal NOPE web", NULL, 0), CTL_USAGE);
	assert_has(err, "invalid signal 'NOPE'");
	ck_assert_int_eq(run("signal --scope some HUP web", NULL, 0), CTL_USAGE);
	ck_assert_int_eq(run("signal HUP", NULL, 0), CTL_USAGE);
}
END_TEST

START_TEST(list_prints_the_names_of_nodes)
{
	ck_assert_int_eq(RUN("list", SAY(tree)), 0);
	ck_assert_str_eq(out, "/\nedge\nedge/nginx\napp\nstore\nstore/redis\n");
	ck_assert_int_eq(RUN("list --json", SAY(tree)), 0);
	assert_has(out, "{\"nodes\":[\"/\",\"edge\",");
}
END_TEST

#define EVENT(more)                                                                  \
	"{\"number\":7,\"time_usec\":1500000,\"kind\":\"service\",\"node\":\"web\"," \
	"\"generation\":1,\"from\":\"up\",\"to\":\"waiting\"" more "}"
#define EVENTS(list, lost) "{\"parameters\":{\"events\":[" list "],\"lost\":" lost "}"

START_TEST(each_event_is_printed_on_one_line)
{
	ck_assert_int_eq(
		RUN("events --last 5 web",
		    { .text = EVENTS(EVENT(",\"reason\":\"hold\",\"cause\":\"asked\\u001b\""),
				     "3") ",\"continues\":true}",
		      .then = THEN_MORE },
		    SAY(EVENTS(EVENT(""), "0") "}")),
		0);
	assert_has(asked, "Events\",\"parameters\":{\"node\":\"web\",\"last\":5},\"more\":true}");
	assert_has(out, "... 3 lost\n");
	assert_has(out, ":01.500 web: up -> waiting (hold), asked\\x1b\n");
	assert_has(out, ":01.500 web: up -> waiting\n");
	ck_assert_int_eq(RUN("events --json --no-wait", SAY(EVENTS(EVENT(""), "2") "}")), 0);
	assert_lacks(asked, "\"more\"");
	ck_assert_str_eq(out, "{\"lost\":2}\n" EVENT("") "\n");
	ck_assert_int_eq(run("events a b", NULL, 0), CTL_USAGE);
	ck_assert_int_eq(run("events --last x", NULL, 0), CTL_USAGE);
}
END_TEST

START_TEST(run_exits_with_the_status_of_the_program)
{
	ck_assert_int_eq(RUN("run a/b -- x -q --wait", OK), 0);
	assert_has(asked, "Run\",\"parameters\":{\"node\":\"a/b\",\"command\":"
			  "[\"x\",\"-q\",\"--wait\"],\"properties\":[],\"keep\":false,"
			  "\"wait\":false}}\n");
	ck_assert_str_eq(out, "a/b: begun\n");
	ck_assert_int_eq(RUN("run a --wait -p user=x --property umask=077 --keep -- y",
			     SAY("{\"parameters\":{\"result\":\"killed\",\"status\":137}}")),
			 137);
	assert_has(asked, "\"properties\":[\"user=x\",\"umask=077\"],\"keep\":true,\"wait\":true");
	ck_assert_str_eq(out, "a: killed\n");
	ck_assert_int_eq(
		RUN("run a -- y", ERROR("io.swansong.Failed",
					"{\"node\":\"a\",\"reason\":\"\\nclient:1: [a] b\"}")),
		CTL_FAILED);
	assert_has(err, "\nclient:1: [a] b\n");
	ck_assert_int_eq(run("run a", NULL, 0), CTL_USAGE);
	ck_assert_int_eq(run("run a -p nothing -- x", NULL, 0), CTL_USAGE);
}
END_TEST

TCase *ctl_reload_tests(void)
{
	TCase *tc = tcase_create("reload");

	ctl_fixture(tc);
	tcase_add_test(tc, a_reload_shows_what_it_does);
	tcase_add_test(tc, a_dry_run_is_announced);
	tcase_add_test(tc, a_node_is_asked_to_reload_itself);
	tcase_add_test(tc, a_rollout_restarts_running_services_in_parts);
	tcase_add_test(tc, a_rollout_restarts_a_service_once_that_has_restarted_with_another);
	tcase_add_test(tc, a_rollout_stops_at_the_first_failure);
	tcase_add_test(tc, an_undo_restarts_outdated_services);
	tcase_add_test(tc, a_dry_run_of_a_rollout_names_the_restarts);
	tcase_add_test(tc, a_rollout_without_a_running_service_has_nothing_to_restart);
	tcase_add_test(tc, a_signal_is_checked_and_sent);
	tcase_add_test(tc, list_prints_the_names_of_nodes);
	tcase_add_test(tc, each_event_is_printed_on_one_line);
	tcase_add_test(tc, run_exits_with_the_status_of_the_program);
	return tc;
}
