#pragma once

/* How a run of a service begins. */

#include "daemon/service/object.h"

/* A run begins: what was known of the last one is forgotten. */
void service_begin(struct service *service);

/* Takes a guard and starts the main process.  A failure is an end, followed up like any other. */
void service_spawn(struct service *service);
