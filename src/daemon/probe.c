#include "daemon/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"

/* A TCP probe tries again after 5 ms, then ever more seldom: nothing tells when somebody listens. */
#define RETRY_MIN_USEC (5 * USEC_PER_MSEC)
#define RETRY_MAX_USEC (250 * USEC_PER_MSEC)

struct probe {
	struct context *ctx;
	const struct ready *ready;
	void (*on_ready)(void *arg);
	void *arg;
	int fd; /* the pipe, or the connection being made */
	sd_event_source *io, *timer;
	uint64_t retry_usec;
};

DEFINE_CLEANUP(struct probe *, probe_free)

static void close_fd(struct probe *probe)
{
	probe->io = sd_event_source_disable_unref(probe->io);
	probe->fd = fd_close(probe->fd);
}

static void succeed(struct probe *probe)
{
	probe_stop(probe);
	probe->on_ready(probe->arg);
}

static void retry_later(struct probe *probe)
{
	close_fd(probe);
	context_arm(probe->ctx, probe->timer, clock_now_usec() + probe->retry_usec);
	probe->retry_usec = MIN(probe->retry_usec * 2, RETRY_MAX_USEC);
}

static int on_connected(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct probe *probe = arg;
	int error = 0;
	socklen_t length = sizeof(error);

	(void)source;
	(void)events;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0 || error)
		retry_later(probe);
	else
		succeed(probe);
	return 0;
}

static void try_connect(struct probe *probe)
{
	const struct sockaddr *address = &probe->ready->address.any;
	socklen_t length = address->sa_family == AF_INET6 ? sizeof(probe->ready->address.in6)
							  : sizeof(probe->ready->address.in);

	probe->fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (probe->fd < 0) {
		retry_later(probe);
	} else if (connect(probe->fd, address, length) == 0) {
		succeed(probe);
	} else if (errno != EINPROGRESS || sd_event_add_io(probe->ctx->event, &probe->io, probe->fd,
							   EPOLLOUT, on_connected, probe) < 0) {
		retry_later(probe);
	}
}

static int on_retry(sd_event_source *source, uint64_t usec, void *arg)
{
	(void)source;
	(void)usec;
	try_connect(arg);
	return 0;
}

/* Ready is a newline; the end of the pipe without one says that no newline will come. */
static int on_pipe(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct probe *probe = arg;
	char buf[256];
	ssize_t n = read(fd, buf, sizeof(buf));

	(void)source;
	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		probe_stop(probe);
	else if (memchr(buf, '\n', (size_t)n))
		succeed(probe);
	return 0;
}

int probe_new(struct probe **ret, struct context *ctx, const struct ready *ready,
	      void (*on_ready)(void *arg), void *arg)
{
	cleanup(probe_freep) struct probe *probe = malloc(sizeof(*probe));
	int r;

	if (!probe)
		return -ENOMEM;
	*probe = (struct probe){
		.ctx = ctx,
		.ready = ready,
		.on_ready = on_ready,
		.arg = arg,
		.fd = -1,
	};
	r = sd_event_add_time(ctx->event, &probe->timer, CLOCK_MONOTONIC, USEC_INFINITY, 1,
			      on_retry, probe);
	if (r < 0)
		return r;
	*ret = take(probe);
	return 0;
}

struct probe *probe_free(struct probe *probe)
{
	if (!probe)
		return NULL;
	close_fd(probe);
	sd_event_source_disable_unref(probe->timer);
	free(probe);
	return NULL;
}

int probe_open_fd(struct probe *probe)
{
	int fds[2];

	probe_stop(probe);
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	probe->fd = fds[0];
	(void)fd_set_nonblock(probe->fd);
	return fds[1];
}

int probe_start(struct probe *probe)
{
	if (probe->ready->kind == READY_FD)
		return sd_event_add_io(probe->ctx->event, &probe->io, probe->fd, EPOLLIN, on_pipe,
				       probe);
	probe->retry_usec = RETRY_MIN_USEC;
	retry_later(probe);
	return 0;
}

void probe_stop(struct probe *probe)
{
	close_fd(probe);
	(void)sd_event_source_set_enabled(probe->timer, SD_EVENT_OFF);
}
