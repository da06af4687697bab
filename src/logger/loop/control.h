#pragma once

/* The messages of the daemon. */

#include "logger/loop/state.h"

/* Takes what is there.  Return: 0, or -errno: the daemon has ended, or is of another version. */
int control_receive(struct logger *logger);

/* Replies to the flushes that are done. */
void control_update(struct logger *logger);

/* All is to be written; then there is a reply with @cookie, and the logger is over. */
void control_stop(struct logger *logger, uint64_t cookie);

void control_done(struct logger *logger);
