#pragma once

/*
 * The steps of the rollout (daemon/reload/rollout.h): each restarts some services, and waits until they, and
 * their dependents, are ready and have stayed so.
 *
 * A step fails if a service ends or is unhealthy within that time, is stopped by hand, or had to be killed.
 * Then the rollout has failed, or goes back: in reverse order, what it has renewed gets its former settings.
 */

#include "daemon/reload/reload.h"
#include "daemon/reload/rollout.h"

/*
 * Like reload_run(), and begins what *parameters asks for: a rollout, with the members of the call, or with
 * confirm_usec a reload that goes back after that time, unless it is confirmed.
 */
int steps_begin(const struct reload *reload, const struct reload_how *how, const json_t *parameters,
		FILE *reason, json_t **changes);

/* Returns the rollout that steps_begin() would begin with these changes; NULL without memory. */
json_t *steps_foresee(const struct rollout *rollout, const json_t *parameters, json_t *changes);

/* Does what a call of Rollout asks for, but for a begin.  Return: 0, or -errno with the reason in @reason. */
int steps_act(const struct reload *reload, const json_t *parameters, FILE *reason);

/* Goes on with the rollout, in each update turn. */
void steps_update(const struct reload *reload);
