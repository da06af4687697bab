#pragma once

/*
 * A reader of lines: a client of the control socket, or a command, gets the read end of a pipe, the
 * logger the other one.  The lines go from there to the reader, without the daemon.
 */

#include "daemon/logger/logger.h"

struct log_view;

struct log_view_wish {
	uint64_t lines; /* at most so many of the last lines of each stream */
	bool follow;	/* and then all lines, also of streams to come */
	bool plain;	/* the lines alone, for a program that knows no frames */
	bool (*is_wanted)(const char *name, void *arg); /* the streams of this node? */
	void *arg;
};

/* *ret_fd is the client's end, CLOEXEC.  Return: 0 or -errno. */
int log_view_new(struct log_view **ret, struct context *ctx, const struct log_view_wish *wish,
		 int *ret_fd);
struct log_view *log_view_free(struct log_view *view);

/*
 * Tells the logger what it does not know yet.  To be called in each update turn.
 *
 * Return: 0: it knows all; -EAGAIN: not yet; -ECONNRESET: the logger that knew the reader has died,
 * or none can be run.
 */
int log_view_update(struct log_view *view);
