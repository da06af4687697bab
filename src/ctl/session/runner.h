#pragma once

/*
 * A command that runs while this process holds something.  Signals that would end this process are
 * taken through a descriptor and passed on to the command; those of the terminal reach it anyway.
 */

#include "ctl/session/session.h"

struct runner {
	sigset_t old_mask;
	int signal_fd; /* readable: there is something for runner_process_signals() */
	pid_t pid;     /* 0: it does not run */
	int status;    /* its exit status, as a shell has it, once it has run */
	int signo;     /* the last that came when it did not run, or 0 */
};

enum { RUNNER_NOT_EXECUTABLE = 126, RUNNER_NOT_FOUND = 127 };

/* Takes the signals; also SIGPIPE, so that write(2) fails instead.  Return: 0 or -errno. */
int runner_init(struct runner *runner);
void runner_done(struct runner *runner);

/*
 * Runs @argv, as found in $PATH, with the signals as they were, and with @out_fd as its standard
 * output if that is not negative.
 *
 * Return: 0; -EINTR if a signal came before there was a command to pass it on to;
 * -errno.
 */
int runner_start(struct runner *runner, char **argv, int out_fd);

/* Logs why @command did not start.  Return: its exit status, as a shell would return it. */
int runner_fail(struct ctl *ctl, const char *command, int r);

/* Passes on the signals that have come, and notes the end of the command. */
void runner_process_signals(struct runner *runner);

/* Harmless when it has ended. */
void runner_kill(const struct runner *runner, int signo);
