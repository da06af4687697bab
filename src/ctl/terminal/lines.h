#pragma once

/*
 * A stream on its way from one descriptor to another in whole lines: an unfinished line waits here
 * until its newline has come.  A line of more than LINES_LONGEST bytes is passed on in pieces, so
 * that the memory has a limit.  No byte but the newline has a meaning.
 */

#include "base/std.h"

#define LINES_LONGEST (16 * 1024 * 1024)

struct lines {
	char *bytes;
	size_t size;
	size_t begin; /* bytes before this index have been passed on */
	size_t whole; /* bytes before this index may be passed on */
	size_t used;
	bool inside; /* the bytes before @whole do not end with a newline */
};

void lines_done(struct lines *lines);

/*
 * Reads at most @most bytes, when nothing is pending.  With @first, only the rest of the line is
 * kept.
 *
 * Return: how many were read; 0: the end of @fd; -EAGAIN; -errno.
 */
int lines_read(struct lines *lines, int fd, size_t most, bool first);

/* Returns the number of bytes that may be passed on. */
static inline size_t lines_pending(const struct lines *lines)
{
	return lines->whole - lines->begin;
}

/*
 * Passes some of them on, at most as many as a pipe with room takes without blocking.  Return: 0 or -errno.
 */
int lines_write(struct lines *lines, int fd);

/* Returns the number of bytes of an unfinished line. */
static inline size_t lines_unfinished(const struct lines *lines)
{
	return lines->used - lines->whole;
}

/* Returns true if no part of an unfinished line was read or passed on. */
static inline bool lines_at_boundary(const struct lines *lines)
{
	return lines->used == lines->whole && !lines->inside;
}
