/*
 * Each text is walked twice by the same function: without output to find the size, then with
 * output.
 */
#include "model/file/substitute.h"

#include "base/std.h"

#define SUBSTITUTE_NAME_MAX 200

/* Writes the value of the variable at @text, after the "%{".  Returns the end of its form, or NULL. */
static const char *substitute_variable(FILE *file, const char *text)
{
	size_t length = strcspn(text, ":}");
	const char *end = strchr(text, '}'), *value;
	char name[SUBSTITUTE_NAME_MAX + 1];

	if (!end || length > SUBSTITUTE_NAME_MAX || (text[length] == ':' && text[length + 1] != '-'))
		return NULL;
	*(char *)mempcpy(name, text, length) = '\0';
	value = getenv(name);
	if (text[length] == ':' && (!value || !*value))
		(void)fwrite(text + length + 2, 1, (size_t)(end - text) - length - 2, file);
	else if (value)
		(void)fputs(value, file);
	return value || text[length] == ':' ? end + 1 : NULL;
}

int substitute_variables(const char *text, char **ret)
{
	struct memstream m;
	int r = memstream_open(&m);

	*ret = NULL;
	if (r < 0)
		return r;
	while (text && *text) {
		size_t n = strcspn(text, "%");

		if (text[n] && text[n + 1] != '{')
			n += text[n + 1] == '%' ? 2 : 1;
		(void)fwrite(text, 1, n, m.file);
		text += n;
		if (text[0] == '%' && text[1] == '{')
			text = substitute_variable(m.file, text + 2);
	}
	r = memstream_close(&m, ret);
	return r == 0 && !text ? -EINVAL : r;
}

const char *substitute_check(const char *text)
{
	for (const char *p = text; (p = strchr(p, '%')); p += 2) {
		if (!p[1] || !strchr("ni%", p[1]))
			return p;
	}
	return NULL;
}

static const char *substitute_value(char letter, const char *path)
{
	const char *part, *at;

	if (letter == '%')
		return "%";
	if (letter == 'n')
		return path;
	part = strrchr(path, '/');
	at = strchr(part ? part : path, '@');
	return at ? at + 1 : "";
}

/* Writes to @out unless it is NULL.  Returns the size with the NUL. */
static size_t substitute_into(char *out, const char *text, const char *path)
{
	size_t size = 1;

	while (*text) {
		const char *from = text;
		size_t n = strcspn(text, "%");

		text += n;
		if (n == 0) {
			from = substitute_value(text[1], path);
			n = strlen(from);
			text += 2;
		}
		if (out)
			memcpy(out + size - 1, from, n);
		size += n;
	}
	if (out)
		out[size - 1] = '\0';
	return size;
}

int substitute_text(const char *text, const char *path, char **ret)
{
	char *out = text ? malloc(substitute_into(NULL, text, path)) : NULL;

	if (!out)
		return text ? -ENOMEM : 0;
	(void)substitute_into(out, text, path);
	*ret = out;
	return 0;
}

int substitute_words(char *const *words, const char *path, char ***ret)
{
	size_t n = 0, size = 0;
	char **list;
	char *out;

	if (!words)
		return 0;
	for (; words[n]; n++)
		size += substitute_into(NULL, words[n], path);
	list = malloc((n + 1) * sizeof(*list) + size);
	if (!list)
		return -ENOMEM;
	out = (char *)(list + n + 1);
	for (size_t i = 0; i < n; i++) {
		list[i] = out;
		out += substitute_into(out, words[i], path);
	}
	list[n] = NULL;
	*ret = list;
	return 0;
}

int substitute_text_of(char **text, const char *path)
{
	char *stated = *text;
	int r = substitute_text(stated, path, text);

	if (r == 0)
		free(stated);
	return r;
}

int substitute_words_of(char ***words, const char *path)
{
	char **stated = *words;
	int r = substitute_words(stated, path, words);

	if (r == 0)
		free(stated);
	return r;
}
