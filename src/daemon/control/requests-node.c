/*
 * Methods that show, start, stop and signal nodes.  Starts and stops change goals; their replies
 * follow when the tree has reached these, or cannot reach them any more (requests-wait.c).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"
#include "daemon/guard/attach.h"
#include "daemon/describe/describe.h"
#include "daemon/control/requests-private.h"
#include "daemon/reload/enable.h"
#include "daemon/reap/orphans.h"
#include "daemon/service/signal.h"
#include "daemon/tree/deadline.h"
#include "daemon/tree/goals.h"
#include "model/life/budget.h"

/* With `more`, one reply at a time exists as objects. */
#define NODES_PER_REPLY 100

void request_status(struct request *q, struct node *node, const struct message_call *call)
{
	struct describe_walk walk;

	describe_begin(&walk, node);
	do {
		json_t *nodes = describe_nodes(&walk, call->more ? NODES_PER_REPLY : SIZE_MAX);

		connection_reply(q->connection,
				 json_pack("{s:o, s:I}", "nodes", nodes, "configuration",
					   (json_int_t)q->tree->ctx->configuration),
				 walk.at);
	} while (walk.at && !q->connection->dead);
}

void request_guards(struct request *q, struct node *node, const struct message_call *call)
{
	uint64_t now = clock_now_usec();

	(void)strcpy(q->path, node->config->path);
	q->blocking = message_get_bool(call->parameters, "blocking", false);
	q->waiting = true;
	q->begun_usec = now;
	attach_ask(node, now);
	alarm_set(&q->tree->ctx->alarms, &q->progress, now + ATTACH_ANSWER_USEC);
	request_update_reports(q, node);
}

void request_update_reports(struct request *q, struct node *node)
{
	uint64_t now = clock_now_usec();

	if (!node) {
		request_fail(q, ERROR_NO_SUCH_NODE, q->path, NULL);
		return;
	}
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
	struct goals goals;

	goals_begin(&goals, q->tree, CAUSE_OPERATOR);
	if (goals_start(&goals, node) < 0)
		request_fail(q, ERROR_NODE_STOPPED, node_name(request_find_stopped_above(node)),
			     NULL);
	else
		request_wait_or_return(q, node, call);
}

static void request_add_dependent(struct node *node, void *with)
{
	(void)json_array_append_new(with, json_string(node->config->path));
}

/* The ends of earlier runs do not count for the run that follows, which a client waits for. */
static void request_take_dependent(struct node *node, void *with)
{
	goals_forget_restarts(node);
	request_add_dependent(node, with);
}

/* Begins a stop or a restart, and notes the dependents that are stopped with it. */
static void request_begin_lowering(struct request *q, struct goals *goals)
{
	json_decref(q->with);
	q->with = json_array();
	goals_begin(goals, q->tree, CAUSE_OPERATOR);
	goals->on_dependent = request_take_dependent;
	goals->arg = q->with;
}

void request_stop(struct request *q, struct node *node, const struct message_call *call)
{
	char why[REQUEST_REASON_MAX];
	struct goals goals;

	if (node == q->tree->root) {
		request_fail(q, ERROR_FAILED, node_name(node),
			     "the root cannot be stopped: use swansongctl shutdown");
		return;
	}
	request_begin_lowering(q, &goals);
	goals_lower(&goals, node, REQUEST_STOP, request_reason(q, call, why));
	goals_commit(&goals);
	request_note_stop(q, node, call);
	request_wait_or_return(q, node, call);
}

/* Replies with the dependents that a restart of @node would restart as well. */
static void request_foresee_restart(struct request *q, struct node *node,
				    const struct message_call *call)
{
	const json_t *beside = json_object_get(call->parameters, "beside"), *path;
	json_t *reply = json_object();
	struct goals goals;
	size_t i;

	request_begin_lowering(q, &goals);
	goals.on_dependent = request_add_dependent;
	goals.dry_run = true;
	goals.keep = message_get_number(call->parameters, "min_ready", 1);
	goals_lower(&goals, node, REQUEST_RESTART, "");
	json_array_foreach (beside, i, path) {
		struct node *other = tree_find(q->tree, json_string_value(path));

		if (other)
			goals_lower(&goals, other, REQUEST_RESTART, "");
	}
	goals_commit(&goals);
	request_add_dependents(q, reply);
	request_reply(q, reply);
}

void request_restart(struct request *q, struct node *node, const struct message_call *call)
{
	char why[REQUEST_REASON_MAX];
	struct goals goals;

	if (node == q->tree->root) {
		request_fail(q, ERROR_FAILED, node_name(node), "the root cannot be restarted");
		return;
	}
	if (message_get_bool(call->parameters, "dry_run", false)) {
		request_foresee_restart(q, node, call);
		return;
	}
	request_begin_lowering(q, &goals);
	goals.keep = message_get_number(call->parameters, "min_ready", 1);
	if (goals_restart(&goals, node, request_reason(q, call, why)) < 0) {
		request_fail(q, ERROR_NODE_STOPPED, node_name(request_find_stopped_above(node)),
			     NULL);
		return;
	}
	goals_commit(&goals);
	request_note_stop(q, node, call);
	request_wait_or_return(q, node, call);
}

static void request_fail_enable(struct request *q, const struct node *node, int error)
{
	if (error == ENOENT)
		request_fail(q, ERROR_FAILED, node_name(node),
			     "no state file: set state in [swansong], for example "
			     "/var/lib/swansong/state");
	else
		request_fail(q, ERROR_FAILED, node_name(node), strerror(error));
}

/* Begins the change as soon as no other one is being written, and then waits for its end. */
void request_update_enable(struct request *q, struct node *node)
{
	int r;

	if (!node) {
		request_fail(q, ERROR_NO_SUCH_NODE, q->path, NULL);
		return;
	}
	if (q->change) {
		r = enable_result(q->tree, q->change);
		if (r == 0)
			request_succeed(q);
		else if (r != -EINPROGRESS) /* ENOENT is about the directory */
			request_fail_enable(q, node, r == -ENOENT ? ENOTDIR : -r);
		return;
	}
	r = enable_set(q->tree, node, q->method == METHOD_ENABLE, &q->change);
	if (r < 0 && r != -EBUSY)
		request_fail_enable(q, node, -r);
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

void request_shutdown(struct request *q, struct node *node, const struct message_call *call)
{
	uint64_t grace_usec = message_get_number(call->parameters, "grace_usec", USEC_INFINITY);
	char why[REQUEST_REASON_MAX];
	struct goals goals;

	if (grace_usec == 0) {
		request_fail(q, ERROR_FAILED, node_name(node), "a grace of 0 is none: use force");
		return;
	}
	goals_begin(&goals, q->tree, node->parent ? CAUSE_OPERATOR : CAUSE_SHUTDOWN);
	goals.until_usec = clock_add(goals.usec, budget_of_grace(grace_usec));
	goals_lower(&goals, node, REQUEST_STOP, request_reason(q, call, why));
	goals_commit(&goals);
	request_note_stop(q, node, call);
	if (message_get_bool(call->parameters, "force", false))
		deadline_force_soon(node);
	if (message_get_bool(call->parameters, "wait", true)) {
		request_begin_wait(q, node, call);
		return;
	}
	q->begun_usec = clock_now_usec();
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
