#pragma once

/*
 * The lines of a stream that are older than those that the logger remembers: from its log file and the
 * rotated ones, compressed or not.
 */

#include "ctl/logs/lines.h"

/* A log file as it was before the logger was asked. */
struct log_file {
	const char *path;
	int fd; /* or -errno: it cannot be read */
	uint64_t size, device, inode;
};

void log_file_open(struct log_file *file, const char *path);
void log_file_close(struct log_file *file);

/* A request for lines of a file. */
struct log_past {
	struct log_source *source; /* with its seam */
	enum logger_stamp stamp;
	/* The oldest line of the source that was remembered, or NULL; and as many of these lines, from the
	 * oldest on, are in the file as well. */
	const struct log_line *first;
	uint64_t n_written;
	uint64_t max; /* lines */
};

/*
 * Adds the last lines before those that were remembered, the oldest first.
 *
 * Return: 0; -ENOENT: there is no such file; -ESTALE: its lines do not match, as if others write to
 * it; or -errno.
 */
int log_file_read(const struct log_file *file, const struct log_past *past, struct log_lines *ret);
