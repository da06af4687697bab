#include "daemon/requests.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memstream.h"
#include "daemon/describe.h"
#include "daemon/order.h"
#include "daemon/shutdown.h"
#include "daemon/starting.h"
#include "daemon/sweep.h"

/* Progress is told at most four times a second. */
#define PROGRESS_EVERY_USEC (250 * USEC_PER_MSEC)

struct request_lease {
	struct list of_request;
	struct lease *lease;
};

static int on_progress(sd_event_source *source, uint64_t usec, void *arg)
{
	(void)source;
	(void)usec;
	request_settle(arg);
	return 0;
}

int request_init(struct request *q, struct tree *tree, struct connection *connection)
{
	int r;

	*q = (struct request){ .tree = tree, .connection = connection };
	list_init(&q->leases);
	r = sd_event_add_time(tree->ctx->event, &q->progress, CLOCK_MONOTONIC, USEC_INFINITY, 1,
			      on_progress, q);
	return r < 0 ? r : 0;
}

static void end_wait(struct request *q)
{
	q->waiting = false;
	q->completion = swansong_completion_unref(q->completion);
	(void)sd_event_source_set_enabled(q->progress, SD_EVENT_OFF);
}

void request_done(struct request *q)
{
	end_wait(q);
	while (!list_is_empty(&q->leases)) {
		struct request_lease *l =
			list_entry(q->leases.next, struct request_lease, of_request);

		list_remove(&l->of_request);
		lease_free(l->lease);
		free(l);
	}
	q->progress = sd_event_source_disable_unref(q->progress);
}

static void succeed(struct request *q)
{
	end_wait(q);
	connection_reply(q->connection, json_object(), false);
}

static void fail(struct request *q, enum interface_error error, const char *node,
		 const char *reason)
{
	end_wait(q);
	connection_fail(q->connection, error, node, reason);
}

/* Waits for what @method is about, from now on. */
static void begin_wait(struct request *q, const struct node *node, const struct message_call *call)
{
	(void)snprintf(q->path, sizeof(q->path), "%s", node->config->path);
	q->more = call->more;
	q->begun_usec = clock_now_usec();
	q->next_usec = 0;
	q->waiting = true;
	if (swansong_completion_new(node->handle, &q->completion) < 0) {
		q->completion = NULL;
		fail(q, ERROR_FAILED, q->path, "out of memory");
		return;
	}
	request_settle(q);
}

/* --- how a wait ends --- */

/* A service at or below @node, or one that they need, that will not become ready; or NULL. */
static struct node *find_hopeless(struct node *node)
{
	for (struct node *n = node; n; n = node_next(n, node)) {
		struct node *failed;

		if (!n->service)
			continue;
		if (n->service->state == STATE_FAILED)
			return n;
		failed = n->service->state == STATE_DOWN && n->service->wanted
				 ? order_failed_requirement(n->service)
				 : NULL;
		if (failed)
			return failed;
	}
	return NULL;
}

static void settle_ready(struct request *q, struct node *node)
{
	char text[OUTCOME_TEXT_MAX];
	struct node *hopeless;

	if (node->restart)
		return;
	if (node_is_stopped(node)) {
		if (q->method != METHOD_WAIT || node_is_stopped(q->tree->root))
			fail(q, ERROR_NODE_STOPPED, node_name(node), NULL);
		return;
	}
	if (node_is_ready(node)) {
		succeed(q);
		return;
	}
	hopeless = find_hopeless(node);
	if (hopeless)
		fail(q, ERROR_FAILED, node_name(hopeless),
		     policy_outcome_text(text, &hopeless->service->outcome));
}

static json_t *describe_progress(struct request *q, struct node *node)
{
	return json_pack("{s:o, s:o, s:I}", "node", describe_node(node), "guards",
			 describe_guards(node, true), "elapsed_usec",
			 (json_int_t)(clock_now_usec() - q->begun_usec));
}

static void settle_shutdown(struct request *q, struct node *node)
{
	uint64_t now = clock_now_usec();

	if (!node || swansong_completion_done(q->completion)) {
		json_t *parameters = node ? describe_progress(q, node) : json_object();

		end_wait(q);
		connection_reply(q->connection, parameters, false);
		return;
	}
	/* Who does not read what he was told is not told more. */
	if (!q->more || connection_is_clogged(q->connection))
		return;
	if (now < q->next_usec) {
		context_arm(q->tree->ctx, q->progress, q->next_usec);
		return;
	}
	q->next_usec = now + PROGRESS_EVERY_USEC;
	connection_reply(q->connection, describe_progress(q, node), true);
}

static void settle_wait(struct request *q, struct node *node)
{
	if (strcmp(q->until, "ready") == 0) {
		settle_ready(q, node);
	} else if (strcmp(q->until, "running") == 0) {
		if (!node_is_stopped(node))
			succeed(q);
		else if (node_is_stopped(q->tree->root))
			fail(q, ERROR_NODE_STOPPED, node_name(node), NULL);
	} else if (swansong_completion_done(q->completion)) {
		succeed(q);
	}
}

void request_settle(struct request *q)
{
	struct node *node;

	if (!q->waiting)
		return;
	node = tree_find(q->tree, q->path);
	switch (q->method) {
	case METHOD_SHUTDOWN:
		settle_shutdown(q, node);
		break;
	case METHOD_STOP:
		if (!node || swansong_completion_done(q->completion))
			succeed(q);
		break;
	case METHOD_WAIT:
		if (node)
			settle_wait(q, node);
		else if (strcmp(q->until, "complete") == 0)
			succeed(q);
		else
			fail(q, ERROR_NO_SUCH_NODE, q->path, NULL);
		break;
	default:
		if (node)
			settle_ready(q, node);
		else
			fail(q, ERROR_NO_SUCH_NODE, q->path, NULL);
		break;
	}
}

/* --- the methods --- */

static void call_status(struct request *q, struct node *node, const struct message_call *call)
{
	struct describe_walk walk;

	(void)call;
	describe_begin(&walk, node);
	connection_reply_list(q->connection, "nodes", describe_next, &walk);
}

static void call_guards(struct request *q, struct node *node, const struct message_call *call)
{
	bool blocking = message_get_bool(call->parameters, "blocking", false);

	sweep_look(q->tree->ctx->children);
	connection_reply(q->connection,
			 json_pack("{s:o}", "guards", describe_guards(node, blocking)), false);
}

static void wait_or_return(struct request *q, const struct node *node,
			   const struct message_call *call)
{
	if (message_get_bool(call->parameters, "wait", true))
		begin_wait(q, node, call);
	else
		succeed(q);
}

static void call_start(struct request *q, struct node *node, const struct message_call *call)
{
	int r = node_is_stopped(q->tree->root) ? -ESHUTDOWN : starting_begin(node);

	if (r == -ESHUTDOWN) {
		const struct node *stopped = node;

		while (stopped->parent && node_is_stopped(stopped->parent))
			stopped = stopped->parent;
		fail(q, ERROR_NODE_STOPPED, node_name(stopped), NULL);
	} else if (r < 0) {
		fail(q, ERROR_FAILED, node_name(node), strerror(-r));
	} else {
		wait_or_return(q, node, call);
	}
}

/* For the log: who asked, and why if he said so. */
static const char *reason_text(struct request *q, const struct message_call *call, char *buf,
			       size_t size)
{
	const char *why = message_get_string(call->parameters, "reason", "");

	(void)snprintf(buf, size, "asked by pid %d, uid %u%s%s", (int)q->connection->peer.pid,
		       q->connection->peer.uid, *why ? ": " : "", why);
	return buf;
}

static void call_stop(struct request *q, struct node *node, const struct message_call *call)
{
	char why[200];

	shutdown_stop(q->tree, node, reason_text(q, call, why, sizeof(why)));
	wait_or_return(q, node, call);
}

static void call_restart(struct request *q, struct node *node, const struct message_call *call)
{
	char why[200];

	if (node == q->tree->root) {
		fail(q, ERROR_FAILED, node_name(node), "the root cannot be restarted");
		return;
	}
	if (node_is_stopped(node->parent)) {
		fail(q, ERROR_NODE_STOPPED, node_name(node->parent), NULL);
		return;
	}
	starting_forget(node);
	shutdown_restart(q->tree, node, reason_text(q, call, why, sizeof(why)));
	wait_or_return(q, node, call);
}

static void call_shutdown(struct request *q, struct node *node, const struct message_call *call)
{
	char why[200];

	shutdown_stop(q->tree, node, reason_text(q, call, why, sizeof(why)));
	if (message_get_bool(call->parameters, "force", false))
		shutdown_force(node);
	if (message_get_bool(call->parameters, "wait", true)) {
		begin_wait(q, node, call);
		return;
	}
	q->begun_usec = clock_now_usec();
	connection_reply(q->connection, describe_progress(q, node), false);
}

static void call_wait(struct request *q, struct node *node, const struct message_call *call)
{
	const char *until = message_get_string(call->parameters, "until", "complete");

	(void)snprintf(q->until, sizeof(q->until), "%s", until);
	begin_wait(q, node, call);
}

/* The guard is gone by force: the holder hears of it by the end of its connection. */
static void on_revoked(struct lease *lease, void *arg)
{
	struct request *q = arg;

	(void)lease;
	connection_close_soon(q->connection);
}

static int take_guard(struct request *q, struct node *node, const char *why, uint64_t *id)
{
	struct request_lease *l = malloc(sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	r = lease_new(&l->lease, node, &q->connection->peer, why);
	if (r < 0) {
		free(l);
		return r;
	}
	l->lease->on_revoked = on_revoked;
	l->lease->arg = q;
	list_init(&l->of_request);
	list_append(&q->leases, &l->of_request);
	q->n_leases++;
	*id = l->lease->id;
	return 0;
}

static void call_take_guard(struct request *q, struct node *node, const struct message_call *call)
{
	const char *why = message_get_string(call->parameters, "why", "");
	bool late = message_get_bool(call->parameters, "late", false);
	uint64_t id;

	if (strlen(why) > LEASE_WHY_MAX) {
		fail(q, ERROR_FAILED, node_name(node), "the reason is longer than 200 bytes");
	} else if (node_is_stopped(node) &&
		   (!late || node->complete || clock_now_usec() >= node->deadline_usec)) {
		fail(q, ERROR_NODE_STOPPED, node_name(node), NULL);
	} else if (q->n_leases >= REQUEST_LEASES_MAX) {
		fail(q, ERROR_TOO_MANY, NULL, "this connection holds 256 guards");
	} else if (take_guard(q, node, why, &id) < 0) {
		fail(q, ERROR_FAILED, node_name(node), "out of memory");
	} else {
		connection_reply(q->connection, json_pack("{s:I}", "id", (json_int_t)id), false);
	}
}

static void call_reload(struct request *q, struct node *node, const struct message_call *call)
{
	cleanup(freep) char *reason = NULL;
	struct memstream m;
	int r = memstream_open(&m);

	(void)node;
	(void)call;
	if (r >= 0) {
		r = reload_run(q->reload, m.file);
		(void)memstream_close(&m, &reason); /* without it, the number says what it was */
	}
	if (r < 0)
		fail(q, ERROR_FAILED, "root", reason && *reason ? reason : strerror(-r));
	else
		succeed(q);
}

static const struct {
	bool changes; /* only for those who may change things */
	void (*call)(struct request *q, struct node *node, const struct message_call *call);
} methods[N_METHODS] = {
	[METHOD_STATUS] = { false, call_status },  [METHOD_GUARDS] = { false, call_guards },
	[METHOD_START] = { true, call_start },	   [METHOD_STOP] = { true, call_stop },
	[METHOD_RESTART] = { true, call_restart }, [METHOD_SHUTDOWN] = { true, call_shutdown },
	[METHOD_WAIT] = { false, call_wait },	   [METHOD_TAKE_GUARD] = { true, call_take_guard },
	[METHOD_RELOAD] = { true, call_reload },
};

void request_call(struct request *q, enum interface_method method, const struct message_call *call)
{
	const char *path = message_get_string(call->parameters, "node", "");
	struct node *node = tree_find(q->tree, path);

	q->method = method;
	if (methods[method].changes && !q->connection->privileged)
		fail(q, ERROR_NOT_PERMITTED, NULL,
		     "only root, the daemon's own user and its control-group may change things");
	else if (!node)
		fail(q, ERROR_NO_SUCH_NODE, path, NULL);
	else
		methods[method].call(q, node, call);
}
