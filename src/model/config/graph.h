#pragma once

/*
 * The ordering edges of a configuration (requires, after), checked.  An edge A -> B says: every
 * service in A starts after all of B is ready, and B is signalled after all of A is Complete.  So
 * an edge between a node and its own ancestor, and any circle through edges and nesting, could
 * never start: they are refused, with the whole circle in the message.
 */

#include "model/base/diag.h"
#include "model/base/settings.h"

/*
 * Adds an error to @diag for each circle, at one of its edges.  Of circles that share an edge those
 * are named that remain when the edge is taken away.  Time and memory grow with the number of nodes
 * and edges, and of circles up to DIAG_MAX; the depth does not matter.
 *
 * Return: 0 or -ENOMEM.
 */
int graph_check(const struct config *config, struct diag *diag);
