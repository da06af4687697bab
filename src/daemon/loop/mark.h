#pragma once

/*
 * The mark of a daemon: a variable of all its services, with the path of its control socket, which one
 * daemon has at a time.  So the next one with that socket knows the processes of one that was killed.
 */

#include "daemon/loop/context.h"

/* Sets the mark of this daemon, which has @socket; NULL: none.  Return: 0 or -ENOMEM. */
int mark_set(struct context *ctx, const char *socket);

/* Returns true if an ancestor of @pid is a swansongd or the keeper of one. */
bool mark_is_supervised(pid_t pid);

/*
 * Returns true if @pid has the mark of this daemon, and the one that started it is gone.  Any process may set
 * the variable: see user_may_claim().
 */
bool mark_is_left(const struct context *ctx, pid_t pid);
