/*
 * The daemon may write, and rotate, while the files are read: the line without an end is skipped, and a
 * file that was renamed meanwhile is missing.
 */
#include "proto/history/reader.h"

#include "proto/logger-message.h"

struct history_reader {
	int (*fn)(const struct history_line *line, void *arg);
	void *arg;
	uint64_t *skipped;
	uint64_t left; /* bytes that may still be read */
};

static int history_read_file(struct history_reader *reader, int directory, const char *name)
{
	cleanup(closep) int fd = fd_open_regular(directory, name, &reader->left);
	cleanup(fclosep) FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	cleanup(freep) char *text = NULL;
	size_t size = 0;
	ssize_t n;
	int r = 0;

	if (!file)
		return fd < 0 ? fd : -ENOMEM;
	(void)take_fd(fd);
	while (r >= 0 && (n = getline(&text, &size, file)) >= 0) {
		cleanup(json_decrefp) json_t *object =
			json_loadb(text, (size_t)n, JSON_REJECT_DUPLICATES, NULL);
		struct history_line line;

		if (object && history_line_parse(object, &line) == 0)
			r = reader->fn(&line, reader->arg);
		else
			++*reader->skipped;
	}
	if (r >= 0 && ferror(file))
		r = -EIO;
	return r < 0 ? r : 0;
}

static int history_read_rotated(struct history_reader *reader, int directory, const char *base)
{
	struct dirent **names;
	int n = scandirat(directory, ".", &names, NULL, alphasort), r = 0;

	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		if (r >= 0 && logger_is_rotated(names[i]->d_name, base))
			r = history_read_file(reader, directory, names[i]->d_name);
		if (r == -ENOENT)
			r = 0;
		free(names[i]);
	}
	free(names);
	return r;
}

int history_read(const char *path, uint64_t size_max,
		 int (*fn)(const struct history_line *line, void *arg), void *arg,
		 uint64_t *skipped)
{
	struct history_reader reader = { fn, arg, skipped, size_max };
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	cleanup(freep) char *directory =
		slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	cleanup(closep) int fd = -1;
	int r;

	*skipped = 0;
	if (!directory)
		return -ENOMEM;
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = history_read_rotated(&reader, fd, base);
	return r < 0 ? r : history_read_file(&reader, fd, base);
}
