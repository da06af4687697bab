#pragma once

/* The options of all programs that stand in front of one command. */

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "sys/process/forward.h"

#define COMMAND_LEFTOVER_TIMEOUT_USEC (5 * USEC_PER_SEC)

struct command_options {
	struct forward forward;
	int death_signal; /* to us at our parent's end, and to the command at ours; 0: none */
	bool single;	  /* the command alone: it keeps what it leaves */
	uint64_t leftover_timeout_usec; /* what is left when the command has ended has this long */
	uint64_t success[4];		/* bits: the exit statuses that count as 0 */
};

/* For getopt_long(): the letters, and the rows. */
#define COMMAND_LETTERS "gp:e:r:"
#define COMMAND_ROWS                                                          \
	{ "signal-scope", required_argument, NULL, COMMAND_SCOPE },           \
		{ "single-child", no_argument, NULL, COMMAND_SINGLE },        \
		{ "rewrite", required_argument, NULL, 'r' },                  \
		{ "success-status", required_argument, NULL, 'e' },           \
		{ "parent-death-signal", required_argument, NULL, 'p' },      \
	{                                                                     \
		"leftover-timeout", required_argument, NULL, COMMAND_LEFTOVER \
	}

enum command_long_option { COMMAND_SCOPE = 1000, COMMAND_SINGLE, COMMAND_LEFTOVER };

void command_options_init(struct command_options *options);

/* Return: NULL, or what @value of @option should have been: "a signal". */
const char *command_option(struct command_options *options, int option, const char *value);

/* Asks for death_signal at the end of @parent, the initial getppid(); raises it if that is gone. */
void command_watch_parent(const struct command_options *options, pid_t parent);

/*
 * Changes to the root directory, so that no file system is kept from being unmounted, not even by the
 * command as soon as it runs.  Return: a descriptor of the directory, for the command; or -errno:
 * nothing has changed.
 */
int command_leave_directory(void);

/* An exit status, or by @signaled a signal, as a shell tells it, and as the options have it. */
int command_status(const struct command_options *options, bool signaled, int value);

/* Replaces a LISTEN_PID in @envp that is ours.  Return: where the command's pid goes, or NULL. */
#define COMMAND_LISTEN_PID_MAX 24
char *command_listen_pid(char **envp, char buf[static COMMAND_LISTEN_PID_MAX]);
