#pragma once

/*
 * The result of a run in the words of systemd.exec(5), for the environment of post-stop: scripts
 * written for ExecStopPost= work unchanged.
 */

#include "model/life/policy.h"

/* The facts beside the outcome. */
struct result_of {
	const struct node_config *config;
	const struct outcome *outcome;
	bool stopped; /* on request: an end by the stop signal is a success */
	bool late;    /* the stop-timeout has expired */
};

/* "success", "exit-code", "timeout", …: SERVICE_RESULT. */
const char *result_name(const struct result_of *result);

/* "exited", "killed" or "dumped": EXIT_CODE; NULL if there was no main process. */
const char *result_exit_code(const struct outcome *outcome);

/* The exit status, or the signal as in "TERM": EXIT_STATUS.  Returns @buf. */
#define RESULT_STATUS_MAX 24
char *result_exit_status(char buf[static RESULT_STATUS_MAX], const struct outcome *outcome);
