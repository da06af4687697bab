#pragma once

/* An init for one command: starts it, passes signals on, and exits after its last process. */

#include "base/log.h"
#include "sys/process/command.h"
#include "sys/process/signals.h"

/*
 * The exit status of init's own errors, as in env(1), timeout(1) and nohup(1); 126 and 127: see
 * env(1).
 */
#define INIT_EXIT_FAULT 125

struct init_options {
	struct command_options command;
	char **argv;
	bool pause; /* no command: runs until SIGTERM or SIGINT */
	const struct signals *signals;
	struct log *log;
};

/* Runs until the command and all its remaining processes have ended.  Return: the exit status. */
int init_run(const struct init_options *options);
