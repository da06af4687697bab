/*
 * Methods that show, start, stop and signal nodes.  Starts and stops change goals; their replies
 * follow when the tree has reached these, or cannot reach them any more (requests-wait.c).
 */

#include "daemon/describe/describe.h"
#include "daemon/control/requests-private.h"
#include "daemon/reap/orphans.h"
#include "daemon/service/signal.h"
#include "daemon/tree/deadline.h"
#include "daemon/tree/goals.h"
#include "model/life/budget.h"

/* Nodes of a reply: with `more` a large tree is several replies, so that few objects exist at a time. */
#define NODES_PER_REPLY 100

void request_status(struct request *q, struct node *node, const struct message_call *call)
{
	bool looks = message_get_bool(call->parameters, "programs", false);

	q->look = looks ? programs_look(q->reload->programs, q->connection->tier > TIER_LOOK) : 0;
	q->waiting = true;
	request_update_status(q, node);
}

void request_update_status(struct request *q, struct node *node)
{
	struct describe_walk walk;
	struct node *looks_at = q->connection->tier > TIER_LOOK ? node : q->tree->root;

	if (!programs_are_known(q->reload->programs, looks_at, q->look))
		return;
	request_end_wait(q);
	describe_begin(&walk, node);
	walk.files = q->connection->tier > TIER_LOOK;
	do {
		json_t *nodes = describe_nodes(&walk, q->more ? NODES_PER_REPLY : SIZE_MAX);

		connection_reply(q->connection,
				 json_pack("{s:o, s:I, s:o*}", "nodes", nodes, "configuration",
					   (json_int_t)q->tree->ctx->configuration, "rollout",
					   walk.at ? NULL : rollout_json(q->reload->rollout)),
				 walk.at);
	} while (walk.at && !q->connection->dead);
}

void request_guards(struct request *q, struct node *node, const struct message_call *call)
{
	q->blocking = message_get_bool(call->parameters, "blocking", false);
	q->waiting = true;
	attach_ask(node, q->begun_usec);
	alarm_set(&q->tree->ctx->alarms, &q->progress, q->begun_usec + ATTACH_ANSWER_USEC);
	request_update_reports(q, node);
}

void request_update_reports(struct request *q, struct node *node)
{
	uint64_t now = clock_now_usec();

	/* Requests by others must not prolong this wait. */
	if (now < q->begun_usec + ATTACH_ANSWER_USEC && attach_is_awaited(node, now))
		return;
	orphans_scan(q->tree->ctx->orphans);
	request_reply(q, json_pack("{s:o}", "guards", describe_guards(node, q->blocking)));
}

/* Returns the highest ancestor of @node that is being shut down, or @node. */
static const struct node *request_find_stopped_above(const struct node *node)
{
	while (node->parent && node_is_stopped(node->parent))
		node = node->parent;
	return node;
}

void request_start(struct request *q, struct node *node, const struct message_call *call)
{
	if (goals_start(node, CAUSE_OPERATOR, false) < 0)
		request_fail(q, ERROR_NODE_STOPPED, node_name(request_find_stopped_above(node)),
			     NULL);
	else
		request_wait_or_return(q, node, call);
}

/* The ends of earlier runs do not count for the run that follows, which a client waits for. */
static void request_take_dependent(struct node *node, void *with)
{
	goals_forget_restarts(node);
	(void)json_array_append_new(with, json_string(node->config->path));
}

void request_stop(struct request *q, struct node *node, const struct message_call *call)
{
	bool restarts = q->method == METHOD_RESTART;
	char why[REQUEST_REASON_MAX];
	struct goals goals;

	if (node == q->tree->root) {
		request_fail(q, ERROR_FAILED, node_name(node),
			     restarts ? "the root cannot be restarted"
				      : "the root cannot be stopped: use swansongctl shutdown");
		return;
	}
	/* The dependents that are stopped as well are in the reply. */
	json_decref(q->with);
	q->with = json_array();
	goals_begin(&goals, q->tree, CAUSE_OPERATOR);
	goals.on_dependent = request_take_dependent;
	goals.arg = q->with;
	if (!restarts) {
		goals_lower(&goals, node, REQUEST_STOP, request_reason(q, call, why));
	} else if (goals_restart(&goals, node, request_reason(q, call, why)) < 0) {
		request_fail(q, ERROR_NODE_STOPPED, node_name(request_find_stopped_above(node)),
			     NULL);
		return;
	}
	goals_commit(&goals);
	request_note_stop(q, node, call);
	request_wait_or_return(q, node, call);
}

void request_fail_enable(struct request *q, const char *name, int error)
{
	if (error == ENOENT)
		request_fail(q, ERROR_FAILED, name,
			     "no state file: set state in [swansong], for example "
			     "/var/lib/swansong/state");
	else
		request_fail(q, ERROR_FAILED, name, strerror(error));
}

/* Begins the change as soon as no other one is being written, and then waits for its end. */
void request_update_enable(struct request *q, struct node *node)
{
	int r;

	if (q->change) {
		r = enable_result(q->tree, q->change);
		if (r == 0)
			request_succeed(q);
		else if (r != -EINPROGRESS) /* ENOENT is about the directory */
			request_fail_enable(q, *q->path ? q->path : node_name(node),
					    r == -ENOENT ? ENOTDIR : -r);
		return;
	}
	r = enable_set(q->tree, node, q->method == METHOD_ENABLE, &q->change);
	if (r < 0 && r != -EBUSY)
		request_fail_enable(q, node_name(node), -r);
}

void request_enable(struct request *q, struct node *node, const struct message_call *call)
{
	if (node->transient) {
		request_fail(q, ERROR_FAILED, node_name(node), "a transient node has no section");
		return;
	}
	q->change = 0;
	request_begin_wait(q, node, call);
}

/* Changes the times of a shutdown that is under way.  Returns false after a failure. */
static bool request_change_times(struct request *q, struct node *node, const json_t *parameters)
{
	uint64_t extend_usec = message_get_number(parameters, "extend_usec", 0);
	const json_t *hold = json_object_get(parameters, "hold");
	const char *trouble = NULL;

	if (!node->stop_usec || node->complete)
		trouble = "no shutdown is in progress";
	else if (hold && node->parent)
		trouble = "expected the root: the whole shutdown is held";
	else if (extend_usec > 0 && goals_extend(node, extend_usec) == 0)
		trouble = "cannot be extended: its time is limited from above, or by --grace";
	else if (hold && !goals_hold(node, json_is_true(hold)))
		trouble =
			"cannot be held: its time is limited by the parent manager, or by --grace";
	if (trouble)
		request_fail(q, ERROR_FAILED, node_name(node), trouble);
	return !trouble;
}

void request_shutdown(struct request *q, struct node *node, const struct message_call *call)
{
	uint64_t grace_usec = message_get_number(call->parameters, "grace_usec", USEC_INFINITY);
	bool changes = json_object_get(call->parameters, "extend_usec") ||
		       json_object_get(call->parameters, "hold");
	char why[REQUEST_REASON_MAX];
	struct goals goals;

	if (grace_usec == 0) {
		request_fail(q, ERROR_FAILED, node_name(node), "a grace of 0 is none: use force");
		return;
	}
	if (changes && !request_change_times(q, node, call->parameters))
		return;
	if (!changes) {
		goals_begin(&goals, q->tree, node->parent ? CAUSE_OPERATOR : CAUSE_SHUTDOWN);
		goals.until_usec = clock_add(goals.usec, budget_of_grace(grace_usec));
		goals_lower(&goals, node, REQUEST_STOP, request_reason(q, call, why));
		goals_commit(&goals);
		request_note_stop(q, node, call);
		if (message_get_bool(call->parameters, "force", false))
			deadline_force_soon(node);
	}
	if (!changes && message_get_bool(call->parameters, "wait", true)) {
		request_begin_wait(q, node, call);
		return;
	}
	connection_reply(q->connection, request_progress(q, node), false);
}

void request_wait(struct request *q, struct node *node, const struct message_call *call)
{
	const char *until = message_get_string(call->parameters, "until", "complete");

	(void)snprintf(q->until, sizeof(q->until), "%s", until);
	request_begin_wait(q, node, call);
}

/* --- signals --- */

static enum signal_scope request_scope_of(const struct message_call *call)
{
	const char *scope = message_get_string(call->parameters, "scope", "main");

	if (strcmp(scope, "group") == 0)
		return SIGNAL_SCOPE_GROUP;
	return strcmp(scope, "all") == 0 ? SIGNAL_SCOPE_ALL : SIGNAL_SCOPE_MAIN;
}

void request_signal(struct request *q, struct node *node, const struct message_call *call)
{
	const char *text = message_get_text(call->parameters, "signal");
	char name[SIGNAL_TEXT_MAX], why[REQUEST_REASON_MAX];
	struct service *s;
	int signo;

	if (parse_signal(text, &signo) < 0) {
		request_fail(
			q, ERROR_FAILED, node_name(node),
			"unknown signal: expected a name or number, for example SIGUSR1 or 10");
		return;
	}
	s = request_find_running_service(q, node);
	if (!s)
		return;
	node_log(node, LOG_NOTICE, "%s: %s", parse_signal_text(name, signo),
		 request_reason(q, call, why));
	service_send(s, signo, request_scope_of(call));
	request_succeed(q);
}
