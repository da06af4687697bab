/*
 * A file is replaced by a new one beside it, which is renamed when it is whole.  Both names are in the
 * directory that the walk has found.
 */
#include "sys/file/replace.h"

#include "sys/file/path.h"

/* A file that exists there may be of another user: it is neither followed nor kept. */
static int replace_open(const struct path *in, const char *name, mode_t mode, FILE **ret)
{
	int r = path_unlink_in(in, name);
	cleanup(closep) int fd = -1;

	if (r < 0 && r != -ENOENT)
		return r;
	fd = path_open_in(in, name, O_WRONLY | O_CREAT | O_EXCL, mode);
	if (fd < 0)
		return fd;
	*ret = fdopen(fd, "w");
	if (!*ret)
		return -ENOMEM;
	(void)take_fd(fd);
	return 0;
}

static int replace_finish(FILE *f, bool sync)
{
	if (fflush(f) < 0)
		return -errno;
	if (ferror(f))
		return -EIO;
	return sync && fsync(fileno(f)) < 0 ? -errno : 0;
}

/* Without this, a crash may undo the rename. */
static int replace_sync_directory(const struct path *in)
{
	cleanup(closep) int fd = openat(in->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

int replace_file(const char *path, mode_t mode, bool sync, int (*write)(FILE *f, const void *arg),
		 const void *arg)
{
	cleanup(path_done) struct path in;
	char beside[NAME_MAX + sizeof(".tmp")];
	FILE *f = NULL;
	int r = path_find(&in, path, PATH_FIND);

	if (r < 0)
		return r;
	(void)snprintf(beside, sizeof(beside), "%s.tmp", in.name);
	r = replace_open(&in, beside, mode, &f);
	if (r < 0)
		return r;
	r = write(f, arg);
	if (r == 0)
		r = replace_finish(f, sync);
	/* Some file systems report a lack of space only here. */
	if (fclose(f) < 0 && r == 0)
		r = -errno;
	if (r == 0)
		r = path_rename_in(&in, beside, in.name, PATH_REPLACE);
	if (r < 0)
		(void)path_unlink_in(&in, beside);
	return r == 0 && sync ? replace_sync_directory(&in) : r;
}
