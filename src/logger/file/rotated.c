/*
 * A rotated file is called PATH.DATE.MICROSECONDS, with a suffix when it is compressed.  Names
 * that are sorted as text are sorted by time.  A name that is taken is never replaced: the next
 * microsecond is tried.
 */
#include "logger/file/rotated.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "proto/logger-message.h"

#define RENAME_ATTEMPTS 100

bool rotated_is_compressed(const char *name)
{
	size_t length = strlen(name), end = strlen(LOGGER_COMPRESSED);

	return length > end && strcmp(name + length - end, LOGGER_COMPRESSED) == 0;
}

static int rotated_compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int rotated_add(struct rotated *rotated, const char *name)
{
	char **names = reallocarray(rotated->names, rotated->n + 1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	rotated->names = names;
	names[rotated->n] = strdup(name);
	if (!names[rotated->n])
		return -ENOMEM;
	rotated->n++;
	return 0;
}

static int rotated_read(struct rotated *rotated)
{
	int fd = openat(rotated->path.directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!stream) {
		r = -errno;
		fd_close(fd);
		return r;
	}
	while (r == 0 && (entry = readdir(stream)))
		if (logger_is_rotated(entry->d_name, rotated->path.name))
			r = rotated_add(rotated, entry->d_name);
	(void)closedir(stream);
	if (r == 0 && rotated->n > 1)
		qsort(rotated->names, rotated->n, sizeof(*rotated->names), rotated_compare_names);
	return r;
}

int rotated_list(struct rotated *rotated, const char *path)
{
	int r;

	*rotated = (struct rotated){ .n = 0 };
	r = path_find(&rotated->path, path, PATH_FIND);
	if (r == 0)
		r = rotated_read(rotated);
	if (r < 0)
		rotated_done(rotated);
	return r;
}

void rotated_done(struct rotated *rotated)
{
	for (size_t i = 0; i < rotated->n; i++)
		free(rotated->names[i]);
	free(rotated->names);
	rotated->names = NULL;
	rotated->n = 0;
	path_done(&rotated->path);
}

int rotated_rename(const char *path, uint64_t time_usec)
{
	cleanup(path_done) struct path in;
	char name[NAME_MAX + 64];
	int r = path_find(&in, path, PATH_FIND);

	for (int i = 0; r == 0 && i < RENAME_ATTEMPTS; i++, time_usec++) {
		time_t seconds = (time_t)(time_usec / USEC_PER_SEC);
		char stamp[32];
		struct tm tm;

		(void)gmtime_r(&seconds, &tm);
		(void)strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%S", &tm);
		(void)snprintf(name, sizeof(name), "%s.%s.%06u", in.name, stamp,
			       (unsigned)(time_usec % USEC_PER_SEC));
		r = path_rename_in(&in, in.name, name, PATH_KEEP);
		if (r != -EEXIST)
			return r;
		r = 0;
	}
	return r < 0 ? r : -EEXIST;
}

void rotated_give(int fd, const struct stat *like)
{
	/* The mode first: for a file of another user it takes a capability. */
	(void)fchmod(fd, like->st_mode & 0777);
	if (fchown(fd, like->st_uid, like->st_gid) < 0 && fchown(fd, (uid_t)-1, like->st_gid) < 0)
		return;
}

/* Returns true if the next name is that of the same file, compressed. */
static bool rotated_is_twice(const struct rotated *rotated, size_t i)
{
	return i + 1 < rotated->n && rotated_is_compressed(rotated->names[i + 1]) &&
	       strncmp(rotated->names[i], rotated->names[i + 1], strlen(rotated->names[i])) == 0;
}

int rotated_prune(const char *path, uint32_t keep)
{
	struct rotated rotated;
	size_t kept = 0;
	int r = rotated_list(&rotated, path);

	if (r < 0)
		return r;
	for (size_t i = rotated.n; i-- > 0;) {
		int e;

		kept += !rotated_is_twice(&rotated, i);
		e = kept > keep ? path_unlink_in(&rotated.path, rotated.names[i]) : 0;
		r = e < 0 && e != -ENOENT ? e : r;
	}
	rotated_done(&rotated);
	return r;
}

int rotated_find(const char *path, uint64_t device, uint64_t inode)
{
	struct rotated rotated;
	struct stat st;
	int fd = -ENOENT, r = rotated_list(&rotated, path);

	if (r < 0)
		return r;
	for (size_t i = rotated.n; fd == -ENOENT && i-- > 0;)
		if (fstatat(rotated.path.directory, rotated.names[i], &st, AT_SYMLINK_NOFOLLOW) ==
			    0 &&
		    st.st_dev == device && st.st_ino == inode)
			fd = path_open_in(&rotated.path, rotated.names[i], O_RDWR, 0);
	rotated_done(&rotated);
	return fd;
}
