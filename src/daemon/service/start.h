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

/* Logs why the main process of a forking service was not found. */
void service_explain_main(struct service *service);

/* Takes a guard and starts the main process.  A failure is handled like any other end of a run. */
void service_spawn(struct service *service);
