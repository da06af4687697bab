#pragma once

/* The meaning of the signals that swansongd receives. */

#include "daemon/main/state.h"

/* Handles signals from now on, by @d->signals_fd.  Return: 0 or -errno. */
int daemon_watch_signals(struct daemon *d);

/*
 * Returns the command in front of which the daemon runs; NULL if there is none, or before its
 * start.
 */
struct service *daemon_command(const struct daemon *d);
