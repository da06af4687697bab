#pragma once

/* What the signals that swansongd gets mean. */

#include "daemon/main/state.h"

/* Handles signals from now on, by @d->signals_fd.  Return: 0 or -errno. */
int daemon_watch_signals(struct daemon *d);

/* The command that we stand in front of; NULL: none, or it is no service yet. */
struct service *daemon_command(const struct daemon *d);
