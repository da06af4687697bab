#pragma once

/* The lines of a stream that the logger remembers no more, from the text of its files. */

#include "ctl/logs/lines.h"

/* A request for lines of the text of a source. */
struct log_past {
	struct log_source *source;
	enum logger_stamp stamp;
	const struct log_line *first; /* the oldest line that the logger remembers, or NULL */
	uint64_t n_written;	      /* lines from @first on that are in the text, too */
	uint64_t max;		      /* lines */
};

/*
 * Adds the last lines before those that were remembered, the oldest first.
 *
 * Return: 0; -ESTALE: the lines do not match, as if others write to the file; or -ENOMEM.
 */
int log_older_lines(const struct log_past *past, struct log_lines *ret);
