#pragma once

/* The timeout of the present state of a service: its length, and how that changes. */

#include "daemon/service/signal.h"

/* Returns the time at which an end has used the share stop-warning of its limit; USEC_INFINITY: never. */
uint64_t service_warning_usec(const struct service *service);

/* Sets the timer for the next of its times, except those that have passed. */
void service_set_timer(struct service *service);

/*
 * Begins the timeout of the state that was just entered; @killed: processes have just been killed.
 */
void service_arm(struct service *service, bool killed);

/*
 * Adapts the timeout of an ending after a change of the guards or of the budget.  In other states
 * it does nothing.
 */
void service_rearm(struct service *service);

/*
 * Keeps the budget of this generation for an end that is under way; the next generation is about to
 * begin.
 */
void service_keep_budget(struct service *service);

/* Clears the timeout as a state is entered; a kept budget stays in force. */
void service_disarm(struct service *service);

/* Returns true if the timer has expired because of a kept budget. */
bool service_has_spent_budget(const struct service *service);

/* Moves the limits of an end that is under way by @usec; but a drain-delay takes no longer. */
void service_postpone(struct service *service, uint64_t usec);
void service_extend_start(struct service *service, uint64_t usec);

/* Sets the timer to not_before_usec, before which @service does not start. */
void service_delay(struct service *service);

/* Extends the present end to @usec, as the service itself has requested. */
void service_extend(struct service *service, uint64_t usec);
