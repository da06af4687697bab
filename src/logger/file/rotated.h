#pragma once

/*
 * Rotated files: "PATH.20261122T223105.123456", and with ".zst" if compressed.  The names sort by time,
 * which is UTC.  Files of other names are left alone.
 */

#include "sys/file/path.h"

#define ROTATED_NAME_MAX 256

struct rotated {
	struct path path;      /* of the file that is written */
	struct dirent **names; /* sorted, the oldest first */
	size_t n;
};

/* The rotated files of @path.  Return: 0 or -errno. */
int rotated_list(struct rotated *rotated, const char *path);
void rotated_done(struct rotated *rotated);

bool rotated_is_compressed(const char *name);

/* Returns true if the next name is that of the same file, compressed. */
bool rotated_is_twice(const struct rotated *rotated, size_t i);

/* Renames the file of @path to a name for the time @time_usec, or one soon after.  0 or -errno. */
int rotated_rename(const char *path, uint64_t time_usec);

/* Gives the new file @fd the mode, the owner and the group of another one, as far as this process may. */
void rotated_give(int fd, const struct stat *like);

/*
 * Removes the oldest until there are @keep.  A file beside its own compressed one, which is about to replace
 * it, counts as one.  Return: 0 or -errno of the last failure.
 */
int rotated_prune(const char *path, uint32_t keep);

/* Opens the rotated file that is this one, for reading and writing.  Return: -ENOENT if it is none. */
int rotated_find(const char *path, uint64_t device, uint64_t inode);
