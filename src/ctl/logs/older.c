/*
 * The text ends at the seam of its stream.  The logger still remembers the last lines before the seam, so these
 * are skipped in the text of the files.  If the oldest of them is not found, other streams write to the file,
 * too, and no line of it is taken.
 */
#include "ctl/logs/older.h"

#include <ctype.h>

#include "proto/message.h"

/* ".123456" */
static const char *older_parse_fraction(const char *at, uint64_t *usec)
{
	char *end;

	if (at[0] != '.' || !isdigit((unsigned char)at[1]))
		return NULL;
	*usec = strtoul(at + 1, &end, 10);
	return end == at + 7 ? end : NULL;
}

/* Return: the time of the stamp at *at, which is moved past it; 0: there is none. */
static uint64_t older_parse_iso_time(const char **at, bool fine)
{
	struct tm tm = { 0 };
	uint64_t usec = 0;
	int64_t zone;
	const char *end = isdigit((unsigned char)**at) ? strptime(*at, "%Y-%m-%dT%T", &tm) : NULL;

	if (end && fine)
		end = older_parse_fraction(end, &usec);
	if (end)
		end = strptime(end, "%z", &tm);
	if (!end)
		return 0;
	*at = end;
	zone = tm.tm_gmtoff;
	return (uint64_t)(timegm(&tm) - zone) * USEC_PER_SEC + usec;
}

static uint64_t older_parse_unix_time(const char **at)
{
	uint64_t seconds = 0, usec;
	const char *end = *at;

	while (isdigit((unsigned char)*end) && seconds < UINT32_MAX)
		seconds = seconds * 10 + (uint64_t)(*end++ - '0');
	end = older_parse_fraction(end, &usec);
	if (!end)
		return 0;
	*at = end;
	return seconds * USEC_PER_SEC + usec;
}

/* A line without what the logger has put before it. */
static void older_parse_line(const struct log_past *past, const char *text, size_t length,
			     struct log_line *ret)
{
	const char *at = text, *end = text + length;
	size_t name = strlen(past->source->node);
	uint64_t time_usec = 0;

	if (past->stamp == LOGGER_STAMP_UNIX)
		time_usec = older_parse_unix_time(&at);
	else if (past->stamp != LOGGER_STAMP_NONE)
		time_usec = older_parse_iso_time(&at, past->stamp == LOGGER_STAMP_ISO_USEC);
	if (time_usec == 0 || *at++ != ' ') {
		time_usec = 0;
		at = text;
	}
	if (strncmp(at, past->source->node, name) == 0 && at[name] == ' ') {
		const char *bar = at + name + strspn(at + name, " ");

		at = strncmp(bar, "| ", 2) == 0 ? bar + 2 : at;
	}
	*ret = (struct log_line){
		.time_usec = time_usec,
		.text = at,
		.length = (size_t)(end - at),
	};
}

/* The same of log-format = json; the text belongs to the object.  NULL: it is none. */
static json_t *older_parse_json(const struct log_past *past, const char *text, size_t length,
				struct log_line *ret)
{
	json_t *object = *text == '{' ? json_loadb(text, length, 0, NULL) : NULL;
	const json_t *message = json_object_get(object, "message");
	const char *time = json_string_value(json_object_get(object, "time"));

	if (!json_is_string(message) ||
	    strcmp(message_get_string(object, "node", ""), past->source->node) != 0) {
		json_decref(object);
		return NULL;
	}
	*ret = (struct log_line){
		.time_usec = time ? older_parse_iso_time(&time, true) : 0,
		.pid = json_integer_value(json_object_get(object, "pid")),
		.generation = (uint64_t)json_integer_value(json_object_get(object, "generation")),
		.text = json_string_value(message),
		.length = json_string_length(message),
	};
	return object;
}

/* Adds a line of the text that has @after lines between it and the seam.  Return: 0, -ESTALE or -ENOMEM. */
static int older_take_line(const struct log_past *past, const char *text, size_t length,
			   uint64_t after, struct log_lines *ret)
{
	const struct log_line *first = past->first;
	struct log_line line;
	cleanup(json_decrefp) json_t *object = older_parse_json(past, text, length, &line);

	if (!object)
		older_parse_line(past, text, length, &line);
	line.source = past->source;
	line.position = UINT64_MAX;
	if (after > past->n_written)
		return log_lines_add(ret, &line);
	return line.length == first->length && memcmp(line.text, first->text, line.length) == 0
		       ? 0
		       : -ESTALE;
}

int log_older_lines(const struct log_past *past, struct log_lines *ret)
{
	char *at = past->source->text, *end = at + past->source->size, *newline;
	struct log_lines lines = { .n = 0 };
	uint64_t n = 0;
	int r = 0;

	for (const char *p = at; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
		n++;
	n += end > at && end[-1] != '\n';
	for (; r == 0 && n > 0 && n >= past->n_written; n--, at = newline + 1) {
		newline = memchr(at, '\n', (size_t)(end - at));
		newline = newline ? newline : end;
		*newline = '\0';
		if (n - past->n_written <= past->max)
			r = older_take_line(past, at, (size_t)(newline - at), n, &lines);
	}
	if (r == 0)
		r = log_lines_append(ret, &lines);
	log_lines_done(&lines);
	return r;
}
