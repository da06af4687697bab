#pragma once

/*
 * A child of ours that closes descriptors in our place, where that may wait (sys/ipc/passed.h).  It
 * is part of the object that waits for its end.
 */

#include "daemon/loop/context.h"
#include "daemon/loop/process.h"

struct closer {
	struct process process;
	struct context *ctx;
	void (*ended)(struct closer *closer);
};

void closer_init(struct closer *closer, struct context *ctx, void (*ended)(struct closer *closer));

/* A child that still runs is no longer waited for. */
void closer_done(struct closer *closer);

/*
 * Begins to close the @n descriptors, or to drop the next message of the socket @fd.  @ended is
 * called when that is over.
 *
 * Return: 0, or -errno and nothing was done.
 */
int closer_close(struct closer *closer, const int *fds, size_t n);
int closer_drop(struct closer *closer, int fd);

/* The child of @process, of kind PROCESS_CLOSER, has been collected. */
void closer_died(struct process *process);
