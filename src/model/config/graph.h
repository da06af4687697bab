#pragma once

/*
 * The check of the ordering edges of a configuration (requires, after, …), and the ranks of its nodes in a stop.  An edge A -> B means:
 * every service in A starts after all of B is ready, and B is signalled after all of A is Complete.
 * So an edge between a node and its own ancestor, and any cycle through edges and nesting, could
 * never start: they are errors, with the whole cycle in the message.
 */

#include "model/base/settings.h"

/*
 * Adds an error to @diag for each cycle, at one of its edges.  Of cycles that share this edge only
 * the first is reported.  Time and memory grow with the number of nodes and edges, and of cycles up
 * to DIAG_MAX; the depth does not matter.
 *
 * Return: 0 or -ENOMEM.
 */
int graph_check(const struct config *config, struct diag *diag);

/* Adds a warning for each node with pressure-stop in which no service has a lower rank than another one of the tree. */
int graph_check_pressure(const struct config *config, struct diag *diag);

/* Sets the stop_rank of each node.  Return: 0 or -ENOMEM. */
int graph_rank(const struct config *config);
