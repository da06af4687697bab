/*
 * Each line is a datagram at /dev/log, sent without blocking.  A line for which the socket has no
 * room stays in the ring, and is sent when the socket is writable.
 */
#include "logger/out/syslog.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macro.h"
#include "logger/out/journal.h"

int message_open(void)
{
	const struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = _PATH_LOG };
	cleanup(closep) int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return take_fd(fd);
}

int message_send(int fd, const struct stream *s, uint64_t position, size_t length)
{
	uint64_t next;
	const struct store_mark *mark = stream_mark(s, position, &next);
	time_t seconds = mark ? (time_t)(mark->time_usec / USEC_PER_SEC) : time(NULL);
	const char *line = stream_at(s, position);
	unsigned priority = s->rules.priority;
	size_t skip = entry_priority(line, length, &priority);
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
