/*
 * An entry is a datagram of fields, each "NAME=VALUE" or, for the message, with its length.  The
 * socket does not block: a journald that does not keep up, or one that restarts, leaves the line
 * in the ring.
 */
#include "logger/out/journal.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/macro.h"

/* An entry that is too large for a datagram is sent as a sealed file. */
static int entry_send_file(int fd, const struct iovec *iov, int n)
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

size_t entry_priority(const char *line, size_t length, unsigned *priority)
{
	if (length < 3 || line[0] != '<' || line[1] < '0' || line[1] > '7' || line[2] != '>')
		return 0;
	*priority = (unsigned)(line[1] - '0');
	return 3;
}

int entry_send(int fd, const struct stream *s, uint64_t position, size_t length)
{
	uint64_t next, size;
	const struct store_mark *mark = stream_mark(s, position, &next);
	const char *line = stream_at(s, position);
	unsigned priority = s->rules.priority;
	size_t skip = entry_priority(line, length, &priority);
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
		return entry_send_file(fd, iov, ARRAY_SIZE(iov));
	return -errno;
}
