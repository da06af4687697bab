#pragma once

/* Compression of rotated files by zstd, in a process of its own with the least priority. */

#include "base/std.h"

/*
 * Starts a process that compresses the rotated files of @path that are not compressed, except the newest,
 * the oldest first.  A file that cannot be compressed is passed over.  After each file the oldest rotated
 * ones are removed until there are @keep: a rotation meanwhile may have removed the file itself.
 *
 * Return: a pid, to be waited for; or -errno.
 */
pid_t compress_start(const char *path, uint32_t keep);

int compress_write_all(int fd, const char *data, size_t size);
