#pragma once

/*
 * A child process that closes descriptors in place of the daemon where close() may block
 * (sys/ipc/passed.h).  It is a member of the object that waits for its end.
 */

#include "daemon/loop/context.h"
#include "daemon/loop/process.h"

struct closer {
	struct process process;
	struct context *ctx;
	void (*ended)(struct closer *closer);
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

/* Handles the end of the child of @process, which is of kind PROCESS_CLOSER. */
void closer_died(struct process *process);
