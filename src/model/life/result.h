#pragma once

/*
 * How a run went, in the words of systemd.exec(5), for the environment of post-stop: scripts that
 * were written for ExecStopPost= find what they know.
 */

#include "model/life/policy.h"

/* What is not in the outcome. */
struct result_of {
	const struct node_config *config;
	const struct outcome *outcome;
	bool stopped; /* on request: then an end by the stop signal is what was asked for */
	bool late;    /* its stop-timeout was spent */
};

/* "success", "exit-code", "timeout", …: SERVICE_RESULT. */
const char *result_name(const struct result_of *result);

/* "exited", "killed" or "dumped": EXIT_CODE; NULL if there was no main process. */
const char *result_exit_code(const struct outcome *outcome);

/* The exit status, or the signal as in "TERM": EXIT_STATUS.  Returns @buf. */
#define RESULT_STATUS_MAX 24
char *result_exit_status(char buf[static RESULT_STATUS_MAX], const struct outcome *outcome);
