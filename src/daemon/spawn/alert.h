#pragma once

/*
 * Events of a service that a user may want to hear of.  Each is an event for subscribers, and runs the
 * commands of on-event-command; ALERT_GIVEN_UP also those of on-failure-command.
 *
 * These are no part of a run: a next one may begin beside them.  They hold a guard on the node, within
 * on-failure-timeout and the budget of a stop.  They begin once in on-failure-interval for each event;
 * an event that comes while the commands of another run waits for them.
 */

#include "daemon/spawn/hook.h"
#include "proto/history/line.h"

struct alert;

/* Makes all that the commands of @config for @node need; *ret is unchanged if it has none. */
int alert_new(struct alert **ret, struct node *node, const struct node_config *config);
struct alert *alert_free(struct alert *alert);

/* Makes @alert that of later failures; NULL: none.  Running commands end as they began. */
void alert_use(struct node *node, struct alert *alert);

/*
 * Adds the event, and begins its commands.  @result: a constant, for SWANSONG_REASON; NULL: the name of
 * the event.
 */
void alert_raise(struct node *node, enum alert_event event, const char *result, const char *text);

/* All functions below do nothing for a node without an alert. */

/* Handles ended commands. */
void alert_update(struct node *node);

/* Kills running commands, as the budget of a stop has expired. */
void alert_force(struct node *node);

/* Returns the running commands with their guard, or NULL. */
const struct hook *alert_hook(const struct node *node);

/* Releases the guard of the commands, which are not waited for any more. */
void alert_abandon(struct node *node);
