/*
 * libmicrohttpd has an epoll descriptor, which is an event source here, and a timeout, which is set
 * before each wait of the loop.  Connections that were resumed show in neither.
 */
#include "exporter/http/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/macro.h"
#include "exporter/http/visits.h"

#define IDLE_SECONDS 10
#define FDS_KEPT     64		 /* descriptors that are not of connections */
#define MEMORY_MAX   (16 * 1024) /* of a connection */

struct server {
	const struct server_owner *owner;
	struct MHD_Daemon *daemon;
	sd_event_source *io, *timeout, *resume;
	const struct access *access;
	struct visits visits;
};

/* No page from another place can use the replies, and no reply outlives its moment. */
static const char *const headers[][2] = {
	{ MHD_HTTP_HEADER_CACHE_CONTROL, "no-store" },
	{ "Content-Security-Policy",
	  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
	  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Referrer-Policy", "no-referrer" },
	{ "X-Content-Type-Options", "nosniff" },
};

static enum MHD_Result server_reply(struct MHD_Connection *connection, unsigned status,
				    struct MHD_Response *response)
{
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		(void)MHD_add_response_header(response, headers[i][0], headers[i][1]);
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result server_refuse(struct MHD_Connection *connection, unsigned status, char *text)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_PERSISTENT);

	if (response && status == MHD_HTTP_METHOD_NOT_ALLOWED)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	return server_reply(connection, status, response);
}

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Returns the status of a refusal with its text; 0: the request is allowed. */
static unsigned find_refusal(const struct server *server, struct MHD_Connection *connection,
			     const char *method, char **ret)
{
	static char not_get[] = "only GET and HEAD are allowed\n";
	static char host[] =
		"unknown host: expected an address, localhost, or a name that is given "
		"to the exporter by --host\n";
	static char origin[] = "the request is of another site\n";
	const char *name = header_of(connection, MHD_HTTP_HEADER_HOST);

	*ret = not_get;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return MHD_HTTP_METHOD_NOT_ALLOWED;
	*ret = host;
	if (!access_allows_host(server->access, name))
		return MHD_HTTP_MISDIRECTED_REQUEST;
	*ret = origin;
	if (!access_allows_origin(header_of(connection, MHD_HTTP_HEADER_ORIGIN), name))
		return MHD_HTTP_FORBIDDEN;
	return 0;
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *path,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_size, void **state)
{
	struct server *server = arg;
	unsigned status;
	char *refusal;
	struct MHD_Response *response;

	(void)version, (void)upload;
	status = find_refusal(server, connection, method, &refusal);
	if (status)
		return server_refuse(connection, status, refusal);
	/* The first call is for the headers, and a reply at this point would end the connection. */
	if (!*state) {
		*state = server;
		return MHD_YES;
	}
	if (*upload_size > 0)
		return MHD_NO;
	status = MHD_HTTP_OK;
	response = server->owner->get(connection, path, &status, server->owner->arg);
	return server_reply(connection, status, response);
}

static int server_run(struct server *server)
{
	(void)MHD_run(server->daemon);
	return 0;
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	(void)source, (void)fd, (void)events;
	return server_run(arg);
}

static int on_timeout(sd_event_source *source, uint64_t usec, void *arg)
{
	(void)source, (void)usec;
	return server_run(arg);
}

static int on_resume(sd_event_source *source, void *arg)
{
	(void)source;
	return server_run(arg);
}

void server_resume(struct server *server)
{
	(void)sd_event_source_set_enabled(server->resume, SD_EVENT_ONESHOT);
}

static int on_prepare(sd_event_source *source, void *arg)
{
	struct server *server = arg;
	MHD_UNSIGNED_LONG_LONG msec;
	bool set = MHD_get_timeout(server->daemon, &msec) == MHD_YES;

	(void)source;
	if (set && msec == 0)
		server_resume(server);
	else if (set)
		(void)sd_event_source_set_time_relative(server->timeout, msec * USEC_PER_MSEC);
	(void)sd_event_source_set_enabled(server->timeout,
					  set && msec > 0 ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
	return 0;
}

static int server_watch(struct server *server, sd_event *event)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	int r;

	if (!info)
		return -ENOTSUP;
	r = sd_event_add_io(event, &server->io, info->epoll_fd, EPOLLIN, on_readable, server);
	if (r >= 0)
		r = sd_event_source_set_prepare(server->io, on_prepare);
	if (r >= 0)
		r = sd_event_add_time(event, &server->timeout, CLOCK_MONOTONIC, 0, 1, on_timeout,
				      server);
	if (r >= 0)
		r = sd_event_add_defer(event, &server->resume, on_resume, server);
	return MIN(r, 0);
}

static unsigned count_connections(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur < 2 * FDS_KEPT)
		return FDS_KEPT;
	return (unsigned)MIN(limit.rlim_cur - FDS_KEPT, (rlim_t)SERVER_CONNECTIONS_MAX);
}

static struct MHD_Daemon *start_daemon(struct server *server, int fd)
{
	return MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request, server,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, count_connections(),
		MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)MEMORY_MAX, MHD_OPTION_NOTIFY_CONNECTION, visits_notify, &server->visits,
		MHD_OPTION_NOTIFY_COMPLETED, visits_completed, &server->visits, MHD_OPTION_END);
}

int server_new(struct server **ret, sd_event *event, int fd, const struct access *access,
	       const struct server_owner *owner)
{
	struct server *server = calloc(1, sizeof(*server));
	int r;

	if (!server) {
		(void)fd_close(fd);
		return -ENOMEM;
	}
	server->owner = owner;
	server->access = access;
	(void)fd_set_nonblock(fd);
	r = visits_init(&server->visits, event);
	if (r == 0)
		server->daemon = start_daemon(server, fd);
	if (!server->daemon)
		(void)fd_close(fd);
	if (r == 0)
		r = server->daemon ? server_watch(server, event) : -EIO;
	if (r < 0)
		server_free(server);
	else
		*ret = server;
	return r;
}

struct server *server_free(struct server *server)
{
	if (!server)
		return NULL;
	server->io = sd_event_source_disable_unref(server->io);
	server->timeout = sd_event_source_disable_unref(server->timeout);
	if (server->daemon)
		MHD_stop_daemon(server->daemon);
	server->resume = sd_event_source_disable_unref(server->resume);
	visits_done(&server->visits);
	free(server);
	return NULL;
}
