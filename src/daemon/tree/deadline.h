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

/*
 * Shortens the budgets of stopped nodes so that all services of a higher stop_rank that come after them have
 * their whole stop-timeout.  The deadlines of all stopped nodes must be set.
 */
void deadline_yield(struct node *root, uint64_t now);

/*
 * Prolongs all budgets of @top, which is stopped, and the ends of services that are under way, by @usec; but the
 * parent of @top, or the parent manager, still has its time.  Returns the time that was added.
 */
uint64_t deadline_extend(struct node *top, uint64_t usec);

/*
 * Puts the stop of the tree on hold, as since @since_usec: no service gets a stop signal and none is killed,
 * until deadline_release() or until the bound of the stop leaves no more time.  Returns false if that is now:
 * there is no hold.
 */
bool deadline_hold(struct node *root, uint64_t since_usec);
void deadline_release(struct node *root, const char *reason);

/* Returns true if an operator has prolonged the stop of the root. */
bool deadline_is_extended(const struct node *root);

/* Begins the kill phase of @node in the next update turn, if it is stopped; a hold ends. */
void deadline_force_soon(struct node *node);

/* TASK_DEADLINES: handles the last call and the expired budget of @node. */
void deadline_process(struct node *node);
