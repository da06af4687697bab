#pragma once

/* Compression of rotated files by zstd, in a process of its own with the least priority. */

#include <sys/types.h>

/*
 * Starts the compression of the oldest rotated file of @path that is not compressed, unless it is the
 * newest of all.
 *
 * Return: a pid, to be waited for; 0: there is nothing to do; -errno.
 */
pid_t compress_start(const char *path);

/* Compresses @name in @directory to "NAME.zst", and removes it.  Return: 0 or -errno. */
int compress_file(int directory, const char *name);
