/*
 * A line as JSON is written without memory of its own, in two parts around its text: the head is
 * the same for all lines of one mark.  A text that is no UTF-8 gets the replacement character, and
 * its bytes stand in base64 beside it.
 */
#include "logger/ring/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"

static char *json_put_text(char *out, const char *text)
{
	size_t length = strlen(text);

	memcpy(out, text, length);
	return out + length;
}

static char *json_put_escape(char *out, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";

	if (c == '\n')
		return json_put_text(out, "\\n");
	if (c == '\t')
		return json_put_text(out, "\\t");
	if (c == '"' || c == '\\') {
		*out++ = '\\';
		*out++ = (char)c;
		return out;
	}
	out = json_put_text(out, "\\u00");
	*out++ = digits[c >> 4];
	*out++ = digits[c & 15];
	return out;
}

/* The length of the character at @text, 0: none; text_character() wants a NUL at the end. */
static size_t json_character_length(const char *text, size_t rest)
{
	char copy[5] = "";

	memcpy(copy, text, rest < 4 ? rest : 4);
	return text_character(copy);
}

/* *valid becomes false if it is not UTF-8. */
static char *json_put_quoted(char *out, const char *text, size_t length, bool *valid)
{
	for (size_t i = 0; i < length;) {
		unsigned char c = (unsigned char)text[i];
		size_t n = 1;

		if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
			*out++ = (char)c;
		} else if (c < 0x80) {
			out = json_put_escape(out, c);
		} else if ((n = json_character_length(text + i, length - i)) > 0) {
			memcpy(out, text + i, n);
			out += n;
		} else {
			out = json_put_text(out, "\xef\xbf\xbd");
			*valid = false;
			n = 1;
		}
		i += n;
	}
	return out;
}

static char *json_put_base64(char *out, const char *text, size_t length)
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

static char *json_put_time(char *out, const struct logger_rules *rules, uint64_t time_usec)
{
	char text[CLOCK_TEXT_MAX];

	if (rules->stamp == LOGGER_STAMP_UNIX)
		return out + sprintf(out, "\"time\":%" PRIu64 ".%06" PRIu64 ",",
				     time_usec / USEC_PER_SEC, time_usec % USEC_PER_SEC);
	return out + sprintf(out, "\"time\":\"%s\",", clock_utc_text(text, time_usec));
}

char *json_head(char *out, const struct stream *s, const struct store_mark *mark)
{
	bool valid = true;

	out = json_put_text(out, "{");
	if (mark)
		out = json_put_time(out, &s->rules, mark->time_usec);
	out = json_put_text(out, "\"node\":\"");
	out = json_put_quoted(out, s->name, strlen(s->name), &valid);
	out = json_put_text(out, "\",");
	if (mark && mark->run.pid > 0)
		out += sprintf(out, "\"pid\":%" PRId64 ",\"generation\":%" PRIu64 ",",
			       mark->run.pid, mark->run.generation);
	out = json_put_text(out, s->rules.kind == LOGGER_ERROR ? "\"stream\":\"stderr\","
							       : "\"stream\":\"stdout\",");
	return json_put_text(out, "\"message\":\"");
}

char *json_tail(char *out, const char *line, size_t length, const char *note)
{
	bool valid = true;

	out = json_put_quoted(out, line, length, &valid);
	out = json_put_text(out, note);
	out = json_put_text(out, "\"");
	if (!valid) {
		out = json_put_text(out, ",\"message_base64\":\"");
		out = json_put_base64(out, line, length);
		out = json_put_text(out, "\"");
	}
	return json_put_text(out, "}\n");
}
