#pragma once

/*
 * In front of one command, which is the service "main": what signals mean for it, and what it gets
 * beside what a service does.  How that is done is in sys, where swansong-init finds the same.
 */

#include <stdbool.h>

#include "sys/command.h"
#include "sys/job.h"
#include "sys/spawn.h"

struct service;

struct command {
	const struct command_options *options;
	struct job job;
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
void command_leave_descriptors(const struct command *command);

/*
 * Passes @signo on to @service, the command; NULL: there is none.
 * Return: does it ask for the end of all?
 */
bool command_signal(struct command *command, struct service *service, int signo, pid_t sender);

/* Children have changed their state, and the dead have been collected. */
void command_follow(struct command *command, struct service *service);
