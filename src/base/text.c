/*
 * Every function works on bytes and decodes UTF-8 itself, so that no result depends on the locale.
 * Characters count as printable unless they are controls or the backslash.
 */
#include "base/text.h"

#include <stdarg.h>
#include <string.h>

#include "base/cleanup.h"

/* The length of the valid UTF-8 character at @s and its number, or 0. */
static size_t text_decode_character(const unsigned char *s, uint32_t *ret)
{
	static const struct {
		unsigned char mask, lead;
		uint32_t min;
	} forms[] = { { 0x80, 0x00, 0x01 },
		      { 0xe0, 0xc0, 0x80 },
		      { 0xf0, 0xe0, 0x800 },
		      { 0xf8, 0xf0, 0x10000 } };

	for (size_t n = 1; n <= ARRAY_SIZE(forms); n++) {
		if ((s[0] & forms[n - 1].mask) != forms[n - 1].lead)
			continue;

		uint32_t c = s[0] & (unsigned char)~forms[n - 1].mask;

		for (size_t i = 1; i < n; i++) {
			if ((s[i] & 0xc0) != 0x80)
				return 0;
			c = c << 6 | (s[i] & 0x3f);
		}
		if (c < forms[n - 1].min || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
			return 0;
		*ret = c;
		return n;
	}
	return 0;
}

size_t text_character(const char *text)
{
	uint32_t c;

	if (*text && !(*text & 0x80)) /* as most are */
		return 1;
	return text_decode_character((const unsigned char *)text, &c);
}

char *text_cut(char *out, size_t size, const char *text)
{
	size_t used = 0, length;

	for (; text[used]; used += length) {
		length = text_character(text + used);
		length += length == 0;
		if (used + length >= size)
			break;
	}
	*(char *)mempcpy(out, text, used) = '\0';
	return out;
}

size_t text_columns(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

char *text_trim(char *text, const char *blanks)
{
	char *end;

	text += strspn(text, blanks);
	end = strchr(text, '\0');
	while (end > text && strchr(blanks, end[-1]))
		*--end = '\0';
	return text;
}

char *text_escape(char *out, size_t size, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t used = 0;

	while (*s) {
		if (*s >= 0x20 && *s < 0x7f && *s != '\\' && used + 1 < size) {
			out[used++] = (char)*s++;
			continue;
		}

		uint32_t c = 0;
		size_t n = text_decode_character(s, &c), need;

		if (c < 0x20 || (c >= 0x7f && c < 0xa0) || c == '\\')
			n = 0;
		need = n ? n : 4;
		if (used + need >= size)
			break;
		if (n)
			memcpy(out + used, s, n);
		else
			(void)snprintf(out + used, 5, "\\x%02x", *s);
		used += need;
		s += n ? n : 1;
	}
	if (size)
		out[used] = '\0';
	return out;
}

char *text_number(char buf[static TEXT_NUMBER_MAX], uint64_t number)
{
	char *at = buf + TEXT_NUMBER_MAX - 1;

	*at = '\0';
	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	return at;
}

void text_unescape_octal(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		size_t n = from[0] == '\\' ? strspn(from + 1, "01234567") : 0;

		*to = n >= 3 ? (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'))
			     : *from;
		from += n >= 3 ? 4 : 1;
	}
	*to = '\0';
}

bool text_is_within(const char *path, const char *top)
{
	size_t length = strlen(top);

	return length == 0 ||
	       (strncmp(path, top, length) == 0 && (!path[length] || path[length] == '/'));
}

size_t text_index_of(const char *text, const char *const *words)
{
	size_t i = 0;

	while (words[i] && strcmp(text, words[i]) != 0)
		i++;
	return i;
}

bool text_is_one_of(const char *text, const char *const *words)
{
	return words[text_index_of(text, words)];
}

bool text_ends_in_parts(const char *path, const char *name)
{
	size_t length = strlen(path), n = strlen(name);

	return n > 0 && length > n && path[length - n - 1] == '/' &&
	       strcmp(path + length - n, name) == 0;
}

uint32_t text_hash(const char *text)
{
	uint32_t hash = 0x811c9dc5;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x01000193;
	return hash;
}

#define NAME_MAX_LENGTH 40

/* Optimal string alignment distance, for short names. */
static unsigned text_edit_distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b);
	unsigned d[NAME_MAX_LENGTH + 1][NAME_MAX_LENGTH + 1];

	for (size_t i = 0; i <= la; i++)
		d[i][0] = (unsigned)i;
	for (size_t j = 0; j <= lb; j++)
		d[0][j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		for (size_t j = 1; j <= lb; j++) {
			bool same = a[i - 1] == b[j - 1];
			unsigned best = MIN(d[i - 1][j] + 1, d[i][j - 1] + 1);

			best = MIN(best, d[i - 1][j - 1] + !same);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = MIN(best, d[i - 2][j - 2] + 1);
			d[i][j] = best;
		}
	}
	return d[la][lb];
}

const char *text_closest(const char *name, const char *const *names, size_t n)
{
	size_t length = strlen(name);
	unsigned best =
		length < 5 ? 2 : 3; /* names under 5 bytes: at most 1 edit; longer names: 2 */
	const char *closest = NULL;

	if (length > NAME_MAX_LENGTH)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (strlen(names[i]) > NAME_MAX_LENGTH)
			continue;

		unsigned d = text_edit_distance(name, names[i]);

		if (d >= best)
			continue;
		best = d;
		closest = names[i];
	}
	return closest;
}

char *text_format(const char *format, ...)
{
	char *text;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	return n < 0 ? NULL : text;
}

/* --- a text that grows --- */

/*
 * The stream writes unbuffered through fopencookie() into a block that doubles when it is full.  A
 * write that finds no memory marks the stream as failed; memstream_close() reports that.
 */

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
