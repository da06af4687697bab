#pragma once

/*
 * A stream on its way from one descriptor to another in whole lines: what has come of a line waits
 * here until its newline has come as well, and is passed on then.  A line of more than
 * LINES_LONGEST bytes is passed on in pieces, as there is no end to what it might take.
 *
 * Bytes are bytes: only a newline means something.
 */

#include <stdbool.h>
#include <stddef.h>

#define LINES_LONGEST (16 * 1024 * 1024)

struct lines {
	char *bytes;
	size_t size;
	size_t begin; /* those before have been passed on */
	size_t whole; /* those before may be */
	size_t used;
	bool inside; /* what was passed on last, or may be, does not end with a newline */
};

void lines_done(struct lines *lines);

/*
 * Reads at most @most bytes, when nothing is pending.  With @first, of what comes only the rest of
 * the line is kept.
 *
 * Return: how many were read; 0: the end of @fd; -EAGAIN; -errno.
 */
int lines_read(struct lines *lines, int fd, size_t most, bool first);

/* How many bytes may be passed on. */
size_t lines_pending(const struct lines *lines);

/*
 * Passes some of them on, not more than a pipe takes at once if it takes any.  Return: 0 or -errno.
 */
int lines_write(struct lines *lines, int fd);

/* How many bytes of an unfinished line wait here. */
size_t lines_unfinished(const struct lines *lines);

/* Nothing has come of a line whose newline has not. */
bool lines_at_boundary(const struct lines *lines);

/* There is no more: the unfinished line is the last one.  Or it is forgotten. */
void lines_finish(struct lines *lines);
void lines_forget(struct lines *lines);
