#pragma once

/*
 * The service "main" of a swansongd in front of a command: the things that this command gets
 * besides those of a service.  daemon/main/signals.h passes signals to it; the work is done
 * in sys, for swansong-init as well.
 */

#include "sys/process/command.h"
#include "sys/process/job.h"
#include "sys/spawn/spawn.h"

struct command {
	const struct command_options *options;
	struct job job;
	int directory;		      /* of the command; less than 0: the daemon's */
	struct descendants inherited; /* processes of no service, for a scope of all */
	char listen_pid[COMMAND_LISTEN_PID_MAX];
	char *pid_place; /* in the environment, or NULL */
	bool stopped;	 /* it was suspended */
	bool other_sent; /* the stop was passed on as another signal, or to the main process only */
};

/*
 * Makes the data for a command with the environment @envp, which may be changed.  After a failure
 * command_done() must still be called.  Return: 0 or -ENOMEM.
 */
int command_init(struct command *command, const struct command_options *options, char **envp);
void command_done(struct command *command);

/* Returns true if @command, which may be NULL, is ended alone, without its remaining processes. */
bool command_spares_remaining(const struct command *command);
void command_prepare(const struct command *command, struct spawn_spec *spec);

/* Closes the descriptors that only the command needs, once it is started. */
void command_leave_descriptors(struct command *command);
