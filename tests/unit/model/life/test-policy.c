#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "model/life/policy.h"

#define MSEC USEC_PER_MSEC
#define SEC  USEC_PER_SEC

static struct node_config config;
static struct policy *policy;

static void renew_policy(void)
{
	policy_free(policy);
	ck_assert_int_eq(policy_new(&policy, &config), 0);
}

static void setup(void)
{
	node_config_init(&config, "web/nginx");
	config.restart = RESTART_ON_FAILURE;
	config.restart_delay_usec = 100 * MSEC;
	config.restart_delay_max_usec = 30 * SEC;
	config.restart_limit = (struct restart_limit){ 0 };
	renew_policy();
}

static void teardown(void)
{
	policy = policy_free(policy);
	node_config_done(&config);
}

static struct outcome exited(int status)
{
	return (struct outcome){ .kind = OUTCOME_EXITED, .value = status, .was_ready = true };
}

static struct outcome signaled(int signo)
{
	return (struct outcome){ .kind = OUTCOME_SIGNALED, .value = signo, .was_ready = true };
}

static struct outcome unready(struct outcome outcome)
{
	outcome.was_ready = false;
	return outcome;
}

static struct outcome spawn_failed(int error)
{
	return (struct outcome){
		.kind = OUTCOME_SPAWN_FAILED, .value = error, .step = "execute", .subject = "/bin/x"
	};
}

static enum service_event decide(struct outcome outcome)
{
	uint64_t delay;

	return policy_decide(policy, &outcome, SEC, 0, &delay);
}

static uint64_t delay_after(uint64_t ran_usec)
{
	struct outcome outcome = exited(1);
	uint64_t delay = USEC_INFINITY;

	ck_assert_int_eq(policy_decide(policy, &outcome, SEC, ran_usec, &delay), EVENT_RETRY);
	return delay;
}

START_TEST(instances_of_a_template_have_a_small_jitter_without_a_key)
{
	struct extras *extras = node_config_own_part(&config, PART_EXTRAS);

	ck_assert_uint_eq(policy_jitter_limit(&config, SEC), 0);
	config.path = "web/nginx@1";
	ck_assert_uint_eq(policy_jitter_limit(&config, SEC), 100 * MSEC);
	extras->restart_jitter = 100;
	ck_assert_uint_eq(policy_jitter_limit(&config, SEC), SEC);
	extras->restart_jitter = 0;
	ck_assert_uint_eq(policy_jitter_limit(&config, SEC), 0);
	ck_assert_uint_eq(policy_jitter_limit(&config, USEC_INFINITY), 0);
}
END_TEST

START_TEST(a_skipped_service_is_done_under_every_policy)
{
	struct outcome skipped = { .kind = OUTCOME_CONDITION, .hook = "condition" };

	for (config.restart = RESTART_ALWAYS;; config.restart = RESTART_NEVER) {
		ck_assert_int_eq(decide(skipped), EVENT_DONE);
		ck_assert(policy_is_clean(&config, &skipped));
		ck_assert_int_eq(policy_exit_status(&skipped), 0);
		if (config.restart == RESTART_NEVER)
			break;
	}
}
END_TEST

START_TEST(some_ends_are_declared_clean)
{
	struct extras *extras = node_config_own_part(&config, PART_EXTRAS);

	extras->success_status.codes[3] = UINT64_C(1) << 63; /* 255 */
	extras->success_status.codes[0] = UINT64_C(1) << 3;
	extras->success_status.signals = UINT64_C(1) << (SIGPIPE - 1);
	ck_assert_int_eq(decide(exited(0)), EVENT_DONE);
	ck_assert_int_eq(decide(exited(3)), EVENT_DONE);
	ck_assert_int_eq(decide(exited(255)), EVENT_DONE);
	ck_assert_int_eq(decide(exited(4)), EVENT_RETRY);
	ck_assert_int_eq(decide(signaled(SIGPIPE)), EVENT_DONE);
	ck_assert_int_eq(decide(signaled(SIGSEGV)), EVENT_RETRY);
	ck_assert_int_eq(decide(unready(exited(3))), EVENT_RETRY);
	config.type = TYPE_ONESHOT;
	ck_assert_int_eq(decide(signaled(SIGPIPE)), EVENT_DONE);
	ck_assert_int_eq(decide(signaled(config.stop_signal)), EVENT_RETRY);
}
END_TEST

START_TEST(a_run_of_the_length_asked_for_resets_the_delay)
{
	struct extras *extras = node_config_own_part(&config, PART_EXTRAS);

	extras->restart_reset_usec = SEC;
	ck_assert_uint_eq(delay_after(0), 100 * MSEC);
	ck_assert_uint_eq(delay_after(SEC - 1), 200 * MSEC);
	ck_assert_uint_eq(delay_after(SEC), 100 * MSEC);
}
END_TEST

START_TEST(each_policy_decides_each_outcome)
{
	const struct {
		struct outcome outcome;
		bool clean;
	} outcomes[] = {
		{ exited(0), true },
		{ signaled(SIGTERM), true }, /* the stop signal */
		{ exited(1), false },
		{ signaled(SIGSEGV), false },
		{ signaled(SIGKILL), false },
		{ unready(exited(0)), false }, /* it was to be ready first */
		{ unready(signaled(SIGTERM)), false },
		{ spawn_failed(ENOENT), false },
		{ { .kind = OUTCOME_START_TIMEOUT, .value = SIGTERM }, false },
		{ { .kind = OUTCOME_WATCHDOG, .value = 0, .was_ready = true }, false },
		{ { .kind = OUTCOME_UNKNOWN, .value = 0, .was_ready = true }, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(outcomes); i++) {
		bool clean = outcomes[i].clean;

		ck_assert_int_eq(policy_is_clean(&config, &outcomes[i].outcome), clean);
		config.restart = RESTART_NEVER;
		ck_assert_int_eq(decide(outcomes[i].outcome), clean ? EVENT_DONE : EVENT_FAIL);
		config.restart = RESTART_ON_FAILURE;
		ck_assert_int_eq(decide(outcomes[i].outcome), clean ? EVENT_DONE : EVENT_RETRY);
		config.restart = RESTART_ALWAYS;
		ck_assert_int_eq(decide(outcomes[i].outcome), EVENT_RETRY);
	}
}
END_TEST

START_TEST(a_clean_end_by_signal_is_by_the_stop_signal)
{
	struct outcome term = signaled(SIGTERM), quit = signaled(SIGQUIT);

	config.stop_signal = SIGQUIT;
	ck_assert(policy_is_clean(&config, &quit));
	ck_assert(!policy_is_clean(&config, &term));
	config.type = TYPE_ONESHOT; /* has work to finish: a signal is never the end of that */
	ck_assert(!policy_is_clean(&config, &quit));
}
END_TEST

START_TEST(the_delay_doubles_up_to_its_limit)
{
	uint64_t expected = 100 * MSEC;

	for (int i = 0; i < 20; i++) {
		ck_assert_uint_eq(delay_after(0), expected);
		expected = MIN(2 * expected, 30 * SEC);
	}
}
END_TEST

START_TEST(an_infinite_delay_does_not_wrap)
{
	config.restart_delay_usec = UINT64_MAX / 2 + 1;
	config.restart_delay_max_usec = USEC_INFINITY;
	policy_forget(policy);
	ck_assert_uint_eq(delay_after(0), UINT64_MAX / 2 + 1);
	ck_assert_uint_eq(delay_after(0), USEC_INFINITY);
	ck_assert_uint_eq(delay_after(0), USEC_INFINITY);
}
END_TEST

START_TEST(a_delay_above_its_limit_is_the_limit)
{
	config.restart_delay_max_usec = 10 * MSEC;
	policy_forget(policy);
	ck_assert_uint_eq(delay_after(0), 10 * MSEC);
	ck_assert_uint_eq(delay_after(0), 10 * MSEC);
}
END_TEST

START_TEST(a_delay_of_zero_stays_zero)
{
	config.restart_delay_usec = 0;
	policy_forget(policy);
	ck_assert_uint_eq(delay_after(0), 0);
	ck_assert_uint_eq(delay_after(0), 0);
}
END_TEST

START_TEST(a_long_run_makes_the_delay_short_again)
{
	delay_after(0);
	delay_after(0);
	ck_assert_uint_eq(delay_after(10000 * MSEC - 1), 400 * MSEC);
	ck_assert_uint_eq(delay_after(10000 * MSEC), 100 * MSEC);
	ck_assert_uint_eq(delay_after(0), 200 * MSEC);
}
END_TEST

/*
 * Against a plain reading of the rule: a retry unless the window before holds as many as allowed.
 */
START_TEST(the_limit_is_a_sliding_window)
{
	unsigned count = (unsigned)_i;
	uint64_t window = 30 * SEC, now = 100 * SEC;
	uint64_t accepted[1000];
	size_t n = 0;
	unsigned random = 12345;

	config.restart_limit = (struct restart_limit){ .count = count, .window_usec = window };
	renew_policy();
	for (int i = 0; i < 1000; i++) {
		struct outcome outcome = exited(1);
		unsigned inside = 0;
		uint64_t delay;

		random = random * 1103515245 + 12345;
		now += (random >> 16) % (2 * window / count);
		for (size_t k = 0; k < n; k++)
			inside += now - accepted[k] <= window;
		ck_assert_int_eq(policy_decide(policy, &outcome, now, 0, &delay),
				 inside < count ? EVENT_RETRY : EVENT_FAIL);
		if (inside < count)
			accepted[n++] = now;
	}
	ck_assert_uint_gt(n, 0);
	ck_assert_uint_lt(n, 1000);
}
END_TEST

START_TEST(the_edge_of_the_window_is_inside)
{
	struct outcome outcome = exited(1);
	uint64_t delay;

	config.restart_limit = (struct restart_limit){ .count = 1, .window_usec = 30 * SEC };
	renew_policy();
	ck_assert_int_eq(policy_decide(policy, &outcome, 1 * SEC, 0, &delay), EVENT_RETRY);
	ck_assert_int_eq(policy_decide(policy, &outcome, 31 * SEC, 0, &delay), EVENT_FAIL);
	ck_assert_int_eq(policy_decide(policy, &outcome, 31 * SEC + 1, 0, &delay), EVENT_RETRY);
}
END_TEST

START_TEST(a_start_by_hand_resets_the_policy)
{
	config.restart_limit = (struct restart_limit){ .count = 2, .window_usec = USEC_INFINITY };
	renew_policy();
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_eq(delay_after(0), 100 * MSEC);
		ck_assert_uint_eq(delay_after(0), 200 * MSEC);
		ck_assert_int_eq(decide(exited(1)), EVENT_FAIL);
		policy_forget(policy);
	}
}
END_TEST

START_TEST(clean_restarts_count_for_the_limit)
{
	config.restart = RESTART_ALWAYS;
	config.restart_limit = (struct restart_limit){ .count = 2, .window_usec = 30 * SEC };
	renew_policy();
	ck_assert_int_eq(decide(exited(0)), EVENT_RETRY);
	ck_assert_int_eq(decide(exited(0)), EVENT_RETRY);
	ck_assert_int_eq(decide(exited(0)), EVENT_FAIL);
}
END_TEST

START_TEST(a_shortage_does_not_count_as_a_failure)
{
	static const int shortages[] = {
		EAGAIN, ENOMEM, EMFILE, ENFILE, EINTR, ETXTBSY, ENOSPC, EIO
	};
	static const int failures[] = { ENOENT,	 EACCES, ENOEXEC, EPERM,
					ENOTDIR, ELOOP,	 EINVAL,  E2BIG };

	for (size_t i = 0; i < ARRAY_SIZE(shortages); i++)
		ck_assert_msg(policy_is_transient(shortages[i]), "%s", strerror(shortages[i]));
	for (size_t i = 0; i < ARRAY_SIZE(failures); i++)
		ck_assert_msg(!policy_is_transient(failures[i]), "%s", strerror(failures[i]));

	/* With every policy, and after any number of faults: a retry within a second. */
	config.restart = RESTART_NEVER;
	config.restart_limit = (struct restart_limit){ .count = 1, .window_usec = USEC_INFINITY };
	renew_policy();
	for (int i = 0; i < 100; i++) {
		struct outcome outcome = spawn_failed(EAGAIN);
		uint64_t delay = 0;

		ck_assert_int_eq(policy_decide(policy, &outcome, SEC, 0, &delay), EVENT_RETRY);
		ck_assert(delay > 0 && delay <= SEC);
	}
	/* Faults do not count against the service. */
	config.restart = RESTART_ON_FAILURE;
	ck_assert_uint_eq(delay_after(0), 100 * MSEC);
	ck_assert_int_eq(decide(exited(1)), EVENT_FAIL);
}
END_TEST

START_TEST(the_exit_status_is_that_of_a_shell)
{
	const struct {
		struct outcome outcome;
		int status;
	} table[] = {
		{ { .kind = OUTCOME_NONE }, 0 },
		{ exited(0), 0 },
		{ exited(7), 7 },
		{ exited(255), 255 },
		{ signaled(SIGKILL), 137 },
		{ signaled(SIGTERM), 143 },
		{ spawn_failed(ENOENT), 127 },
		{ spawn_failed(EACCES), 126 },
		{ spawn_failed(ENOEXEC), 126 },
		{ { .kind = OUTCOME_START_TIMEOUT, .value = SIGTERM }, 124 },
		{ { .kind = OUTCOME_WATCHDOG, .value = SIGABRT, .was_ready = true }, 124 },
		{ { .kind = OUTCOME_UNKNOWN, .was_ready = true }, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		ck_assert_int_eq(policy_exit_status(&table[i].outcome), table[i].status);
}
END_TEST

START_TEST(an_outcome_is_shown_in_words)
{
	const struct {
		struct outcome outcome;
		const char *text;
	} table[] = {
		{ { .kind = OUTCOME_NONE }, "never ran" },
		{ exited(3), "exited with status 3" },
		{ unready(exited(0)), "exited with status 0 before it was ready" },
		{ signaled(SIGSEGV), "killed by SIGSEGV" },
		{ unready(signaled(SIGKILL)), "killed by SIGKILL before it was ready" },
		{ spawn_failed(ENOENT), "cannot start: execute /bin/x: No such file or directory" },
		{ { .kind = OUTCOME_START_TIMEOUT }, "was not ready within its start-timeout" },
		{ { .kind = OUTCOME_START_TIMEOUT, .subject = "/run/x", .unfound = "empty" },
		  "was not ready within its start-timeout: pid-file /run/x: empty" },
		{ { .kind = OUTCOME_EXITED, .subject = "/run/x", .unfound = "no such file" },
		  "exited with status 0 before it was ready: pid-file /run/x: no such file" },
		{ { .kind = OUTCOME_EXITED,
		    .value = 1,
		    .hook = "post-stop",
		    .subject = "/run/x",
		    .unfound = "empty" },
		  "post-stop exited with status 1" },
		{ { .kind = OUTCOME_WATCHDOG, .was_ready = true },
		  "watchdog: no keep-alive message" },
		{ { .kind = OUTCOME_UNKNOWN, .was_ready = true },
		  "ended; exit status unknown (child of another process)" },
		{ { .kind = OUTCOME_EXITED, .value = 1, .hook = "post-start" },
		  "post-start exited with status 1" },
		{ { .kind = OUTCOME_START_TIMEOUT, .hook = "start-command" },
		  "start-command was not done within its start-timeout" },
		{ { .kind = OUTCOME_CONDITION, .hook = "condition", .subject = "path:/x" },
		  "condition path:/x does not hold" },
		/* After a fault of the daemon. */
		{ { .kind = OUTCOME_CONDITION }, "condition does not hold" },
		{ { .kind = OUTCOME_CONDITION, .hook = "condition" }, "condition does not hold" },
		{ { .kind = OUTCOME_CONDITION, .subject = "x" }, "condition does not hold" },
	};
	char text[OUTCOME_TEXT_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		ck_assert_str_eq(policy_outcome_text(text, &table[i].outcome), table[i].text);
}
END_TEST

START_TEST(a_long_reason_is_cut)
{
	char what[2 * OUTCOME_TEXT_MAX], text[OUTCOME_TEXT_MAX];
	struct outcome outcome = spawn_failed(ENOENT);

	memset(what, 'x', sizeof(what) - 1);
	what[sizeof(what) - 1] = '\0';
	outcome.subject = what;
	ck_assert_ptr_nonnull(strstr(policy_outcome_text(text, &outcome), "xx: No such file"));
	outcome.step = what;
	ck_assert_uint_eq(strlen(policy_outcome_text(text, &outcome)), OUTCOME_TEXT_MAX - 1);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("policy");
	TCase *tc = tcase_create("policy");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, each_policy_decides_each_outcome);
	tcase_add_test(tc, instances_of_a_template_have_a_small_jitter_without_a_key);
	tcase_add_test(tc, a_skipped_service_is_done_under_every_policy);
	tcase_add_test(tc, some_ends_are_declared_clean);
	tcase_add_test(tc, a_run_of_the_length_asked_for_resets_the_delay);
	tcase_add_test(tc, a_clean_end_by_signal_is_by_the_stop_signal);
	tcase_add_test(tc, the_delay_doubles_up_to_its_limit);
	tcase_add_test(tc, an_infinite_delay_does_not_wrap);
	tcase_add_test(tc, a_delay_above_its_limit_is_the_limit);
	tcase_add_test(tc, a_delay_of_zero_stays_zero);
	tcase_add_test(tc, a_long_run_makes_the_delay_short_again);
	tcase_add_loop_test(tc, the_limit_is_a_sliding_window, 1, 8);
	tcase_add_test(tc, the_edge_of_the_window_is_inside);
	tcase_add_test(tc, a_start_by_hand_resets_the_policy);
	tcase_add_test(tc, clean_restarts_count_for_the_limit);
	tcase_add_test(tc, a_shortage_does_not_count_as_a_failure);
	tcase_add_test(tc, the_exit_status_is_that_of_a_shell);
	tcase_add_test(tc, an_outcome_is_shown_in_words);
	tcase_add_test(tc, a_long_reason_is_cut);
	suite_add_tcase(s, tc);
	return s;
}
