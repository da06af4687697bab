/*
 * A connection that is accepted is a success: a process listens and has room for one more.  Without a request
 * nothing is sent.  That fits into one write in nearly all cases.  Of the reply only the beginning is read: the
 * connection is closed as soon as the status is known.
 */
#include "daemon/probe/attempt.h"

#include "sys/ipc/connections.h"
#include "sys/ipc/unixsock.h"

/* The path fits: model/types/probe.c has checked it. */
static socklen_t connect_address_of(const struct probe_config *config, union socket_address *ret)
{
	if (config->kind == PROBE_UNIX) {
		ret->un = (struct sockaddr_un){ .sun_family = AF_UNIX };
		strncpy(ret->un.sun_path, config->text, sizeof(ret->un.sun_path) - 1);
		return sizeof(ret->un);
	}
	memcpy(ret, config->address, sizeof(*config->address));
	return ret->any.sa_family == AF_INET6 ? sizeof(ret->in6) : sizeof(ret->in);
}

static int connect_open(struct probe *probe, sd_event_io_handler_t on_io)
{
	union socket_address address;
	socklen_t length = connect_address_of(probe->config, &address);

	probe->fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (probe->fd < 0)
		return -errno;
	unix_refuse_descriptors(probe->fd);
	if (connect(probe->fd, &address.any, length) < 0 && errno != EINPROGRESS)
		return -errno;
	return sd_event_add_io(probe->ctx->event, &probe->io, probe->fd, EPOLLOUT, on_io, probe);
}

static void connect_start(struct probe *probe, sd_event_io_handler_t on_io)
{
	int r = connect_open(probe, on_io);

	if (r < 0)
		probe_fail(probe, "connect: %s", strerror(-r));
}

static bool connect_has_succeeded(struct probe *probe)
{
	socklen_t length = sizeof(int);
	int error = 0;

	if (getsockopt(probe->fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0)
		error = errno;
	if (error)
		probe_fail(probe, "connect: %s", strerror(error));
	return !error;
}

static void connect_end(struct probe *probe)
{
	probe->io = sd_event_source_disable_unref(probe->io);
	if (probe->config->kind == PROBE_UNIX)
		unix_close(probe->fd);
	else
		(void)fd_close(probe->fd);
	probe->fd = -1;
}

static int connect_on_connected(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	if (connect_has_succeeded(arg))
		probe_succeed(arg);
	return 0;
}

static void connect_begin(struct probe *probe, const struct process *main)
{
	connect_start(probe, connect_on_connected);
}

const struct probe_kind_ops probe_connect_ops = { .begin = connect_begin, .end = connect_end };

/* --- a request of HTTP --- */

int http_request(const char *url, char **ret, size_t *ret_length)
{
	const char *path = strchrnul(url, '/');

	*ret = text_format("GET %s HTTP/1.1\r\nHost: %.*s\r\nUser-Agent: swansongd\r\n"
			   "Accept: */*\r\nConnection: close\r\n\r\n",
			   *path ? path : "/", (int)(path - url), url);
	*ret_length = *ret ? strlen(*ret) : 0;
	return *ret ? 0 : -ENOMEM;
}

/* 'd' stands for a digit, any other character for itself. */
static const char pattern[HTTP_STATUS_LENGTH + 1] = "HTTP/1.d ddd ";

static bool http_fits(char c, size_t i)
{
	if (pattern[i] == 'd')
		return c >= '0' && c <= '9';
	/* The reason phrase may be missing, and the space before it. */
	return c == pattern[i] || (i == HTTP_STATUS_LENGTH - 1 && (c == '\r' || c == '\n'));
}

int http_status(const char *text, size_t length)
{
	int status;

	for (size_t i = 0; i < length && i < HTTP_STATUS_LENGTH; i++)
		if (!http_fits(text[i], i))
			return -EBADMSG;
	if (length < HTTP_STATUS_LENGTH)
		return -EAGAIN;
	status = (text[9] - '0') * 100 + (text[10] - '0') * 10 + (text[11] - '0');
	return status >= 100 && status <= 599 ? status : -EBADMSG;
}

static int http_on_answer(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct probe *probe = arg;
	ssize_t n = recv(fd, probe->answer + probe->used, HTTP_STATUS_LENGTH - probe->used, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0) {
		probe_fail(probe, "receive: %s", strerror(errno));
	} else if (n == 0) {
		probe_fail(probe, "closed without an answer");
	} else {
		int status;

		probe->used += (size_t)n;
		status = http_status(probe->answer, probe->used);
		if (status != -EAGAIN) {
			if (status < 0)
				probe_fail(probe, "the answer is not HTTP");
			else if (status >= 200 && status < 400)
				probe_succeed(probe);
			else
				probe_fail(probe, "HTTP status %d", status);
		}
	}
	return 0;
}

static int http_on_writable(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct probe *probe = arg;
	ssize_t n;
	int r;

	if (!connect_has_succeeded(probe))
		return 0;
	n = send(fd, probe->request + probe->used, probe->request_length - probe->used,
		 MSG_NOSIGNAL);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0) {
		probe_fail(probe, "send: %s", strerror(errno));
		return 0;
	}
	probe->used += (size_t)n;
	if (probe->used == probe->request_length) {
		probe->used = 0;
		probe->io = sd_event_source_disable_unref(probe->io);
		r = sd_event_add_io(probe->ctx->event, &probe->io, fd, EPOLLIN, http_on_answer,
				    probe);
		if (r < 0)
			probe_fail(probe, "receive: %s", strerror(-r));
	}
	return 0;
}

static void http_begin(struct probe *probe, const struct process *main)
{
	probe->used = 0;
	connect_start(probe, http_on_writable);
}

const struct probe_kind_ops probe_http_ops = { .begin = http_begin, .end = connect_end };
