#pragma once

/*
 * The report of the last shutdown, swansong-report(5): what daemon/trace.h has kept, as a file.
 *
 * It is written once, when the root is Complete and before anybody is told, so that who waits for
 * the end finds it.  It is a small file that is not synced: the disk is not waited for.  Whatever
 * goes wrong is a line in the log, and the file that was there before stays whole.
 */

#include "daemon/tree/tree.h"

/* What @config has to say of it: nodes that come from now on are followed, or not. */
void report_use(struct context *ctx, const struct config *config);

/* The same for the nodes that there are.  Those for which there is no memory will not be in it. */
void report_use_all(struct tree *tree);

/* Looks at the guards that have changed in this turn.  Nothing to do while the root runs. */
void report_follow(struct tree *tree);

/* Writes the file that the configuration names, if it names one. */
struct report_end {
	int signal; /* that stopped the root, or 0 */
	int status; /* of the daemon's exit */
};
void report_write(const struct tree *tree, const struct report_end *end);
