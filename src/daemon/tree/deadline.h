#pragma once

/* The deadlines of a stopped node, deadline_usec, kill_usec and call_usec, and their timer. */

#include "daemon/node/node.h"

/* Logs the limit of a shutdown of @root if the parent manager allows less than shutdown-timeout. */
void deadline_log_limit(const struct node *root);

/*
 * Sets the deadlines of @node, which is stopped or below changed deadlines, at @now.  The deadlines
 * of its parent must be set.
 */
void deadline_begin(struct node *node, uint64_t now);

/*
 * Sets the time of the last call of @node.  The deadlines of all stopped nodes must be set, as it
 * depends on the services that wait for @node.
 */
void deadline_begin_last_call(struct node *node, uint64_t now);

/*
 * Ends the budget of @top, which is stopped, at @until_usec at the latest; the budgets below are
 * made to fit.  Return: true if that is earlier than before.
 */
bool deadline_limit(struct node *top, uint64_t until_usec, uint64_t now);

/* Begins the kill phase of @node in the next update turn, if it is stopped. */
void deadline_force_soon(struct node *node);

/* TASK_DEADLINES: handles last calls and expired budgets. */
void deadline_update(struct context *ctx);
