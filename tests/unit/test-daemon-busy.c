/* Which timeout an end has: another one while there is work, and from when on. */
#include "timed-tree.h"

#include "base/macro.h"
#include "daemon/service-timeout.h"
#include "daemon/starting.h"

/* As if it had begun so long ago. */
static void ages(const char *path, uint64_t usec)
{
	service(path)->ending.began_usec -= usec;
}

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
}
END_TEST

TCase *busy_tests(void)
{
	TCase *tc = timed_case("busy");

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
	return tc;
}
