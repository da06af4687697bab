/*
 * The stream writes unbuffered through fopencookie() into a block that doubles when it is full.  A
 * write that finds no memory marks the stream as failed; memstream_close() reports that.
 */
#include "base/memstream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define FIRST_SIZE 128

/* Room for @n bytes more, and a NUL. */
static bool memstream_grow(struct memstream *m, size_t n)
{
	size_t size = m->size ? m->size : FIRST_SIZE;
	char *text;

	if (m->size - m->length > n)
		return true;
	while (size - m->length <= n)
		if (__builtin_mul_overflow(size, 2, &size))
			return false;
	text = realloc(m->text, size);
	if (!text)
		return false;
	m->text = text;
	m->size = size;
	return true;
}

static ssize_t memstream_write(void *cookie, const char *buffer, size_t n)
{
	struct memstream *m = cookie;

	/* After a loss nothing more is stored: the text would have a gap. */
	if (m->failed || !memstream_grow(m, n)) {
		m->failed = true;
		return 0;
	}
	memcpy(m->text + m->length, buffer, n);
	m->length += n;
	m->text[m->length] = '\0';
	return (ssize_t)n;
}

int memstream_open(struct memstream *m)
{
	*m = (struct memstream){ .length = 0 };
	if (!memstream_grow(m, 0))
		return -ENOMEM;
	m->text[0] = '\0';
	m->file = fopencookie(m, "w", (cookie_io_functions_t){ .write = memstream_write });
	if (!m->file) {
		free(m->text);
		return -ENOMEM;
	}
	(void)setvbuf(m->file, NULL, _IONBF, 0); /* all errors show in memstream_write() */
	return 0;
}

int memstream_close(struct memstream *m, char **ret)
{
	bool failed = fclose(m->file) != 0 || m->failed;
	cleanup(freep) char *text = m->text;

	if (failed)
		return -ENOMEM;
	*ret = take(text);
	return 0;
}
