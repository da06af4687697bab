#pragma once

/*
 * The on-failure-command of a service: commands that run when the service has failed for good.  They
 * are no part of a run: a next one may begin beside them.  They hold a guard on the node, within
 * on-failure-timeout and the budget of a stop.  They begin once in on-failure-interval.
 */

#include "daemon/spawn/hook.h"

struct alert;

/*
 * Makes all that the commands of @config for @node need; *ret is unchanged if it has none.
 *
 * Return: 0 or -errno.
 */
int alert_new(struct alert **ret, struct node *node, const struct node_config *config);
struct alert *alert_free(struct alert *alert);

/* Makes @alert that of later failures; NULL: none.  Running commands end as they began. */
void alert_use(struct node *node, struct alert *alert);

/* All functions below do nothing for a node without an alert. */

/* Begins the commands: the service of @node has failed with @outcome, called @result. */
void alert_begin(struct node *node, const struct outcome *outcome, const char *result);

/* Handles ended commands. */
void alert_update(struct node *node);

/* Kills running commands, as the budget of a stop has expired. */
void alert_force(struct node *node);

/* Returns the running commands with their guard, or NULL. */
const struct hook *alert_hook(const struct node *node);

/* Releases the guard of the commands, which are not waited for any more. */
void alert_abandon(struct node *node);
