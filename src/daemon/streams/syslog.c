#include "daemon/streams/syslog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "daemon/streams/output.h"

/* Room for "<30>Nov 21 13:37:00 ", a tag as long as a node's path, and ": ". */
#define HEADER_MAX 256

struct syslog_output {
	struct context *ctx;
	const char *tag;
	int fd;
	unsigned lost; /* messages since the last that was sent */
	struct output_pipe *pipe;
};
DEFINE_CLEANUP(struct syslog_output *, syslog_free)

/* As RFC 3164 has it.  Return: 0 or -errno. */
static int send_message(const struct syslog_output *s, int priority, const char *text,
			size_t length)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = _PATH_LOG };
	char stamp[32] = "", header[HEADER_MAX];
	struct iovec parts[] = { { .iov_base = header },
				 { .iov_base = (char *)text, .iov_len = length } };
	const struct msghdr message = {
		.msg_name = &address,
		.msg_namelen = sizeof(address),
		.msg_iov = parts,
		.msg_iovlen = 2,
	};
	time_t now = time(NULL);
	struct tm tm;

	if (localtime_r(&now, &tm))
		(void)strftime(stamp, sizeof(stamp), "%b %e %H:%M:%S ", &tm);
	(void)snprintf(header, sizeof(header), "<%d>%s%s: ", LOG_DAEMON | priority, stamp, s->tag);
	parts[0].iov_len = strlen(header);
	return sendmsg(s->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int send_loss(struct syslog_output *s)
{
	char text[64];
	int n, r;

	if (s->lost == 0)
		return 0;
	n = snprintf(text, sizeof(text), "%u lines lost", s->lost);
	r = send_message(s, LOG_WARNING, text, (size_t)n);
	if (r == 0)
		s->lost = 0;
	return r;
}

static void on_line(void *arg, const char *line, size_t length)
{
	struct syslog_output *s = arg;
	int priority = LOG_INFO;
	int r;

	/* A line may begin with its level, as in sd-daemon(3). */
	if (length >= 3 && line[0] == '<' && line[1] >= '0' && line[1] <= '7' && line[2] == '>') {
		priority = line[1] - '0';
		line += 3;
		length -= 3;
	}
	if (length == 0)
		return;
	r = send_loss(s);
	if (r == 0)
		r = send_message(s, priority, line, length);
	if (r == -EAGAIN || r == -ENOBUFS)
		s->lost++;
	else if (r < 0)
		log_line(s->ctx->log, LOG_NOTICE, "%s: %.*s", s->tag, (int)length, line);
}

int syslog_new(struct syslog_output **ret, struct context *ctx, const char *tag)
{
	cleanup(syslog_freep) struct syslog_output *s = malloc(sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	*s = (struct syslog_output){ .ctx = ctx, .tag = tag, .fd = -1 };
	s->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s->fd < 0)
		return -errno;
	r = output_new(&s->pipe, ctx->event, on_line, s);
	if (r < 0)
		return r;
	*ret = take(s);
	return 0;
}

struct syslog_output *syslog_free(struct syslog_output *s)
{
	if (!s)
		return NULL;
	s->pipe = output_free(s->pipe);
	s->fd = fd_close(s->fd);
	free(s);
	return NULL;
}

int syslog_fd(const struct syslog_output *s)
{
	return output_fd(s->pipe);
}
