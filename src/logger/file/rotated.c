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
#include "proto/logger.h"
#include "sys/file/logfile.h"

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

static int rotated_read(struct rotated *rotated, const char *base)
{
	int copy = fcntl(rotated->directory, F_DUPFD_CLOEXEC, 0), r = 0;
	DIR *stream = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (!stream) {
		r = -errno;
		fd_close(copy);
		return r;
	}
	while (r == 0 && (entry = readdir(stream)))
		if (logger_is_rotated(entry->d_name, base))
			r = rotated_add(rotated, entry->d_name);
	(void)closedir(stream);
	if (r == 0 && rotated->n > 1)
		qsort(rotated->names, rotated->n, sizeof(*rotated->names), rotated_compare_names);
	return r;
}

int rotated_list(struct rotated *rotated, const char *path)
{
	const char *base;
	int r;

	*rotated = (struct rotated){ .directory = logfile_directory(path, &base) };
	if (rotated->directory < 0)
		return rotated->directory;
	r = rotated_read(rotated, base);
	if (r < 0)
		rotated_done(rotated);
	return r;
}

void rotated_done(struct rotated *rotated)
{
	for (size_t i = 0; i < rotated->n; i++)
		free(rotated->names[i]);
	free(rotated->names);
	fd_close(rotated->directory);
	*rotated = (struct rotated){ .directory = -1 };
}

int rotated_rename(const char *path, uint64_t time_usec)
{
	char name[PATH_MAX + 64];

	for (int i = 0; i < RENAME_ATTEMPTS; i++, time_usec++) {
		time_t seconds = (time_t)(time_usec / USEC_PER_SEC);
		char stamp[32];
		struct tm tm;

		(void)gmtime_r(&seconds, &tm);
		(void)strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%S", &tm);
		if ((size_t)snprintf(name, sizeof(name), "%s.%s.%06u", path, stamp,
				     (unsigned)(time_usec % USEC_PER_SEC)) >= sizeof(name))
			return -ENAMETOOLONG;
		if (renameat2(AT_FDCWD, path, AT_FDCWD, name, RENAME_NOREPLACE) == 0)
			return 0;
		if (errno == EINVAL && access(name, F_OK) < 0) /* not every file system can */
			return rename(path, name) < 0 ? -errno : 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

int rotated_prune(const char *path, uint32_t keep)
{
	struct rotated rotated;
	int r = rotated_list(&rotated, path);

	if (r < 0)
		return r;
	for (size_t i = 0; i + keep < rotated.n; i++)
		if (unlinkat(rotated.directory, rotated.names[i], 0) < 0 && errno != ENOENT)
			r = -errno;
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
		if (fstatat(rotated.directory, rotated.names[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    st.st_dev == device && st.st_ino == inode)
			fd = openat(rotated.directory, rotated.names[i],
				    O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	rotated_done(&rotated);
	return fd == -1 ? -errno : fd;
}
