#pragma once

/*
 * Lines that are older than those in memory, from a log file and its rotated ones, compressed or not.  A
 * process of its own reads them: a file system may hang, and files may be made to do harm.  When it has
 * opened them, it gives up all rights but to read these and to write what it has read.  It is in a process
 * group of its own, so that nothing waits for its end.
 */

#include "proto/logger-message.h"
#include "proto/logger-store.h"

/* A file, and how much of it is wanted. */
struct older_wish {
	const char *path;
	struct logger_seam seam;	   /* the end of the older lines */
	const struct store_record *record; /* of the stream of the seam, or NULL */
	uint64_t lines;			   /* the last ones before the seam */
};

/*
 * Starts the process.
 *
 * Return: a pipe, CLOEXEC and O_NONBLOCK; or -errno.  From the pipe comes an int32_t, 0 or -errno, then
 * the text.  -ESTALE: the file of the seam is not there.
 */
int older_start(const struct older_wish *wish);
