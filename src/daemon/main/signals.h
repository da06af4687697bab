#pragma once

/* The meaning of the signals that swansongd receives. */

#include "daemon/main/state.h"

/* Handles signals from now on, by @d->signal.  Return: 0 or -errno. */
int daemon_watch_signals(struct daemon *d);

/*
 * Returns the command in front of which the daemon runs; NULL if there is none, or before its
 * start.
 */
struct service *daemon_command(const struct daemon *d);

/*
 * Passes @signo on to @service, the command, which may be NULL.  Returns true if the signal ends
 * the tree.
 */
bool command_signal(struct command *command, struct service *service, int signo, pid_t sender);

/* Follows a stop or the end of the command, after dead children have been collected. */
void command_update(struct command *command, struct service *service);
