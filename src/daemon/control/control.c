/*
 * All connections are in one list.  Those of clients count towards the limits; those that services
 * were given do not.  A new connection that exceeds a limit closes a spare one, or gets an error.
 */
#include "daemon/control/control.h"

#include "proto/address.h"

/* Time until the next attempt after a connection could not be accepted. */
#define PAUSE_USEC (100 * USEC_PER_MSEC)
/* At the end of the daemon: the time for clients to read, and for one of them to read something. */
#define FINISH_USEC	  (500 * USEC_PER_MSEC)
#define FINISH_PAUSE_MSEC 100

struct control {
	struct tree *tree;
	const struct reload *reload;
	struct control_config config;
	struct connection_owner owner;
	struct unix_listener listener; /* without a path: no socket */
	unsigned places[2];	       /* of its rows in the roster */
	sd_event_source *source;       /* NULL: no socket */
	struct alarm pause;	       /* on while @source is off */
	bool refusing;		       /* the last connection could not be accepted */
	struct list connections;
	unsigned n_connections; /* without those of services */
};

static bool control_is_trusted(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

static bool control_is_in_group(int fd, gid_t group)
{
	return group != (gid_t)-1 && unix_peer_in_group(fd, group);
}

static enum connection_tier control_find_tier(const struct control_config *config, int fd,
					      uid_t uid)
{
	if (control_is_trusted(uid) || control_is_in_group(fd, config->run_group))
		return TIER_RUN;
	return control_is_in_group(fd, config->group) ? TIER_OPERATE : TIER_LOOK;
}

static void control_on_call(struct connection *connection, enum interface_method method,
			    const struct message_call *call, void *arg)
{
	request_call(connection->request, method, call);
}

static void control_on_closed(struct connection *connection, void *arg)
{
	struct control *control = arg;

	control->n_connections -= !connection->inherited;
	request_done(connection->request);
	free(connection->request);
	connection_free(connection);
}

static unsigned control_count_of_user(const struct control *control, uid_t uid)
{
	struct connection *c;
	unsigned n = 0;

	list_for_each (c, &control->connections, in_control)
		n += !c->inherited && c->peer.uid == uid;
	return n;
}

/* Returns true if the connection has neither a call under way nor guards. */
static bool control_is_spare(const struct connection *c, uint64_t now)
{
	const struct request *request = c->request;

	return !c->inherited && !c->busy && !request->n_leases && !connection_is_clogged(c) &&
	       now >= c->since_usec + CONTROL_SPARE_USEC;
}

/*
 * Returns the connection of @uid that is spare for longest; (uid_t)-1: of any user, and those of
 * root last.
 */
static struct connection *control_find_spare(const struct control *control, uid_t uid)
{
	struct connection *c, *found = NULL;
	uint64_t now = clock_now_usec();

	list_for_each (c, &control->connections, in_control) {
		if (!control_is_spare(c, now) || (uid != (uid_t)-1 && c->peer.uid != uid))
			continue;
		if (!found ||
		    control_is_trusted(found->peer.uid) > control_is_trusted(c->peer.uid) ||
		    (control_is_trusted(found->peer.uid) == control_is_trusted(c->peer.uid) &&
		     c->since_usec < found->since_usec))
			found = c;
	}
	return found;
}

/* Returns true if a new connection of @uid, which is counted already, can be served. */
static bool control_make_room(struct control *control, uid_t uid)
{
	unsigned max =
		CONTROL_CONNECTIONS_MAX - (control_is_trusted(uid) ? 0 : CONTROL_CONNECTIONS_KEPT);
	bool too_many = !control_is_trusted(uid) &&
			control_count_of_user(control, uid) > CONTROL_CONNECTIONS_PER_USER;
	struct connection *spare;

	if (!too_many && control->n_connections <= max)
		return true;
	spare = control_find_spare(control, too_many ? uid : (uid_t)-1);
	if (spare)
		connection_close_soon(spare);
	return spare;
}

static int control_add_request(struct control *control, struct connection *connection)
{
	struct request *request = malloc(sizeof(*request));

	if (!request) {
		connection_free(connection);
		return -ENOMEM;
	}
	request_init(request, control->tree, connection);
	request->reload = control->reload;
	connection->request = request;
	list_append(&control->connections, &connection->in_control);
	return 0;
}

static int control_add_connection(struct control *control, int fd, struct connection **ret)
{
	int r = connection_new(ret, control->tree->ctx, fd, &control->owner);

	return r < 0 ? r : control_add_request(control, *ret);
}

/* A service has one connection: that of an earlier run is closed, also if another process has it now. */
static void control_on_withdraw(const char *path, void *arg)
{
	struct control *control = arg;
	struct connection *c;

	list_for_each (c, &control->connections, in_control) {
		const struct request *request = c->request;

		if (c->dead || !c->inherited || strcmp(c->home, path) != 0)
			continue;
		if (request->n_leases > 0)
			log_node(control->tree->ctx->log, LOG_WARNING, path,
				 "releasing %u guards of the last run", request->n_leases);
		connection_close_soon(c);
	}
}

static int control_on_offer(const char *path, int fd, void *arg)
{
	struct control *control = arg;
	struct connection *connection;
	int r = control_add_connection(control, fd, &connection);

	if (r < 0)
		return r;
	control_on_withdraw(path, control);
	connection_inherit(connection, path);
	return 0;
}

static void control_take_connection(struct control *control, struct roster_row *row)
{
	const struct request *request;
	struct connection *c;
	int fd = row->number;
	bool taken, cut;

	if (connection_take_former(&c, control->tree->ctx, row, &control->owner) < 0 ||
	    control_add_request(control, c) < 0)
		return;
	control->n_connections += !c->inherited;
	taken = request_take_former(c->request, fd);
	request = c->request;
	cut = c->replying;
	c->replying = false;
	/* The connection of a client that may not have got its reply is closed, unless guards depend on it. */
	if (cut && !c->inherited && request->n_leases == 0)
		connection_close_soon(c);
	else if (cut || taken || !(c->busy || c->taking))
		connection_enter(c);
	else
		connection_fail(
			c, ERROR_FAILED, NULL,
			control->tree->ctx->reason == CRASH_REPLACED
				? "swansongd was upgraded: ask once more"
				: "swansongd had a fault, and has begun again: ask once more",
			NULL);
}

void control_take_former(struct control *control)
{
	struct roster *roster = control->tree->ctx->roster;
	struct roster_row *row;

	for (size_t at = 0; (row = roster_next(roster, ROSTER_CONNECTION, &at));)
		control_take_connection(control, row);
}

static void control_on_pause(struct alarm *alarm)
{
	struct control *control = container_of(alarm, struct control, pause);

	(void)sd_event_source_set_enabled(control->source, SD_EVENT_ON);
}

/* Accepts a connection with the reserved descriptor, as no other is left, and closes it. */
static bool control_refuse_connection(struct control *control)
{
	struct context *ctx = control->tree->ctx;
	int fd;

	(void)context_give_up_spare(ctx);
	fd = accept4(control->listener.fd, NULL, NULL, SOCK_CLOEXEC);
	unix_close(fd);
	context_take_spare(ctx);
	return fd >= 0;
}

/* The loop would offer a connection that cannot be accepted again at once, and for ever. */
static void control_note_accept_failure(struct control *control, int error)
{
	struct context *ctx = control->tree->ctx;

	if (error == EAGAIN || error == EINTR)
		return;
	if (!control->refusing)
		log_line(ctx->log, LOG_WARNING, "cannot accept control connections: %s",
			 strerror(error));
	control->refusing = true;
	if ((error == EMFILE || error == ENFILE) && control_refuse_connection(control))
		return;
	(void)sd_event_source_set_enabled(control->source, SD_EVENT_OFF);
	alarm_set(&ctx->alarms, &control->pause, clock_now_usec() + PAUSE_USEC);
}

static int control_on_connect(sd_event_source *source, int listener, uint32_t events, void *arg)
{
	struct control *control = arg;
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct connection *connection;

	if (fd < 0) {
		control_note_accept_failure(control, errno);
		return 0;
	}
	control->refusing = false;
	if (control_add_connection(control, fd, &connection) >= 0) {
		connection->tier = control_find_tier(&control->config, fd, connection->peer.uid);
		control->n_connections++;
		if (!control_make_room(control, connection->peer.uid)) {
			connection_fail(connection, ERROR_TOO_MANY, NULL, "too many connections",
					NULL);
			connection_close_soon(connection);
		}
		connection_enter(connection);
	}
	return 0;
}

/*
 * Makes the directory of the default path, which must belong to this user alone; its parent must
 * exist.
 */
static int control_make_directory(const char *path)
{
	char directory[256];
	const char *slash = strrchr(path, '/');

	if (!slash || slash == path || (size_t)(slash - path) >= sizeof(directory))
		return 0;
	memcpy(directory, path, (size_t)(slash - path));
	directory[slash - path] = '\0';
	/* Other errors show when the socket is made. */
	(void)path_make_directory(directory, address_directory_mode(directory));
	return address_check(path) == -EPERM ? -EPERM : 0;
}

int control_new(struct control **ret, struct tree *tree, const struct reload *reload)
{
	struct control *control = calloc(1, sizeof(*control));

	if (!control)
		return -ENOMEM;
	control->tree = tree;
	control->reload = reload;
	control->owner = (struct connection_owner){ .call = control_on_call,
						    .closed = control_on_closed,
						    .arg = control };
	list_init(&control->connections);
	alarm_init(&control->pause, control_on_pause);
	tree->ctx->control = (struct control_offer){
		.accept = control_on_offer,
		.withdraw = control_on_withdraw,
		.arg = control,
	};
	*ret = control;
	return 0;
}

/* The socket of before a fault goes on, with the clients that wait in it, unless its path has gone. */
static bool control_take_socket(struct control *control, const char *path)
{
	struct roster *roster = control->tree->ctx->roster;
	struct unix_listener *l = &control->listener;

	l->fd = roster_take_descriptor(roster, "control socket", NULL);
	l->lock_fd = roster_take_descriptor(roster, "control lock", NULL);
	if (l->fd >= 0 && l->lock_fd >= 0 && (*path == '@' || access(path, F_OK) == 0))
		l->path = strdup(path);
	/* Its next clients see the pid of this process, not of the former one. */
	if (l->path && listen(l->fd, UNIX_BACKLOG) == 0)
		return true;
	l->path = free_memory(l->path);
	l->fd = fd_close(l->fd);
	l->lock_fd = fd_close(l->lock_fd);
	return false;
}

int control_listen(struct control *control, const struct control_config *config)
{
	struct roster *roster = control->tree->ctx->roster;
	int r = 0;

	control->config = *config;
	if (!control_take_socket(control, config->path)) {
		r = control_make_directory(config->path);
		if (r >= 0)
			r = unix_listen(&control->listener, config->path, config->mode,
					config->group);
	}
	if (r < 0)
		return r;
	r = sd_event_add_io(control->tree->ctx->event, &control->source, control->listener.fd,
			    EPOLLIN, control_on_connect, control);
	if (r < 0) {
		unix_unlisten(&control->listener);
		return r;
	}
	roster_enter_descriptor(roster, &control->places[0], control->listener.fd, 0,
				"control socket");
	roster_enter_descriptor(roster, &control->places[1], control->listener.lock_fd, 0,
				"control lock");
	return r;
}

struct control *control_free(struct control *control)
{
	if (!control)
		return NULL;
	control->tree->ctx->control = (struct control_offer){ .accept = NULL };
	while (!list_is_empty(&control->connections))
		control_on_closed(
			list_entry(control->connections.next, struct connection, in_control),
			control);
	sd_event_source_disable_unref(control->source);
	alarm_stop(&control->tree->ctx->alarms, &control->pause);
	for (size_t i = 0; i < ARRAY_SIZE(control->places); i++)
		roster_write(control->tree->ctx->roster, &control->places[i], NULL);
	unix_unlisten(&control->listener);
	return free_memory(control);
}

void control_update(struct control *control)
{
	struct connection *c, *next;

	list_for_each_safe (c, next, &control->connections, in_control) {
		request_update(c->request);
		connection_resume(c);
	}
}

/* Return: the number of connections with a reply that is not read yet. */
static nfds_t control_find_clogged(const struct control *control, struct pollfd *ret)
{
	const struct connection *c;
	nfds_t n = 0;

	list_for_each (c, &control->connections, in_control)
		if (!c->dead && connection_is_clogged(c) && n < CONTROL_CONNECTIONS_MAX)
			ret[n++] = (struct pollfd){ .fd = c->fd, .events = POLLOUT };
	return n;
}

void control_finish(struct control *control)
{
	uint64_t until = clock_now_usec() + FINISH_USEC;
	struct pollfd fds[CONTROL_CONNECTIONS_MAX];
	struct connection *c;
	nfds_t n;

	while ((n = control_find_clogged(control, fds)) > 0 && clock_now_usec() < until) {
		if (poll(fds, n, FINISH_PAUSE_MSEC) <= 0)
			return;
		list_for_each (c, &control->connections, in_control) {
			connection_send(c);
			request_update(c->request);
		}
	}
}
