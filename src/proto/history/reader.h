#pragma once

/* Reading the history at a path: the rotated files beside it, the oldest first, then the file itself. */

#include "proto/history/line.h"

#define HISTORY_SIZE_MAX (64 * 1024 * 1024)

/*
 * Calls @fn for each line, which is valid until it returns, until it returns an error.  Lines that are
 * not of a history are counted in *skipped.
 *
 * Return: 0; -ENOENT: no file; -ENOTSUP: not a regular file; -EFBIG: more than
 * @size_max bytes in all; -errno; or the value of @fn.
 */
int history_read(const char *path, uint64_t size_max,
		 int (*fn)(const struct history_line *line, void *arg), void *arg,
		 uint64_t *skipped);
