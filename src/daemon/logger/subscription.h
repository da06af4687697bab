#pragma once

/*
 * A reader of lines: a client of the control socket, or a command, gets the read end of a pipe, the
 * logger the other one.  The lines go from there to the reader, without the daemon.
 */

#include "daemon/logger/logging.h"

struct log_subscription;

struct log_subscription_wish {
	uint64_t lines; /* number of past lines of each stream, at most */
	bool follow;	/* further lines follow, also of later streams */
	bool plain;	/* lines without frames */
	bool older;	/* lines that are not in memory any more come from the files */
	bool (*is_wanted)(const char *name, void *arg); /* true for a node with wanted streams */
	void *arg;
};

/* Makes a view; *ret_fd is the client's end, CLOEXEC.  Return: 0 or -errno. */
int log_subscription_new(struct log_subscription **ret, struct context *ctx,
			 const struct log_subscription_wish *wish, int *ret_fd);
struct log_subscription *log_subscription_free(struct log_subscription *view);

/*
 * Sends the logger the messages about this reader that it has not got.  It is called in each
 * update turn.
 *
 * Return: 0 if it has got all; -EAGAIN if not yet; -ECONNRESET if the logger that knew the reader
 * has died, or none can be run.
 */
int log_subscription_update(struct log_subscription *view);
