/*
 * The buffer has, in this order: written bytes, whole lines that wait to be written, and an
 * unfinished line.  The whole lines end behind the last newline; a line that is longer than
 * LINES_LONGEST is passed on in parts.
 */
#include "ctl/terminal/lines.h"

#define CHUNK (64 * 1024)

void lines_done(struct lines *l)
{
	free(l->bytes);
	*l = (struct lines){ .bytes = NULL };
}

/* Room for a chunk behind the unfinished line, which is moved to the front. */
static int lines_reserve(struct lines *l)
{
	size_t size = l->size ? l->size : 2 * CHUNK;
	char *bytes;

	if (l->whole > 0)
		memmove(l->bytes, l->bytes + l->whole, l->used - l->whole);
	l->used -= l->whole;
	l->begin = l->whole = 0;
	while (size - l->used < CHUNK)
		size *= 2;
	if (size == l->size)
		return 0;
	bytes = realloc(l->bytes, size);
	if (!bytes)
		return -ENOMEM;
	l->bytes = bytes;
	l->size = size;
	return 0;
}

int lines_read(struct lines *l, int fd, size_t most, bool first)
{
	int r = lines_reserve(l);
	size_t from = l->used;
	ssize_t n;

	if (r < 0)
		return r;
	n = read(fd, l->bytes + from, MIN(most, (size_t)CHUNK));
	if (n < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	l->used += (size_t)n;
	if (n > 0) {
		const char *end = first ? memchr(l->bytes + from, '\n', (size_t)n)
					: memrchr(l->bytes + from, '\n', (size_t)n);

		if (end) {
			l->whole = (size_t)(end + 1 - l->bytes);
			l->inside = false;
		} else if (l->inside || l->used - l->whole > LINES_LONGEST) {
			l->whole = l->used;
			l->inside = true;
		}
		if (end && first)
			l->used = l->whole;
	}
	return (int)n;
}

int lines_write(struct lines *l, int fd)
{
	ssize_t n = write(fd, l->bytes + l->begin, MIN(lines_pending(l), (size_t)PIPE_BUF));

	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	l->begin += (size_t)n;
	return 0;
}
