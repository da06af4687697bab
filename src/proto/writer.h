#pragma once

/*
 * JSON as text that grows, for replies too long to exist as objects first.  It is as jansson would
 * write it with JSON_COMPACT.
 *
 * Without memory nothing is appended any more, and writer_take() says so.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All private.  { 0 } is an empty one. */
struct writer {
	char *bytes;
	size_t used, size;
	bool failed;
};

void writer_done(struct writer *writer);

/* As it is. */
void writer_add(struct writer *writer, const char *text);

/* A string; @text may be any bytes, as for message_string(). */
void writer_add_string(struct writer *writer, const char *text);
void writer_add_number(struct writer *writer, uint64_t number);
void writer_add_signed(struct writer *writer, int64_t number);
void writer_add_json(struct writer *writer, const json_t *value);

/* The last @n bytes once more. */
void writer_add_again(struct writer *writer, size_t n);

/* What @from has so far, but for its first @skip bytes.  Has @from failed, so has @writer. */
void writer_add_writer(struct writer *writer, const struct writer *from, size_t skip);

/* Drops what was appended since writer_length() was @length. */
size_t writer_length(const struct writer *writer);
void writer_cut(struct writer *writer, size_t length);

/* Hands over the text, to be released by free().  Return: 0 or -ENOMEM. */
int writer_take(struct writer *writer, char **ret);
