#pragma once

/*
 * What a service writes, on its way to where it goes, so that its lines can be seen.
 *
 * Nothing is lost while the other end takes it: if that takes no more, nothing more is read either,
 * and the service waits as it would without us.  The daemon never does.  What cannot be written at
 * all is lost, and that is said.  Both ends of the pipe are kept, as those of a stream of the logger.
 */

#include "daemon/loop/context.h"

/* Bytes of a line that is watched; a longer one comes in pieces of it. */
#define OUTPUT_LINE_MAX 4096

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
 * Sends all further output to the file of @fd, which stays the caller's; earlier output is not
 * watched.  Return: 0 or -errno, without effect.
 */
int relay_direct(struct relay *relay, int fd);

/* Hands on what is there, as far as it is taken now.  Returns true if that is all. */
bool relay_drain(struct relay *relay);

void relay_watch(struct relay *relay, bool on);

/* The end for the service. */
int relay_fd(const struct relay *relay);
