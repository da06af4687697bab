#pragma once

/*
 * Services on demand (autostart = on-demand).  Such a service is idle while it waits: its goal is
 * IDLE, it has no process, and the daemon watches its sockets.  The first connection starts it like
 * a service that another one needs; the connection itself stays in the socket and is accepted by the
 * process.  A service that ends with success waits again, and so does one that was idle for its
 * idle-timeout.  When it has failed for good, its sockets are closed until it is started by hand.
 *
 * A service is idle when no connection came during a period of idle-timeout and, at the end of that,
 * none is open and no guard is held.
 *
 * A service with drain-quiet that is stopped is signalled when no connection has come to it for that time, as its
 * clients have learnt of the stop then: the early end of its drain-delay.
 */

#include "daemon/tree/tree.h"

/* TASK_DEMANDS: starts the service of @node if it is called, and stops it if it is idle. */
void demand_process(struct tree *tree, struct node *node);
