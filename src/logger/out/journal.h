#pragma once

/* Lines as entries of the journal, by the native protocol of journald, without waiting for it. */

#include "logger/ring/stream.h"

/* Reads "<3>" at the beginning of a line into *priority.  Returns its length, or 0. */
size_t entry_priority(const char *line, size_t length, unsigned *priority);

/*
 * Sends the line at @position, of @length bytes, as MESSAGE, with PRIORITY, SYSLOG_IDENTIFIER (the
 * path of the stream, or else its name), SYSLOG_PID, SWANSONG_NODE and SWANSONG_GENERATION.
 *
 * Return: 0; -EAGAIN: journald does not keep up; -errno.
 */
int entry_send(int fd, const struct stream *stream, uint64_t position, size_t length);
