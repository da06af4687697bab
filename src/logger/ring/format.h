#pragma once

/* Lines as they are written: the time, the name, or an object of JSON. */

#include "logger/ring/stream.h"

/* Lines are put together up to this size; a single line may be longer. */
#define FORMAT_PORTION (256 * 1024)
/* Fewer bytes are copied, as the helper maps one ring at a time. */
#define FORMAT_BLOCK_MIN (32 * 1024)
/* Room for a portion and one line of any kind. */
#define FORMAT_SIZE (FORMAT_PORTION + 8 * STREAM_LINE_MAX + 64 * 1024)

/*
 * Writes lines of @stream from its position on to @out, of FORMAT_SIZE bytes, until @limit bytes are
 * there, at least one line if there is one.  *next is the progress once they are written.
 *
 * Lost lines are reported by a line of its own, at their place.  A line longer than
 * STREAM_LINE_MAX comes in parts.
 *
 * Return: bytes; 0: there is nothing to be written.
 */
size_t format_portion(const struct stream *stream, char *out, size_t limit,
		      struct store_progress *next);

/*
 * The same for lines that are written as they stand in the ring: they are not copied, and may be more than
 * FORMAT_PORTION.  Return: bytes from the stream's position on; 0: the lines are few, or other bytes
 * belong between them.
 */
size_t format_block(const struct stream *stream, size_t limit, struct store_progress *next);
