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

#define STEP(node, state, with) "{\"node\":\"" node "\",\"state\":\"" state "\"" with "}"
#define ROLLOUT(state, more, steps)                                            \
	"\"rollout\":{\"state\":\"" state "\",\"since_usec\":1,\"own\":2" more \
	",\"steps\":[" steps "]}"
#define CHANGE(node)                                         \
	"\"changes\":[{\"kind\":\"change\",\"node\":\"" node \
	"\",\"service\":true,\"restart\":false,\"keys\":[],\"outdated\":true}]"
#define MORE(members)                                                                          \
	{                                                                                      \
		.text = "{\"parameters\":{" members "},\"continues\":true}", .then = THEN_MORE \
	}
#define LAST(members) SAY("{\"parameters\":{" members "}}")

START_TEST(a_rollout_is_followed_to_its_end)
{
	ck_assert_int_eq(
		RUN("rollout web@1 web@2 --settle 2s --parallel 2",
		    MORE(ROLLOUT("running", "",
				 STEP("web@1", "restarting", "") "," STEP("web@2", "pending",
									  "")) ","
									       "\"changes\":[]"),
		    MORE(ROLLOUT(
			    "running", "",
			    STEP("web@1", "ready", "") "," STEP("web@2", "restarting", "") "," STEP(
				    "far", "restarting", ",\"with\":\"web@2\""))),
		    LAST(ROLLOUT("done", "",
				 STEP("web@1", "ready", "") "," STEP("web@2", "ready", "") "," STEP(
					 "far", "ready", ",\"with\":\"web@2\"")))),
		0);
	assert_has(asked, "Rollout\",\"parameters\":{\"action\":\"begin\",\"settle_usec\":2000000,"
			  "\"parallel\":2,\"or_undo\":false,\"dry_run\":false,\"wait\":true,"
			  "\"nodes\":[\"web@1\",\"web@2\"]},\"more\":true}\n");
	ck_assert_str_eq(out, "web@1: ready, 1 of 2\nfar: stopped with web@2, which it requires\n"
			      "web@2: ready, 2 of 2\n");
}
END_TEST

START_TEST(a_rollout_that_fails_shows_how_it_goes_on_and_back)
{
	ck_assert_int_eq(
		RUN("rollout /", LAST(ROLLOUT("failed", ",\"reason\":\"web@2: died\"",
					      STEP("web@1", "ready", "") "," STEP(
						      "web@2", "failed", "")) "," CHANGE("db"))),
		CTL_FAILED);
	assert_has(out, "web@1: ready, 1 of 2\ndb: keeps its former settings");
	ck_assert_str_eq(
		err, "swansongctl: web@2: died\nswansongctl: 1 of 2 are done; to go on: "
		     "swansongctl rollout --continue; to go back: swansongctl rollout --undo\n");
}
END_TEST

START_TEST(a_rollout_that_has_gone_back_has_a_status_of_its_own)
{
	ck_assert_int_eq(RUN("rollout / --or-undo",
			     MORE(ROLLOUT("running", "", STEP("web@1", "ready", ""))),
			     MORE(ROLLOUT("undoing", ",\"reason\":\"web@2: died\"",
					  STEP("web@1", "restarting", ""))),
			     LAST(ROLLOUT("undone", ",\"reason\":\"web@2: died\"",
					  STEP("web@1", "ready", "")))),
			 CTL_UNDONE);
	assert_has(asked, "\"or_undo\":true");
	ck_assert_str_eq(out, "web@1: ready, 1 of 2\nweb@1: ready with its former settings, 1 of 2\n"
			      "undone: the next reload or rollout reads the files again\n");
	ck_assert_str_eq(err, "swansongctl: web@2: died\n");
	ck_assert_int_eq(RUN("rollout --undo web@1", LAST(ROLLOUT("undone", "", ""))), 0);
	assert_has(asked, "\"action\":\"undo\"");
}
END_TEST

START_TEST(a_rollout_pauses_and_continues)
{
	ck_assert_int_eq(RUN("rollout / --pause-after 1",
			     LAST(ROLLOUT("paused", "", STEP("web@1", "ready", "")))),
			 0);
	assert_has(asked, "\"pause_after\":1");
	assert_has(err, "1 of 2 are done; to go on: swansongctl rollout --continue");
	ck_assert_int_eq(RUN("rollout --continue", LAST(ROLLOUT("done", "", ""))), 0);
	assert_has(asked, "\"action\":\"continue\"");
	ck_assert_int_eq(run("rollout --continue web", NULL, 0), CTL_USAGE);
	ck_assert_int_eq(run("rollout --continue --undo", NULL, 0), CTL_USAGE);
	ck_assert_int_eq(run("rollout --dry-run", NULL, 0), CTL_USAGE);
}
END_TEST

START_TEST(a_rollout_of_outdated_services_names_those_that_are_unknown)
{
	ck_assert_int_eq(RUN("rollout --outdated",
			     LAST(ROLLOUT("done", ",\"reason\":\"web: its files\"", ""))),
			 0);
	assert_has(asked, "\"action\":\"begin\"");
	assert_has(asked, "\"outdated\":true");
	ck_assert_str_eq(err, "swansongctl: web: its files\n");
	ck_assert_int_eq(run("rollout --outdated --undo", NULL, 0), CTL_USAGE);
	ck_assert_int_eq(run("rollout --outdated --continue", NULL, 0), CTL_USAGE);
	ck_assert_int_eq(RUN("rollout --outdated --dry-run web", LAST(ROLLOUT("running", "", ""))),
			 0);
	assert_has(asked, "\"nodes\":[\"web\"]");
}
END_TEST

START_TEST(a_rollout_without_a_node_shows_the_present_one)
{
	ck_assert_int_eq(RUN("rollout", LAST(ROLLOUT("done", "", STEP("web@1", "ready", "")))), 0);
	assert_lacks(asked, "action");
	ck_assert_str_eq(out, "web@1: ready, 1 of 2\n");
	ck_assert_int_eq(RUN("rollout --json", LAST(ROLLOUT("done", "", ""))), 0);
	ck_assert_str_eq(out, "{" ROLLOUT("done", "", "") "}\n");
	ck_assert_int_eq(RUN("rollout --no-wait", LAST(ROLLOUT("running", "", ""))), 0);
	ck_assert_str_eq(out, "rollout: running, 0 of 2 are done; see: swansongctl rollout\n");
}
END_TEST

START_TEST(a_dry_run_of_a_rollout_names_the_restarts)
{
	ck_assert_int_eq(
		RUN("rollout / --dry-run",
		    LAST(ROLLOUT(
			    "running", "",
			    STEP("web@1", "pending", "") "," STEP(
				    "web@2", "pending",
				    ",\"with\":\"web@1\"") "," STEP("far", "pending",
								    ",\"with\":\"web@1\"")) ",\"changes\":[]")),
		0);
	assert_has(asked, "\"dry_run\":true");
	ck_assert_str_eq(out, "web@1: would be restarted, 1 of 2\n"
			      "web@2: would be restarted with web@1, which it requires\n"
			      "far: would be restarted with web@1, which it requires\n"
			      "web@2: would be restarted, 2 of 2\n"
			      "nothing was done: this is a dry run\n");
}
END_TEST

START_TEST(a_reload_waits_for_its_confirmation)
{
	ck_assert_int_eq(RUN("reload --confirm 60s", SAY(CHANGES)), 0);
	assert_has(asked, "\"confirm_usec\":60000000");
	assert_has(out, "reloaded: goes back in 1min 0s, unless swansongctl confirm comes\n");
	ck_assert_int_eq(RUN("confirm", LAST(ROLLOUT("done", "", ""))), 0);
	assert_has(asked, "\"action\":\"confirm\"");
	ck_assert_str_eq(out, "confirmed\n");
	ck_assert_int_eq(run("reload --confirm 60s web", NULL, 0), CTL_USAGE);
}
END_TEST

START_TEST(former_configurations_are_shown_and_taken)
{
	ck_assert_int_eq(
		RUN("changes",
		    LAST("\"configurations\":[{\"number\":7,\"time_usec\":1500000,"
			 "\"cause\":\"asked\\u001b\"},{\"number\":8,\"time_usec\":2500000}]")),
		0);
	assert_has(out, "7  1970-01-01T00:00:01.500000Z  asked\\x1b\n");
	assert_has(out, "8  1970-01-01T00:00:02.500000Z  -\n");
	ck_assert_int_eq(RUN("reload --to 7 --dry-run", SAY(CHANGES)), 0);
	assert_has(asked, "{\"dry_run\":true,\"to\":7}");
	ck_assert_int_eq(run("reload --to 0", NULL, 0), CTL_USAGE);
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
	tcase_add_test(tc, a_rollout_is_followed_to_its_end);
	tcase_add_test(tc, a_rollout_that_fails_shows_how_it_goes_on_and_back);
	tcase_add_test(tc, a_rollout_that_has_gone_back_has_a_status_of_its_own);
	tcase_add_test(tc, a_rollout_pauses_and_continues);
	tcase_add_test(tc, a_rollout_of_outdated_services_names_those_that_are_unknown);
	tcase_add_test(tc, a_rollout_without_a_node_shows_the_present_one);
	tcase_add_test(tc, a_dry_run_of_a_rollout_names_the_restarts);
	tcase_add_test(tc, a_reload_waits_for_its_confirmation);
	tcase_add_test(tc, former_configurations_are_shown_and_taken);
	tcase_add_test(tc, a_signal_is_checked_and_sent);
	tcase_add_test(tc, list_prints_the_names_of_nodes);
	tcase_add_test(tc, each_event_is_printed_on_one_line);
	tcase_add_test(tc, run_exits_with_the_status_of_the_program);
	return tc;
}
