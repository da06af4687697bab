#pragma once

/*
 * A reader of lines: swansongctl, which the daemon has given a socket or a pipe.  Its frames are made
 * from the rings as it takes them; what was overwritten before is told as lost.  A reader may be any
 * program that reads lines.
 */

#include "logger/ring/stream.h"

#define VIEW_BUFFER (64 * 1024)

/* One stream of a view. */
struct view_item {
	struct list in_items;
	uint32_t stream;
	uint64_t position;	/* of the next line */
	uint64_t begin_end;	/* the end of the last lines */
	uint64_t end;		/* of the lines that can be put into the buffer */
	struct store_mark mark; /* of the line at @position */
	uint64_t mark_end;	/* position of the mark that follows it */
};

struct view {
	struct list in_all;
	uint32_t id;
	int fd;
	bool is_socket, follow, begun, told_now;
	bool plain;   /* lines instead of frames */
	bool waiting; /* for the reader to take what is in the buffer */
	struct list items;
	size_t start, end, size; /* in the buffer */
	char *buffer;
};

/* @fd becomes the view's.  Return: 0, -ENOTSUP for no socket and no pipe, or -errno. */
int view_new(struct view **ret, uint32_t id, int fd);
struct view *view_free(struct view *view);

/* The last lines of @stream are to be shown, after what is known of its file.  0 or -ENOMEM. */
int view_add(struct view *view, const struct stream *stream, const struct logger_view *wish);

/* The stream is removed. */
void view_remove(struct view *view, uint32_t stream);

/*
 * Writes what the reader takes now; @streams are all streams by number.
 *
 * Return: 0: it has all that there is; -EAGAIN: when it is writable again; 1: it is over; or -errno.
 */
int view_write(struct view *view, struct stream *const *streams);
