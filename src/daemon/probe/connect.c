/*
 * A connection that is accepted is a success: a process listens and has room for one more.  Nothing
 * is sent.
 */
#include "daemon/probe/connect.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "sys/ipc/unixsock.h"

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

/* The path fits: model/types/probe.c has checked it. */
static socklen_t probe_address_of(const struct probe_config *config, union address *ret)
{
	if (config->kind == PROBE_UNIX) {
		ret->un = (struct sockaddr_un){ .sun_family = AF_UNIX };
		strncpy(ret->un.sun_path, config->text, sizeof(ret->un.sun_path) - 1);
		return sizeof(ret->un);
	}
	if (config->address->any.sa_family == AF_INET6) {
		ret->in6 = config->address->in6;
		return sizeof(ret->in6);
	}
	ret->in = config->address->in;
	return sizeof(ret->in);
}

static int probe_open_connection(struct probe *probe, sd_event_io_handler_t on_io)
{
	union address address;
	socklen_t length = probe_address_of(probe->config, &address);

	probe->fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (probe->fd < 0)
		return -errno;
	unix_refuse_descriptors(probe->fd);
	if (connect(probe->fd, &address.any, length) < 0 && errno != EINPROGRESS)
		return -errno;
	return sd_event_add_io(probe->ctx->event, &probe->io, probe->fd, EPOLLOUT, on_io, probe);
}

void probe_connect(struct probe *probe, sd_event_io_handler_t on_io)
{
	int r = probe_open_connection(probe, on_io);

	if (r < 0)
		probe_fail(probe, "connect: %s", strerror(-r));
}

bool probe_connected(struct probe *probe)
{
	socklen_t length = sizeof(int);
	int error = 0;

	if (getsockopt(probe->fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0)
		error = errno;
	if (error)
		probe_fail(probe, "connect: %s", strerror(error));
	return !error;
}

void probe_disconnect(struct probe *probe)
{
	probe->io = sd_event_source_disable_unref(probe->io);
	if (probe->config->kind == PROBE_UNIX)
		unix_close(probe->fd);
	else
		(void)fd_close(probe->fd);
	probe->fd = -1;
}

static int probe_on_connected(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	if (probe_connected(arg))
		probe_succeed(arg);
	return 0;
}

static void probe_begin_connect(struct probe *probe, const struct process *main)
{
	probe_connect(probe, probe_on_connected);
}

const struct probe_kind_ops probe_connect_ops = { .begin = probe_begin_connect,
						  .end = probe_disconnect };
