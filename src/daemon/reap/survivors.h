#pragma once

/*
 * Processes that an earlier daemon has left: it was killed, or had a fault and has executed itself
 * again.
 *
 * After a fault a service that was up, or a oneshot at work, goes on if it is in the roster, with its
 * output (daemon/writer/child.h).
 *
 * With control groups others are found in those.  Each service that has some is stopped, in the order of
 * the tree, with its own stop-signal and stop-timeout, and starts again when it is Complete; a service
 * without any starts at once, as soon as what it requires is ready.  Groups of no service of this tree
 * get SIGTERM, then SIGKILL; without control groups so does the main process of a section that was removed.
 *
 * Without control groups they are found by SWANSONG_NODE, and likewise stopped if they are of this tree: after
 * a fault they are children of this process, after a kill they have its mark.  Others are left alone: the log
 * has their number and some of their names, as each service runs beside them.
 */

#include "daemon/tree/tree.h"

struct survivors {
	struct tree *tree;
	struct alarm timer; /* kills those of no service */
	bool strange;	    /* there is a group of no service */
	bool killing;
	pid_t *removed; /* main processes of no service, until they are killed */
	size_t n_removed;
	unsigned going_on; /* services, after a fault */
	bool listed;	   /* after a fault: the list of the children is whole */
	pid_t *children;   /* at the beginning, of the daemon or its keeper */
	size_t n_children;
};

/* Begins, once, before the first update turn.  @survivors must outlive the alarms of the context. */
void survivors_begin(struct survivors *survivors, struct tree *tree);

/* After a reload: a service that it has added waits for its former processes, if these are still being ended. */
void survivors_claim_added(struct survivors *survivors);

void survivors_done(struct survivors *survivors);
