#pragma once

/*
 * Whose child is that?  We are told of the death of every process whose parent died before it, so
 * all that a service leaves behind becomes our child sooner or later.  A sweep looks at children it
 * does not know and finds the service of each: by the control group it is in, or its
 * session or process group; or, where the service has no control group, by the SWANSONG_NODE in its
 * environment, which a process keeps through any number of forks and setsids, if it wants to.  Any
 * process can claim that: its service ends it, and believes nothing that it says.
 */

#include "daemon/tree/tree.h"

struct sweep;

/* Works without /proc as well as can be. */
int sweep_new(struct sweep **ret, struct tree *tree);
struct sweep *sweep_free(struct sweep *sweep);

/* Collects the dead, telling their services.  Return: true if there may be more. */
bool sweep_reap(struct sweep *sweep);

/* Likewise @pid alone, if it is dead: whoever else is must be collected soon after. */
void sweep_reap_child(struct sweep *sweep, pid_t pid);

/*
 * Attributes new children, if there may be any.  Returns true if all are known that the ends of
 * processes may be about, so that these can be processed.
 */
bool sweep_settle(struct sweep *sweep);

/*
 * Attributes new children now, for somebody who asks: what has left its parent while the main
 * process lives on is nobody's news until then.
 */
void sweep_look(struct sweep *sweep);

/*
 * SIGKILL to every child that is left, at the very end, when all that is ours is gone; but not to
 * those that we had before, of the shell, say, that became swansongd.  Returns how many.
 */
unsigned sweep_kill_strangers(struct sweep *sweep);
