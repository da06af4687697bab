/*
 * The path may be in a directory where other users put something.  The directory is opened, then
 * the name in it is checked and opened: links only if no other user may write to the directory.
 * The type of the opened file is checked again, as the name may have changed in between.
 */
#include "sys/file/logfile.h"

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
static int logfile_make_directories(char *path)
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

/* Copies the directory of @path, with its slash.  Return: the name in it, or NULL with -errno in *r. */
static const char *logfile_split(const char *path, char directory[static PATH_MAX], int *r)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash - path) : 0;

	*r = slash && !slash[1] ? -EISDIR : -EINVAL;
	if (!slash || !slash[1] || length + 2 > PATH_MAX)
		return NULL;
	memcpy(directory, path, length + 1);
	directory[length + 1] = '\0';
	return slash + 1;
}

int logfile_directory(const char *path, const char **name)
{
	char directory[PATH_MAX];
	int fd, r;

	*name = logfile_split(path, directory, &r);
	if (!*name)
		return r;
	fd = open(directory, DIRECTORY_FLAGS);
	if (fd >= 0 || errno != ENOENT)
		return fd < 0 ? -errno : fd;
	r = logfile_make_directories(directory);
	if (r < 0)
		return r;
	fd = open(directory, DIRECTORY_FLAGS);
	return fd < 0 ? -errno : fd;
}

/* Returns true if a user other than root and @uid may put files there. */
static bool logfile_is_shared(int directory, uid_t uid)
{
	struct stat st;

	return fstat(directory, &st) < 0 || (st.st_mode & (S_IWGRP | S_IWOTH)) ||
	       (st.st_uid != 0 && st.st_uid != uid);
}

/* Checks the file that is there already; -ENOENT: there is none. */
static int logfile_check(int directory, const char *name, uid_t uid, bool *is_link)
{
	struct stat st;

	if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	*is_link = S_ISLNK(st.st_mode);
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode) && !*is_link)
		return -ENOTSUP;
	if (*is_link && logfile_is_shared(directory, uid))
		return -ELOOP;
	if (!*is_link && st.st_nlink > 1 && logfile_is_shared(directory, uid))
		return -EMLINK;
	return 0;
}

int logfile_open(const char *path, mode_t mode)
{
	const int flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	bool is_link = false;
	const char *name;
	cleanup(closep) int directory = logfile_directory(path, &name);
	cleanup(closep) int fd = -1;
	struct stat st;
	int r;

	if (directory < 0)
		return directory;
	r = logfile_check(directory, name, geteuid(), &is_link);
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

int logfile_refusal(const char *path, uid_t uid)
{
	char text[PATH_MAX];
	bool is_link;
	int r;
	const char *name = logfile_split(path, text, &r);
	cleanup(closep) int directory = name ? open(text, DIRECTORY_FLAGS) : -1;

	if (!name)
		return r;
	if (directory < 0)
		return errno == ENOTDIR ? -ENOTDIR : 0;
	r = logfile_check(directory, name, uid, &is_link);
	return r == -EISDIR || r == -ENOTSUP || r == -ELOOP || r == -EMLINK ? r : 0;
}

const char *logfile_error_text(int error)
{
	switch (error) {
	case ENOTSUP:
		return "it is a FIFO, a socket or a device";
	case ELOOP:
		return "it is a symbolic link in a directory that another user may write to";
	case EMLINK:
		return "it has a second name in a directory that another user may write to";
	case EISDIR:
		return "it is a directory";
	default:
		return strerror(error);
	}
}
