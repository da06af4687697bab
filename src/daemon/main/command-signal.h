#pragma once

/* Signals in front of one command: which are passed on to it, and how its stops are followed. */

#include "daemon/service/object.h"
#include "daemon/spawn/command.h"

/*
 * Passes @signo on to @service, the command; NULL: there is none.
 * Return: does it ask for the end of all?
 */
bool command_signal(struct command *command, struct service *service, int signo, pid_t sender);

/* Children have changed their state, and the dead have been collected. */
void command_follow(struct command *command, struct service *service);
