#pragma once

/* Carries out the messages of the daemon, and replies to them. */

#include "logger/loop/state.h"

/* Carries out messages.  Return: 0; -errno: the daemon has ended, or is of another version. */
int control_receive(struct logger *logger);

/* Replies to the flushes that are done. */
void control_update(struct logger *logger);

/* Writes all output, then replies with @cookie, and the logger ends. */
void control_stop(struct logger *logger, uint64_t cookie);

void control_done(struct logger *logger);
