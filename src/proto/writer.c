#include "proto/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

#define SIZE_LEAST   256
#define ESCAPED_MAX  6 /* of one byte: a \u001F, or the three of U+FFFD */
#define FIRST_PLAIN  0x20
#define FIRST_BEYOND 0x80

/* bytes[used] is the text's NUL, if there is any text. */
void writer_done(struct writer *w)
{
	free(w->bytes);
	*w = (struct writer){ 0 };
}

/* Room for @more bytes and a NUL.  Return: false, now and for ever, without. */
static bool reserve(struct writer *w, size_t more)
{
	size_t size = w->size ? w->size : SIZE_LEAST;
	char *bytes;

	if (w->failed)
		return false;
	while (size - w->used <= more)
		size *= 2;
	if (size == w->size)
		return true;
	bytes = realloc(w->bytes, size);
	if (!bytes) {
		w->failed = true;
		return false;
	}
	w->bytes = bytes;
	w->size = size;
	return true;
}

void writer_add_bytes(struct writer *w, const char *bytes, size_t n)
{
	if (!reserve(w, n))
		return;
	memcpy(w->bytes + w->used, bytes, n);
	w->used += n;
	w->bytes[w->used] = '\0';
}

void writer_add(struct writer *w, const char *text)
{
	writer_add_bytes(w, text, strlen(text));
}

/* The character at @text as it is in a string, to @at.  Return: behind it; *text is moved on. */
static char *escape(char *at, const char **text)
{
	static const char replacement[] = "\xef\xbf\xbd", hex[] = "0123456789ABCDEF";
	static const char letters[FIRST_PLAIN] = {
		['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't',
	};
	unsigned char c = (unsigned char)**text;
	size_t length;

	if (c >= FIRST_BEYOND) {
		length = text_character(*text);
		at = mempcpy(at, length ? *text : replacement,
			     length ? length : sizeof(replacement) - 1);
		*text += length ? length : 1;
		return at;
	}
	(*text)++;
	if (c >= FIRST_PLAIN) {
		if (c == '"' || c == '\\')
			*at++ = '\\';
		*at++ = (char)c;
		return at;
	}
	*at++ = '\\';
	if (letters[c]) {
		*at++ = letters[c];
		return at;
	}
	at = mempcpy(at, "u00", 3);
	*at++ = hex[c >> 4];
	*at++ = hex[c & 0xf];
	return at;
}

void writer_add_string(struct writer *w, const char *text)
{
	char *at;

	if (!reserve(w, strlen(text) * ESCAPED_MAX + 2))
		return;
	at = w->bytes + w->used;
	*at++ = '"';
	while (*text)
		at = escape(at, &text);
	*at++ = '"';
	*at = '\0';
	w->used = (size_t)(at - w->bytes);
}

void writer_add_number(struct writer *w, uint64_t number)
{
	char text[TEXT_NUMBER_MAX];
	const char *digits = text_number(text, number);

	writer_add_bytes(w, digits, (size_t)(text + sizeof(text) - 1 - digits));
}

void writer_add_signed(struct writer *w, int64_t number)
{
	if (number < 0)
		writer_add(w, "-");
	writer_add_number(w, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

void writer_add_json(struct writer *w, const json_t *value)
{
	cleanup(freep) char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

	if (text)
		writer_add(w, text);
	else
		w->failed = true;
}

void writer_add_writer(struct writer *w, const struct writer *from)
{
	if (from->failed)
		w->failed = true;
	else if (from->used > 0)
		writer_add_bytes(w, from->bytes, from->used);
}

const char *writer_text(const struct writer *w)
{
	return w->bytes ? w->bytes : "";
}

bool writer_has_failed(const struct writer *w)
{
	return w->failed;
}

size_t writer_length(const struct writer *w)
{
	return w->used;
}

void writer_cut(struct writer *w, size_t length)
{
	w->used = length;
	if (w->bytes)
		w->bytes[length] = '\0';
}

int writer_take(struct writer *w, char **ret)
{
	if (w->failed || !w->bytes)
		return -ENOMEM;
	*ret = take(w->bytes);
	w->used = w->size = 0;
	return 0;
}
