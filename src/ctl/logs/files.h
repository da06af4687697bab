#pragma once

/*
 * The lines of a stream that are older than those that the logger remembers: from its log file and the
 * rotated ones, compressed or not.
 */

#include "ctl/logs/lines.h"

/* A log file with its state before the request to the logger. */
struct log_file {
	const char *path;
	int error; /* 0; -errno: it cannot be read */
	uint64_t size, device, inode;
};

void log_file_look(struct log_file *file, const char *path);

/* A request for lines of a file. */
struct log_past {
	struct log_source *source; /* with its seam */
	enum logger_stamp stamp;
	const struct log_line *first; /* the oldest line that the logger remembers, or NULL */
	uint64_t n_written;	      /* lines from @first on that are in the file, too */
	uint64_t max;		      /* lines */
};

/*
 * Adds the last lines before those that were remembered, the oldest first.
 *
 * Return: 0; -ENOENT: there is no such file; -ESTALE: its lines do not match, as if others write to
 * it; or -errno.
 */
int log_file_read(const struct log_file *file, const struct log_past *past, struct log_lines *ret);
