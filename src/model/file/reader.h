#pragma once

/*
 * Reads a configuration file as sections and entries, with line numbers, and without truncation.
 *
 * A line is blank, a comment (its first non-blank is # or ;), "[SECTION]", "KEY = VALUE", or, when
 * it begins with a blank, the continuation of the value before it.  Values lose the blanks at both
 * ends of each line; their lines are joined by a newline.  After a value or a section, a ; that
 * follows a blank outside of quotes begins a comment; a # does not.  Blank lines and comments
 * inside a continued value are skipped.  CRLF counts as LF, and a UTF-8 byte order mark is skipped.
 */

#include "model/base/diag.h"

#define READER_KEY_MAX 49 /* bytes */

struct reader_handler {
	/*
	 * Both are called in the order of the file, and return 0, or -errno to stop reading.  The
	 * strings are valid during the call.  @name is "" for a section with an invalid line: its
	 * keys can be checked, but belong to no node.
	 */
	int (*on_section)(void *arg, unsigned line, const char *name);
	int (*on_entry)(void *arg, unsigned line, const char *key, const char *value);
	void *arg;
};

/*
 * Reads @text, which must be followed by a NUL and is overwritten.  An invalid line, a value beyond
 * CONFIG_LINE_MAX, a NUL byte and invalid UTF-8 are errors in @diag, and reading continues.
 *
 * Return: 0, or the error of the handler.
 */
int reader_parse(char *text, size_t size, const char *file, struct diag *diag,
		 const struct reader_handler *handler);
