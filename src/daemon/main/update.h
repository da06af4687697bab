#pragma once

/* The update turn: all processing between two events of the loop. */

#include "daemon/control/control.h"
#include "daemon/reap/orphans.h"

struct update {
	struct tree *tree;
	struct orphans *orphans;     /* NULL: no process is collected */
	struct control *control;     /* NULL: no socket */
	struct parent *parent;	     /* NULL: no parent manager */
	const struct reload *reload; /* with its rollout; NULL: there is none */
	void (*complete)(void *arg); /* called when the root is Complete; or NULL */
	void *arg;
};

/*
 * Carries out the tasks that are pending, in the order of enum task.  Tasks that become pending
 * after their place wait for the next turn.
 */
void update_turn(struct update *update);
