#pragma once

/* An init for one command: starts it, passes signals on, and goes when nothing of it is left. */

#include <stdbool.h>

#include "base/log.h"
#include "sys/process/command.h"
#include "sys/process/signals.h"

/* Of our own, as env(1), timeout(1) and nohup(1) have it; 126 and 127 are the command's. */
#define INIT_EXIT_FAULT 125

struct init_options {
	struct command_options command;
	char **argv;
	bool pause;	  /* there is no command: only until SIGTERM or SIGINT */
	bool tell_reaped; /* say who is collected that is not the command */
	const struct signals *signals;
	struct log *log;
};

/* Runs to the end of the command and of all that it leaves.  Return: the exit status. */
int init_run(const struct init_options *options);
