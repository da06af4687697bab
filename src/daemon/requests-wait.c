#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/describe.h"
#include "daemon/order.h"
#include "daemon/requests-private.h"

/* Calls that wait: each turn looks whether what they wait for has come, or cannot come any more. */

/* Progress is told at most four times a second. */
#define PROGRESS_EVERY_USEC (250 * USEC_PER_MSEC)
#define PENDING_MAX	    32

void request_begin_wait(struct request *q, const struct node *node, const struct message_call *call)
{
	(void)snprintf(q->path, sizeof(q->path), "%s", node->config->path);
	q->more = call->more;
	q->generation = node->generation;
	q->begun_usec = clock_now_usec();
	q->next_usec = 0;
	q->waiting = true;
	if (swansong_completion_new(node->handle, &q->completion) < 0) {
		q->completion = NULL;
		request_fail(q, ERROR_FAILED, q->path, "out of memory");
		return;
	}
	request_settle(q);
}

void request_wait_or_return(struct request *q, const struct node *node,
			    const struct message_call *call)
{
	if (message_get_bool(call->parameters, "wait", true))
		request_begin_wait(q, node, call);
	else
		request_succeed(q);
}

/* A service at or below @node, or one that they need, that will not become ready; or NULL. */
static struct node *find_hopeless(struct node *node)
{
	for (struct node *n = node; n; n = node_next(n, node)) {
		struct node *failed;

		if (!n->service)
			continue;
		if (order_is_waiting(n->service))
			failed = order_failed_requirement(n->service);
		else
			failed = n->service->state == STATE_FAILED ? n : NULL;
		if (failed)
			return failed;
	}
	return NULL;
}

/* Likewise, for whoever has it started: one that has been stopped for good meanwhile; or NULL. */
static struct node *find_stopped(struct node *node)
{
	struct node *stopped = order_find_stopped(node);

	for (struct node *n = node; n && !stopped; n = node_next(n, node))
		if (n->service && order_is_waiting(n->service))
			stopped = order_stopped_requirement(n->service);
	return stopped;
}

static void settle_ready(struct request *q, struct node *node)
{
	char text[OUTCOME_TEXT_MAX];
	struct node *hopeless, *stopped;

	if (node->restart)
		return;
	if (node_is_stopped(node)) {
		if (q->method != METHOD_WAIT || node_is_stopped(q->tree->root))
			request_fail(q, ERROR_NODE_STOPPED, node_name(node), NULL);
		return;
	}
	if (node_is_ready(node)) {
		if (q->method == METHOD_START)
			request_succeed(q);
		else
			request_succeed_stop(q, node);
		return;
	}
	stopped = q->method == METHOD_WAIT ? NULL : find_stopped(node);
	if (stopped) {
		request_fail(q, ERROR_NODE_STOPPED, node_name(stopped), NULL);
		return;
	}
	hopeless = find_hopeless(node);
	if (!hopeless)
		return;
	policy_outcome_text(text, &hopeless->service->outcome);
	if (q->method == METHOD_START)
		request_fail(q, ERROR_FAILED, node_name(hopeless), text);
	else
		request_fail_stop(q, node, hopeless, text);
}

json_t *request_progress(struct request *q, struct node *node)
{
	return json_pack("{s:o, s:o, s:I}", "node", describe_node(node), "guards",
			 describe_guards(node, true), "elapsed_usec",
			 (json_int_t)(clock_now_usec() - q->begun_usec));
}

/* Who does not read what he was told is not told more. */
static bool is_to_be_told(struct request *q)
{
	uint64_t now = clock_now_usec();

	if (!q->more || connection_is_clogged(q->connection))
		return false;
	if (now < q->next_usec) {
		context_arm(q->tree->ctx, q->progress, q->next_usec);
		return false;
	}
	q->next_usec = now + PROGRESS_EVERY_USEC;
	return true;
}

static void settle_shutdown(struct request *q, struct node *node)
{
	if (!node || swansong_completion_done(q->completion)) {
		json_t *parameters = node ? request_progress(q, node) : json_object();

		request_add_losses(q, node, parameters);
		request_reply(q, parameters);
		return;
	}
	if (is_to_be_told(q))
		connection_reply(q->connection, request_progress(q, node), true);
}

/* The services in @node that are not ready, as far as they are shown, and how many others. */
static void add_pending(json_t *progress, struct node *node)
{
	json_t *pending = json_array();
	json_int_t more = 0;

	for (struct node *n = node; n; n = node_next(n, node)) {
		if (!n->service || node_is_stopped(n) || service_is_settled(n->service))
			continue;
		if (json_array_size(pending) < PENDING_MAX)
			(void)json_array_append_new(pending, describe_node(n));
		else
			more++;
	}
	(void)json_object_set_new(progress, "pending", pending);
	if (more)
		(void)json_object_set_new(progress, "more_pending", json_integer(more));
}

static void tell_wait(struct request *q, struct node *node)
{
	json_t *progress;

	if (!q->waiting || !is_to_be_told(q))
		return;
	progress = request_progress(q, node);
	add_pending(progress, node);
	connection_reply(q->connection, progress, true);
}

static void settle_wait(struct request *q, struct node *node)
{
	if (strcmp(q->until, "ready") == 0) {
		settle_ready(q, node);
	} else if (strcmp(q->until, "running") == 0) {
		if (!node_is_stopped(node))
			request_succeed(q);
		else if (node_is_stopped(q->tree->root))
			request_fail(q, ERROR_NODE_STOPPED, node_name(node), NULL);
	} else if (strcmp(q->until, "stopping") == 0) {
		/* It may have been stopped and renewed within one turn. */
		if (node_is_stopped(node) || node->generation != q->generation)
			request_succeed(q);
	} else if (swansong_completion_done(q->completion)) {
		request_succeed_stop(q, node);
	}
}

bool request_is_implied_by_the_end(const char *until)
{
	return strcmp(until, "stopping") == 0 || strcmp(until, "complete") == 0;
}

void request_settle(struct request *q)
{
	struct node *node;

	if (!q->waiting)
		return;
	node = tree_find(q->tree, q->path);
	switch (q->method) {
	case METHOD_RUN:
		request_settle_run(q, node);
		break;
	case METHOD_GUARDS:
		if (node)
			request_settle_reports(q, node);
		else
			request_fail(q, ERROR_NO_SUCH_NODE, q->path, NULL);
		break;
	case METHOD_EVENTS:
		request_settle_events(q);
		break;
	case METHOD_TAKE_GUARD:
		request_settle_guard(q);
		break;
	case METHOD_SHUTDOWN:
		settle_shutdown(q, node);
		break;
	case METHOD_STOP:
		if (!node || swansong_completion_done(q->completion))
			request_succeed_stop(q, node);
		break;
	case METHOD_WAIT:
		if (node) {
			settle_wait(q, node);
			tell_wait(q, node);
		} else if (request_is_implied_by_the_end(q->until)) {
			request_succeed_stop(q, NULL);
		} else {
			request_fail(q, ERROR_NO_SUCH_NODE, q->path, NULL);
		}
		break;
	default:
		if (node)
			settle_ready(q, node);
		else
			request_fail(q, ERROR_NO_SUCH_NODE, q->path, NULL);
		break;
	}
}
