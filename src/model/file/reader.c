#include "model/file/reader.h"

#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "model/base/settings.h"

/*
 * inih reads an INI file that it cannot misread, which is made from the real file on the fly:
 *
 *	the file			what inih reads
 *	[web/nginx]			*=<1
 *					*=+hhgfgccpgoghgjgohi
 *					*=>9
 *	command = nginx -g "a ; b"	command=<2
 *	    --more			command=+goghgjgohicacnghcaccgb
 *					command=+cadlcagccccacacacacacacac
 *					command=>23
 *
 * The packaged library cuts lines at 200 bytes and section names at 49, takes " ;" for a comment
 * and ':' for '=', reports continuation lines as further keys, and knows no line numbers, all
 * without an error.  So every section and key is fed as an item: its line number, its bytes in
 * short encoded pieces, and its length, which reveals a loss.  The result does not depend on the
 * options that the library was built with, and none of its variables is changed.
 *
 * The text is read in place: the lines of a value are moved together inside it.
 */

#define SECTION_NAME "*" /* the name of the items that are sections: no key can have it */
#define ROOM_MIN     (READER_KEY_MAX + 32)

enum phase { PHASE_NONE, PHASE_BEGIN, PHASE_BODY };

struct reader {
	/* The file. */
	char *next, *end;
	unsigned line; /* the number of the last line read */
	const char *file;
	struct diag *diag;
	bool in_section;
	char section[DIAG_EXCERPT_MAX]; /* for messages */

	/* The item that is fed to inih. */
	enum phase phase;
	unsigned item_line;
	char name[READER_KEY_MAX + 1];
	const char *value;
	size_t size, fed;
	size_t n_items;

	/* The item that is received from inih. */
	const struct reader_handler *handler;
	char *received;
	size_t n_received;
	unsigned received_line; /* 0: no item has begun */
	size_t n_delivered;
	int error;
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

/* @name must fit. */
static void reader_set_item(struct reader *r, const char *name, struct span value, unsigned line)
{
	(void)strcpy(r->name, name);
	r->n_items++;
	r->value = value.begin;
	r->size = (size_t)(value.end - value.begin);
	r->fed = 0;
	r->item_line = line;
	r->phase = PHASE_BEGIN;
}

/* Returns true if only a comment follows, or nothing. */
static bool reader_is_void_behind(char *begin, char *end)
{
	return begin == end ||
	       (reader_is_blank(*begin) && *reader_trim((struct span){ begin, end }).begin == ';');
}

static void reader_section(struct reader *r, struct span line)
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
	if (!close)
		close = name.begin;
	*close = '\0';
	name.end = close;

	r->in_section = true;
	(void)diag_excerpt(r->section, *name.begin ? name.begin : "?");
	reader_set_item(r, SECTION_NAME, name, r->line);
}

static bool reader_is_good_key(struct span key)
{
	if (key.end - key.begin > READER_KEY_MAX)
		return false;
	for (const char *p = key.begin; p < key.end; p++) {
		bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');

		if (!letter && !(*p >= '0' && *p <= '9') && *p != '-' && *p != '_' && *p != '.')
			return false;
	}
	return key.begin < key.end;
}

static void reader_entry(struct reader *r, struct span line)
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
	*key.end = '\0';

	if (!equals)
		reader_error(
			r, number,
			"'%s' without '=': expected [SECTION], KEY = VALUE, an indented line that "
			"continues a value, or a comment after # or ;",
			diag_excerpt(excerpt, key.begin));
	else if (!reader_is_good_key(key))
		reader_error(r, number, "invalid key '%s': expected letters, digits and dashes",
			     diag_excerpt(excerpt, key.begin));
	else if (!r->in_section)
		reader_error(r, number,
			     "%s: key before the first section: expected below a [SECTION]",
			     key.begin);
	else if (value.end - value.begin > CONFIG_LINE_MAX)
		reader_error(r, number, "[%s] %s: value too long: %td bytes, at most %d",
			     r->section, key.begin, value.end - value.begin, CONFIG_LINE_MAX);
	else
		reader_set_item(r, key.begin, value, number);
}

/* Reads until the next section or entry that can be fed. */
static bool reader_next_item(struct reader *r)
{
	struct span line;

	while (r->phase == PHASE_NONE && reader_next_line(r, &line)) {
		if (reader_is_void_line(line))
			continue;
		reader_check_text(r, line);
		if (reader_is_blank(*line.begin))
			reader_error(
				r, r->line,
				"indented line without a value to continue: expected a key in the first "
				"column");
		else if (*line.begin == '[')
			reader_section(r, reader_trim(line));
		else
			reader_entry(r, line);
	}
	return r->phase != PHASE_NONE;
}

/* Writes a letter for each half of a byte, as far as there is room. */
static char *reader_encode_bytes(char *out, const char *end, const char **bytes,
				 const char *bytes_end)
{
	for (; *bytes < bytes_end && end - out >= 2; ++*bytes) {
		*out++ = (char)('a' + ((unsigned char)**bytes >> 4));
		*out++ = (char)('a' + (**bytes & 15));
	}
	return out;
}

/* fgets() as inih sees it: the next line of the item, or of the next item. */
static char *reader_feed(char *buffer, int room, void *stream)
{
	struct reader *r = stream;
	char *end = buffer + room - 2; /* a newline and a NUL */
	const char *rest;
	char *out;

	if (room < ROOM_MIN)
		r->error = -EMSGSIZE;
	if (r->error || !reader_next_item(r))
		return NULL;

	out = stpcpy(stpcpy(buffer, r->name), "=");
	rest = r->value + r->fed;
	if (r->phase == PHASE_BEGIN) {
		out += sprintf(out, "<%u", r->item_line);
		r->phase = PHASE_BODY;
	} else if (r->fed < r->size) {
		*out++ = '+';
		out = reader_encode_bytes(out, end, &rest, r->value + r->size);
		r->fed = (size_t)(rest - r->value);
	} else {
		out += sprintf(out, ">%zu", r->size);
		r->phase = PHASE_NONE;
	}
	*out++ = '\n';
	*out = '\0';
	return buffer;
}

/* The received bytes fit: they were fed by this module, and are fewer than in the file. */
static void reader_receive(struct reader *r, const char *piece)
{
	for (; *piece; piece += 2)
		r->received[r->n_received++] = (char)((piece[0] - 'a') << 4 | (piece[1] - 'a'));
}

static int reader_deliver(struct reader *r, const char *name, const char *length)
{
	const struct reader_handler *handler = r->handler;
	unsigned line = r->received_line;
	uint64_t fed;

	if (!line || parse_uint(length, SIZE_MAX, &fed) < 0 || fed != r->n_received)
		return -EBADMSG;
	r->received[r->n_received] = '\0';
	r->received_line = 0;
	r->n_delivered++;
	if (strcmp(name, SECTION_NAME) == 0)
		return handler->on_section(handler->arg, line, r->received);
	return handler->on_entry(handler->arg, line, name, r->received);
}

/* inih's handler; its own sections are not used. */
static int reader_on_piece(void *user, const char *section, const char *name, const char *piece)
{
	struct reader *r = user;
	uint64_t line = 0;
	int reason = 0;

	(void)section;
	switch (*piece) {
	case '<':
		reason = parse_uint(piece + 1, UINT32_MAX, &line);
		r->received_line = (unsigned)line;
		r->n_received = 0;
		break;
	case '+':
		reader_receive(r, piece + 1);
		break;
	default:
		reason = reader_deliver(r, name, piece + 1);
		break;
	}
	if (reason < 0 && !r->error)
		r->error = reason;
	return 1;
}

int reader_parse(char *text, size_t size, const char *file, struct diag *diag,
		 const struct reader_handler *handler)
{
	static const char mark[] = "\xef\xbb\xbf"; /* the byte order mark */
	cleanup(freep) char *received = malloc(size + 1);
	struct reader r = {
		.next = text,
		.end = text + size,
		.file = file,
		.diag = diag,
		.handler = handler,
		.received = received,
	};
	int outcome;

	if (!received)
		return -ENOMEM;
	if (size >= strlen(mark) && memcmp(text, mark, strlen(mark)) == 0)
		r.next += strlen(mark);
	outcome = ini_parse_stream(reader_feed, &r, reader_on_piece, &r);
	if (r.error)
		return r.error;
	if (outcome == -2)
		return -ENOMEM;
	return outcome == 0 && r.n_delivered == r.n_items ? 0 : -EBADMSG;
}
