/*
 * Files are read from the end, the newest first.  The seam of a stream is the place in a file up to
 * which its lines are written.  The logger still remembers the last lines before the seam, so these
 * are skipped in the file.  If the oldest of them is not found, other streams write to the file, too,
 * and no line of it is taken.
 */
#include "ctl/logs/files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/macro.h"
#include "proto/message.h"

#define TAIL_SIZE (64 * 1024)

/* --- the files --- */

/* Return: the descriptor of a regular file, or -errno. */
static int file_open_at(int directory, const char *name, struct stat *st)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (fstat(fd, st) == 0 && S_ISREG(st->st_mode))
		return fd;
	(void)close(fd);
	return -ENOTSUP;
}

void log_file_look(struct log_file *file, const char *path)
{
	struct stat st;
	int fd = file_open_at(AT_FDCWD, path, &st);

	*file = (struct log_file){ .path = path, .error = fd < 0 ? fd : 0 };
	if (fd < 0)
		return;
	(void)close(fd);
	file->size = (uint64_t)st.st_size;
	file->device = st.st_dev;
	file->inode = st.st_ino;
}

/* The directory of a file, and the names of those that were rotated, the newest first. */
struct rotation {
	int fd;
	const char *base;
	struct dirent **names;
	int n;
};

static void log_rotation_done(struct rotation *r)
{
	for (int i = 0; i < r->n; i++)
		free(r->names[i]);
	free(r->names);
	(void)fd_close(r->fd);
}

static int log_compare_newest_first(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*b)->d_name, (*a)->d_name);
}

/* Return: 0 or -errno. */
static int log_rotation_read(struct rotation *r, const char *path)
{
	const char *slash = strrchr(path, '/');
	cleanup(freep) char *directory =
		slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int kept = 0, all;

	*r = (struct rotation){ .fd = -1, .base = slash ? slash + 1 : path };
	if (!directory)
		return -ENOMEM;
	r->fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->fd < 0)
		return -errno;
	all = scandirat(r->fd, ".", &r->names, NULL, log_compare_newest_first);
	for (int i = 0; i < all; i++) {
		if (logger_is_rotated(r->names[i]->d_name, r->base))
			r->names[kept++] = r->names[i];
		else
			free(r->names[i]);
	}
	r->n = kept;
	return all < 0 ? -errno : 0;
}

/* --- text --- */

/* The end of a file. */
struct tail {
	char *text;
	size_t size;
	bool whole; /* it begins with the file */
};

static void log_tail_done(struct tail *t)
{
	free(t->text);
}

static uint64_t log_count_lines(const char *text, size_t size)
{
	uint64_t n = 0;

	for (size_t i = 0; i < size; i++)
		n += text[i] == '\n';
	return n;
}

static int log_read_at(int fd, char *text, size_t size, uint64_t offset, size_t *ret)
{
	*ret = 0;
	while (*ret < size) {
		ssize_t n = pread(fd, text + *ret, size - *ret, (off_t)(offset + *ret));

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			break;
		*ret += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* The end of the first @size bytes of @fd, with @n whole lines if there are so many. */
static int log_tail_read(struct tail *t, int fd, uint64_t size, uint64_t n)
{
	for (size_t part = TAIL_SIZE;; part *= 2) {
		uint64_t from = size > part ? size - part : 0;
		int r;

		free(t->text);
		*t = (struct tail){ .text = malloc(part), .whole = from == 0 };
		if (!t->text)
			return -ENOMEM;
		r = log_read_at(fd, t->text, (size_t)(size - from), from, &t->size);
		if (r < 0 || t->whole || log_count_lines(t->text, t->size) > n)
			return r;
	}
}

/* Decompresses a file into memory.  Return: the descriptor, or -errno. */
static int log_decompress_file(int from)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();
	cleanup(freep) char *in = malloc(ZSTD_DStreamInSize());
	cleanup(freep) char *out = malloc(ZSTD_DStreamOutSize());
	cleanup(closep) int to = memfd_create("log", MFD_CLOEXEC);
	int r = context && in && out && to >= 0 ? 0 : -ENOMEM;
	ssize_t n = 0;

	while (r == 0 && (n = read(from, in, ZSTD_DStreamInSize())) > 0) {
		ZSTD_inBuffer input = { .src = in, .size = (size_t)n };

		while (r == 0 && input.pos < input.size) {
			ZSTD_outBuffer output = { .dst = out, .size = ZSTD_DStreamOutSize() };
			size_t left = ZSTD_decompressStream(context, &output, &input);

			if (ZSTD_isError(left))
				r = -EBADMSG;
			else if (write(to, out, output.pos) != (ssize_t)output.pos)
				r = -EIO;
		}
	}
	(void)ZSTD_freeDCtx(context);
	return r < 0 ? r : n < 0 ? -errno : take_fd(to);
}

/* --- lines --- */

static bool log_parse_number(const char **at, const char *end, size_t digits, unsigned *ret)
{
	*ret = 0;
	for (size_t i = 0; i < digits; i++, (*at)++) {
		if (*at == end || !isdigit((unsigned char)**at))
			return false;
		*ret = *ret * 10 + (unsigned)(**at - '0');
	}
	return true;
}

static bool log_parse_byte(const char **at, const char *end, char byte)
{
	if (*at == end || **at != byte)
		return false;
	(*at)++;
	return true;
}

/* "+02:00" */
static bool log_parse_zone(const char **at, const char *end, int64_t *seconds)
{
	unsigned hours, minutes;
	int sign = *at < end && **at == '-' ? -1 : 1;

	*seconds = 0;
	if (log_parse_byte(at, end, 'Z'))
		return true;
	if (!log_parse_byte(at, end, '+') && !log_parse_byte(at, end, '-'))
		return false;
	if (!log_parse_number(at, end, 2, &hours) || !log_parse_byte(at, end, ':') ||
	    !log_parse_number(at, end, 2, &minutes))
		return false;
	*seconds = sign * (int64_t)(hours * 3600 + minutes * 60);
	return true;
}

/* Return: the time of the stamp at *at, which moves behind it; 0: there is none. */
static uint64_t log_parse_iso_time(const char **at, const char *end, bool usec)
{
	unsigned year, month, day, hour, minute, second, fraction = 0;
	struct tm tm;
	int64_t zone;

	if (!log_parse_number(at, end, 4, &year) || !log_parse_byte(at, end, '-') ||
	    !log_parse_number(at, end, 2, &month) || !log_parse_byte(at, end, '-') ||
	    !log_parse_number(at, end, 2, &day) || !log_parse_byte(at, end, 'T') ||
	    !log_parse_number(at, end, 2, &hour) || !log_parse_byte(at, end, ':') ||
	    !log_parse_number(at, end, 2, &minute) || !log_parse_byte(at, end, ':') ||
	    !log_parse_number(at, end, 2, &second))
		return 0;
	if (usec && (!log_parse_byte(at, end, '.') || !log_parse_number(at, end, 6, &fraction)))
		return 0;
	if (!log_parse_zone(at, end, &zone))
		return 0;
	tm = (struct tm){
		.tm_year = (int)year - 1900,
		.tm_mon = (int)month - 1,
		.tm_mday = (int)day,
		.tm_hour = (int)hour,
		.tm_min = (int)minute,
		.tm_sec = (int)second,
	};
	return (uint64_t)(timegm(&tm) - zone) * USEC_PER_SEC + fraction;
}

static uint64_t log_parse_unix_time(const char **at, const char *end)
{
	uint64_t seconds = 0;
	unsigned fraction;

	for (; *at < end && isdigit((unsigned char)**at) && seconds < UINT32_MAX; (*at)++)
		seconds = seconds * 10 + (unsigned)(**at - '0');
	if (!log_parse_byte(at, end, '.') || !log_parse_number(at, end, 6, &fraction))
		return 0;
	return seconds * USEC_PER_SEC + fraction;
}

/* A line of the file without what the logger has put before it. */
static void log_parse_line(const struct log_past *past, const char *text, size_t length,
			   struct log_line *ret)
{
	const char *at = text, *end = text + length;
	size_t name = strlen(past->source->node);
	uint64_t time_usec = 0;

	if (past->stamp == LOGGER_STAMP_UNIX)
		time_usec = log_parse_unix_time(&at, end);
	else if (past->stamp != LOGGER_STAMP_NONE)
		time_usec = log_parse_iso_time(&at, end, past->stamp == LOGGER_STAMP_ISO_USEC);
	if (time_usec == 0 || !log_parse_byte(&at, end, ' ')) {
		time_usec = 0;
		at = text;
	}
	if ((size_t)(end - at) > name && memcmp(at, past->source->node, name) == 0) {
		const char *bar = at + name;

		while (bar < end && *bar == ' ')
			bar++;
		if (bar > at + name && end - bar >= 2 && memcmp(bar, "| ", 2) == 0)
			at = bar + 2;
	}
	*ret = (struct log_line){
		.source = past->source,
		.time_usec = time_usec,
		.position = UINT64_MAX,
		.text = at,
		.length = (size_t)(end - at),
	};
}

/* The same of log-format = json; the text belongs to the object.  NULL: it is none. */
static json_t *log_parse_json_line(const struct log_past *past, const char *text, size_t length,
				   struct log_line *ret)
{
	json_t *object = length > 0 && *text == '{' ? json_loadb(text, length, 0, NULL) : NULL;
	const json_t *message = json_object_get(object, "message");
	const char *time = json_string_value(json_object_get(object, "time"));

	if (!json_is_string(message) ||
	    strcmp(message_get_string(object, "node", ""), past->source->node) != 0) {
		json_decref(object);
		return NULL;
	}
	*ret = (struct log_line){
		.source = past->source,
		.time_usec = time ? log_parse_iso_time(&time, time + strlen(time), true) : 0,
		.pid = json_integer_value(json_object_get(object, "pid")),
		.generation = (uint64_t)json_integer_value(json_object_get(object, "generation")),
		.position = UINT64_MAX,
		.text = json_string_value(message),
		.length = json_string_length(message),
	};
	return object;
}

/* The lines of all files, the newest first. */
struct walk {
	const struct log_past *past;
	uint64_t n_skipped;
	struct log_lines lines;
};

static bool log_walk_is_over(const struct walk *w)
{
	return w->lines.n >= w->past->max;
}

/* Return: 0, -ESTALE or -ENOMEM. */
static int log_walk_line(struct walk *w, const char *text, size_t length)
{
	const struct log_line *first = w->past->first;
	struct log_line line;
	cleanup(json_decrefp) json_t *object = log_parse_json_line(w->past, text, length, &line);

	if (!object)
		log_parse_line(w->past, text, length, &line);
	if (w->n_skipped == w->past->n_written)
		return log_lines_add(&w->lines, &line);
	if (++w->n_skipped < w->past->n_written)
		return 0;
	return line.length == first->length && memcmp(line.text, first->text, line.length) == 0
		       ? 0
		       : -ESTALE;
}

/* The first @size bytes of @fd. */
static int log_walk_file(struct walk *w, int fd, uint64_t size)
{
	cleanup(log_tail_done) struct tail tail = { .text = NULL };
	uint64_t wanted = w->past->max - w->lines.n + w->past->n_written - w->n_skipped;
	int r = log_tail_read(&tail, fd, size, wanted);
	size_t end;

	if (r < 0)
		return r;
	end = tail.size;
	if (end > 0 && tail.text[end - 1] == '\n')
		end--;
	else if (end == 0)
		return 0;
	while (r == 0 && !log_walk_is_over(w)) {
		const char *before = memrchr(tail.text, '\n', end);
		size_t begin = before ? (size_t)(before - tail.text) + 1 : 0;

		if (!before && !tail.whole)
			break;
		r = log_walk_line(w, tail.text + begin, end - begin);
		if (!before)
			break;
		end = begin - 1;
	}
	return r;
}

static int log_walk_rotated(struct walk *w, const struct rotation *rotation, int i, uint64_t size)
{
	const char *name = rotation->names[i]->d_name;
	size_t length = strlen(name), suffix = strlen(LOGGER_COMPRESSED);
	struct stat st;
	cleanup(closep) int fd = file_open_at(rotation->fd, name, &st);

	if (fd >= 0 && strcmp(name + length - suffix, LOGGER_COMPRESSED) == 0) {
		int plain = log_decompress_file(fd);

		(void)close(fd);
		fd = plain;
		if (fd >= 0 && fstat(fd, &st) < 0)
			return -errno;
	}
	/* It may have been removed meanwhile. */
	return fd < 0 ? (fd == -ENOENT ? 0 : fd)
		      : log_walk_file(w, fd, MIN(size, (uint64_t)st.st_size));
}

/* Returns the index of the rotated file with the inode of @seam, or -1. */
static int log_rotation_find(const struct rotation *r, const struct logger_seam *seam)
{
	struct stat st;

	for (int i = 0; i < r->n; i++)
		if (fstatat(r->fd, r->names[i]->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    st.st_ino == seam->inode && st.st_dev == seam->device)
			return i;
	return -1;
}

/* The file with the seam; *next is the rotated one before it.  Return: 0, -ESTALE or -errno. */
static int log_walk_seam(struct walk *w, const struct log_file *file,
			 const struct rotation *rotation, int *next)
{
	struct logger_seam seam = w->past->source->seam;
	cleanup(closep) int fd = -1;
	struct stat st;

	*next = 0;
	if (seam.position == 0 && file->error)
		return 0;
	if (seam.position == 0)
		seam = (struct logger_seam){
			.bytes = file->size,
			.device = file->device,
			.inode = file->inode,
		};
	/* It may have been opened anew since. */
	fd = file_open_at(rotation->fd, rotation->base, &st);
	if (fd >= 0 && st.st_ino == seam.inode && st.st_dev == seam.device)
		return log_walk_file(w, fd, MIN(seam.bytes, (uint64_t)st.st_size));
	*next = log_rotation_find(rotation, &seam);
	if (*next < 0)
		return fd < 0 && fd != -ENOENT ? fd : -ESTALE;
	return log_walk_rotated(w, rotation, (*next)++, seam.bytes);
}

int log_file_read(const struct log_file *file, const struct log_past *past, struct log_lines *ret)
{
	struct walk walk = { .past = past };
	cleanup(log_rotation_done) struct rotation rotation;
	int r = log_rotation_read(&rotation, file->path), next;

	if (past->source->seam.position == UINT64_MAX)
		return -ESTALE;
	if (r == 0 && file->error != -ENOENT)
		r = file->error;
	if (r == 0)
		r = log_walk_seam(&walk, file, &rotation, &next);
	for (; r == 0 && next < rotation.n && !log_walk_is_over(&walk); next++)
		r = log_walk_rotated(&walk, &rotation, next, UINT64_MAX);
	for (size_t i = 0, n = walk.lines.n; i < n / 2; i++) {
		struct log_line *line = walk.lines.lines[i];

		walk.lines.lines[i] = walk.lines.lines[n - 1 - i];
		walk.lines.lines[n - 1 - i] = line;
	}
	if (r == 0)
		r = log_lines_append(ret, &walk.lines);
	log_lines_done(&walk.lines);
	return r;
}
