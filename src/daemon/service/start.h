#pragma once

/* The start of a run of a service. */

#include "daemon/service/object.h"

/* Prepares a new run and forgets the last one. */
void service_begin(struct service *service);

/* Takes a guard and starts the main process.  A failure is handled like any other end of a run. */
void service_spawn(struct service *service);
