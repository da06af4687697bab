#pragma once

/* The commands, once, as a table: dispatch, help, completions and the manual's test read it. */

#include "ctl/session/session.h"

#define ARGS_ANY 1000000

enum command_flag {
	COMMAND_WAITS = 1 << 0, /* as long as it takes, without --no-wait */
	COMMAND_REST = 1 << 1,	/* the arguments after the first are another program's */
	COMMAND_NODES = 1 << 2, /* all arguments are nodes, and run() gets their paths */
};

struct command {
	const char *name;
	const char *args;
	const char *help;
	int min_args, max_args;
	unsigned flags;
	int (*run)(struct ctl *ctl, int argc, char **argv);
};

/* NULL if there is none; *ret_closest is then what may have been meant, or NULL. */
const struct command *command_find(const char *name, const char **ret_closest);

/* Of all commands and options, or of @command and its options alone. */
void commands_help(FILE *file, const struct command *command);
