/*
 * libmicrohttpd has an epoll descriptor, which is an event source here, and a timeout, which is set
 * before each wait of the loop.  Connections that were resumed show in neither.
 */
#include "exporter/http/server.h"

#include <strings.h>
#include <sys/resource.h>

#include "exporter/http/reply.h"
#include "exporter/limits/client.h"
#include "exporter/limits/visits.h"

#define IDLE_SECONDS 10
#define FDS_KEPT     64		 /* descriptors besides those of the counted connections */
#define MEMORY_MAX   (16 * 1024) /* of a connection */

struct server {
	const struct server_owner *owner;
	struct MHD_Daemon *daemon;
	sd_event_source *io, *timeout;
	bool resumed; /* connections, since the last run */
	const struct access *access;
	struct visits visits;
	struct list waiting;
	bool closed;
};

/* A suspended GET. */
struct wait {
	struct list in_waiting;
	struct MHD_Connection *connection;
};

/* Headers: no page of another site can use the replies, and no cache keeps them. */
static const char *const headers[][2] = {
	{ MHD_HTTP_HEADER_CACHE_CONTROL, "no-store" },
	{ "Content-Security-Policy",
	  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
	  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Referrer-Policy", "no-referrer" },
	{ "X-Content-Type-Options", "nosniff" },
};

static bool server_is_action(const char *path)
{
	return strcmp(path, ACTION_PATH) == 0;
}

/* Paths for which the last places are kept. */
static bool server_is_probe(const char *path)
{
	static const char *const probes[] = { "/healthz", "/readyz", "/startupz", "/metrics",
					      NULL };

	return text_is_one_of(path, probes);
}

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

static enum MHD_Result server_refuse(struct MHD_Connection *connection, const char *path,
				     unsigned status, const char *text)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);

	if (response && status == MHD_HTTP_METHOD_NOT_ALLOWED)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
					      server_is_action(path) ? "POST" : "GET, HEAD");
	return server_reply(connection, status, response);
}

static enum MHD_Result server_count_host(void *arg, enum MHD_ValueKind kind, const char *name,
					 const char *value)
{
	unsigned *count = arg;

	*count += strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0;
	return MHD_YES;
}

/* Returns true if there is one header Host, which HTTP/1.0 does not need (RFC 9112, 3.2). */
static bool server_has_host(struct MHD_Connection *connection, const char *version)
{
	unsigned count = 0;

	(void)MHD_get_connection_values(connection, MHD_HEADER_KIND, server_count_host, &count);
	return count == 1 || (count == 0 && strcmp(version, MHD_HTTP_VERSION_1_0) == 0);
}

/* Returns the status of a refusal with its text; 0: the request is allowed. */
static unsigned server_find_refusal(const struct server *server, struct MHD_Connection *connection,
				    const char *path, const char *method, const char *version,
				    const char **ret)
{
	const char *name = client_header(connection, MHD_HTTP_HEADER_HOST);
	bool is_get = strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
		      strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;

	*ret = server_is_action(path) ? "only POST is allowed\n"
				      : "only GET and HEAD are allowed\n";
	if (server_is_action(path) ? strcmp(method, MHD_HTTP_METHOD_POST) != 0 : !is_get)
		return MHD_HTTP_METHOD_NOT_ALLOWED;
	*ret = "expected one header Host\n";
	if (!server_has_host(connection, version))
		return MHD_HTTP_BAD_REQUEST;
	*ret = "unknown host: expected an address, localhost, or a name that is given "
	       "to the exporter by --host\n";
	if (!access_allows_host(server->access, name))
		return MHD_HTTP_MISDIRECTED_REQUEST;
	*ret = "the request is of another site\n";
	if (!access_allows_origin(client_header(connection, MHD_HTTP_HEADER_ORIGIN), name) ||
	    !access_allows_fetch(client_header(connection, "Sec-Fetch-Site"),
				 client_header(connection, "Sec-Fetch-Mode")))
		return MHD_HTTP_FORBIDDEN;
	return 0;
}

/* The first call is for the headers; a reply at this point ends the connection. */
static enum MHD_Result server_begin(struct server *server, struct MHD_Connection *connection,
				    const char *path, const char *method, const char *version,
				    void **state)
{
	struct action *action = NULL;
	struct MHD_Response *response;
	const char *refusal;
	unsigned status = server_find_refusal(server, connection, path, method, version, &refusal);

	if (!status && !server_is_probe(path) && visits_are_full(&server->visits)) {
		refusal = "too many clients\n";
		status = MHD_HTTP_SERVICE_UNAVAILABLE;
	}
	if (status)
		return server_refuse(connection, path, status, refusal);
	if (!visits_renew(&server->visits, connection, false))
		return MHD_NO;
	*state = server;
	if (!server_is_action(path))
		return MHD_YES;
	response = action_new(&action, server->owner->actions, connection, &status);
	if (!action)
		return server_reply(connection, status, response);
	*state = action;
	return MHD_YES;
}

static enum MHD_Result server_act(struct server *server, struct MHD_Connection *connection,
				  struct action *action, const char *upload, size_t *upload_size)
{
	struct MHD_Response *response;
	unsigned status;

	if (*upload_size > 0) {
		action_take(action, upload, *upload_size);
		*upload_size = 0;
		return MHD_YES;
	}
	response = action_respond(action, &status);
	if (status)
		return server_reply(connection, status, response);
	(void)visits_renew(&server->visits, connection, true);
	return MHD_YES;
}

static enum MHD_Result server_wait(struct server *server, struct MHD_Connection *connection)
{
	struct wait *wait = malloc(sizeof(*wait));

	if (!wait)
		return MHD_NO;
	wait->connection = connection;
	list_init(&wait->in_waiting);
	list_append(&server->waiting, &wait->in_waiting);
	(void)visits_renew(&server->visits, connection, true);
	MHD_suspend_connection(connection);
	return MHD_YES;
}

void server_retry(struct server *server)
{
	struct list waiting;
	struct wait *wait;

	list_init(&waiting);
	list_move(&waiting, &server->waiting);
	list_for_each_taken (wait, &waiting, in_waiting) {
		MHD_resume_connection(wait->connection);
		free(wait);
		server_resume(server);
	}
}

static enum MHD_Result server_on_request(void *arg, struct MHD_Connection *connection,
					 const char *path, const char *method, const char *version,
					 const char *upload, size_t *upload_size, void **state)
{
	struct server *server = arg;
	struct MHD_Response *response;
	unsigned status = MHD_HTTP_OK;

	if (!*state)
		return server_begin(server, connection, path, method, version, state);
	if (*state != server)
		return server_act(server, connection, *state, upload, upload_size);
	if (*upload_size > 0)
		return MHD_NO;
	response = server->closed
			   ? reply_error(&status, MHD_HTTP_SERVICE_UNAVAILABLE, "the exporter ends")
			   : server->owner->get(connection, path, &status, server->owner->arg);
	if (!status)
		return server_wait(server, connection);
	return server_reply(connection, status, response);
}

static void server_on_completed(void *arg, struct MHD_Connection *connection, void **state,
				enum MHD_RequestTerminationCode code)
{
	struct server *server = arg;

	if (*state != server)
		action_free(*state);
	*state = NULL;
	(void)visits_renew(&server->visits, connection, false);
}

static bool server_is_full(struct server *server)
{
	return MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)
		       ->num_connections >= server->owner->connections;
}

/* libmicrohttpd accepts again from the start of a run on, before it notices which clients ended. */
static int server_run(struct server *server)
{
	bool was_full = server_is_full(server);

	server->resumed = false;
	(void)MHD_run(server->daemon);
	if (was_full && !server_is_full(server))
		(void)MHD_run(server->daemon);
	return 0;
}

static int server_on_readable(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	return server_run(arg);
}

static int server_on_timeout(sd_event_source *source, uint64_t usec, void *arg)
{
	return server_run(arg);
}

void server_grant_time(struct server *server, struct MHD_Connection *connection)
{
	visits_grant_time(&server->visits, connection);
}

void server_resume(struct server *server)
{
	server->resumed = true;
}

static int server_on_prepare(sd_event_source *source, void *arg)
{
	struct server *server = arg;
	MHD_UNSIGNED_LONG_LONG msec = 0;
	bool set = server->resumed || MHD_get_timeout(server->daemon, &msec) == MHD_YES;

	if (set)
		(void)sd_event_source_set_time_relative(server->timeout, msec * USEC_PER_MSEC);
	(void)sd_event_source_set_enabled(server->timeout, set ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
	return 0;
}

static int server_watch(struct server *server, sd_event *event)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	int r;

	if (!info)
		return -ENOTSUP;
	r = sd_event_add_io(event, &server->io, info->epoll_fd, EPOLLIN, server_on_readable,
			    server);
	if (r >= 0)
		r = sd_event_source_set_prepare(server->io, server_on_prepare);
	if (r >= 0)
		r = sd_event_add_time(event, &server->timeout, CLOCK_MONOTONIC, 0, 1,
				      server_on_timeout, server);
	return MIN(r, 0);
}

unsigned server_count_connections(size_t kept)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur < 2 * FDS_KEPT + kept)
		return FDS_KEPT;
	return (unsigned)MIN(limit.rlim_cur - FDS_KEPT - kept, (rlim_t)SERVER_CONNECTIONS_MAX);
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
	list_init(&server->waiting);
	(void)fd_set_nonblock(fd);
	r = visits_init(&server->visits, event, owner->connections);
	if (r == 0)
		server->daemon = MHD_start_daemon(
			MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, server_on_request,
			server, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
			server->owner->connections + VISITS_EXTRA, MHD_OPTION_CONNECTION_TIMEOUT,
			IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_MAX,
			MHD_OPTION_NOTIFY_CONNECTION, visits_notify, &server->visits,
			MHD_OPTION_NOTIFY_COMPLETED, server_on_completed, server, MHD_OPTION_END);
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
	server->closed = true;
	server_retry(server);
	/*
	 * Requests that waited get their replies in the first turn, streams their last chunk in the
	 * second one, as far as their sockets take them.
	 */
	if (server->daemon) {
		(void)MHD_run(server->daemon);
		(void)MHD_run(server->daemon);
		MHD_stop_daemon(server->daemon);
	}
	visits_done(&server->visits);
	return free_memory(server);
}
