#include "model/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"

/*
 * Everything is opened once and judged by its descriptor, files of a directory relative to the
 * directory's: what was checked is what is read, whoever renames meanwhile.  O_NONBLOCK keeps a
 * FIFO from holding us up before it is refused.
 */
#define SOURCE_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

struct source {
	struct diag *diag;
	int (*each)(void *arg, const char *file, char *text, size_t size);
	void *arg;
};

#define source_error(source, path, format, ...)                                        \
	diag_add((source)->diag, DIAG_ERROR, (struct place){ .file = (path) }, format, \
		 ##__VA_ARGS__)

static const char *file_kind(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	default:
		return "a device";
	}
}

/* The whole file and a NUL.  Return: 0 or -errno, -EFBIG beyond SOURCE_SIZE_MAX. */
static int read_whole(int fd, size_t expected, char **ret, size_t *ret_size)
{
	cleanup(freep) char *text = NULL;
	size_t room = MIN(expected, (size_t)SOURCE_SIZE_MAX) + 2, used = 0;

	for (;;) {
		char *larger = realloc(text, room);
		ssize_t n;

		if (!larger)
			return -ENOMEM;
		text = larger;
		do
			n = read(fd, text + used, room - used - 1);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		used += (size_t)n;
		if (used > SOURCE_SIZE_MAX)
			return -EFBIG;
		if (used + 1 == room)
			room *= 2;
	}
	text[used] = '\0';
	*ret = take(text);
	*ret_size = used;
	return 0;
}

/* Who may write to a configuration decides what runs. */
static bool source_is_good(struct source *source, const char *path, const struct stat *st)
{
	if (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode)) {
		source_error(source, path, "%s, allowed is a regular file", file_kind(st->st_mode));
		return false;
	}
	if (st->st_mode & S_IWOTH) {
		source_error(source, path,
			     "anybody may write to it, allowed is what others cannot change");
		return false;
	}
	if (st->st_uid != 0 && st->st_uid != geteuid())
		diag_add(source->diag, DIAG_WARNING, (struct place){ .file = path },
			 "belongs to user %u, who can change what runs here", st->st_uid);
	return true;
}

static int source_file(struct source *source, const char *path, int fd, const struct stat *st)
{
	cleanup(freep) char *text = NULL;
	size_t size = 0;
	int r;

	r = read_whole(fd, st->st_size > 0 ? (size_t)st->st_size : 0, &text, &size);
	if (r == -ENOMEM)
		return r;
	if (r == -EFBIG)
		source_error(source, path, "too large, allowed are %d bytes", SOURCE_SIZE_MAX);
	else if (r < 0)
		source_error(source, path, "cannot be read: %s", strerrordesc_np(-r));
	if (r < 0)
		return 0;
	return source->each(source->arg, path, text, size);
}

/* Opens @name below @dir and reports as @path. */
static int source_open(struct source *source, int dir, const char *name, const char *path,
		       struct stat *st)
{
	cleanup(closep) int fd = openat(dir, name, SOURCE_FLAGS);

	if (fd < 0 || fstat(fd, st) < 0) {
		source_error(source, path, "cannot be opened: %s", strerrordesc_np(errno));
		return -ENOENT;
	}
	return take_fd(fd);
}

struct names {
	char **list;
	size_t n;
};

static void names_done(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->list[i]);
	free(names->list);
}

static int names_add(struct names *names, const char *name)
{
	char **list = reallocarray(names->list, names->n + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	names->list = list;
	list[names->n] = strdup(name);
	if (!list[names->n])
		return -ENOMEM;
	names->n++;
	return 0;
}

static int name_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Return: 0, -ENOMEM, or another -errno of reading the directory. */
static int names_read(struct names *names, DIR *dir)
{
	for (;;) {
		const struct dirent *entry;
		const char *dot;
		int r;

		errno = 0;
		entry = readdir(dir);
		if (!entry)
			break;
		dot = strrchr(entry->d_name, '.');
		if (entry->d_name[0] == '.' || !dot || strcmp(dot, ".ini") != 0)
			continue;
		r = names_add(names, entry->d_name);
		if (r < 0)
			return r;
	}
	if (errno)
		return -errno;
	if (names->n)
		qsort(names->list, names->n, sizeof(*names->list), name_compare);
	return 0;
}

/* A file of that name, and no directory. */
static int source_regular(struct source *source, int dir, const char *name, const char *path)
{
	cleanup(closep) int fd = -1;
	struct stat st;

	fd = source_open(source, dir, name, path, &st);
	if (fd < 0 || !source_is_good(source, path, &st))
		return 0;
	if (S_ISDIR(st.st_mode)) {
		source_error(source, path, "a directory, allowed is a regular file");
		return 0;
	}
	return source_file(source, path, fd, &st);
}

static int source_member(struct source *source, int dir, const char *dir_path, const char *name)
{
	cleanup(freep) char *path = NULL;

	if (asprintf(&path, "%s/%s", dir_path, name) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	return source_regular(source, dir, name, path);
}

static void closedirp(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir);
}

static int source_directory(struct source *source, const char *path, int fd)
{
	cleanup(names_done) struct names names = { .n = 0 };
	cleanup(closep) int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	cleanup(closedirp) DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	int r;

	r = -errno;
	if (dir) {
		copy = -1; /* closed with dir */
		r = names_read(&names, dir);
	}
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		source_error(source, path, "cannot be listed: %s", strerrordesc_np(-r));
	for (size_t i = 0; i < names.n; i++) {
		r = source_member(source, fd, path, names.list[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

int source_each(const char *path, struct diag *diag,
		int (*each)(void *arg, const char *file, char *text, size_t size), void *arg)
{
	struct source source = { .diag = diag, .each = each, .arg = arg };
	cleanup(closep) int fd = -1;
	struct stat st;

	fd = source_open(&source, AT_FDCWD, path, path, &st);
	if (fd < 0 || !source_is_good(&source, path, &st))
		return 0;
	if (S_ISDIR(st.st_mode))
		return source_directory(&source, path, fd);
	return source_file(&source, path, fd, &st);
}

int source_one(const char *path, struct diag *diag,
	       int (*each)(void *arg, const char *file, char *text, size_t size), void *arg)
{
	struct source source = { .diag = diag, .each = each, .arg = arg };

	if (access(path, F_OK) < 0 && errno == ENOENT)
		return -ENOENT;
	return source_regular(&source, AT_FDCWD, path, path);
}
