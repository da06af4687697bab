#include "model/file/source.h"

#include <sys/uio.h>

/*
 * Every file is opened once and checked by its descriptor; files of a directory are opened relative
 * to the directory's descriptor.  So the file that was checked is the file that is read, even if
 * paths are renamed meanwhile.  O_NONBLOCK: opening a FIFO, which is then refused, must not block.
 */
#define WORD_MAX     (1024 * 1024) /* bytes of a path or a word on a tape */
#define SOURCE_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

#define source_error(source, path, format, ...)                                        \
	diag_add((source)->diag, DIAG_ERROR, (struct place){ .file = (path) }, format, \
		 ##__VA_ARGS__)

static const char *source_file_kind(mode_t mode)
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

/* Reads the whole file, and adds a NUL.  Return: 0; -EFBIG beyond SOURCE_SIZE_MAX; -errno. */
static int source_read_whole(int fd, size_t expected, char **ret, size_t *ret_size)
{
	cleanup(freep) char *text = NULL;
	size_t room = MIN(expected, (size_t)SOURCE_SIZE_MAX) + 2, used = 0;

	for (;;) {
		char *larger = realloc(text, room);
		ssize_t n;

		if (!larger)
			return -ENOMEM;
		text = larger;
		n = TEMP_FAILURE_RETRY(read(fd, text + used, room - used - 1));
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

/* Checks type, mode and owner: a user with write access could run any program. */
static bool source_is_good(const struct source *source, const char *path, const struct stat *st)
{
	if (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode)) {
		source_error(source, path, "%s: expected a regular file",
			     source_file_kind(st->st_mode));
		return false;
	}
	if (st->st_mode & S_IWOTH) {
		source_error(source, path,
			     "writable by every user: remove the permission to write (chmod o-w)");
		return false;
	}
	if (st->st_uid == 0 || st->st_uid == geteuid())
		return true;
	if (source->trust)
		diag_add(source->diag, DIAG_WARNING, (struct place){ .file = path },
			 "owned by user %u: this user can change the configuration", st->st_uid);
	else
		source_error(
			source, path,
			"owned by user %u: expected root or the user of swansongd; --trust-config "
			"accepts every owner",
			st->st_uid);
	return source->trust;
}

/*
 * A record is followed by its path and its text.  A read within the function that is called for a file
 * stands between this file and the next, so that the records are played in the order of their writing.
 */
struct record {
	uint32_t path_size; /* with its NUL; 0: the end of a read */
	int32_t result;	    /* of the read */
	uint64_t size;
};

static void source_record(int tape, const char *path, const char *text, size_t size, int result)
{
	struct record record = { path ? (uint32_t)strlen(path) + 1 : 0, result, size };
	const struct iovec pieces[] = { { &record, sizeof(record) },
					{ (void *)path, record.path_size },
					{ (void *)text, size } };

	/* A tape that lacks a text is never complete. */
	if (tape > 0 &&
	    writev(tape, pieces, 3) != (ssize_t)(sizeof(record) + record.path_size + size))
		(void)fcntl(tape, F_ADD_SEALS, F_SEAL_SEAL);
}

static int source_play(const struct source *source)
{
	struct record record;

	while (read(source->tape, &record, sizeof(record)) == sizeof(record)) {
		cleanup(freep) char *path = NULL;
		size_t size = record.path_size + record.size;
		int r;

		if (record.path_size == 0 && record.result <= 0)
			return record.result;
		if (record.path_size == 0 || record.path_size > WORD_MAX ||
		    record.size > SOURCE_SIZE_MAX)
			return -EBADMSG;
		path = malloc(size + 1);
		if (!path || read(source->tape, path, size) != (ssize_t)size)
			return path ? -EBADMSG : -ENOMEM;
		path[size] = '\0';
		r = source->each(source->arg, path, path + record.path_size, record.size);
		if (r < 0)
			return r;
	}
	return -EBADMSG;
}

bool source_is_played(int tape)
{
	return tape > 0 && (fcntl(tape, F_GET_SEALS) & F_SEAL_WRITE);
}

int source_words(const struct source *source, char *const *words, size_t n)
{
	int r = 0;

	if (source_is_played(source->tape))
		return source_play(source);
	for (size_t i = 0; r == 0 && i < n; i++) {
		source_record(source->tape, words[i], NULL, 0, 0);
		r = source->each(source->arg, words[i], NULL, 0);
	}
	source_record(source->tape, NULL, NULL, 0, r);
	return r;
}

static int source_run(const struct source *source,
		      int (*read)(const struct source *source, const char *path), const char *path)
{
	int r;

	if (source_is_played(source->tape))
		return source_play(source);
	r = read(source, path);
	source_record(source->tape, NULL, NULL, 0, r);
	return r;
}

static int source_file(const struct source *source, const char *path, int fd, const struct stat *st)
{
	cleanup(freep) char *text = NULL;
	size_t size = 0;
	int r;

	r = source_read_whole(fd, st->st_size > 0 ? (size_t)st->st_size : 0, &text, &size);
	if (r == -ENOMEM)
		return r;
	if (r == -EFBIG)
		source_error(source, path, "too large: at most %d bytes", SOURCE_SIZE_MAX);
	else if (r < 0)
		source_error(source, path, "cannot be read: %s", strerrordesc_np(-r));
	if (r < 0)
		return 0;
	source_record(source->tape, path, text, size, 0);
	return source->each(source->arg, path, text, size);
}

static int source_name_is_read(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return entry->d_name[0] != '.' && dot && strcmp(dot, ".ini") == 0;
}

static int source_compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

enum source_kind {
	SOURCE_FILE,
	SOURCE_DIRECTORY, /* or a file */
	SOURCE_TREE,	  /* a directory with its conf.d, or a file */
};

static int source_read(const struct source *source, int dir, const char *name, const char *path,
		       enum source_kind kind);

static int source_directory(const struct source *source, const char *path, int fd)
{
	struct dirent **entries;
	char *member;
	int n = scandirat(fd, ".", &entries, source_name_is_read, source_compare_names), r = 0;

	if (n < 0 && errno == ENOMEM)
		return -ENOMEM;
	if (n < 0) {
		source_error(source, path, "cannot be listed: %s", strerrordesc_np(errno));
		return 0;
	}
	for (int i = 0; i < n; i++) {
		if (r == 0 && asprintf(&member, "%s/%s", path, entries[i]->d_name) < 0) {
			r = -ENOMEM;
		} else if (r == 0) {
			r = source_read(source, fd, entries[i]->d_name, member, SOURCE_FILE);
			free(member);
		}
		free(entries[i]);
	}
	free(entries);
	return r;
}

static int source_conf_d(const struct source *source, const char *path, int fd)
{
	cleanup(freep) char *conf_d = NULL;

	if (faccessat(fd, "conf.d", F_OK, 0) < 0)
		return 0;
	if (asprintf(&conf_d, "%s/conf.d", path) < 0)
		return -ENOMEM;
	return source_read(source, fd, "conf.d", conf_d, SOURCE_DIRECTORY);
}

/* Opens and reads @name below @dir; messages have @path. */
static int source_read(const struct source *source, int dir, const char *name, const char *path,
		       enum source_kind kind)
{
	cleanup(freep) char *why = NULL;
	cleanup(closep) int fd =
		source->open ? source->open(path, &why) : openat(dir, name, SOURCE_FLAGS);
	struct stat st;
	int r = 0;

	if (fd < 0 || fstat(fd, &st) < 0)
		source_error(source, path, "cannot be opened: %s",
			     why ? why : strerrordesc_np(errno));
	else if (!source_is_good(source, path, &st))
		return 0;
	else if (!S_ISDIR(st.st_mode))
		return source_file(source, path, fd, &st);
	else if (kind == SOURCE_FILE)
		source_error(source, path, "a directory: expected a regular file");
	else
		r = source_directory(source, path, fd);
	return r == 0 && kind == SOURCE_TREE ? source_conf_d(source, path, fd) : r;
}

static int source_tree(const struct source *source, const char *path)
{
	return source_read(source, AT_FDCWD, path, path, SOURCE_TREE);
}

int source_each(const struct source *source, const char *path)
{
	return source_run(source, source_tree, path);
}

/* "swansong.ini" has "swansong.d".  NULL: out of memory. */
static char *source_dropin_directory(const char *file)
{
	size_t length = strlen(file);

	if (length > strlen(".ini") && strcmp(file + length - strlen(".ini"), ".ini") == 0)
		length -= strlen(".ini");
	return text_format("%.*s.d", (int)length, file);
}

static int source_dropins(const struct source *source, const char *file)
{
	cleanup(freep) char *path = source_dropin_directory(file);
	cleanup(closep) int fd = path ? open(path, SOURCE_FLAGS | O_DIRECTORY) : -1;
	struct stat st;

	if (!path)
		return -ENOMEM;
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG))
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		source_error(source, path, "cannot be opened: %s", strerrordesc_np(errno));
	else if (source_is_good(source, path, &st))
		return source_directory(source, path, fd);
	return 0;
}

int source_each_dropin(const struct source *source, const char *file)
{
	return source_run(source, source_dropins, file);
}

static int source_regular(const struct source *source, const char *path)
{
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return -ENOENT;
	return source_read(source, AT_FDCWD, path, path, SOURCE_FILE);
}

int source_one(const struct source *source, const char *path)
{
	return source_run(source, source_regular, path);
}
