#pragma once

/*
 * The notify protocol, downward: what a service says of itself by sd_notify(3).
 *
 * Each service has a socket of its own, so that one that floods harms nobody else.  A message
 * counts only if its sender, by the kernel's word, is in the session of the service's main process.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "daemon/context.h"
#include "sys/unixsock.h"

#define NOTIFY_MESSAGE_MAX 4096 /* bytes; what is longer is ignored whole */
#define NOTIFY_STATUS_MAX  256

struct notify_message {
	bool ready;
	bool has_status;
	char status[NOTIFY_STATUS_MAX]; /* cut, never unterminated */
};

struct notify;

/* @each is called for each message of the service itself. */
int notify_new(struct notify **ret, struct context *ctx,
	       void (*each)(const struct notify_message *message, void *arg), void *arg);
struct notify *notify_free(struct notify *notify);

/* The address for $NOTIFY_SOCKET. */
const char *notify_address(const struct notify *notify);

/* Its own words, of the last message that had some; empty if there were none. */
const char *notify_status(const struct notify *notify);
void notify_clear_status(struct notify *notify);

/* Whose word counts from now on; 0: nobody's. */
void notify_set_session(struct notify *notify, pid_t session);

/* Reads what is there already.  To be called before an exit of the service is followed up. */
void notify_drain(struct notify *notify);

/* Return: 0, or -EBADMSG for what is no message (a NUL in it, nothing at all). */
int notify_parse(const char *text, size_t size, struct notify_message *ret);
