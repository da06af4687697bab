#pragma once

/* The update turn: what happens between two events of the loop. */

#include "daemon/control/control.h"
#include "daemon/reap/orphans.h"
#include "daemon/tree/tree.h"
#include "daemon/view/parent.h"

struct update {
	struct tree *tree;
	struct sweep *orphans;	     /* NULL: no process is waited for */
	struct control *control;     /* NULL: there is no socket */
	struct parent *parent;	     /* NULL: there is no parent manager */
	void (*complete)(void *arg); /* the root is Complete; or NULL */
	void *arg;
};

/* Carries out what is due, in the order of enum task; what becomes due meanwhile waits for the next. */
void update_turn(struct update *update);
