/*
 * The text is read line by line.  The lines of a value are moved together in it, so that no value is copied, and none is
 * limited by a buffer.
 */
#include "model/file/reader.h"

#include "model/base/settings.h"

struct reader {
	char *next, *end;
	unsigned line; /* the number of the last line read */
	const char *file;
	struct diag *diag;
	char section[DIAG_EXCERPT_MAX]; /* for messages; empty: there was none */
	const struct reader_handler *handler;
};

struct span {
	char *begin, *end;
};

static bool reader_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct span reader_trim(struct span s)
{
	while (s.begin < s.end && reader_is_blank(*s.begin))
		s.begin++;
	while (s.end > s.begin && reader_is_blank(s.end[-1]))
		s.end--;
	return s;
}

#define reader_error(r, at, format, ...)                                                           \
	diag_add((r)->diag, DIAG_ERROR, (struct place){ .file = (r)->file, .line = (at) }, format, \
		 ##__VA_ARGS__)

/* Replaces bytes that are not text, so that the following lines can still be checked. */
static void reader_check_text(struct reader *r, struct span s)
{
	bool nul = false, foreign = false;

	for (char *p = s.begin; p < s.end;) {
		size_t n = text_character(p);

		if (n == 0) {
			nul |= !*p;
			foreign |= *p != '\0';
			*p = '?';
		}
		p += n ? n : 1;
	}
	if (nul)
		reader_error(r, r->line, "NUL byte: expected text");
	if (foreign)
		reader_error(r, r->line, "invalid UTF-8: expected UTF-8 text");
}

/* The next line, without its end. */
static bool reader_next_line(struct reader *r, struct span *ret)
{
	char *newline;

	if (r->next == r->end)
		return false;
	newline = memchr(r->next, '\n', (size_t)(r->end - r->next));
	*ret = (struct span){ .begin = r->next, .end = newline ? newline : r->end };
	r->next = newline ? newline + 1 : r->end;
	r->line++;
	if (ret->end > ret->begin && ret->end[-1] == '\r')
		ret->end--;
	return true;
}

static bool reader_is_void_line(struct span line)
{
	line = reader_trim(line);
	return line.begin == line.end || *line.begin == '#' || *line.begin == ';';
}

/* Moves the continuation lines that follow up to @value. */
static void reader_join(struct reader *r, struct span *value)
{
	char *next = r->next;
	unsigned line_number = r->line;
	struct span line;

	while (reader_next_line(r, &line)) {
		if (!reader_is_void_line(line)) {
			size_t length;

			if (!reader_is_blank(*line.begin))
				break;
			reader_check_text(r, line);
			line = reader_trim(line);
			length = (size_t)(line.end - line.begin);
			if (value->end > value->begin)
				*value->end++ = '\n';
			memmove(value->end, line.begin, length);
			value->end += length;
		}
		next = r->next;
		line_number = r->line;
	}
	r->next = next;
	r->line = line_number;
}

/*
 * Removes the comments from a value: from a ; after a blank to the end of its line, outside of
 * quotes as in parse_words().
 */
static void reader_remove_comment(struct span *value)
{
	char *out = value->begin;
	char quote = '\0';

	for (const char *p = value->begin; p < value->end; p++) {
		if (*p == ';' && !quote &&
		    (out == value->begin || reader_is_blank(out[-1]) || out[-1] == '\n')) {
			while (p + 1 < value->end && p[1] != '\n')
				p++;
			while (out > value->begin && reader_is_blank(out[-1]))
				out--;
			continue;
		}
		if (*p == '\\' && quote != '\'' && p + 1 < value->end)
			*out++ = *p++;
		else if (*p == quote)
			quote = '\0';
		else if (!quote && (*p == '\'' || *p == '"'))
			quote = *p;
		*out++ = *p;
	}
	value->end = out;
	*value = reader_trim(*value);
}

/* Returns true if only a comment follows, or nothing. */
static bool reader_is_void_behind(char *begin, char *end)
{
	return begin == end ||
	       (reader_is_blank(*begin) && *reader_trim((struct span){ begin, end }).begin == ';');
}

static int reader_take_section(struct reader *r, struct span line)
{
	struct span name = { line.begin + 1, line.end };
	char *close = memchr(name.begin, ']', (size_t)(name.end - name.begin));

	if (!close)
		reader_error(r, r->line, "section without closing bracket: expected [NAME]");
	else if (!reader_is_void_behind(close + 1, name.end))
		reader_error(
			r, r->line,
			"text after the bracket of a section: expected [NAME], or a comment after "
			"a blank and ;");
	else if (close == name.begin)
		reader_error(r, r->line, "section without a name: expected [NAME]");
	*(close ? close : name.begin) = '\0';
	(void)diag_excerpt(r->section, *name.begin ? name.begin : "?");
	return r->handler->on_section(r->handler->arg, r->line, name.begin);
}

/* @key ends with a NUL. */
static bool reader_is_good_key(struct span key)
{
	size_t length = (size_t)(key.end - key.begin);

	return length > 0 && length <= READER_KEY_MAX &&
	       strspn(key.begin, TEXT_LETTERS TEXT_DIGITS "-_.") == length;
}

static int reader_take_entry(struct reader *r, struct span line)
{
	char excerpt[DIAG_EXCERPT_MAX];
	unsigned number = r->line;
	char *equals = memchr(line.begin, '=', (size_t)(line.end - line.begin));
	struct span key = { line.begin, equals ? equals : line.end };
	struct span value = { equals ? equals + 1 : line.end, line.end };

	key = reader_trim(key);
	value = reader_trim(value);
	reader_join(r, &value);
	reader_remove_comment(&value);
	*key.end = *value.end = '\0';

	if (!equals)
		reader_error(
			r, number,
			"'%s' without '=': expected [SECTION], KEY = VALUE, an indented line that "
			"continues a value, or a comment after # or ;",
			diag_excerpt(excerpt, key.begin));
	else if (!reader_is_good_key(key))
		reader_error(r, number, "invalid key '%s': expected letters, digits and dashes",
			     diag_excerpt(excerpt, key.begin));
	else if (!*r->section)
		reader_error(r, number,
			     "%s: key before the first section: expected below a [SECTION]",
			     key.begin);
	else if (value.end - value.begin > CONFIG_LINE_MAX)
		reader_error(r, number, "[%s] %s: value too long: %td bytes, at most %d",
			     r->section, key.begin, value.end - value.begin, CONFIG_LINE_MAX);
	else
		return r->handler->on_entry(r->handler->arg, number, key.begin, value.begin);
	return 0;
}

static int reader_take_line(struct reader *r, struct span line)
{
	if (reader_is_void_line(line))
		return 0;
	reader_check_text(r, line);
	if (*line.begin == '[')
		return reader_take_section(r, reader_trim(line));
	if (!reader_is_blank(*line.begin))
		return reader_take_entry(r, line);
	reader_error(r, r->line,
		     "indented line without a value to continue: expected a key in the first "
		     "column");
	return 0;
}

int reader_parse(char *text, size_t size, const char *file, struct diag *diag,
		 const struct reader_handler *handler)
{
	static const char mark[] = "\xef\xbb\xbf"; /* the byte order mark */
	struct reader r = {
		.next = text,
		.end = text + size,
		.file = file,
		.diag = diag,
		.handler = handler,
	};
	struct span line;
	int result = 0;

	if (size >= strlen(mark) && memcmp(text, mark, strlen(mark)) == 0)
		r.next += strlen(mark);
	while (result == 0 && reader_next_line(&r, &line))
		result = reader_take_line(&r, line);
	return result;
}
