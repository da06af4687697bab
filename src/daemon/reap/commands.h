#pragma once

/* The ends of the commands around a service. */

#include "daemon/service/object.h"

/* Commands that have ended: the next ones begin, or the state machine is told of the end. */
void service_settle_hooks(struct service *service);
