#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "model/life/policy.h"

/* The table of SERVICE_RESULT, EXIT_CODE and EXIT_STATUS in systemd.exec(5), row by row. */

struct row {
	struct outcome outcome;
	bool stopped, late;
	const char *result, *code, *status; /* code NULL: not set */
};

#define EXITED(n) .kind = OUTCOME_EXITED, .value = (n), .end = END_EXITED, .end_value = (n)
#define KILLED(n) .kind = OUTCOME_SIGNALED, .value = (n), .end = END_KILLED, .end_value = (n)
#define DUMPED(n) .kind = OUTCOME_SIGNALED, .value = (n), .end = END_DUMPED, .end_value = (n)

static const struct row rows[] = {
	{ { EXITED(0), .was_ready = true }, false, false, "success", "exited", "0" },
	{ { EXITED(0), .was_ready = true }, true, false, "success", "exited", "0" },
	{ { KILLED(SIGTERM), .was_ready = true }, false, false, "success", "killed", "TERM" },
	{ { KILLED(SIGTERM), .was_ready = true }, true, false, "success", "killed", "TERM" },
	/* Stopped before it was ready is stopped; ended before is against the protocol. */
	{ { KILLED(SIGTERM) }, true, false, "success", "killed", "TERM" },
	{ { EXITED(0) }, true, false, "success", "exited", "0" },
	{ { EXITED(0) }, false, false, "protocol", "exited", "0" },
	{ { EXITED(3), .was_ready = true }, false, false, "exit-code", "exited", "3" },
	{ { EXITED(3), .was_ready = true }, true, false, "exit-code", "exited", "3" },
	{ { EXITED(255) }, false, false, "exit-code", "exited", "255" },
	{ { KILLED(SIGKILL), .was_ready = true }, false, false, "signal", "killed", "KILL" },
	{ { DUMPED(SIGSEGV), .was_ready = true }, false, false, "core-dump", "dumped", "SEGV" },
	{ { KILLED(SIGKILL), .was_ready = true }, true, true, "timeout", "killed", "KILL" },
	{ { EXITED(0), .was_ready = true }, true, true, "timeout", "exited", "0" },
	{ { .kind = OUTCOME_START_TIMEOUT,
	    .value = SIGTERM,
	    .end = END_KILLED,
	    .end_value = SIGTERM },
	  false,
	  false,
	  "timeout",
	  "killed",
	  "TERM" },
	{ { .kind = OUTCOME_SPAWN_FAILED, .value = ENOENT },
	  false,
	  false,
	  "resources",
	  NULL,
	  NULL },
	{ { .kind = OUTCOME_NONE }, true, false, "success", NULL, NULL },
	{ { .kind = OUTCOME_UNHEALTHY,
	    .was_ready = true,
	    .value = SIGTERM,
	    .end = END_KILLED,
	    .end_value = SIGTERM },
	  false,
	  false,
	  "watchdog",
	  "killed",
	  "TERM" },
	/*
	 * A command around it has failed: the result is its, the end is still the main process's.
	 */
	{ { .kind = OUTCOME_EXITED, .value = 1, .hook = "start-command" },
	  false,
	  false,
	  "exit-code",
	  NULL,
	  NULL },
	{ { .kind = OUTCOME_SIGNALED, .value = SIGTERM, .hook = "start-command" },
	  false,
	  false,
	  "signal",
	  NULL,
	  NULL },
	{ { .kind = OUTCOME_EXITED,
	    .value = 1,
	    .hook = "post-start",
	    .was_ready = true,
	    .end = END_KILLED,
	    .end_value = SIGTERM },
	  false,
	  false,
	  "exit-code",
	  "killed",
	  "TERM" },
	{ { .kind = OUTCOME_SPAWN_FAILED,
	    .value = EACCES,
	    .hook = "post-start",
	    .was_ready = true,
	    .end = END_EXITED },
	  false,
	  false,
	  "resources",
	  "exited",
	  "0" },
};

START_TEST(a_result_has_the_words_of_systemd)
{
	const struct row *row = &rows[_i];
	char status[RESULT_STATUS_MAX];
	struct node_config config;
	struct result_of result = {
		.config = &config,
		.outcome = &row->outcome,
		.stopped = row->stopped,
		.late = row->late,
	};

	node_config_init(&config, "web");
	ck_assert_str_eq(result_name(&result), row->result);
	ck_assert_pstr_eq(result_exit_code(&row->outcome), row->code);
	if (row->code)
		ck_assert_str_eq(result_exit_status(status, &row->outcome), row->status);
	node_config_done(&config);
}
END_TEST

START_TEST(other_signals_and_statuses_may_be_a_success)
{
	struct outcome outcome = { EXITED(75), .was_ready = true };
	struct node_config config;
	struct result_of result = { .config = &config, .outcome = &outcome };
	struct extras *extras;

	node_config_init(&config, "web");
	config.stop_signal = SIGQUIT;
	extras = node_config_own_part(&config, PART_EXTRAS);
	extras->success_status.codes[75 / 64] |= UINT64_C(1) << 75 % 64;
	ck_assert_str_eq(result_name(&result), "success");
	outcome = (struct outcome){ KILLED(SIGTERM), .was_ready = true };
	ck_assert_str_eq(result_name(&result), "signal");
	outcome = (struct outcome){ KILLED(SIGQUIT) };
	result.stopped = true;
	ck_assert_str_eq(result_name(&result), "success");
	node_config_done(&config);
}
END_TEST

START_TEST(a_signal_without_a_name_is_a_number_of_the_real_time_ones)
{
	char status[RESULT_STATUS_MAX];
	struct outcome outcome = { KILLED(SIGRTMIN + 3) };

	ck_assert_str_eq(result_exit_status(status, &outcome), "RTMIN+3");
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("result");
	TCase *tc = tcase_create("result");

	tcase_add_loop_test(tc, a_result_has_the_words_of_systemd, 0, ARRAY_SIZE(rows));
	tcase_add_test(tc, other_signals_and_statuses_may_be_a_success);
	tcase_add_test(tc, a_signal_without_a_name_is_a_number_of_the_real_time_ones);
	suite_add_tcase(s, tc);
	return s;
}
