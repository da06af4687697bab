#pragma once

/*
 * A view serves one reader of lines, by a socket or a pipe that the daemon has passed on: swansongctl,
 * or, for plain lines, any program.  Frames are made from the rings as the reader takes them.  Lines
 * that were overwritten before the reader took them are reported to it as lost.
 */

#include "logger/file/older.h"
#include "logger/ring/stream.h"

#define VIEW_BUFFER (64 * 1024)

/* A stream of a view. */
struct view_item {
	struct list in_items;
	uint32_t stream;
	uint64_t position;	/* of the next line */
	uint64_t begin_end;	/* the end of the last lines */
	uint64_t end;		/* end of the lines that can be put into the buffer */
	struct store_mark mark; /* of the line at @position */
	uint64_t mark_end;	/* position of the mark that follows it */
};

/* A file with older lines. */
struct view_file {
	struct list in_files;
	struct older_wish wish;
	uint32_t kind;
	char *name;  /* the name of the stream, stored after the path */
	char path[]; /* of @wish */
};

struct view {
	struct list in_all;
	uint32_t id;
	int fd;
	bool is_socket, follow, begun, now_sent;
	bool plain;   /* lines instead of frames */
	bool waiting; /* for the reader to take what is in the buffer */
	struct list items;
	struct list files;	 /* to be read, the first one now */
	size_t start, end, size; /* in the buffer */
	char *buffer;
	int older_fd;	     /* the text of the first file, or -1 */
	bool older_begun;    /* its result has come */
	uint64_t older_usec; /* CLOCK_MONOTONIC: its file system does not answer */
};

/* @fd becomes the view's.  Return: 0, -ENOTSUP for no socket and no pipe, or -errno. */
int view_new(struct view **ret, uint32_t id, int fd);
struct view *view_free(struct view *view);

/* Adds the last lines of @stream, after the facts about its file.  Return: 0 or -ENOMEM. */
int view_add(struct view *view, const struct stream *stream, const struct logger_view *wish);

/* Adds the older lines of a file.  Return: 0 or -ENOMEM. */
int view_add_file(struct view *view, const struct older_wish *wish, const char *name,
		  enum logger_kind kind);

void view_remove(struct view *view, uint32_t stream);

/*
 * Writes as many bytes as the reader takes now; @streams are all streams by number.  When it has all but
 * older lines, these come from @view->older_fd.
 *
 * Return: 0: the reader has all lines; 1: the view is over; -EAGAIN: call again when the descriptor is
 * writable; or -errno.
 */
int view_write(struct view *view, struct stream *const *streams);
