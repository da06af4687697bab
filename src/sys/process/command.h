#pragma once

/* The options of all programs that run one command: swansong-init, and swansongd with a command. */

#include <getopt.h>

#include "sys/process/forward.h"

#define COMMAND_LEFTOVER_TIMEOUT_USEC (5 * USEC_PER_SEC)

struct command_options {
	struct forward forward;
	int death_signal; /* to the program when its parent ends, to the command when the program does; 0: none */
	bool single;	 /* ends only the command: its remaining processes are spared, except by PID 1 */
	bool log_reaped; /* log each other process that is reaped */
	uint64_t leftover_timeout_usec; /* time for the processes that remain after the command */
	uint64_t success[4];		/* bits: the exit statuses that count as 0 */
};

/* For getopt_long(), with opterr 0: the letters, after "+:"; and the rows. */
#define COMMAND_LETTERS "gp:e:r:w"
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

/* The defaults; with DUMB_INIT_SETSID=0 in the environment, those of --single-child. */
void command_options_init(struct command_options *options);

/*
 * Sets @option.  Return: NULL; or, if @value is invalid, the expected value: "a duration, for …".
 */
const char *command_option(struct command_options *options, int option, const char *value);

/* The long name of @option, or NULL. */
const char *command_option_name(const struct option *rows, int option);

/*
 * The message for an option that getopt_long() refused with @result, '?' or ':', and with optopt.
 * @text is the argument before optind.  An unknown option comes with the closest name.  Returns
 * @buf.
 */
#define COMMAND_REFUSAL_MAX 256
const char *command_refusal(char buf[static COMMAND_REFUSAL_MAX], const struct option *rows,
			    int result, const char *text);

/*
 * Requests death_signal for the end of @parent, the initial getppid(); raises it if @parent has
 * ended.
 */
void command_watch_parent(const struct command_options *options, pid_t parent);

/*
 * Changes to the root directory, so that neither the program nor the running command keeps a file
 * system from being unmounted.  Return: a descriptor of the directory, for the command; or -errno:
 * nothing has changed.
 */
int command_leave_directory(void);

/*
 * The exit status that a shell would return: 128 + signal if @signaled; 0 if the options count it
 * so.
 */
int command_status(const struct command_options *options, bool signaled, int value);

/*
 * Replaces LISTEN_PID in @envp if its value is this process.  Return: the address for the digits of
 * the command's pid, or NULL.
 */
#define COMMAND_LISTEN_PID_MAX 24
char *command_listen_pid(char **envp, char buf[static COMMAND_LISTEN_PID_MAX]);
