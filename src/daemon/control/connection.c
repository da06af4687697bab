/*
 * Input is parsed call by call, and only while no call is under way and no reply waits to be sent.
 * A client that is idle where it should not be, or a broken one, is closed by the idle timer in the
 * next turn: never inside a callback that still uses the connection.
 */
#include "daemon/control/connection.h"

DEFINE_CLEANUP(struct connection *, connection_free)

/* In the third detail of a row. */
enum {
	ROW_SILENT = 1, /* it has not spoken */
	ROW_TAKING = 2,
	ROW_REPLYING = 4,
	ROW_WHOLE = 8, /* no part of a call was taken before */
};

/* Asks for input only when there is nothing else to do for this client. */
static void connection_update_events(struct connection *c)
{
	uint32_t events = 0;

	if (frame_writer_pending(&c->writer) > 0)
		events = EPOLLOUT;
	else if (!c->busy)
		events = EPOLLIN;
	(void)sd_event_source_set_io_events(c->io, events);
}

void connection_close_soon(struct connection *c)
{
	c->dead = true;
	c->busy = true;
	alarm_set(&c->ctx->alarms, &c->idle, 0);
}

static void connection_watch_idleness(struct connection *c)
{
	bool waits_for_them = !c->spoken || (frame_writer_pending(&c->writer) > 0 && !c->patient);

	if (c->dead)
		return;
	alarm_set(&c->ctx->alarms, &c->idle,
		  waits_for_them ? clock_now_usec() + CONNECTION_IDLE_USEC : USEC_INFINITY);
}

static void connection_flush(struct connection *c)
{
	size_t before = frame_writer_pending(&c->writer);

	if (frame_writer_send(&c->writer, c->fd) < 0) {
		connection_close_soon(c);
		return;
	}
	if (frame_writer_pending(&c->writer) != before || !c->spoken)
		connection_watch_idleness(c);
	connection_update_events(c);
	c->replying = false;
	connection_enter(c);
}

/* Takes ownership of @text, which is NULL after a lack of memory. */
static void connection_queue(struct connection *c, char *text)
{
	if (!text || frame_writer_add(&c->writer, text) < 0)
		connection_close_soon(c);
	else
		connection_flush(c);
	free(text);
}

void connection_enter(struct connection *c)
{
	struct roster_row row = roster_row(ROSTER_CONNECTION, c->fd, c->home, "");
	bool replying = c->replying || frame_writer_pending(&c->writer) > 0;
	bool partly = frame_reader_pending(&c->reader) > 0, taking = c->taking || partly;

	row.detail[0] = c->tier;
	row.detail[1] = c->busy && !c->oneway ? c->method + 1 : 0;
	row.detail[2] = (c->spoken ? 0 : ROW_SILENT) | (taking ? ROW_TAKING : 0) |
			(replying ? ROW_REPLYING : 0) | (partly ? 0 : ROW_WHOLE);
	if (c->dead || (c->place && memcmp(c->entered, row.detail, sizeof(c->entered)) == 0))
		return;
	memcpy(c->entered, row.detail, sizeof(c->entered));
	roster_write(c->ctx->roster, &c->place, &row);
}

static void connection_handle_call(struct connection *c, const char *text)
{
	struct message_call call;
	char *answer = NULL;
	int r;

	r = message_parse_call(text, &call);
	if (r < 0) {
		connection_close_soon(c);
		return;
	}
	c->spoken = true;
	c->oneway = call.oneway;
	r = interface_dispatch(&call, &c->method, &answer);
	if (r < 0) {
		connection_close_soon(c);
	} else if (r > 0) {
		c->taking = false;
		c->replying = answer;
		connection_enter(c);
		if (answer)
			connection_queue(c, answer);
	} else {
		c->busy = true;
		c->owner->call(c, c->method, &call, c->owner->arg);
	}
	message_call_done(&call);
}

/* Handles one call after the other, as long as each gets its reply at once. */
static void connection_handle_input(struct connection *c)
{
	const char *text;
	int r = 0;

	while (!c->busy && frame_writer_pending(&c->writer) == 0 &&
	       (r = frame_next(&c->reader, &text, NULL)) > 0)
		connection_handle_call(c, text);
	if (r < 0)
		connection_close_soon(c);
	c->taking = false;
	if (!c->dead) {
		connection_watch_idleness(c);
		connection_update_events(c);
		connection_enter(c);
	}
}

static void connection_read_input(struct connection *c)
{
	struct ucred sender = c->peer;
	char *space;
	size_t size;
	ssize_t n;

	if (frame_reader_space(&c->reader, &space, &size) < 0) {
		connection_close_soon(c);
		return;
	}
	c->taking = true;
	connection_enter(c);
	n = unix_receive(c->fd, space, size, &sender);
	if (n == -EAGAIN) {
		c->taking = false;
		connection_enter(c);
		return;
	}
	if (n <= 0) {
		connection_close_soon(c);
		return;
	}
	/* A descriptor can be passed on, so the process that writes is the peer. */
	if (c->inherited)
		c->peer = sender;
	else if (sender.uid != c->peer.uid && sender.uid != 0)
		c->tier = TIER_LOOK;
	frame_reader_commit(&c->reader, (size_t)n);
	connection_handle_input(c);
}

static int connection_on_io(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct connection *c = arg;

	if (c->dead)
		return 0;
	if (events & EPOLLOUT) {
		connection_flush(c);
		if (!c->busy && frame_writer_pending(&c->writer) == 0)
			connection_handle_input(c);
		else if (frame_writer_pending(&c->writer) == 0)
			context_update_soon(c->ctx); /* the call may have more replies to send */
	} else if (events & EPOLLIN) {
		connection_read_input(c);
	} else if (events & (EPOLLHUP | EPOLLERR)) {
		connection_close_soon(c);
	}
	return 0;
}

static void connection_on_closed(struct closer *closer)
{
	struct connection *c = container_of(closer, struct connection, closer);

	c->owner->closed(c, c->owner->arg);
}

/*
 * Another process closes the socket, as unread input may carry descriptors.  Until that has ended, the
 * connection counts for its user.
 */
static void connection_on_idle(struct alarm *alarm)
{
	struct connection *c = container_of(alarm, struct connection, idle);

	c->dead = c->busy = true;
	roster_write(c->ctx->roster, &c->place, NULL);
	c->io = sd_event_source_disable_unref(c->io);
	if (!unix_end_input(c->fd) && closer_close(&c->closer, &c->fd, 1) == 0)
		c->fd = -1;
	else
		connection_on_closed(&c->closer);
}

int connection_new(struct connection **ret, struct context *ctx, int fd,
		   const struct connection_owner *owner)
{
	cleanup(connection_freep) struct connection *c = calloc(1, sizeof(*c));
	const int on = 1;
	int r;

	if (!c) {
		(void)fd_close(fd);
		return -ENOMEM;
	}
	c->ctx = ctx;
	c->owner = owner;
	c->fd = fd;
	c->since_usec = clock_now_usec();
	list_init(&c->in_control);
	alarm_init(&c->idle, connection_on_idle);
	closer_init(&c->closer, ctx, connection_on_closed);
	frame_reader_init(&c->reader, MESSAGE_CALL_MAX);
	frame_writer_init(&c->writer, CONNECTION_OUTPUT_MAX);
	/* Without this a peek skips an urgent byte, and the next read drops its descriptors. */
	(void)setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &on, sizeof(on));
	r = unix_peer(fd, &c->peer);
	if (r < 0)
		return r;
	r = sd_event_add_io(ctx->event, &c->io, fd, EPOLLIN, connection_on_io, c);
	if (r < 0)
		return r;
	connection_watch_idleness(c);
	*ret = take(c);
	return 0;
}

void connection_inherit(struct connection *c, const char *home)
{
	(void)snprintf(c->home, sizeof(c->home), "%s", home);
	c->inherited = true;
	c->tier = TIER_OPERATE;
	c->spoken = c->patient = true;
	connection_watch_idleness(c);
	connection_enter(c);
}

int connection_take_former(struct connection **ret, struct context *ctx, struct roster_row *row,
			   const struct connection_owner *owner)
{
	struct ucred sender;
	struct connection *c;
	int r;

	row->kind = ROSTER_NONE;
	r = connection_new(&c, ctx, row->number, owner);
	if (r < 0)
		return r;
	c->tier = (enum connection_tier)MIN(row->detail[0], (uint64_t)TIER_RUN);
	c->spoken = !(row->detail[2] & ROW_SILENT);
	/* A call that can still be read was not taken. */
	c->taking = row->detail[2] & ROW_TAKING &&
		    !(row->detail[2] & ROW_WHOLE && unix_peek(c->fd, &sender) >= 0);
	c->replying = row->detail[2] & ROW_REPLYING;
	if (*row->path)
		connection_inherit(c, row->path);
	connection_watch_idleness(c);
	c->busy = row->detail[1] > 0;
	c->method = (enum interface_method)(row->detail[1] - c->busy);
	connection_update_events(c);
	*ret = c;
	return 0;
}

struct connection *connection_free(struct connection *c)
{
	if (!c)
		return NULL;
	list_remove(&c->in_control);
	roster_write(c->ctx->roster, &c->place, NULL);
	sd_event_source_disable_unref(c->io);
	alarm_stop(&c->ctx->alarms, &c->idle);
	closer_done(&c->closer);
	unix_close(c->fd);
	frame_reader_done(&c->reader);
	frame_writer_done(&c->writer);
	return free_memory(c);
}

/*
 * Input that has waited is handled in connection_resume(), after the callbacks of this call have
 * returned.  Returns true if a reply is wanted.
 */
static bool connection_finish_call(struct connection *c)
{
	c->busy = c->dead;
	c->taking = false;
	c->replying = !c->oneway;
	c->since_usec = clock_now_usec();
	connection_enter(c);
	context_update_soon(c->ctx);
	return !c->oneway;
}

/* The text is NULL after a lack of memory, which connection_queue() handles. */

void connection_reply(struct connection *c, json_t *parameters, bool continues)
{
	bool wanted = continues ? !c->oneway : connection_finish_call(c);
	char *text = NULL;

	if (!wanted) {
		json_decref(parameters);
		return;
	}
	(void)message_build_reply(&text, parameters, continues ? MESSAGE_CONTINUES : 0);
	connection_queue(c, text);
}

void connection_fail(struct connection *c, enum interface_error error, const char *node,
		     const char *reason, json_t *more)
{
	char *text = NULL;

	if (!connection_finish_call(c)) {
		json_decref(more);
		return;
	}
	(void)interface_build_error(&text, error, node, reason, more);
	connection_queue(c, text);
}

void connection_resume(struct connection *c)
{
	if (!c->busy && frame_writer_pending(&c->writer) == 0)
		connection_handle_input(c);
}

void connection_send(struct connection *c)
{
	if (!c->dead && connection_is_clogged(c))
		connection_flush(c);
}

bool connection_is_clogged(const struct connection *c)
{
	return frame_writer_pending(&c->writer) > 0;
}
