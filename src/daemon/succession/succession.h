#pragma once

/*
 * Hand-over (handover = yes): a restart of a service begins its next run, the successor, beside the
 * present one and on the same listening sockets.  When the successor is ready, the earlier run, its
 * predecessor now, is stopped like any node.  If the successor ends before, the present run goes on.
 *
 * Either is a run aside: a node below the same parent, named after the service and its generation, for
 * example web/app~3, as no section can be.  It has the settings of the section, but is no member of its
 * group: it counts neither as ready nor as lost, and its end has no effect on other services.
 */

#include "daemon/tree/tree.h"

#define SUCCESSION_WHY_MAX (OUTCOME_TEXT_MAX + 80)

/* TASK_SUCCESSIONS: takes the next step of the hand-over of @node. */
void succession_process(struct tree *tree, struct node *node);

/*
 * Returns the reason why the last hand-over of @node has failed, in the turn of the failure; in @buf.
 */
const char *succession_failure(const struct node *node, char buf[static SUCCESSION_WHY_MAX]);

/*
 * Makes the runs aside of before a fault, and gives all runs their generations: the processes of
 * services are found by them.
 */
void successions_take_former(struct tree *tree);

/* Returns the node of the section that processes with @claim belong to; NULL: there is none. */
const struct node *succession_section(const struct tree *tree, const char *claim);

/*
 * Returns the node of the processes with @claim, which an earlier daemon has left; NULL: there is none.  An
 * unknown run aside is made, so that it can be stopped, but no more of them than a service can have, as
 * processes choose their claims.
 */
struct node *succession_find_claimed(struct tree *tree, const char *claim);
