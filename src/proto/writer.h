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
void writer_add_bytes(struct writer *writer, const char *bytes, size_t n);

/* A string; @text may be any bytes, as for message_string(). */
void writer_add_string(struct writer *writer, const char *text);
void writer_add_number(struct writer *writer, uint64_t number);
void writer_add_signed(struct writer *writer, int64_t number);
void writer_add_json(struct writer *writer, const json_t *value);

/* What @from has so far.  Has @from failed, so has @writer. */
void writer_add_writer(struct writer *writer, const struct writer *from);

/* The text so far, and whether it is not all, for want of memory. */
const char *writer_text(const struct writer *writer);
bool writer_has_failed(const struct writer *writer);

/* Drops what was appended since writer_length() was @length. */
size_t writer_length(const struct writer *writer);
void writer_cut(struct writer *writer, size_t length);

/* Hands over the text, to be released by free().  Return: 0 or -ENOMEM. */
int writer_take(struct writer *writer, char **ret);
