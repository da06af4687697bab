#pragma once

/*
 * The output of a service passes through a relay, which shows its lines, to its destination.
 *
 * A destination that takes no more blocks the service, as it would without a relay, and never the
 * daemon: the relay reads no more until there is room again.  Output that cannot be written is
 * lost, which is logged.  The relay keeps both ends of its pipe, as a stream of the logger does.
 */

#include "daemon/loop/context.h"

/* Most bytes of a line for @on_line; a longer line comes in pieces. */
#define OUTPUT_LINE_MAX 4096

struct relay;

/*
 * Makes a relay, or takes that of the former image, for @stream (1, 2) of the service @name.  @on_line
 * is called for each line while relay_watch() is on: the line is NUL-terminated, without its newline,
 * and comes in pieces if it is longer than OUTPUT_LINE_MAX.  @on_line must not free the relay.
 *
 * Return: 0 or -errno.
 */
int relay_new(struct relay **ret, struct context *ctx, const char *name, int stream,
	      void (*on_line)(void *arg, const char *line), void *arg);

/* Passes on all waiting output that the destination takes; the rest is lost, which is logged. */
struct relay *relay_free(struct relay *relay);

/*
 * Sends all further output to the file of @fd, which stays the caller's; earlier output is not
 * watched.  Return: 0 or -errno, without effect.
 */
int relay_direct(struct relay *relay, int fd);

/* Passes on the waiting output that the destination takes now.  Returns true if nothing is left. */
bool relay_drain(struct relay *relay);

/* Turns the calls of @on_line on or off. */
void relay_watch(struct relay *relay, bool on);

/* Returns the end of the pipe for the service, which the relay keeps. */
int relay_fd(const struct relay *relay);
