#pragma once

/*
 * Finds the services of orphans.  The daemon is a subreaper: every process that a service leaves
 * behind becomes a child of the daemon when its parent ends.  An orphan scan looks at unknown
 * children and attributes each to a service: by its control group, session or process group; or, if
 * the service has no control group, by SWANSONG_NODE in the environment, which survives forks and
 * setsid() unless the process removes it.  As any process can set that variable, it counts only for
 * users of the service and root, and its service ends such a process but trusts no message of it.
 */

#include "daemon/tree/tree.h"

struct orphans;

/*
 * Makes the object.  Without the list of children in /proc, orphans stay unowned.  Return: 0 or
 * -errno.
 */
int orphans_new(struct orphans **ret, struct tree *tree);
struct orphans *orphans_free(struct orphans *orphans);

/* Collects dead children and notifies their services.  Returns true if there may be more. */
bool orphans_reap(struct orphans *orphans);

/* Collects @pid alone, if it is dead; the others must be collected soon after. */
void orphans_reap_child(struct orphans *orphans, pid_t pid);

/*
 * Attributes new children, if there may be any.  Returns true if all processes are known that the
 * ended ones may have left, so that their ends can be processed.
 */
bool orphans_update(struct orphans *orphans);

/*
 * Attributes new children at once, for a request: a process that has left its parent while the main
 * process lives is not noticed otherwise.
 */
void orphans_scan(struct orphans *orphans);

/*
 * Sends SIGKILL to every remaining child and its descendants, at the very end when all own processes are gone.
 * Children from before the start of swansongd are spared, such as those of a shell that has
 * executed it; all are with a command that is ended alone.  Returns their number.
 */
unsigned orphans_kill_unowned(struct orphans *orphans);
