#pragma once

/* The deadlines of a stopped node: deadline_usec, kill_usec, call_usec, and their timer. */

#include "daemon/node/node.h"

/* For the log: what limits a shutdown of @root, if it is what whoever supervises us said. */
void deadline_tell(const struct node *root);

/* Sets the deadlines of @node, stopped or below changed deadlines, at @now.  Parents come first. */
void deadline_begin(struct node *node, uint64_t now);

/* ... and when all of them are set, so that it is known who waits for whom. */
void deadline_begin_last_call(struct node *node, uint64_t now);

/* Begins the kill phase of a stopped @node in the next update turn. */
void deadline_force_soon(struct node *node);

/* TASK_DEADLINES: budgets that are spent, and last calls. */
void deadline_follow(struct context *ctx);
