#pragma once

/*
 * Signals of a daemon in front of a command: those that are passed on, and the stops of the
 * command.
 */

#include "daemon/service/object.h"
#include "daemon/spawn/command.h"

/*
 * Passes @signo on to @service, the command, which may be NULL.  Returns true if the signal ends
 * the tree.
 */
bool command_signal(struct command *command, struct service *service, int signo, pid_t sender);

/* Follows a stop or the end of the command, after dead children have been collected. */
void command_update(struct command *command, struct service *service);
