#include "logger/file/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

#define DIRECTORY_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

/* Makes what is missing of the directories in front of the last slash. */
static int place_make_directories(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int r;

		*slash = '\0';
		r = mkdir(path, 0755) < 0 ? -errno : 0;
		*slash = '/';
		if (r < 0 && r != -EEXIST && r != -EROFS && r != -EACCES)
			return r;
	}
	return 0;
}

int place_directory(const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	char directory[PATH_MAX];
	size_t length = slash ? (size_t)(slash - path) : 0;
	int fd, r;

	if (!slash || !slash[1] || length + 2 > sizeof(directory))
		return slash && !slash[1] ? -EISDIR : -EINVAL;
	memcpy(directory, path, length + 1);
	directory[length + 1] = '\0';
	*name = slash + 1;
	fd = open(directory, DIRECTORY_FLAGS);
	if (fd >= 0 || errno != ENOENT)
		return fd < 0 ? -errno : fd;
	r = place_make_directories(directory);
	if (r < 0)
		return r;
	fd = open(directory, DIRECTORY_FLAGS);
	return fd < 0 ? -errno : fd;
}

/* May anybody but root and us put files there? */
static bool place_is_shared(int directory)
{
	struct stat st;

	return fstat(directory, &st) < 0 || (st.st_mode & (S_IWGRP | S_IWOTH)) ||
	       (st.st_uid != 0 && st.st_uid != geteuid());
}

/* What is there already; -ENOENT: nothing. */
static int place_check(int directory, const char *name, bool *is_link)
{
	struct stat st;

	if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	*is_link = S_ISLNK(st.st_mode);
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode) && !*is_link)
		return -ENOTSUP;
	if (*is_link && place_is_shared(directory))
		return -ELOOP;
	if (!*is_link && st.st_nlink > 1 && place_is_shared(directory))
		return -EMLINK;
	return 0;
}

int place_open(const char *path, mode_t mode)
{
	const int flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	bool is_link = false;
	const char *name;
	cleanup(closep) int directory = place_directory(path, &name);
	cleanup(closep) int fd = -1;
	struct stat st;
	int r;

	if (directory < 0)
		return directory;
	r = place_check(directory, name, &is_link);
	if (r < 0 && r != -ENOENT)
		return r;
	fd = openat(directory, name, flags | (is_link ? 0 : O_NOFOLLOW), mode);
	if (fd < 0)
		return errno == ENXIO || errno == ENODEV ? -ENOTSUP : -errno;
	/* Between the check and the opening it may have been replaced. */
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOTSUP;
	return take_fd(fd);
}
