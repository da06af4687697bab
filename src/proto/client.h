#pragma once

/*
 * A connection to the daemon for a program that waits for replies.  Everything received is limited
 * in size and checked.  Deadlines are absolute, on CLOCK_MONOTONIC.
 */

#include "proto/message.h"

#define CLIENT_MESSAGE_MAX (64 * 1024 * 1024) /* bytes of the longest reply */

struct client;

/*
 * Connects to the socket @path.
 *
 * Return: 0; -ENOENT or -ECONNREFUSED: no process listens; -ENAMETOOLONG: too long for a socket;
 * -ETIMEDOUT; -errno of connect(2).
 */
int client_connect(struct client **ret, const char *path, uint64_t deadline_usec);
struct client *client_free(struct client *client);
DEFINE_CLEANUP(struct client *, client_free)

/* Close-on-exec; to poll for more replies, or for the end of the connection. */
int client_get_fd(const struct client *client);

/* Returns the descriptor that came last, which is the caller's from then on; or -1. */
int client_take_descriptor(struct client *client);

/*
 * Sets a descriptor that ends a wait early, with -EINTR, when it becomes readable; -1: none.  The
 * descriptor is borrowed and never read.
 */
void client_set_interrupt(struct client *client, int fd);

/*
 * Sets a descriptor that ends a wait early, with -EPIPE, when the reader of its pipe, socket or terminal
 * has gone; -1: none.  It is borrowed.
 */
void client_set_output(struct client *client, int fd);

/*
 * Sends a call.  Takes the reference to @parameters; @flags are MESSAGE_*.
 *
 * Return: 0; -ETIMEDOUT; -EINTR; -ENOBUFS: longer than MESSAGE_CALL_MAX, and not sent; -errno.
 */
int client_call(struct client *client, const char *method, json_t *parameters, unsigned flags,
		uint64_t deadline_usec);

/*
 * Receives the next reply; with an expired deadline, only a reply that has arrived already.
 *
 * Return: 0; -ETIMEDOUT; -EINTR; -EPIPE; -ECONNRESET: the end of the stream, also inside a message;
 * -EMSGSIZE or -EBADMSG: not a reply, and the connection is unusable from now on; -ENOMEM.
 */
int client_receive(struct client *client, uint64_t deadline_usec, struct message_reply *ret);
