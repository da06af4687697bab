/*
 * A portion is made of whole lines from the ring: a prefix (time, name, columns) that is made once
 * for each mark, the line, and a note behind it.  Plain lines without a prefix are written as they
 * are, from the ring if they are many.
 */
#include "logger/ring/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/text.h"
#include "logger/ring/json.h"

/* The prefix of each line; it changes with the mark. */
struct head {
	const struct stream *stream;
	const struct store_mark *mark; /* or NULL */
	uint64_t until;		       /* position of the next mark */
	size_t length;
	char text[JSON_HEAD_MAX]; /* a name, columns, a stamp */
};

static char *format_put(char *out, const void *data, size_t size)
{
	memcpy(out, data, size);
	return out + size;
}

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
		return format_put(out, "Z", 1);
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
	return format_put(out, " ", 1);
}

static void format_make_head(struct head *h)
{
	const struct stream *s = h->stream;
	char *out = h->text;

	if (s->rules.format == LOGGER_JSON)
		out = json_head(out, s, h->mark);
	else if (h->mark)
		out = format_put_stamp(out, &s->rules, h->mark->time_usec);
	if (s->rules.format == LOGGER_PREFIX) {
		out = format_put(out, s->name, strlen(s->name));
		/* Characters, not bytes: a name in UTF-8 is aligned as well. */
		for (size_t n = text_columns(s->name); n < s->rules.name_width; n++)
			*out++ = ' ';
		out = format_put(out, " | ", 3);
	}
	h->length = (size_t)(out - h->text);
}

/* @note is of the logger, and goes behind the line. */
static char *format_put_line(char *out, struct head *h, uint64_t position, const char *line,
			     size_t length, const char *note)
{
	if (position >= h->until || h->length == SIZE_MAX) {
		h->mark = stream_mark(h->stream, position, &h->until);
		format_make_head(h);
	}
	out = format_put(out, h->text, h->length);
	if (h->stream->rules.format == LOGGER_JSON)
		return json_tail(out, line, length, note);
	out = format_put(out, line, length);
	out = format_put(out, note, strlen(note));
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

static char *format_put_lost(char *out, struct head *h, uint64_t position, uint64_t lines,
			     uint64_t bytes)
{
	char text[128];
	int n = snprintf(text, sizeof(text), "swansong: %" PRIu64 " lines lost (%" PRIu64 " bytes)",
			 lines, bytes);

	return format_put_line(out, h, position, text, (size_t)n, "");
}

static char *format_put_loss(char *out, struct head *h, struct store_progress *next)
{
	uint64_t bytes, lines;

	format_count_loss(h->stream, next, &bytes, &lines);
	if (bytes <= next->logged_bytes)
		return out;
	out = format_put_lost(out, h, next->position, lines - MIN(lines, next->logged_lines),
			      bytes - next->logged_bytes);
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
 * With nothing before them lines are written as they are.  @next moves behind as many as @limit has room
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
	at = format_put(at, block, format_take_block(s, next, end, limit));
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
