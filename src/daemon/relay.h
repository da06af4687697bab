#pragma once

/*
 * What a service writes, on its way to where it goes, so that its lines can be seen.
 *
 * Nothing is lost while the other end takes it: if that takes no more, nothing more is read either,
 * and the service waits as it would without us.  The daemon never does.  What cannot be written at
 * all is lost, and that is said.  Both ends of the pipe are kept, as those of an output_pipe.
 */

#include "daemon/context.h"

struct relay;

/*
 * @name is for the log.  @on_line is told each line while relay_watch() is on, NUL-terminated and
 * without its newline; one longer than OUTPUT_LINE_MAX comes in pieces.  It must not free the
 * relay.
 *
 * Return: 0 or -errno.
 */
int relay_new(struct relay **ret, struct context *ctx, const char *name,
	      void (*on_line)(void *arg, const char *line), void *arg);

/* Hands on what is there, as far as it is taken. */
struct relay *relay_free(struct relay *relay);

/*
 * From now on it goes to what @fd, which stays the caller's, means.  What was written before this
 * is not of the lines to be watched.  Return: 0 or -errno, and it goes where it went.
 */
int relay_direct(struct relay *relay, int fd);

void relay_watch(struct relay *relay, bool on);

/* The end for the service. */
int relay_fd(const struct relay *relay);
