#pragma once

/*
 * One command as a job of the terminal that we were given.
 *
 * It is a process group of its own, so that the terminal's signals reach it and not us; it gets the
 * foreground that we have.  Whoever started us as a job knows our group only, and so we do what the
 * command does: we are suspended when it is, and resumed before it is.
 *
 * All signals must be blocked.
 */

#include <stdbool.h>
#include <sys/types.h>

struct job {
	int terminal; /* a descriptor of our controlling terminal, or -1 */
	pid_t group;  /* the command's; 0: none yet */
};

/* Looks for the terminal on the descriptors 0, 1 and 2. */
void job_init(struct job *job);

/* The terminal whose foreground is ours to give away, or -1. */
int job_foreground(const struct job *job);

/*
 * Follows whether the child @pid is stopped, in *stopped.  Return: the signal that has stopped it
 * since the last call, or 0.
 */
int job_stopped_by(pid_t pid, bool *stopped);

/*
 * @signo has stopped the command.  If the terminal is how that came about, so are we, with all of
 * our group.  Where there is nobody to resume us, the terminal shall not suspend: then the command
 * goes on at once.
 */
void job_follow(const struct job *job, int signo);

/* Somebody has suspended us by @signo, which has been passed on. */
void job_suspend(int signo);

/* We have been resumed: the command gets the foreground if we have it. */
void job_resume(const struct job *job);

/* The command has ended: we take the foreground back, unless somebody else has it. */
void job_end(const struct job *job);

/* Is it one of those by which a job is suspended? */
bool job_is_stop(int signo);
