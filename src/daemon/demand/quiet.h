#pragma once

/*
 * The early end of a drain-delay (drain-quiet): a service that is stopped is signalled when no
 * connection has come to it for that time, as its clients have learnt of the stop then.  The
 * drain-delay itself stays the limit.
 */

#include "daemon/service/object.h"

/*
 * Watches the connections of @service, which has calls, while it is draining, and ends the state.
 * Returns true while it watches; else the calls are free for other uses.
 */
bool quiet_process(struct service *service);
