#pragma once

/*
 * A child process that does in place of the daemon what may block: it closes descriptors
 * (sys/ipc/passed.h), or calls a function.  It is a member of the object that waits for its end.
 */

#include "daemon/loop/context.h"
#include "daemon/loop/process.h"

struct closer {
	struct process process;
	struct context *ctx;
	void (*ended)(struct closer *closer);
	int error; /* of closer_call(), when it has ended: 0 or an errno; EIO: it was killed, or had a fault */
	struct alarm alarm; /* ... of the limit; or at once, after the end of the child */
};

void closer_init(struct closer *closer, struct context *ctx, void (*ended)(struct closer *closer));

/* Waits for the child @pid, which was made elsewhere. */
void closer_take(struct closer *closer, pid_t pid);

/* Stops waiting for a child that still runs; one with a limit is killed.  @closer may be all zeros. */
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

/*
 * The same, and @ended is called in any case, never inside another function: at @until_usec the child is killed, with
 * ETIMEDOUT, even if the kernel keeps it, which then prevents another one.  Without @fn, or a process, it is called soon.
 */
void closer_call_until(struct closer *closer, int (*fn)(void *arg), void *arg, uint64_t until_usec);

/*
 * Closes @n descriptors that @owner, the path of a node, has passed.  A child of that owner closes them in
 * one go; if its former child is still alive, as a close hangs, they wait for its end.  So no owner makes
 * more than one process that hangs.  An @fds of -1 is passed over.
 */
void closer_discard(struct context *ctx, const char *owner, const int *fds, size_t n);

/* It is called once, and may be removed by list_remove() before that. */
struct closer_watch {
	struct list in_discards;
	void (*fn)(struct closer_watch *watch);
};

/*
 * Returns true if so many descriptors of @owner wait that it should pass no more.  Then @watch is called when
 * they are closed.
 */
bool closer_await_discards(struct context *ctx, const char *owner, struct closer_watch *watch);

/* Closes all that wait, for the end of the daemon. */
void closer_discards_done(struct context *ctx);

/* Handles the end of the child of @process, which is of kind PROCESS_CLOSER. */
void closer_died(struct process *process, const struct reap_exit *exit);
