#pragma once

/*
 * The keeper: a process that has no work of its own, and so does not fail.  It is the parent of the
 * program (crash.h), and of the processes that this starts (struct spawn_pool), and takes their
 * orphans.  It shares the program's table of descriptors: all are open still when the program has
 * ended by a signal, SIGKILL and a lack of memory included.  Then it executes the program again, in its own
 * process, which makes a keeper of itself at once; so the children stay its own, and their exits wait.
 *
 * The exit of a child is reported by KEEPER_SIGNAL, one at a time, and the child is collected after the
 * reply: by the next report, which has no child if no other has ended.  Every other signal of the keeper is passed on.  It exits with the status of the program, and
 * its own end kills the program.
 */

#include <sys/signalfd.h>

#include "sys/process/reap.h"

/* The exit of a child, or the reply to it: between the two processes only. */
#define KEEPER_SIGNAL SIGRTMAX

struct keeper {
	pid_t reaper; /* the parent of all that was started: the keeper; or the program itself */
	struct reap_exit reported; /* the exit that keeper_reap() is for; pid 0: none */
};

/*
 * Makes the calling process a keeper, after crash_arm(), with all signals blocked but those of faults.
 * Return, in the new process of the program: 0; -errno in the calling one: there is no keeper.
 */
int keeper_begin(struct keeper *ret);

/* Returns true if @info is a report: of an exit, for keeper_reap(), or that there is none. */
bool keeper_take(struct keeper *k, const struct signalfd_siginfo *info);

/* As reap_children() for the one child of which the exit was reported, if any. */
unsigned keeper_reap(struct keeper *k, void (*report)(const struct reap_exit *exit, void *arg),
		     void *arg);

/* Returns true if the keeper is the parent of what is started, and not this process. */
bool keeper_is_apart(const struct keeper *k);
