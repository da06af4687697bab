#pragma once

/*
 * What a stop has cost: who was killed, and whose guards were revoked, as the daemon says in the
 * end.
 */

#include "ctl/session.h"

/* Was something forced?  If so, says on standard error what, but for --json. */
bool losses_say(struct ctl *ctl, const json_t *parameters);

/* Adds them to those of other nodes in @all, an object that is empty if there were none so far. */
void losses_collect(json_t *all, const json_t *parameters);
