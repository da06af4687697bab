/*
 * Access, function, and the function that looks at a waiting call are columns of proto/interface/methods.h.
 * Access is checked here and nowhere else.
 */
#include "daemon/control/requests-private.h"

void request_init(struct request *q, struct tree *tree, struct connection *connection)
{
	*q = (struct request){ .tree = tree, .connection = connection };
	list_init(&q->leases);
	alarm_init(&q->progress, NULL);
	closer_init(&q->asker, tree->ctx, request_on_asked);
}

void request_done(struct request *q)
{
	closer_done(&q->asker);
	request_end_wait(q);
	request_drop_guards(q);
	json_decref(q->passing);
}

static const struct {
	enum connection_tier tier; /* required of the client */
	bool whole;		   /* concerns the whole tree: not for a service's own connection */
	request_method *call;
	request_update_method *update; /* NULL: the method never waits */
} methods[] = {
#define request_update_none NULL
#define METHOD(id, name, tier, whole, call, update, ...) \
	[METHOD_##id] = { tier, whole, call, update },
#include "proto/interface/methods.h"
};

/* Returns the reason for which the client may not call the method, or NULL. */
static const char *request_method_denial(const struct request *q, enum interface_method method,
					 const char *path)
{
	static const char *const only[] = {
		[TIER_OPERATE] = "only root, the user of the daemon, control-group and "
				 "control-run-group may change things, or read logs",
		[TIER_RUN] = "only root, the user of the daemon and control-run-group may run "
			     "programs of no file",
	};

	if (methods[method].tier > q->connection->tier)
		return only[methods[method].tier];
	return request_denial(q, q->connection->inherited && methods[method].whole ? "" : path);
}

void request_call(struct request *q, enum interface_method method, const struct message_call *call)
{
	const char *path = message_get_string(call->parameters, "node", q->connection->home);
	struct node *node = tree_find(q->tree, path);
	const char *denied;
	char why[REQUEST_REASON_MAX];

	q->method = method;
	q->more = call->more;
	q->begun_usec = clock_now_usec();
	q->next_usec = 0;
	if (!node && method != METHOD_RUN && request_reply_passed(q, path, call))
		return;
	if (!node && method != METHOD_RUN)
		node = request_find(q, path);
	denied = request_method_denial(q, method, node ? node->path : path);
	if (denied) {
		request_fail(q, ERROR_NOT_PERMITTED, NULL, denied);
		return;
	}
	if (!node && method != METHOD_RUN) {
		request_fail_unknown(q, path);
		return;
	}
	(void)snprintf(q->path, sizeof(q->path), "%s", node ? node->path : path);
	if (methods[method].tier > TIER_LOOK && method != METHOD_LOGS)
		events_because(q->tree->ctx->events, request_reason(q, call, why));
	methods[method].call(q, node, call);
}

/* Returns true if the call fails when its node is freed; others handle that, or are about no node. */
static bool request_needs_node(enum interface_method method)
{
	return method == METHOD_STATUS || method == METHOD_GUARDS || method == METHOD_START ||
	       method == METHOD_RESTART || method == METHOD_ENABLE || method == METHOD_DISABLE;
}

void request_update(struct request *q)
{
	struct node *node = q->waiting ? tree_find(q->tree, q->path) : NULL;

	if (q->waiting && !node && request_needs_node(q->method))
		request_fail(q, ERROR_NO_SUCH_NODE, q->path, NULL);
	else if (q->waiting)
		methods[q->method].update(q, node);
}
