/*
 * A portion is made of whole lines from the ring: a prefix (time, name, columns) that is made once for each
 * mark, the line, and a note after it.  Plain lines without a prefix are written as they are, from the ring if
 * they are many.
 */
#include "logger/ring/format.h"

/*
 * --- a line as an object of JSON, on one line ---
 *
 *	{"time":"…","node":"web/app","pid":42,"generation":3,"stream":"stdout","message":"…"}
 *
 * It is written without memory of its own, in two parts around its text: the head is the same for all
 * lines of one mark.  A line that is not UTF-8 has U+FFFD for each byte that is none, and all its
 * bytes as well: "message_base64".
 */

#define JSON_HEAD_MAX (6 * LOGGER_MESSAGE_MAX + 512)

static char *format_put_escape(char *out, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";

	if (c == '\n')
		return stpcpy(out, "\\n");
	if (c == '\t')
		return stpcpy(out, "\\t");
	if (c == '"' || c == '\\') {
		*out++ = '\\';
		*out++ = (char)c;
		return out;
	}
	out = stpcpy(out, "\\u00");
	*out++ = digits[c >> 4];
	*out++ = digits[c & 15];
	return out;
}

/* The length of the character at @text, 0: none; text_character() wants a NUL at the end. */
static size_t format_character_length(const char *text, size_t rest)
{
	char copy[5] = "";

	memcpy(copy, text, rest < 4 ? rest : 4);
	return text_character(copy);
}

/* *valid becomes false if it is not UTF-8. */
static char *format_put_quoted(char *out, const char *text, size_t length, bool *valid)
{
	for (size_t i = 0; i < length;) {
		unsigned char c = (unsigned char)text[i];
		size_t n = 1;

		if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
			*out++ = (char)c;
		} else if (c < 0x80) {
			out = format_put_escape(out, c);
		} else if ((n = format_character_length(text + i, length - i)) > 0) {
			out = mempcpy(out, text + i, n);
		} else {
			out = stpcpy(out, "\xef\xbf\xbd");
			*valid = false;
			n = 1;
		}
		i += n;
	}
	return out;
}

static char *format_put_base64(char *out, const char *text, size_t length)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < length; i += 3) {
		unsigned char bytes[3] = { 0 };
		size_t n = length - i < 3 ? length - i : 3;
		uint32_t bits;

		memcpy(bytes, text + i, n);
		bits = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];
		for (size_t j = 0; j < 4; j++)
			*out++ = j <= n ? letters[bits >> (18 - 6 * j) & 63] : '=';
	}
	return out;
}

static char *format_put_json_time(char *out, const struct logger_rules *rules, uint64_t time_usec)
{
	char text[CLOCK_TEXT_MAX];

	if (rules->stamp == LOGGER_STAMP_UNIX)
		return out + sprintf(out, "\"time\":%" PRIu64 ".%06" PRIu64 ",",
				     time_usec / USEC_PER_SEC, time_usec % USEC_PER_SEC);
	return out + sprintf(out, "\"time\":\"%s\",", clock_utc_text(text, time_usec));
}

/* All that is before the message.  @mark may be NULL.  Return: its end. */
static char *format_json_head(char *out, const struct stream *s, const struct store_mark *mark)
{
	bool valid = true;

	out = stpcpy(out, "{");
	if (mark)
		out = format_put_json_time(out, &s->rules, mark->time_usec);
	out = stpcpy(out, "\"node\":\"");
	out = format_put_quoted(out, s->name, strlen(s->name), &valid);
	out = stpcpy(out, "\",");
	if (mark && mark->run.pid > 0)
		out += sprintf(out, "\"pid\":%" PRId64 ",\"generation\":%" PRIu64 ",",
			       mark->run.pid, mark->run.generation);
	out = stpcpy(out, s->rules.kind == LOGGER_ERROR ? "\"stream\":\"stderr\","
							: "\"stream\":\"stdout\",");
	return stpcpy(out, "\"message\":\"");
}

/* The message, with @note behind it, and the end of the line.  Return: its end. */
static char *format_json_tail(char *out, const char *line, size_t length, const char *note)
{
	bool valid = true;

	out = format_put_quoted(out, line, length, &valid);
	out = stpcpy(out, note);
	out = stpcpy(out, "\"");
	if (!valid) {
		out = stpcpy(out, ",\"message_base64\":\"");
		out = format_put_base64(out, line, length);
		out = stpcpy(out, "\"");
	}
	return stpcpy(out, "}\n");
}

/* --- portions --- */

/* The prefix of each line; it changes with the mark. */
struct head {
	const struct stream *stream;
	const struct store_mark *mark; /* or NULL */
	uint64_t until;		       /* position of the next mark */
	size_t length;
	char text[JSON_HEAD_MAX]; /* a name, columns, a stamp */
};

static char *format_put_stamp_iso(char *out, const struct logger_rules *rules, uint64_t time_usec)
{
	time_t seconds = (time_t)(time_usec / USEC_PER_SEC);
	bool local = rules->flags & LOGGER_LOCAL_TIME;
	struct tm tm;

	if (!(local ? localtime_r(&seconds, &tm) : gmtime_r(&seconds, &tm)))
		return out;
	out += strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &tm);
	if (rules->stamp == LOGGER_STAMP_ISO_USEC)
		out += sprintf(out, ".%06" PRIu64, time_usec % USEC_PER_SEC);
	if (!local)
		return mempcpy(out, "Z", 1);
	return out + sprintf(out, "%c%02ld:%02ld", tm.tm_gmtoff < 0 ? '-' : '+',
			     labs(tm.tm_gmtoff) / 3600, labs(tm.tm_gmtoff) / 60 % 60);
}

/* The time of rules.stamp, with a blank.  Return: its end. */
static char *format_put_stamp(char *out, const struct logger_rules *rules, uint64_t time_usec)
{
	if (rules->stamp == LOGGER_STAMP_NONE)
		return out;
	if (rules->stamp == LOGGER_STAMP_UNIX)
		out += sprintf(out, "%" PRIu64 ".%06" PRIu64, time_usec / USEC_PER_SEC,
			       time_usec % USEC_PER_SEC);
	else
		out = format_put_stamp_iso(out, rules, time_usec);
	return mempcpy(out, " ", 1);
}

static void format_make_head(struct head *h)
{
	const struct stream *s = h->stream;
	char *out = h->text;

	if (s->rules.format == LOGGER_JSON)
		out = format_json_head(out, s, h->mark);
	else if (h->mark)
		out = format_put_stamp(out, &s->rules, h->mark->time_usec);
	if (s->rules.format == LOGGER_PREFIX) {
		out = mempcpy(out, s->name, strlen(s->name));
		/* Characters, not bytes: a name in UTF-8 is aligned as well. */
		for (size_t n = text_columns(s->name); n < s->rules.name_width; n++)
			*out++ = ' ';
		out = mempcpy(out, " | ", 3);
	}
	h->length = (size_t)(out - h->text);
}

/* @note: text of the logger after the line. */
static char *format_put_line(char *out, struct head *h, uint64_t position, const char *line,
			     size_t length, const char *note)
{
	if (position >= h->until || h->length == SIZE_MAX) {
		h->mark = stream_mark(h->stream, position, &h->until);
		format_make_head(h);
	}
	out = mempcpy(out, h->text, h->length);
	if (h->stream->rules.format == LOGGER_JSON)
		return format_json_tail(out, line, length, note);
	out = mempcpy(out, line, length);
	out = mempcpy(out, note, strlen(note));
	*out++ = '\n';
	return out;
}

/* Lines that were lost and are before @next->position, in total. */
static void format_count_loss(const struct stream *s, const struct store_progress *next,
			      uint64_t *bytes, uint64_t *lines)
{
	const struct store_input *in = area_input(s->record);
	bool behind = next->position >= in->gap;

	*bytes = next->dropped_bytes + (behind ? in->discarded_bytes : 0);
	*lines = next->dropped_lines + (behind ? in->discarded_lines : 0);
}

static char *format_put_loss(char *out, struct head *h, struct store_progress *next)
{
	uint64_t bytes, lines;
	char text[128];
	int n;

	format_count_loss(h->stream, next, &bytes, &lines);
	if (bytes <= next->logged_bytes)
		return out;
	n = snprintf(text, sizeof(text), "swansong: %" PRIu64 " lines lost (%" PRIu64 " bytes)",
		     lines - MIN(lines, next->logged_lines), bytes - next->logged_bytes);
	out = format_put_line(out, h, next->position, text, (size_t)n, "");
	next->logged_bytes = bytes;
	next->logged_lines = lines;
	return out;
}

static char *format_put_next(char *out, struct head *h, struct store_progress *next, uint64_t end)
{
	const char *line = stream_at(h->stream, next->position);
	size_t rest = (size_t)(end - next->position), length = rest;
	const char *newline = memchr(line, '\n', MIN(rest, (size_t)STREAM_LINE_MAX + 1));
	char note[64] = "";

	if (newline)
		length = (size_t)(newline - line);
	else if (length >= STREAM_LINE_MAX &&
		 next->position + STREAM_LINE_MAX != h->stream->end_at) {
		length = STREAM_LINE_MAX;
		(void)snprintf(note, sizeof(note), " [part %" PRIu64 ", the line goes on]",
			       ++next->parts);
	}
	out = format_put_line(out, h, next->position, line, length, note);
	length += newline ? 1 : 0;
	next->written_bytes += length;
	next->position += length;
	if (!*note) {
		next->written_lines++;
		next->parts = 0;
	}
	return out;
}

/*
 * Without a prefix, lines are written as they are.  @next moves behind as many as @limit has room
 * for.  Return: their bytes.
 */
static size_t format_take_block(const struct stream *s, struct store_progress *next, uint64_t end,
				size_t limit)
{
	const struct logger_rules *rules = &s->rules;
	uint64_t gap = area_input(s->record)->gap;
	const char *text = stream_at(s, next->position), *newline;
	size_t size;

	if (rules->format != LOGGER_PLAIN || rules->stamp != LOGGER_STAMP_NONE || next->parts)
		return 0;
	end = next->position < gap ? MIN(end, gap) : end;
	if (next->position >= end)
		return 0;
	newline = memrchr(text, '\n', (size_t)MIN(end - next->position, (uint64_t)limit));
	if (!newline)
		return 0;
	size = (size_t)(newline - text) + 1;
	next->written_bytes += size;
	next->written_lines += stream_count_lines(text, size);
	next->position += size;
	return size;
}

size_t format_block(const struct stream *s, size_t limit, struct store_progress *next)
{
	uint64_t end = stream_writable_end(s), bytes, lines;

	*next = s->record->now;
	format_count_loss(s, next, &bytes, &lines);
	if (bytes > next->logged_bytes || end - next->position < FORMAT_BLOCK_MIN)
		return 0;
	return format_take_block(s, next, end, limit);
}

size_t format_portion(const struct stream *s, char *out, size_t limit, struct store_progress *next)
{
	struct head head = { .stream = s, .length = SIZE_MAX };
	uint64_t end = stream_writable_end(s);
	const char *block;
	char *at = out;

	limit = MIN(limit, (size_t)FORMAT_PORTION);
	*next = s->record->now;
	at = format_put_loss(at, &head, next);
	block = stream_at(s, next->position);
	at = mempcpy(at, block, format_take_block(s, next, end, limit));
	while (next->position < end && (size_t)(at - out) < limit) {
		const struct store_progress before = *next;
		char *line = at;

		at = format_put_next(at, &head, next, end);
		at = format_put_loss(at, &head, next);
		if ((size_t)(at - out) > limit && line > out) {
			*next = before;
			return (size_t)(line - out);
		}
	}
	return (size_t)(at - out);
}
