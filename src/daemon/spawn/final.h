#pragma once

/*
 * The final action of a node: commands that run when all of its guards are gone, and before it is
 * Complete.  For that the guards are on a node of the library below its own, struct node's "work",
 * and the action holds a guard on the upper one from the stop on, once for each generation.
 */

#include "daemon/spawn/hook.h"

/*
 * All that @node will need for the action of @config, which is its own or is about to be; NULL if
 * it has none.  Return: 0 or -errno.
 */
int final_new(struct final **ret, struct node *node, const struct node_config *config);
struct final *final_free(struct final *final);

/*
 * What comes to its end from now on is followed by @final, or if that is NULL, as before; one that
 * runs is finished as it was begun.  A generation that was begun without an action has none.
 */
void final_use(struct node *node, struct final *final);

/* All these do nothing for a node without an action. */

/*
 * Before the stop of @node is latched: from here on it is not Complete before its action is over.
 */
void final_hold(struct node *node);

/* Before its next generation begins: how this one went is remembered for the action. */
void final_record(struct node *node);

/* Begins it, or follows up its commands; whenever something of @node has come to an end. */
void final_settle(struct node *node);

/* A budget is spent: it has two seconds, if it runs. */
void final_hurry(struct node *node);

/* Stopped, and its action is not over: nothing in @node may start. */
bool final_is_pending(const struct node *node);

/* ... and all else in @node is. */
bool final_has_begun(const struct node *node);

/* ... or was, and the action may be over: what turns up of @node has been left by that. */
bool final_is_all_there_was(const struct node *node);

/* The guard that it holds and the command that runs, if any; NULL if it is not pending. */
const struct hook *final_hook(const struct node *node);

/* It is not waited for any more. */
void final_abandon(struct node *node);
