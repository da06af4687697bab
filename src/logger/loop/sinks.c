/*
 * A sink is one datagram socket, of the journal or of syslog, for all streams.  Each line is one
 * message, sent from the ring.  A sink that takes no more is watched, and its streams wait until
 * it is writable again; a sink that fails is closed, and opened by the next write.
 */
#include "logger/loop/sinks.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/macro.h"
#include "logger/out/journal.h"
#include "logger/out/syslog.h"
#include "sys/ipc/journal.h"

/* Lines of a stream, before others have their turn. */
#define LINES_AT_ONCE 256

static const struct sink_type {
	int (*open)(void);
	int (*send)(int fd, const struct stream *stream, uint64_t position, size_t length);
	size_t line_max;
} types[N_SINKS] = {
	[SINK_JOURNAL] = { journal_open_entries, entry_send, STREAM_LINE_MAX },
	[SINK_SYSLOG] = { message_open, message_send, MESSAGE_MAX },
};

static int sink_line(const struct sink *sink, const struct sink_type *type, struct stream *s,
		     uint64_t end)
{
	struct store_record *record = s->record;
	uint64_t from = record->now.position;
	size_t length = (size_t)MIN(end - from, (uint64_t)type->line_max);
	const char *newline = memchr(stream_at(s, from), '\n', length);
	int r;

	if (newline)
		length = (size_t)(newline - stream_at(s, from));
	r = type->send(sink->fd, s, from, length);
	if (r < 0)
		return r;
	record->next = record->now;
	record->next.position += length + (newline ? 1 : 0);
	record->next.written_bytes += length + (newline ? 1 : 0);
	record->next.written_lines++;
	area_commit(record);
	return 0;
}

int sink_open(struct logger *l, enum sink_kind kind)
{
	struct sink *sink = &l->sinks[kind];
	cleanup(closep) int fd = -1;
	int r;

	if (sink->fd >= 0)
		return 0;
	fd = types[kind].open();
	r = fd < 0 ? fd : logger_watch(l, fd, 0, WATCH_SINK, kind);
	if (r == 0)
		sink->fd = take_fd(fd);
	return r;
}

int sink_write(struct logger *l, enum sink_kind kind, struct stream *s)
{
	struct sink *sink = &l->sinks[kind];
	int r = sink_open(l, kind);

	for (int i = 0; r == 0 && i < LINES_AT_ONCE; i++) {
		uint64_t end = stream_writable_end(s);

		if (s->record->now.position >= end)
			return 0;
		r = sink_line(sink, &types[kind], s, end);
	}
	if (r == -EAGAIN) {
		sink->waiting = true;
		logger_rewatch(l, sink->fd, EPOLLOUT, WATCH_SINK, kind);
	} else if (r < 0) {
		sink->fd = fd_close(sink->fd);
	}
	return r < 0 ? r : 1;
}

void sink_event(struct logger *l, enum sink_kind kind)
{
	struct sink *sink = &l->sinks[kind];

	sink->waiting = false;
	if (sink->fd >= 0)
		logger_rewatch(l, sink->fd, 0, WATCH_SINK, kind);
}

void sinks_init(struct logger *l)
{
	for (enum sink_kind kind = 0; kind < N_SINKS; kind++) {
		l->sinks[kind].fd = -1;
		list_init(&l->sinks[kind].streams);
	}
}

void sinks_done(struct logger *l)
{
	for (enum sink_kind kind = 0; kind < N_SINKS; kind++)
		l->sinks[kind].fd = fd_close(l->sinks[kind].fd);
}
