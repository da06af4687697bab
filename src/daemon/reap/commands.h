#pragma once

/* The ends of the commands around a service. */

#include "daemon/service/object.h"

/* Handles ended commands: begins the next ones, or passes the result to the state machine. */
void service_update_hooks(struct service *service);
