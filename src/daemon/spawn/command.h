#pragma once

/*
 * The one command that swansongd stands in front of, the service "main": what the command is given
 * beside what a service gets.  What signals mean for it is in daemon/main/command-signal.h; sys
 * does the work, for swansong-init as well.
 */

#include <stdbool.h>

#include "sys/process/command.h"
#include "sys/process/job.h"
#include "sys/spawn/spawn.h"

struct command {
	const struct command_options *options;
	struct job job;
	int directory;		      /* the command's; less than 0: ours */
	struct descendants inherited; /* nobody's, for a scope of all */
	char listen_pid[COMMAND_LISTEN_PID_MAX];
	char **script;	 /* for struct spawn_spec */
	char *pid_place; /* in that, or NULL */
	bool stopped;	 /* it has been suspended */
	bool told_other; /* it was asked to end, but not by its stop signal, or not its group */
};

/*
 * @argv, and @envp, which may be changed, are what the command gets.  On failure command_done() is
 * still to be called.  Return: 0 or -ENOMEM.
 */
int command_init(struct command *command, const struct command_options *options, char *const *argv,
		 char **envp);
void command_done(struct command *command);

/* Its share of @spec. */
void command_prepare(const struct command *command, struct spawn_spec *spec);

/* It has been started: closes what was only for it. */
void command_leave_descriptors(struct command *command);
