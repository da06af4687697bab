#include "logger/ring/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/text.h"

static char *put_text(char *out, const char *text)
{
	size_t length = strlen(text);

	memcpy(out, text, length);
	return out + length;
}

static char *put_escape(char *out, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";

	if (c == '\n')
		return put_text(out, "\\n");
	if (c == '\t')
		return put_text(out, "\\t");
	if (c == '"' || c == '\\') {
		*out++ = '\\';
		*out++ = (char)c;
		return out;
	}
	out = put_text(out, "\\u00");
	*out++ = digits[c >> 4];
	*out++ = digits[c & 15];
	return out;
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* The length of the character at @text, 0: none; text_character() wants a NUL at the end. */
static size_t character(const char *text, size_t rest)
{
	char copy[5] = "";

	memcpy(copy, text, rest < 4 ? rest : 4);
	return text_character(copy);
}

/* *valid becomes false if it is not UTF-8. */
static char *put_string(char *out, const char *text, size_t length, bool *valid)
{
	for (size_t i = 0; i < length;) {
		unsigned char c = (unsigned char)text[i];
		size_t n = 1;

		if (is_plain(c)) {
			*out++ = (char)c;
		} else if (c < 0x80) {
			out = put_escape(out, c);
		} else if ((n = character(text + i, length - i)) > 0) {
			memcpy(out, text + i, n);
			out += n;
		} else {
			out = put_text(out, "\xef\xbf\xbd");
			*valid = false;
			n = 1;
		}
		i += n;
	}
	return out;
}

static char *put_base64(char *out, const char *text, size_t length)
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

static char *put_time(char *out, const struct logger_rules *rules, uint64_t time_usec)
{
	time_t seconds = (time_t)(time_usec / USEC_PER_SEC);
	unsigned usec = (unsigned)(time_usec % USEC_PER_SEC);
	struct tm tm = { 0 };

	if (rules->stamp == LOGGER_STAMP_UNIX)
		return out + sprintf(out, "\"time\":%jd.%06u,", (intmax_t)seconds, usec);
	(void)gmtime_r(&seconds, &tm);
	out += strftime(out, 40, "\"time\":\"%Y-%m-%dT%H:%M:%S", &tm);
	return out + sprintf(out, ".%06uZ\",", usec);
}

char *json_head(char *out, const struct stream *s, const struct store_mark *mark)
{
	bool valid = true;

	out = put_text(out, "{");
	if (mark)
		out = put_time(out, &s->rules, mark->time_usec);
	out = put_text(out, "\"node\":\"");
	out = put_string(out, s->name, strlen(s->name), &valid);
	out = put_text(out, "\",");
	if (mark && mark->run.pid > 0)
		out += sprintf(out, "\"pid\":%" PRId64 ",\"generation\":%" PRIu64 ",",
			       mark->run.pid, mark->run.generation);
	out = put_text(out, s->rules.kind == LOGGER_ERROR ? "\"stream\":\"stderr\","
							  : "\"stream\":\"stdout\",");
	return put_text(out, "\"message\":\"");
}

char *json_tail(char *out, const char *line, size_t length, const char *note)
{
	bool valid = true;

	out = put_string(out, line, length, &valid);
	out = put_text(out, note);
	out = put_text(out, "\"");
	if (!valid) {
		out = put_text(out, ",\"message_base64\":\"");
		out = put_base64(out, line, length);
		out = put_text(out, "\"");
	}
	return put_text(out, "}\n");
}
