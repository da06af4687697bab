#pragma once

/*
 * The losses of a stop: processes that were killed and guards that were revoked, as the last reply
 * of the daemon lists them.
 */

#include "ctl/session/session.h"

/* Returns true if something was forced; lists it on standard error, except with --json. */
bool forced_kills_print(struct ctl *ctl, const json_t *parameters);

/* Adds the losses, and the dependents that were stopped as well, to @all: empty without either. */
void forced_kills_collect(json_t *all, const json_t *parameters);

/*
 * Like session_do() for a start, stop, restart or wait of ctl->ongoing.node: an error may list losses, too.  Prints
 * the dependents that were stopped as well, and adds these and the losses to @all.
 */
int session_do_with_losses(struct ctl *ctl, enum interface_method method, json_t *parameters,
			   json_t *all);
