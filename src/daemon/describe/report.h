#pragma once

/*
 * The report of the last shutdown, swansong-report(5): the traces of daemon/loop/trace.h as a file.
 *
 * It is written once, when the root is Complete and before clients and the parent manager are
 * notified, so that a client that waits for the end finds it.  It is a small file that is not
 * synced: nothing waits for the disk.  Any failure is a line in the log, and the former file stays
 * whole.
 */

#include "daemon/tree/tree.h"

/* Turns the report and the history on or off by @config, for nodes that are made from now on. */
void report_use(struct context *ctx, const struct config *config);

/* Does the same for existing nodes.  A node without memory for it is left out of the report. */
void report_use_all(struct tree *tree);

/* TASK_REPORT: looks at the guards that may have changed, and adds ends to the history. */
void report_update(struct tree *tree);

/* How the daemon ends.  report_write() writes the report, if the configuration names a file. */
struct report_end {
	int signal; /* the signal that stopped the root; 0: none */
	int status; /* exit status of the daemon */
};
void report_write(const struct tree *tree, const struct report_end *end);
