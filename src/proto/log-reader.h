#pragma once

/*
 * The frames of a view (proto/logger-message.h) from a pipe.  A new pipe, of the next logger, goes on where the
 * last one has ended: lines that have come are skipped, missing ones count as lost.
 */

#include "base/dict.h"
#include "proto/logger-message.h"

/* A stream, as its frames describe it. */
struct log_source {
	char *node;
	enum logger_kind kind;
	struct logger_seam seam; /* 0 before its frame: this daemon has captured nothing */
	bool seen;		 /* a line has come */
	uint64_t next;		 /* position after the last line that has come */
	uint64_t last_usec;	 /* its time */
	char *text;		 /* of its files, with room for a NUL; or NULL */
	size_t size;
	int error;		  /* -errno: the files cannot be read */
	struct log_source *first; /* of the same node, perhaps itself */
	uint64_t n_shown;	  /* in the first source of a node: for log_lines_limit() */
};

struct log_line {
	struct log_source *source;
	uint64_t time_usec; /* CLOCK_REALTIME; 0: not known */
	int64_t pid;	    /* 0: not known, as the generation */
	uint64_t generation;
	uint64_t position; /* UINT64_MAX: it is from a file */
	size_t order;	   /* in the array */
	size_t length;
	const char *text; /* behind it */
};

struct log_reader {
	int fd;	       /* or -1 */
	int output_fd; /* a wait ends when its reader has gone; borrowed, or -1 */
	char *buffer;
	size_t start, end, size;
	bool gap; /* the line at the start is behind a gap, which was reported */
	struct log_source **sources;
	size_t n_sources;
	struct dict by_node; /* the first one of each */
};

/* A frame; @line.source is NULL if it belongs to no stream. */
struct log_event {
	enum logger_frame_type type;
	struct log_line line; /* the text is there until the next call */
	uint64_t lost;
};

void log_reader_init(struct log_reader *reader);
void log_reader_done(struct log_reader *reader);

/* Reads from @fd, which becomes the reader's, from now on. */
void log_reader_open(struct log_reader *reader, int fd);

/* The source, which is new if it is not there.  NULL without memory. */
struct log_source *log_reader_source(struct log_reader *reader, const char *node,
				     enum logger_kind kind);

/*
 * The next frame.
 *
 * Return: 1; 0: the pipe has ended; -EAGAIN: with @deadline_usec 0, none is there; -ETIMEDOUT;
 * -EPIPE: the reader of the output has gone; -EBADMSG; or -errno.
 */
int log_reader_next(struct log_reader *reader, uint64_t deadline_usec, struct log_event *ret);
