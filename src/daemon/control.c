#include "daemon/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"

/* Before the next try to accept a connection that could not be. */
#define PAUSE_USEC (100 * USEC_PER_MSEC)

struct control {
	struct tree *tree;
	const struct reload *reload;
	struct control_config config;
	struct connection_owner owner;
	struct unix_listener listener; /* without a path: none */
	sd_event_source *source;       /* NULL likewise */
	sd_event_source *pause;	       /* armed while @source is off */
	bool refusing;		       /* the last connection could not be accepted */
	struct list connections;
	unsigned n_connections; /* without those of services */
};

DEFINE_CLEANUP(struct control *, control_free)

static bool is_privileged(const struct control *control, int fd, const struct unix_peer *who)
{
	return who->uid == 0 || who->uid == geteuid() ||
	       (control->config.group_set && unix_peer_in_group(fd, control->config.group));
}

static void on_call(struct connection *connection, enum interface_method method,
		    const struct message_call *call, void *arg)
{
	(void)arg;
	request_call(connection->request, method, call);
}

static void on_closed(struct connection *connection, void *arg)
{
	struct control *control = arg;

	control->n_connections -= !connection->inherited;
	request_done(connection->request);
	free(connection->request);
	connection_free(connection);
}

static unsigned count_of_user(const struct control *control, uid_t uid)
{
	struct connection *c;
	unsigned n = 0;

	list_for_each (c, &control->connections, in_control)
		n += !c->inherited && c->peer.uid == uid;
	return n;
}

static int add_connection(struct control *control, int fd, struct connection **ret)
{
	struct connection *connection;
	struct request *request;
	int r;

	r = connection_new(&connection, control->tree->ctx, fd, &control->owner);
	if (r < 0)
		return r;
	request = malloc(sizeof(*request));
	r = request ? request_init(request, control->tree, connection) : -ENOMEM;
	if (r < 0) {
		free(request);
		connection_free(connection);
		return r;
	}
	request->reload = control->reload;
	connection->request = request;
	list_append(&control->connections, &connection->in_control);
	*ret = connection;
	return 0;
}

static void accept_connection(struct control *control, int fd)
{
	struct connection *connection;

	if (add_connection(control, fd, &connection) < 0)
		return;
	connection->privileged = is_privileged(control, fd, &connection->peer);
	control->n_connections++;
	if (control->n_connections > CONTROL_CONNECTIONS_MAX ||
	    count_of_user(control, connection->peer.uid) > CONTROL_CONNECTIONS_PER_USER) {
		connection_fail(connection, ERROR_TOO_MANY, NULL, "too many connections");
		connection_close_soon(connection);
	}
}

static const char *home_of(const struct connection *connection)
{
	const struct request *request = connection->request;

	return connection->inherited ? request->home : NULL;
}

/* A service has one: whoever still has that of an earlier run is of it no more. */
static void on_withdraw(const char *path, void *arg)
{
	struct control *control = arg;
	struct connection *c;

	list_for_each (c, &control->connections, in_control) {
		const struct request *request = c->request;

		if (c->dead || !home_of(c) || strcmp(home_of(c), path) != 0)
			continue;
		if (request->n_leases > 0)
			log_line(control->tree->ctx->log, LOG_WARNING,
				 "%s: %u guards of its last run are released: that is over", path,
				 request->n_leases);
		connection_close_soon(c);
	}
}

static int on_offer(const char *path, int fd, void *arg)
{
	struct control *control = arg;
	struct connection *connection;
	struct request *request;
	int r = add_connection(control, fd, &connection);

	if (r < 0)
		return r;
	on_withdraw(path, control);
	connection_inherit(connection);
	request = connection->request;
	(void)snprintf(request->home, sizeof(request->home), "%s", path);
	return 0;
}

static int on_pause(sd_event_source *source, uint64_t usec, void *arg)
{
	struct control *control = arg;

	(void)source;
	(void)usec;
	(void)sd_event_source_set_enabled(control->source, SD_EVENT_ON);
	return 0;
}

/* With no descriptor left: takes the connection by the spare one, and ends it. */
static bool turn_away(struct control *control)
{
	struct context *ctx = control->tree->ctx;
	int fd;

	(void)context_give_up_spare(ctx);
	fd = accept4(control->listener.fd, NULL, NULL, SOCK_CLOEXEC);
	(void)fd_close(fd);
	context_take_spare(ctx);
	return fd >= 0;
}

/* A connection that cannot be taken is offered again at once, and for ever. */
static void accept_failed(struct control *control, int error)
{
	struct context *ctx = control->tree->ctx;

	if (error == EAGAIN || error == EINTR)
		return;
	if (!control->refusing)
		log_line(ctx->log, LOG_WARNING, "cannot accept control connections: %s",
			 strerror(error));
	control->refusing = true;
	if ((error == EMFILE || error == ENFILE) && turn_away(control))
		return;
	(void)sd_event_source_set_enabled(control->source, SD_EVENT_OFF);
	context_arm(ctx, control->pause, clock_now_usec() + PAUSE_USEC);
}

static int on_connect(sd_event_source *source, int listener, uint32_t events, void *arg)
{
	struct control *control = arg;
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)source;
	(void)events;
	if (fd < 0) {
		accept_failed(control, errno);
		return 0;
	}
	control->refusing = false;
	accept_connection(control, fd);
	return 0;
}

/* That of the default path is nobody else's to make; the one above it has to be there. */
static void make_directory(const char *path)
{
	char directory[256];
	const char *slash = strrchr(path, '/');

	if (!slash || slash == path || (size_t)(slash - path) >= sizeof(directory))
		return;
	memcpy(directory, path, (size_t)(slash - path));
	directory[slash - path] = '\0';
	(void)mkdir(directory, 0755);
}

int control_new(struct control **ret, struct tree *tree, const struct reload *reload)
{
	cleanup(control_freep) struct control *control = calloc(1, sizeof(*control));
	int r;

	if (!control)
		return -ENOMEM;
	control->tree = tree;
	control->reload = reload;
	control->owner =
		(struct connection_owner){ .call = on_call, .closed = on_closed, .arg = control };
	list_init(&control->connections);
	r = sd_event_add_time(tree->ctx->event, &control->pause, CLOCK_MONOTONIC, USEC_INFINITY, 1,
			      on_pause, control);
	if (r < 0)
		return r;
	tree->ctx->control = (struct control_offer){
		.accept = on_offer,
		.withdraw = on_withdraw,
		.arg = control,
	};
	*ret = take(control);
	return 0;
}

int control_listen(struct control *control, const struct control_config *config)
{
	int r;

	control->config = *config;
	make_directory(config->path);
	r = unix_listen(&control->listener, config->path, config->mode,
			config->group_set ? config->group : (gid_t)-1);
	if (r < 0)
		return r;
	r = sd_event_add_io(control->tree->ctx->event, &control->source, control->listener.fd,
			    EPOLLIN, on_connect, control);
	if (r < 0)
		unix_unlisten(&control->listener);
	return r;
}

struct control *control_free(struct control *control)
{
	if (!control)
		return NULL;
	control->tree->ctx->control = (struct control_offer){ .accept = NULL };
	while (!list_is_empty(&control->connections))
		on_closed(list_entry(control->connections.next, struct connection, in_control),
			  control);
	sd_event_source_disable_unref(control->source);
	sd_event_source_disable_unref(control->pause);
	unix_unlisten(&control->listener);
	free(control);
	return NULL;
}

void control_settle(struct control *control)
{
	struct connection *c, *next;

	list_for_each_safe (c, next, &control->connections, in_control) {
		request_settle(c->request);
		connection_resume(c);
	}
}
