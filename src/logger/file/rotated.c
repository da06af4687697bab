/*
 * A rotated file is called PATH.DATE.MICROSECONDS, with a suffix when it is compressed.  Names
 * that are sorted as text are sorted by time.  A name that is taken is never replaced: the next
 * microsecond is tried.
 */
#include "logger/file/rotated.h"

#include "proto/logger-message.h"

#define RENAME_ATTEMPTS 100

bool rotated_is_compressed(const char *name)
{
	size_t length = strlen(name), end = strlen(LOGGER_COMPRESSED);

	return length > end && strcmp(name + length - end, LOGGER_COMPRESSED) == 0;
}

bool rotated_is_twice(const struct rotated *rotated, size_t i)
{
	const char *name = rotated->names[i]->d_name;
	const char *next = i + 1 < rotated->n ? rotated->names[i + 1]->d_name : "";

	return rotated_is_compressed(next) && strncmp(name, next, strlen(name)) == 0;
}

int rotated_list(struct rotated *rotated, const char *path)
{
	int r, n = 0;

	*rotated = (struct rotated){ .n = 0 };
	r = path_find(&rotated->path, path, PATH_FIND);
	if (r == 0)
		n = scandirat(rotated->path.directory, ".", &rotated->names, NULL, alphasort);
	if (n < 0)
		r = -errno;
	for (int i = 0; i < n; i++) {
		struct dirent *entry = rotated->names[i];

		if (logger_is_rotated(entry->d_name, rotated->path.name))
			rotated->names[rotated->n++] = entry;
		else
			free(entry);
	}
	if (r < 0)
		rotated_done(rotated);
	return r;
}

void rotated_done(struct rotated *rotated)
{
	for (size_t i = 0; i < rotated->n; i++)
		free(rotated->names[i]);
	rotated->names = free_memory(rotated->names);
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
		e = kept > keep ? path_unlink_in(&rotated.path, rotated.names[i]->d_name) : 0;
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
		if (fstatat(rotated.path.directory, rotated.names[i]->d_name, &st,
			    AT_SYMLINK_NOFOLLOW) == 0 &&
		    st.st_dev == device && st.st_ino == inode)
			fd = path_open_in(&rotated.path, rotated.names[i]->d_name, O_RDWR, 0);
	rotated_done(&rotated);
	return fd;
}
