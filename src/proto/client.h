#pragma once

/*
 * One connection to the daemon, for a program that waits for its answers.  Whatever the other side
 * sends is bounded and checked.  Deadlines are absolute, on CLOCK_MONOTONIC.
 */

#include <stdint.h>

#include "base/cleanup.h"
#include "proto/message.h"

#define CLIENT_MESSAGE_MAX (64 * 1024 * 1024) /* bytes of the longest reply */

struct client;

/*
 * Return: 0, or -errno as of connect(2): -ENOENT and -ECONNREFUSED if nobody is there, -EACCES;
 * -ENAMETOOLONG if no socket can have this path, -ETIMEDOUT.
 */
int client_connect(struct client **ret, const char *path, uint64_t deadline_usec);
struct client *client_free(struct client *client);
DEFINE_CLEANUP(struct client *, client_free)

/* Close-on-exec; to poll for more replies, or for the end of the connection. */
int client_get_fd(const struct client *client);

/* The descriptor that came last, which is the caller's from then on; or -1. */
int client_take_descriptor(struct client *client);

/*
 * The wait ends early, with -EINTR, when this descriptor becomes readable; -1 for none.  It stays
 * the caller's, and is not read from.
 */
void client_set_interrupt(struct client *client, int fd);

/*
 * Takes the reference to @parameters; @flags are MESSAGE_*.
 *
 * Return: 0; -ETIMEDOUT; -EINTR; -ENOBUFS, and nothing is sent, if it is longer than
 * MESSAGE_CALL_MAX; -errno.
 */
int client_call(struct client *client, const char *method, json_t *parameters, unsigned flags,
		uint64_t deadline_usec);

/*
 * The next reply; with a deadline that has passed, only what is there already.
 *
 * Return: 0; -ETIMEDOUT; -EINTR; -ECONNRESET at the end of the stream, also in the middle of a
 * message; -EMSGSIZE or -EBADMSG if what comes is no reply: then the connection is of no use any
 * more; -ENOMEM.
 */
int client_receive(struct client *client, uint64_t deadline_usec, struct message_reply *ret);
