#pragma once

/*
 * Watches for a pid file that is being written.  While its directory does not exist, the nearest one
 * above that does is watched instead.
 */

#include "daemon/loop/context.h"

struct pid_watch;

/*
 * @on_change is called after each change of the file at @path, which is borrowed, while it is
 * watched.  Return: 0 or -ENOMEM.
 */
int pid_watch_new(struct pid_watch **ret, struct context *ctx, const char *path,
		  void (*on_change)(void *arg), void *arg);
struct pid_watch *pid_watch_free(struct pid_watch *watch);

/*
 * Begins, or goes on in a directory that exists now; the caller reads the file after that.
 * Return: 0 or -errno.
 */
int pid_watch_begin(struct pid_watch *watch);
void pid_watch_end(struct pid_watch *watch);
