#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The length of the UTF-8 character at @text, or 0 if there is none: at a NUL, and at bytes that
 * are no valid UTF-8.  Looks no further than a NUL.
 */
size_t text_character(const char *text);

/*
 * Makes text from outside safe to show: every control byte (also DEL and the C1 controls in UTF-8),
 * every byte that is not valid UTF-8, and the backslash come out as \xHH.  Writes at most @size
 * bytes with the NUL, cut between characters.  Returns @out.
 */
char *text_escape(char *out, size_t size, const char *text);

/* Cuts the bytes that are in @blanks off both ends of @text.  Returns the beginning of the rest. */
char *text_trim(char *text, const char *blanks);

/*
 * The digits of @number, at the end of @buf: where a lot of them are written, and printf() takes
 * long.
 */
#define TEXT_NUMBER_MAX 21
char *text_number(char buf[static TEXT_NUMBER_MAX], uint64_t number);

/* Returns true if the node at @path is @top or below it; "" is the root. */
bool text_is_within(const char *path, const char *top);

/* FNV-1a, the same everywhere and for ever. */
uint32_t text_hash(const char *text);

/*
 * The closest of @n names to @name by edits (insert, delete, replace, swap neighbours), or NULL if
 * none is near enough to be a slip of the pen.  For "did you mean".
 */
const char *text_closest(const char *name, const char *const *names, size_t n);
