#pragma once

/*
 * The final action of a node: commands that run when all of its guards are released, before the node is
 * Complete.  For this the guards are on a libswansong node below the node's own: `work` of struct node.  The
 * action holds a guard on the upper one from the stop on, once for each generation.
 */

#include "daemon/spawn/hook.h"

/*
 * Makes all that @node needs for the action of @config, its own or its next configuration; *ret is
 * unchanged if it has none.  Return: 0 or -errno.
 */
int final_new(struct final **ret, struct node *node, const struct node_config *config);
struct final *final_free(struct final *final);

/*
 * Makes @final the action of later ends; NULL keeps the present one.  A running action ends as it
 * began; a generation that began without an action has none.
 */
void final_use(struct node *node, struct final *final);

/* All functions below do nothing for a node without an action. */

/*
 * Takes the guard of the action.  It must be called before the stop of @node is latched: from then
 * on the node is Complete only after the action.
 */
void final_hold(struct node *node);

/* Remembers the result of this generation for its action; the next generation is about to begin. */
void final_record(struct node *node);

/* After a fault: the process of the action of @row is a process of it again, and none of the service. */
void final_claim(struct node *node, const struct roster_row *row);

/* After a fault: goes on with the action of @row, which has begun; one that was over is not carried out once more. */
void final_take_former(struct node *node, const struct roster_row *row);

/*
 * Begins the action or handles ended commands.  It is called whenever something of @node has ended.
 */
void final_update(struct node *node);

/* Ends a running action by @deadline_usec, if it is nearer, but not before two seconds from now. */
void final_limit(struct node *node, uint64_t deadline_usec);

/* Moves the limit of a running action. */
void final_extend(struct node *node, uint64_t usec);

/* Returns true if @node was stopped and its action is not over: nothing in @node may start. */
bool final_is_pending(const struct node *node);

/* Returns true if, in addition, the action has begun: all else in @node has ended. */
bool final_has_begun(const struct node *node);

/*
 * Returns true if the action of the present generation has begun or is over: the action has left
 * any process of @node that is found now.
 */
bool final_is_all_there_was(const struct node *node);

/* Returns the hook with the guard and the command of a pending action, or NULL. */
const struct hook *final_hook(const struct node *node);

/* Releases the guard of the action, which is not waited for any more. */
void final_abandon(struct node *node);
