#pragma once

/*
 * Processes that an earlier daemon has left: it was killed, or had a fault and has executed itself
 * again.
 *
 * After a fault a service that was up goes on if it can (service_is_lasting()).  Its output is written by
 * the logger of before, which has its pipe.
 *
 * With control groups others are found in those.  Each service that has some is stopped, in the order of
 * the tree, with its own stop-signal and stop-timeout, and starts again when it is Complete; a service
 * without any starts at once, as soon as what it requires is ready.  Groups of no service of this tree
 * get SIGTERM, then SIGKILL.
 *
 * Without control groups they are found by SWANSONG_NODE.  After a fault they are children of this
 * process, and likewise stopped.  After a kill they may be of any tree, so they are left alone: the log
 * has their number and some of their names, as each service runs beside them.
 */

#include "daemon/tree/tree.h"

#define LOGGERS_MAX 8 /* of before: one for each fault after which a service has gone on */

struct survivors {
	struct tree *tree;
	pid_t loggers[LOGGERS_MAX];
	unsigned n_loggers;
	struct alarm timer; /* kills those of no service */
	bool killing;
};

/* Begins, once, before the first update turn. */
void survivors_begin(struct survivors *survivors, struct tree *tree);
/* Waits for a second at most until loggers of before have written the last output of their services. */
void survivors_await_loggers(const struct survivors *survivors);
void survivors_done(struct survivors *survivors);
