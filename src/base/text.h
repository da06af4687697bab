#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/macro.h"

/* For strspn(): no locale adds to these. */
#define TEXT_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define TEXT_DIGITS  "0123456789"

/*
 * Returns the length of the UTF-8 character at @text, or 0 at a NUL and at invalid UTF-8.  Never
 * reads beyond a NUL.
 */
size_t text_character(const char *text);

/*
 * Copies as much of @text as fits into @size bytes, up to a whole character, and a NUL.  Bytes that are no UTF-8
 * stay.  Returns @out.
 */
char *text_cut(char *out, size_t size, const char *text);

/*
 * Makes text from outside safe to show: every control byte (also DEL and the C1 controls in UTF-8),
 * every byte that is not valid UTF-8, and the backslash become \xHH.  Writes at most @size bytes
 * with the NUL, and cuts only between characters.  Returns @out.
 */
char *text_escape(char *out, size_t size, const char *text);

/* Returns the number of characters of @text, which is UTF-8. */
size_t text_columns(const char *text);

/* Removes the bytes of @blanks from both ends of @text.  Returns the new beginning. */
char *text_trim(char *text, const char *blanks);

/* Replaces \040 and the like, in place, as /proc/self/mountinfo has them. */
void text_unescape_octal(char *text);

/*
 * Writes the digits of @number at the end of @buf.  For output with many numbers, where printf() is
 * slow.
 */
#define TEXT_NUMBER_MAX 21
char *text_number(char buf[static TEXT_NUMBER_MAX], uint64_t number);

/* Returns true if the node at @path is @top or below it; "" is the root. */
bool text_is_within(const char *path, const char *top);

/* Returns the index of @text in @words, which NULL ends, or that of this NULL. */
size_t text_index_of(const char *text, const char *const *words);
bool text_is_one_of(const char *text, const char *const *words);

/* Returns true if @path ends in a slash and @name, which is not empty. */
bool text_ends_in_parts(const char *path, const char *name);

/* FNV-1a: the same on every machine and in every release. */
uint32_t text_hash(const char *text);

/*
 * Returns the closest of @n names to @name by edits (insert, delete, replace, swap neighbours), or
 * NULL if none is close enough to be a misspelling.  For "did you mean".
 */
const char *text_closest(const char *name, const char *const *names, size_t n);

/*
 * Returns the text, to be freed by free(3); NULL without memory, for which asprintf(3) has no pointer.
 */
char *text_format(const char *format, ...) printf_like(1, 2);

/* --- a text that grows --- */

/*
 * A stream that keeps its text in memory, as open_memstream(3) does, but reports a lack of memory:
 * glibc truncates the text then, and neither ferror(3) nor fclose(3) reports it.
 */
struct memstream {
	FILE *file; /* to write to */
	char *text; /* from here on private */
	size_t length, size;
	bool failed;
};

/* *@m must keep its address.  Return: 0; -ENOMEM: nothing to be closed. */
int memstream_open(struct memstream *m);

/*
 * Closes the stream and hands over the whole text, to be freed by free(3).  Return: 0; -ENOMEM: a
 * part of the text was lost, and all of it is freed.
 */
int memstream_close(struct memstream *m, char **ret);
