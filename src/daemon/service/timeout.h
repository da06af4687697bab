#pragma once

/* The timeout of the state that a service is in: how long that is at most, and how that changes. */

#include "daemon/service/object.h"

/* Begins the timeout of the state that was just entered; @killed: of what has just been killed. */
void service_arm(struct service *service, bool killed);

/*
 * What the timeout of an ending follows from has changed: who holds guards, or the budget.  In any
 * other state there is nothing to do.
 */
void service_rearm(struct service *service);

/*
 * The next generation of its node is about to begin: if its end is under way, the budget of this
 * one stays in force.
 */
void service_keep_budget(struct service *service);

/* It has entered a state: nothing but such a budget limits that yet. */
void service_disarm(struct service *service);

/* Is what its timer says that such a budget is spent? */
bool service_has_spent_budget(const struct service *service);

/* TASK_GUARDS: the same for all services whose guards have changed (node_guards_changed()). */
void service_settle_guards(struct context *ctx);

/* The start that is under way may last until @usec. */
void service_extend_start(struct service *service, uint64_t usec);

/* It is down, and not to start before its not_before_usec. */
void service_delay(struct service *service);

/* It says itself that it needs time until @usec to end. */
void service_extend(struct service *service, uint64_t usec);
