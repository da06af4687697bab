#pragma once

/*
 * A child process that does in place of the daemon what may block: it closes descriptors
 * (sys/ipc/passed.h), or calls a function.  It is a member of the object that waits for its end.
 */

#include "daemon/loop/context.h"
#include "daemon/loop/process.h"
#include "sys/process/reap.h"

struct closer {
	struct process process;
	struct context *ctx;
	void (*ended)(struct closer *closer);
	int error; /* of closer_call(), when it has ended: 0 or an errno */
};

void closer_init(struct closer *closer, struct context *ctx, void (*ended)(struct closer *closer));

/* Stops waiting for a child that still runs. */
void closer_done(struct closer *closer);

/*
 * Begins to close the @n descriptors; closer_drop() begins to drop the next message of socket @fd.
 * The callback @ended of closer_init() is called at the end.
 *
 * Return: 0, or -errno and nothing was done.
 */
int closer_close(struct closer *closer, const int *fds, size_t n);
int closer_drop(struct closer *closer, int fd);

/*
 * Begins to call @fn, which returns 0 or -errno, in a copy of the daemon.  @fn closes the descriptors of the
 * daemon, by fd_close_above(), or executes a program.  Return: likewise.
 */
int closer_call(struct closer *closer, int (*fn)(void *arg), void *arg);

/* Handles the end of the child of @process, which is of kind PROCESS_CLOSER. */
void closer_died(struct process *process, const struct reap_exit *exit);
