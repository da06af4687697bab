#pragma once

/* Lines as messages of RFC 3164 at /dev/log, without waiting for syslogd. */

#include "logger/ring/stream.h"

/* Bytes of a message; a longer line comes in pieces. */
#define MESSAGE_MAX 4096

/* Return: a descriptor, or -errno: there is no syslogd. */
int message_open(void);

/*
 * Sends the line at @position, of @length bytes, with facility daemon and the name of the stream as its
 * tag.  An empty line is no message.
 *
 * Return: 0; -EAGAIN: syslogd does not keep up; -errno.
 */
int message_send(int fd, const struct stream *stream, uint64_t position, size_t length);
