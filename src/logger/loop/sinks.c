/*
 * A sink is one datagram socket, of the journal or of syslog, for all streams.  Each line is one
 * message, sent from the ring without blocking.  A sink that takes no more is watched, and its streams
 * wait until it is writable again; a sink that fails is closed, and opened by the next write.
 */
#include "logger/loop/sinks.h"

#include <endian.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <syslog.h>

#include "sys/ipc/journal.h"

/* Number of lines of a stream before other streams follow. */
#define LINES_AT_ONCE 256

/* --- the journal --- */

/* An entry that is too large for a datagram is sent as a sealed file. */
static int sink_send_file(int fd, const struct iovec *iov, int n)
{
	const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	cleanup(closep) int file = memfd_create("swansong-entry", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct msghdr msg = { .msg_iovlen = 0 };
	union fd_room room;

	if (file < 0 || writev(file, iov, n) < 0 || fcntl(file, F_ADD_SEALS, seals) < 0)
		return -errno;
	fd_pass(&msg, &room, file);
	return sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* Reads "<3>" at the beginning of a line into *priority.  Returns its length, or 0. */
static size_t sink_priority_of(const char *line, size_t length, unsigned *priority)
{
	if (length < 3 || line[0] != '<' || line[1] < '0' || line[1] > '7' || line[2] != '>')
		return 0;
	*priority = (unsigned)(line[1] - '0');
	return 3;
}

/*
 * An entry is a datagram of fields, each "NAME=VALUE" or, for the message, with its length.  The socket does
 * not block: while journald is too slow or restarts, the line stays in the ring.
 *
 * Sends the line at @position, of @length bytes, as MESSAGE, with PRIORITY, SYSLOG_IDENTIFIER (the
 * path of the stream, or else its name), SYSLOG_PID, SWANSONG_NODE and SWANSONG_GENERATION.
 *
 * Return: 0; -EAGAIN: journald does not keep up; -errno.
 */
static int sink_send_entry(int fd, const struct stream *s, uint64_t position, size_t length)
{
	uint64_t next, size;
	const struct store_mark *mark = stream_mark(s, position, &next);
	const char *line = stream_at(s, position);
	unsigned priority = s->rules.priority;
	size_t skip = sink_priority_of(line, length, &priority);
	char fields[2 * LOGGER_MESSAGE_MAX + 256];
	int n = snprintf(fields, sizeof(fields),
			 "PRIORITY=%u\nSYSLOG_IDENTIFIER=%s\nSWANSONG_NODE=%s\n"
			 "SYSLOG_PID=%" PRId64 "\nSWANSONG_GENERATION=%" PRIu64 "\nMESSAGE\n",
			 priority, *s->path ? s->path : s->name, s->name, mark ? mark->run.pid : 0,
			 mark ? mark->run.generation : 0);
	struct iovec iov[] = {
		{ .iov_base = fields, .iov_len = (size_t)n },
		{ .iov_base = &size, .iov_len = sizeof(size) },
		{ .iov_base = (void *)(uintptr_t)(line + skip), .iov_len = length - skip },
		{ .iov_base = fields + n - 1, .iov_len = 1 }, /* a newline */
	};
	const struct msghdr msg = { .msg_iov = iov, .msg_iovlen = ARRAY_SIZE(iov) };

	if (n < 0 || (size_t)n >= sizeof(fields))
		return -EMSGSIZE;
	size = htole64(length - skip);
	if (sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		return 0;
	if (errno == EMSGSIZE || errno == ENOBUFS)
		return sink_send_file(fd, iov, ARRAY_SIZE(iov));
	return -errno;
}

/* --- syslog, at /dev/log --- */

/* Bytes of a message of syslog; a longer line comes in pieces. */
#define MESSAGE_MAX 4096

/* Return: a descriptor, or -errno: there is no syslogd. */
static int sink_open_syslog(void)
{
	const struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = _PATH_LOG };
	cleanup(closep) int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return take_fd(fd);
}

/*
 * Sends the line at @position, of @length bytes, as a message of RFC 3164 with facility daemon and the
 * name of the stream as its tag.  An empty line is no message.
 *
 * Return: 0; -EAGAIN: syslogd does not keep up; -errno.
 */
static int sink_send_message(int fd, const struct stream *s, uint64_t position, size_t length)
{
	uint64_t next;
	const struct store_mark *mark = stream_mark(s, position, &next);
	time_t seconds = mark ? (time_t)(mark->time_usec / USEC_PER_SEC) : time(NULL);
	const char *line = stream_at(s, position);
	unsigned priority = s->rules.priority;
	size_t skip = sink_priority_of(line, length, &priority);
	char stamp[32] = "", header[LOGGER_MESSAGE_MAX + 64];
	struct iovec iov[] = {
		{ .iov_base = header },
		{ .iov_base = (void *)(uintptr_t)(line + skip), .iov_len = length - skip },
	};
	const struct msghdr msg = { .msg_iov = iov, .msg_iovlen = ARRAY_SIZE(iov) };
	struct tm tm;
	int n;

	if (length == skip)
		return 0;
	if (localtime_r(&seconds, &tm))
		(void)strftime(stamp, sizeof(stamp), "%b %e %H:%M:%S ", &tm);
	n = snprintf(header, sizeof(header), "<%u>%s%s: ", LOG_DAEMON | priority, stamp, s->name);
	if (n < 0 || (size_t)n >= sizeof(header))
		return -EMSGSIZE;
	iov[0].iov_len = (size_t)n;
	return sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* --- sinks --- */

static const struct sink_type {
	int (*open)(void);
	int (*send)(int fd, const struct stream *stream, uint64_t position, size_t length);
	size_t line_max;
} types[N_SINKS] = {
	[SINK_JOURNAL] = { journal_open_entries, sink_send_entry, STREAM_LINE_MAX },
	[SINK_SYSLOG] = { sink_open_syslog, sink_send_message, MESSAGE_MAX },
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
