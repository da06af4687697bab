/*
 * Each method is a row: its access, its function, and the function that looks at a waiting call.
 * Access is checked here and nowhere else.
 */
#include "daemon/control/requests-table.h"

#include "base/macro.h"
#include "daemon/control/requests-private.h"

static void request_on_progress(struct alarm *alarm)
{
	context_update_soon(container_of(alarm, struct request, progress)->tree->ctx);
}

void request_init(struct request *q, struct tree *tree, struct connection *connection)
{
	*q = (struct request){ .tree = tree, .connection = connection };
	list_init(&q->leases);
	alarm_init(&q->progress, request_on_progress);
}

void request_done(struct request *q)
{
	request_end_wait(q);
	request_drop_guards(q);
	json_decref(q->passing);
}

/*
 * The methods.  A waiting call is looked at in every update turn until its reply; @node is NULL if
 * the node of the call is freed.
 */
static const struct {
	enum connection_tier tier; /* required of the client */
	bool all;		   /* concerns the whole tree: not for a service's own connection */
	request_method *call;
	void (*update)(struct request *q, struct node *node); /* NULL: the method never waits */
} methods[N_METHODS] = {
	[METHOD_STATUS] = { TIER_LOOK, false, request_status, NULL },
	[METHOD_GUARDS] = { TIER_LOOK, false, request_guards, request_update_reports },
	[METHOD_START] = { TIER_OPERATE, false, request_start, request_update_ready },
	[METHOD_STOP] = { TIER_OPERATE, false, request_stop, request_update_stop },
	[METHOD_RESTART] = { TIER_OPERATE, false, request_restart, request_update_ready },
	[METHOD_SHUTDOWN] = { TIER_OPERATE, false, request_shutdown, request_update_shutdown },
	[METHOD_WAIT] = { TIER_LOOK, false, request_wait, request_update_wait },
	[METHOD_TAKE_GUARD] = { TIER_OPERATE, false, request_take_guard, request_update_guard },
	[METHOD_RELEASE] = { TIER_OPERATE, false, request_release, NULL },
	[METHOD_RELOAD] = { TIER_OPERATE, true, request_reload, NULL },
	[METHOD_RELOAD_SERVICE] = { TIER_OPERATE, false, request_reload_service, NULL },
	[METHOD_SIGNAL] = { TIER_OPERATE, false, request_signal, NULL },
	[METHOD_EVENTS] = { TIER_LOOK, false, request_events, request_update_events },
	[METHOD_RUN] = { TIER_RUN, true, request_run, request_update_run },
	[METHOD_PLAN] = { TIER_LOOK, false, request_plan, NULL },
	[METHOD_LOGS] = { TIER_OPERATE, false, request_logs, request_update_logs },
	[METHOD_REOPEN_LOGS] = { TIER_OPERATE, false, request_reopen_logs, NULL },
	[METHOD_SHOW] = { TIER_LOOK, false, request_show, NULL },
	[METHOD_DEPENDENCIES] = { TIER_LOOK, true, request_dependencies, NULL },
	[METHOD_ENABLE] = { TIER_OPERATE, false, request_enable, request_update_enable },
	[METHOD_DISABLE] = { TIER_OPERATE, false, request_enable, request_update_enable },
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
	return request_denial(q, q->connection->inherited && methods[method].all ? "" : path);
}

void request_call(struct request *q, enum interface_method method, const struct message_call *call)
{
	const char *path = message_get_string(call->parameters, "node", q->home);
	struct node *node = tree_find(q->tree, path);
	const char *denied;
	char why[REQUEST_REASON_MAX];

	q->method = method;
	if (!node && method != METHOD_RUN && request_reply_passed(q, path, call))
		return;
	if (!node && method != METHOD_RUN)
		node = request_find(q, path);
	denied = request_method_denial(q, method, node ? node->config->path : path);
	if (denied) {
		request_fail(q, ERROR_NOT_PERMITTED, NULL, denied);
		return;
	}
	if (!node && method != METHOD_RUN) {
		request_fail_unknown(q, path);
		return;
	}
	if (methods[method].tier > TIER_LOOK && method != METHOD_LOGS)
		events_because(q->tree->ctx->events, request_reason(q, call, why));
	methods[method].call(q, node, call);
}

void request_update(struct request *q)
{
	if (q->waiting)
		methods[q->method].update(q, tree_find(q->tree, q->path));
}
