#pragma once

/*
 * One configuration file as sections and entries, with line numbers and without a limit that cuts.
 *
 * A line is blank, a comment (its first non-blank is # or ;), "[SECTION]", "KEY = VALUE", or, when
 * it begins with a blank, the continuation of the value before it.  Values lose the blanks at both
 * ends of each line; their lines are joined by a newline.  Behind a value or a section a comment
 * begins with a ; after a blank, outside of quotes; a # there is a character like others.  Blank
 * lines and comments inside a continued value are skipped.  CRLF and a UTF-8 byte order mark are
 * taken as if they were not there.
 */

#include <stddef.h>

#include "model/base/diag.h"

#define READER_KEY_MAX 49 /* bytes; as much as inih carries */

struct reader_handler {
	/*
	 * Both are called in the order of the file, and return 0, or -errno to give up.  The
	 * strings are valid during the call.  @name is "" for a section whose line was wrong: what
	 * stands in it can be checked, but belongs nowhere.
	 */
	int (*on_section)(void *arg, unsigned line, const char *name);
	int (*on_entry)(void *arg, unsigned line, const char *key, const char *value);
	void *arg;
};

/*
 * Reads @text, which must be followed by a NUL and is overwritten.  What no reader could take
 * (a line that is none of the above, a value beyond CONFIG_LINE_MAX, a NUL byte, text that is not
 * UTF-8) becomes an error in @diag, and reading goes on.
 *
 * Return: 0, -ENOMEM, or what the handler returned.
 */
int reader_parse(char *text, size_t size, const char *file, struct diag *diag,
		 const struct reader_handler *handler);
