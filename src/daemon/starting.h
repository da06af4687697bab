#pragma once

/* Starting a part of the tree: what is below a node, and what that requires. */

#include "daemon/tree.h"

/*
 * Wants every service of @node to run, and every service that one of them requires or wants;
 * stopped nodes among them begin their next generation.  A service that runs, or a oneshot that has
 * done its work, is left alone.  By hand: what happened before does not count any more, and nothing
 * is delayed.
 *
 * Return: 0; -ESHUTDOWN if a parent of @node, or a parent of something that it requires, is
 * stopped, or if @node is retired: then nothing has changed; -ENOMEM: then a part is started.
 */
int starting_begin(struct node *node);

/*
 * Likewise for what a restart has stopped: not what was stopped for good before, and the restarts
 * of before count.  A restart by hand says starting_forget() first.
 */
int starting_resume(struct node *node);

/* The restarts of all services in @node do not count any more, and nothing delays their start. */
void starting_forget(struct node *node);

/* Wants all that is started with the tree, and what that requires. */
void starting_by_itself(struct tree *tree);

/*
 * Wants @service, which has come later, and likewise what it requires; but nothing that is stopped.
 */
void starting_new(struct tree *tree, struct service *service);

/* Wants what is required by all that are wanted and wait: for many that have come. */
void starting_want_requirements(struct tree *tree);

/* Is a service about to have its first outcome?  While none is, the tree is as ready as it gets. */
bool starting_is_under_way(const struct tree *tree);
