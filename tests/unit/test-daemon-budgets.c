#include "main.h"
#include "tree-world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "daemon/deadline.h"
#include "daemon/lease.h"
#include "daemon/order.h"
#include "daemon/service-hook.h"
#include "daemon/service-timeout.h"
#include "daemon/setup.h"
#include "daemon/shutdown.h"
#include "daemon/starting.h"

/*
 * When who is killed at the latest, on a tree without processes: what a service would do is said to it
 * as its processes would.  Nothing waits: a timeout is looked at when it is armed.
 */

#define SEC USEC_PER_SEC

/* No process has such a number, or a higher one. */
#define NO_PID 0x7ffff000

static pid_t next_pid;

/* It runs: wanted, with a process and a guard, and ready. */
static void run(struct service *s)
{
	bool was_settled;

	order_want(s);
	list_remove(&s->in_waiting);
	was_settled = service_is_settled(s);
	s->parts = service_configured_parts(s);
	process_add(&processes, &s->main, next_pid, -1);
	s->main.group = next_pid++;
	s->main.guard = swansong_guard(s->node->work);
	s->main.generation = s->node->generation;
	s->state = STATE_STARTING;
	s->started_usec = clock_now_usec();
	node_count(s->node, 0, 0, service_is_settled(s) - was_settled);
	service_handle(s, EVENT_READY);
	ck_assert_int_eq(s->state, STATE_UP);
}

/* All of @text's services run; whoever supervises us waits for @grace. */
static void begin_within(const char *text, uint64_t grace)
{
	begin_with(load(text));
	ctx.grace_usec = grace;
	next_pid = NO_PID;
	for (struct node *n = tree.root; n; n = node_next(n, tree.root)) {
		ck_assert_int_eq(deadline_watch(n, n->config), 0);
		if (n->service)
			run(n->service);
	}
}

static void begin(const char *text)
{
	begin_within(text, USEC_INFINITY);
}

static void stop(const char *path)
{
	shutdown_stop(&tree, find(path), "test");
}

/* One turn of daemon.c, as far as a stop goes. */
static void turn(void)
{
	service_settle_guards(&ctx);
	order_release(&ctx);
	(void)shutdown_follow(&tree);
}

static void end(const char *path)
{
	struct service *s = service(path);

	s->main.alive = false;
	service_handle(s, EVENT_DONE);
	process_remove(&s->main);
	turn();
}

static struct lease *hold(const char *path)
{
	const struct unix_peer peer = { .pid = 0 };
	const struct lease_wish wish = {
		.peer = &peer,
		.why = "test",
		.ttl_usec = USEC_INFINITY,
		.late = true,
	};
	struct lease *lease;

	ck_assert_int_eq(lease_new(&lease, find(path), &wish), 0);
	turn();
	return lease;
}

static void release(struct lease *lease)
{
	lease_free(lease);
	turn();
}

/* How long it has from now on; a little less than was meant, as time passes. */
static uint64_t left(const char *path)
{
	uint64_t now = clock_now_usec(), usec = service(path)->timeout_usec;

	if (usec == USEC_INFINITY)
		return usec;
	return usec > now ? usec - now : 0;
}

static void has_about(const char *path, uint64_t usec)
{
	uint64_t got = left(path);

	ck_assert_msg(got <= usec && got + 3 * SEC / 2 > usec, "%s has %llu ms, not %llu", path,
		      (unsigned long long)got / 1000, (unsigned long long)usec / 1000);
}

/* As if it had begun so long ago. */
static void ages(const char *path, uint64_t usec)
{
	service(path)->ending.began_usec -= usec;
}

/* --- busy --- */

static const char web[] = "[swansong]\nshutdown-timeout = infinity\nstop-timeout = 10s\n"
			  "[web]\ncommand = x\n[web/jobs]\n[web/own]\ncommand = x\n[other]\n";

START_TEST(an_idle_service_has_its_stop_timeout)
{
	struct lease *above, *beside, *of_another;

	begin(web);
	above = hold("root");
	beside = hold("other");
	of_another = hold("web/own");
	stop("web");
	has_about("web", 10 * SEC);
	has_about("web/own", 300 * SEC);
	release(above);
	release(beside);
	release(of_another);
	finish();
}
END_TEST

static const char *const where[] = { "web", "web/jobs" };

START_TEST(a_busy_one_has_its_drain_timeout)
{
	struct lease *lease;

	begin(web);
	lease = hold(where[_i]);
	stop("web");
	has_about("web", 300 * SEC);
	has_about("web/own", 10 * SEC);
	release(lease);
	has_about("web", 10 * SEC);
	finish();
}
END_TEST

START_TEST(one_that_becomes_idle_has_all_of_its_stop_timeout)
{
	struct lease *one, *two;

	begin(web);
	one = hold("web");
	two = hold("web/jobs");
	stop("web");
	ages("web", 100 * SEC);
	release(one);
	has_about("web", 200 * SEC);
	release(two);
	has_about("web", 10 * SEC);
	finish();
}
END_TEST

START_TEST(one_that_becomes_busy_late_has_its_drain_timeout_from_the_signal)
{
	struct lease *lease;

	begin(web);
	stop("web");
	ages("web", 5 * SEC);
	lease = hold("web");
	has_about("web", 295 * SEC);
	release(lease);
	finish();
}
END_TEST

START_TEST(a_guard_of_an_earlier_generation_is_not_its_work)
{
	struct lease *lease;

	begin(web);
	lease = hold("web");
	stop("web");
	end("web/own");
	end("web");
	ck_assert_int_eq(starting_begin(find("web")), 0);
	run(service("web"));
	stop("web");
	has_about("web", 10 * SEC);
	release(lease);
	finish();
}
END_TEST

START_TEST(who_has_failed_is_not_waited_for)
{
	struct lease *lease;

	begin(web);
	lease = hold("web");
	service("web")->outcome.kind = OUTCOME_WATCHDOG;
	service_handle(service("web"), EVENT_TIMEOUT);
	ck_assert_int_eq(service("web")->state, STATE_CLEANING);
	has_about("web", 10 * SEC);
	release(lease);
	finish();
}
END_TEST

START_TEST(who_ends_by_itself_is)
{
	struct lease *lease;

	begin(web);
	lease = hold("web");
	service_handle(service("web"), EVENT_ENDING);
	ck_assert_int_eq(service("web")->state, STATE_CLEANING);
	has_about("web", 300 * SEC);
	release(lease);
	has_about("web", 10 * SEC);
	finish();
}
END_TEST

START_TEST(what_is_left_of_a_busy_one_is_not_its_work)
{
	struct service *s;
	struct lease *lease;

	begin(web);
	lease = hold("web");
	stop("web");
	s = service("web");
	s->main.alive = false;
	service_handle(s, EVENT_ORPHANED);
	has_about("web", 10 * SEC);
	s->ending.leftovers_usec -= 5 * SEC;
	service_handle(s, EVENT_ORPHANED);
	has_about("web", 5 * SEC);
	release(lease);
	finish();
}
END_TEST

START_TEST(its_own_word_counts_when_it_is_later)
{
	struct lease *lease;
	uint64_t now;

	begin(web);
	lease = hold("web");
	stop("web");
	now = clock_now_usec();
	service_extend(service("web"), now + 60 * SEC);
	has_about("web", 300 * SEC);
	release(lease);
	has_about("web", 60 * SEC);
	service_extend(service("web"), now + 30 * SEC);
	has_about("web", 60 * SEC);
	finish();
}
END_TEST

START_TEST(a_oneshot_that_was_cleaned_up_has_its_time_when_it_is_stopped)
{
	struct service *s;

	begin("[once]\ncommand = x\nstop-timeout = 10s\n");
	s = service("once");
	s->state = STATE_CLEANING;
	service_arm(s, false);
	s->ending.began_usec -= 60 * SEC;
	s->ending.limit_usec -= 60 * SEC;
	service_handle(s, EVENT_WORKED);
	ck_assert_int_eq(s->state, STATE_UP);
	stop("once");
	has_about("once", 10 * SEC);
	finish();
}
END_TEST

/* --- budgets --- */

START_TEST(no_child_has_more_than_its_parent)
{
	struct lease *lease;

	begin("[swansong]\nshutdown-timeout = 90s\n[web]\nshutdown-timeout = 30s\n"
	      "[web/a]\ncommand = x\nshutdown-timeout = 1h\n[b]\ncommand = x\n"
	      "stop-timeout = infinity\n");
	lease = hold("web/a");
	stop("root");
	has_about("web/a", 30 * SEC);
	has_about("b", 90 * SEC);
	release(lease);
	has_about("web/a", 10 * SEC);
	finish();
}
END_TEST

START_TEST(a_nearer_budget_counts_for_what_has_begun_to_end)
{
	struct lease *lease;

	begin("[swansong]\nshutdown-timeout = 20s\n[web]\ncommand = x\n"
	      "[slow]\ncommand = x\ndrain-delay = 1min\n");
	lease = hold("web");
	stop("web");
	stop("slow");
	has_about("web", 300 * SEC);
	has_about("slow", 60 * SEC);
	stop("root");
	has_about("web", 20 * SEC);
	/* Its stop-timeout of 10 s is to follow, or a third of all. */
	has_about("slow", 20 * SEC - 20 * SEC / 3);
	release(lease);
	finish();
}
END_TEST

/* Whatever it is in, and comes to be in, as it is not the next run that is held up by it. */
START_TEST(a_start_leaves_what_is_ending_its_budget)
{
	begin("[swansong]\nshutdown-timeout = 90s\n[g]\nshutdown-timeout = 20s\n"
	      "[g/db]\ncommand = x\nstop-timeout = 1min\n"
	      "[g/web]\ncommand = x\nstop-timeout = 1min\nrequires = g/db\n"
	      "[g/slow]\ncommand = x\ndrain-delay = 5min\nstop-timeout = 1s\n");
	stop("g");
	ck_assert_int_eq(service("g/db")->state, STATE_GATED);
	ck_assert_int_eq(starting_begin(find("g")), 0);
	ck_assert_uint_eq(find("g")->kill_usec, USEC_INFINITY);
	has_about("g/db", 20 * SEC);
	has_about("g/web", 20 * SEC - 20 * SEC / 3);
	has_about("g/slow", 19 * SEC);
	service_handle(service("g/slow"), EVENT_TIMEOUT);
	ck_assert_int_eq(service("g/slow")->state, STATE_GATED);
	has_about("g/slow", 20 * SEC);
	service_handle(service("g/slow"), EVENT_RELEASE);
	has_about("g/slow", 1 * SEC);
	/* By another stop it has no more. */
	stop("g");
	has_about("g/db", 20 * SEC);
	end("g/web");
	has_about("g/db", 20 * SEC);
	/* The next run has its own. */
	end("g/db");
	end("g/slow");
	ck_assert_int_eq(starting_begin(find("g")), 0);
	run(service("g/db"));
	ck_assert_uint_eq(service("g/db")->kept_usec, 0);
	stop("root");
	has_about("g/db", 20 * SEC);
	finish();
}
END_TEST

START_TEST(what_comes_after_the_kill_has_its_share)
{
	begin("[swansong]\nshutdown-timeout = 90s\nstop-timeout = infinity\n"
	      "final = x\nfinal-timeout = 20s\n"
	      "[web]\nfinal = x\nfinal-timeout = 5s\n"
	      "[web/a]\ncommand = x\npost-stop = x\n[web/b]\ncommand = x\n[c]\ncommand = x\n");
	stop("root");
	has_about("c", 70 * SEC);
	has_about("web/b", 65 * SEC);
	has_about("web/a", 63 * SEC);
	ck_assert_uint_eq(find("web")->deadline_usec, tree.root->kill_usec);
	finish();
}
END_TEST

START_TEST(it_is_no_more_than_a_third)
{
	begin("[swansong]\nshutdown-timeout = 9s\nstop-timeout = infinity\nfinal = x\n"
	      "[web]\ncommand = x\npost-stop = x\n");
	stop("root");
	has_about("web", 4 * SEC);
	finish();
}
END_TEST

/* "web" takes all it can get; "db" must not be killed at that moment without having had its signal. */
START_TEST(whose_signal_waits_has_its_stop_timeout_before_the_budget_ends)
{
	struct lease *lease;

	begin("[swansong]\nshutdown-timeout = 90s\n[db]\ncommand = x\nstop-timeout = 15s\n"
	      "[web]\ncommand = x\nrequires = db\n[disk]\ncommand = x\nterm-after = db\n"
	      "stop-timeout = 5s\n");
	lease = hold("web");
	stop("root");
	ck_assert_int_eq(service("db")->state, STATE_GATED);
	has_about("web", 75 * SEC);
	release(lease);
	end("web");
	ck_assert_int_eq(service("db")->state, STATE_STOPPING);
	has_about("db", 15 * SEC);
	end("db");
	has_about("disk", 5 * SEC);
	finish();
}
END_TEST

START_TEST(who_goes_on_running_needs_no_share)
{
	struct lease *lease;

	begin("[swansong]\nshutdown-timeout = 90s\n[db]\ncommand = x\n"
	      "[web]\ncommand = x\nshutdown-timeout = 30s\nrequires = db\n");
	lease = hold("web");
	stop("web");
	has_about("web", 30 * SEC);
	release(lease);
	finish();
}
END_TEST

/* --- the grace --- */

START_TEST(the_example_of_the_manual_is_right)
{
	struct lease *lease;

	begin_within("[swansong]\nshutdown-timeout = 90s\nfinal = x\n"
		     "[data/redis]\ncommand = x\nstop-timeout = 20s\n"
		     "[web]\nshutdown-timeout = 40s\n"
		     "[web/nginx]\ncommand = x\nrequires = data/redis\npost-stop = x\n",
		     60 * SEC);
	lease = hold("web/nginx");
	stop("root");
	has_about("web/nginx", 25 * SEC);
	release(lease);
	has_about("web/nginx", 10 * SEC);
	ck_assert_uint_eq(find("data/redis")->kill_usec - tree.root->stop_usec, 47 * SEC);
	ck_assert_uint_eq(tree.root->deadline_usec - tree.root->stop_usec, 57 * SEC);
	finish();
}
END_TEST

START_TEST(the_grace_is_a_budget_of_the_root)
{
	begin_within("[web]\ncommand = x\nstop-timeout = infinity\n", 40 * SEC);
	stop("web");
	ck_assert_uint_eq(left("web"), USEC_INFINITY);
	stop("root");
	has_about("web", 38 * SEC);
	finish();
}
END_TEST

START_TEST(the_nearer_one_counts)
{
	begin_within("[swansong]\nshutdown-timeout = 20s\n"
		     "[web]\ncommand = x\nstop-timeout = infinity\n",
		     40 * SEC);
	stop("root");
	has_about("web", 20 * SEC);
	finish();
}
END_TEST

START_TEST(a_root_without_a_budget_has_that_one)
{
	begin_within("[swansong]\nshutdown-timeout = infinity\n"
		     "[web]\ncommand = x\nstop-timeout = infinity\n",
		     40 * SEC);
	ck_assert_ptr_nonnull(tree.root->budget);
	stop("root");
	has_about("web", 38 * SEC);
	finish();
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("daemon-budgets");
	TCase *tc = tcase_create("daemon-budgets");

	tcase_add_test(tc, an_idle_service_has_its_stop_timeout);
	tcase_add_loop_test(tc, a_busy_one_has_its_drain_timeout, 0, ARRAY_SIZE(where));
	tcase_add_test(tc, one_that_becomes_idle_has_all_of_its_stop_timeout);
	tcase_add_test(tc, one_that_becomes_busy_late_has_its_drain_timeout_from_the_signal);
	tcase_add_test(tc, a_guard_of_an_earlier_generation_is_not_its_work);
	tcase_add_test(tc, who_has_failed_is_not_waited_for);
	tcase_add_test(tc, who_ends_by_itself_is);
	tcase_add_test(tc, what_is_left_of_a_busy_one_is_not_its_work);
	tcase_add_test(tc, its_own_word_counts_when_it_is_later);
	tcase_add_test(tc, a_oneshot_that_was_cleaned_up_has_its_time_when_it_is_stopped);
	tcase_add_test(tc, no_child_has_more_than_its_parent);
	tcase_add_test(tc, a_nearer_budget_counts_for_what_has_begun_to_end);
	tcase_add_test(tc, a_start_leaves_what_is_ending_its_budget);
	tcase_add_test(tc, what_comes_after_the_kill_has_its_share);
	tcase_add_test(tc, it_is_no_more_than_a_third);
	tcase_add_test(tc, whose_signal_waits_has_its_stop_timeout_before_the_budget_ends);
	tcase_add_test(tc, who_goes_on_running_needs_no_share);
	tcase_add_test(tc, the_example_of_the_manual_is_right);
	tcase_add_test(tc, the_grace_is_a_budget_of_the_root);
	tcase_add_test(tc, the_nearer_one_counts);
	tcase_add_test(tc, a_root_without_a_budget_has_that_one);
	suite_add_tcase(s, tc);
	return s;
}
