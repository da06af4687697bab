#pragma once

/* The start of a run of a service. */

#include "daemon/service/object.h"

/* Prepares a new run and forgets the last one. */
void service_begin(struct service *service);

/*
 * Looks for the main process of a forking service that awaits it, and goes on with its readiness
 * when it is found.  Returns true if it was found.
 */
bool service_take_main(struct service *service);

/* Logs why the main process of a forking service was not found, and notes it in the outcome of the run. */
void service_explain_main(struct service *service);

/*
 * Takes a guard and makes the main process.  A failure is handled like any other end of a run.
 * Until service_settle_start() the process exists, and its program does not run.
 */
void service_spawn(struct service *service);

/* Finds out what the main process waits for before its program runs.  Returns false if it runs. */
bool service_awaits_program(const struct service *service, struct launch_failure *step);

/* The program of the main process runs (why->step is SPAWN_STEP_NONE), or could not be run. */
void service_settle_start(struct service *service, const struct spawn_failure *why);

/* The same for a process of any kind; @refused: the error with which the kernel refused its control group, or 0. */
void service_settle_process(struct process *process, const struct spawn_failure *why, int refused);
