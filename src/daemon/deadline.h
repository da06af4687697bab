#pragma once

/*
 * When the shutdown of a node has to be over, and what happens then: struct node's deadline_usec,
 * kill_usec and call_usec, and the timer for them.
 */

#include "daemon/node.h"

/*
 * Gives @node the timer that @config asks for, if it has none yet.  For each new node, and each new
 * configuration of one.  Return: 0 or -errno.
 */
int deadline_watch(struct node *node, const struct node_config *config);

/* For the log: what limits a shutdown of @root, if it is what whoever supervises us said. */
void deadline_tell(const struct node *root);

/*
 * @node was stopped, at its stop_usec; or it is stopped and the node above has another deadline
 * since @now.  Parents come first, so that each finds its parent's.
 */
void deadline_begin(struct node *node, uint64_t now);

/* ... and when all of them are set, so that it is known who waits for whom. */
void deadline_begin_last_call(struct node *node, uint64_t now);

/*
 * Kills all processes of a stopped @node, and revokes all guards; its own final action may last
 * until @deadline_usec.
 */
void deadline_force(struct node *node, uint64_t deadline_usec);
