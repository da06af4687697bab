#pragma once

/*
 * A command as a job of the terminal of this program.
 *
 * The command has its own process group, so that the terminal's signals reach the command and not
 * this program; it gets the foreground if this program has it.  The shell that started this program
 * as a job knows only the program's group.  So the program follows the command: it suspends itself
 * when the command is suspended, and is resumed before the command.
 *
 * All signals must be blocked.
 */

#include "base/std.h"

struct job {
	int terminal; /* a descriptor of the controlling terminal, or -1 */
	pid_t group;  /* the command's; 0: none yet */
};

/* Looks for the terminal on the descriptors 0, 1 and 2. */
void job_init(struct job *job);

/* Returns the terminal if the program has its foreground to hand over, or -1. */
int job_foreground(const struct job *job);

/*
 * Follows whether the child @pid is stopped, in *stopped.  Returns the signal that has stopped it
 * since the last call, or 0.
 */
int job_stopped_by(pid_t pid, bool *stopped);

/*
 * Called when @signo has stopped the command.  If the terminal is the reason, the program stops
 * with its whole group.  If no process could resume the program, the terminal must not suspend it:
 * the command continues at once.
 */
void job_process_stop(const struct job *job, int signo);

/* Suspends the program, after the stop signal @signo has been passed on. */
void job_suspend(int signo);

/* Called when the program has been resumed: hands the foreground to the command if it has it. */
void job_resume(const struct job *job);

/* Called when the command has ended: takes the foreground back, unless another group has it. */
void job_end(const struct job *job);

/* Returns true for a signal that suspends a job. */
bool job_is_stop(int signo);
