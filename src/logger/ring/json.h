#pragma once

/*
 * A line as an object of JSON, on one line:
 *
 *	{"time":"…","node":"web/app","pid":42,"generation":3,"stream":"stdout","message":"…"}
 *
 * A line that is not UTF-8 has U+FFFD for each byte that is none, and all its bytes as well:
 * "message_base64".
 */

#include "logger/ring/stream.h"

#define JSON_HEAD_MAX (6 * LOGGER_MESSAGE_MAX + 512)

/* All that is before the message.  @mark may be NULL.  Return: its end. */
char *json_head(char *out, const struct stream *stream, const struct store_mark *mark);

/* The message, with @note behind it, and the end of the line.  Return: its end. */
char *json_tail(char *out, const char *line, size_t length, const char *note);
