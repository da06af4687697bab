#pragma once

/* Files that are replaced as a whole. */

#include "base/std.h"

/*
 * Writes a new file with @mode beside @path by @write, which returns 0 or -errno, and renames
 * it to @path: a reader finds the old file or the new one.  With @sync this holds after a crash of
 * the machine as well, and the new one is on the disk on return.  A failure before the rename
 * leaves the old file.
 *
 * Return: 0; -ELOOP: sys/file/path.h; -errno, of @write too.
 */
int replace_file(const char *path, mode_t mode, bool sync, int (*write)(FILE *f, const void *arg),
		 const void *arg);
