/*
 * Waiting calls: in each turn the state of the node is compared with the one that the call waits
 * for.  The reply is sent when that is reached, or cannot be reached any more.
 */

#include "daemon/describe/describe.h"
#include "daemon/succession/succession.h"
#include "daemon/tree/start-order.h"
#include "daemon/control/requests-private.h"

/* Progress is sent at most four times in a second. */
#define PROGRESS_EVERY_USEC (250 * USEC_PER_MSEC)
#define PENDING_MAX	    32

void request_begin_wait(struct request *q, const struct node *node, const struct message_call *call)
{
	events_cause(q->tree->ctx->events, q->cause);
	q->generation = node->generation;
	q->hands_over = node->goal == GOAL_HANDOVER;
	q->settle_usec = message_get_number(call->parameters, "settle_usec", 0);
	q->waiting = true;
	if (swansong_completion_new(node->handle, &q->completion) < 0) {
		q->completion = NULL;
		request_fail(q, ERROR_FAILED, q->path, "out of memory");
		return;
	}
	context_update_soon(q->tree->ctx);
}

void request_wait_or_return(struct request *q, const struct node *node,
			    const struct message_call *call)
{
	json_t *reply;

	if (message_get_bool(call->parameters, "wait", true)) {
		request_begin_wait(q, node, call);
		return;
	}
	reply = json_object();
	request_add_dependents(q, reply);
	request_reply(q, reply);
}

/*
 * Returns the node that keeps a service in @top from becoming ready, or NULL.  A start waits for
 * services that start with @top; any other wait is for all services.
 */
static struct node *request_find_unreachable(struct node *top, bool start)
{
	for (struct node *n = top; n; n = node_next(n, top)) {
		const struct service *s = n->service;
		struct node *culprit;

		if (!s || n->goal == GOAL_GONE || (start && !start_order_is_meant(n, top)))
			continue;
		if (s->state == STATE_FAILED || (start && node_goal(n) <= GOAL_DOWN))
			return n;
		culprit = s->blocked ? start_order_culprit(s) : NULL;
		if (culprit && (start || node_goal(culprit) > GOAL_DOWN))
			return culprit;
	}
	return NULL;
}

static bool request_is_ready(struct node *top, bool start)
{
	if (!start)
		return node_is_ready(top);
	/* An idle service that was enabled meanwhile is not waited for: it starts with a later request. */
	for (const struct node *n = top; n; n = node_next(n, top))
		if (n->service && start_order_is_meant(n, top) && node_goal(n) != GOAL_IDLE &&
		    !service_is_ready(n->service))
			return false;
	return true;
}

static void request_fail_ready(struct request *q, struct node *node, const struct node *blocked)
{
	char text[OUTCOME_TEXT_MAX];

	if (!blocked->service || node_goal(blocked) <= GOAL_DOWN) {
		request_fail(q, ERROR_NODE_STOPPED, node_name(blocked), NULL);
		return;
	}
	policy_outcome_text(text, &blocked->service->run.outcome);
	if (q->method == METHOD_START)
		request_fail(q, ERROR_FAILED, node_name(blocked), text);
	else
		request_fail_stop(q, node, blocked, text);
}

/*
 * Waits for the dependents that a restart has stopped as well.  Returns true if one is not ready
 * yet.
 */
static bool request_awaits_dependents(struct request *q, struct node *node)
{
	const json_t *path;
	size_t i;

	json_array_foreach (q->with, i, path) {
		struct node *with = tree_find(q->tree, json_string_value(path));
		enum goal goal = with ? node_goal(with) : GOAL_GONE;
		struct node *blocked;

		/* A service that was stopped meanwhile, and may be idle now, does not start with this node. */
		if (goal < GOAL_CYCLE || goal == GOAL_IDLE || request_is_ready(with, true))
			continue;
		blocked = goal == GOAL_CYCLE ? NULL : request_find_unreachable(with, true);
		if (blocked)
			request_fail_ready(q, node, blocked);
		return true;
	}
	return false;
}

/* Returns true if @node, in @top, is watched: if its start is the only sign of its readiness. */
static bool request_is_watched(const struct node *node, const struct node *top)
{
	const struct service *s = node->service;

	return s && start_order_is_meant(node, top) && s->setup.launch.config->type != TYPE_ONESHOT &&
	       s->setup.launch.config->ready.kind == PROBE_STARTED;
}

/* Returns a service in @top that has ended within the time that it is watched, or NULL. */
static struct service *request_find_ended_early(const struct request *q, struct node *top)
{
	for (struct node *n = top; q->settle_usec > 0 && n; n = node_next(n, top)) {
		struct service *s = n->service;
		uint64_t until = s ? clock_add(s->run.started_usec, q->settle_usec) : 0;

		if (request_is_watched(n, top) && s->run.was_up && until >= q->begun_usec &&
		    s->since_usec <= until &&
		    (s->state == STATE_BACKOFF || s->state == STATE_DONE ||
		     s->state == STATE_FAILED))
			return s;
	}
	return NULL;
}

/* Returns true if a service in @top has not run for long enough. */
static bool request_is_settling(struct request *q, struct node *top)
{
	uint64_t now = clock_now_usec(), last = 0;

	for (struct node *n = top; q->settle_usec > 0 && n; n = node_next(n, top))
		if (request_is_watched(n, top) && n->service->state == STATE_UP)
			last = MAX(last, n->service->run.started_usec);
	if (last == 0 || clock_add(last, q->settle_usec) <= now)
		return false;
	alarm_set(&q->tree->ctx->alarms, &q->progress, clock_add(last, q->settle_usec));
	return true;
}

void request_update_ready(struct request *q, struct node *node)
{
	bool start = q->method != METHOD_WAIT; /* a wait also waits for a later start */
	const struct service *ended;
	struct node *blocked;

	if (node_goal(node) == GOAL_CYCLE || node->goal == GOAL_HANDOVER)
		return;
	if (node_is_stopped(node)) {
		if (start || node_is_stopped(q->tree->root))
			request_fail(q, ERROR_NODE_STOPPED, node_name(node), NULL);
		return;
	}
	if (q->hands_over && node->generation == q->generation) {
		char why[SUCCESSION_WHY_MAX];

		request_fail_stop(q, node, node, succession_failure(node, why));
		return;
	}
	ended = request_find_ended_early(q, node);
	if (ended) {
		char outcome[OUTCOME_TEXT_MAX], age[CLOCK_TEXT_MAX];
		char text[OUTCOME_TEXT_MAX + CLOCK_TEXT_MAX + 32];

		(void)snprintf(text, sizeof(text), "%s %s after its start",
			       policy_outcome_text(outcome, &ended->run.outcome),
			       clock_text(age, ended->since_usec - ended->run.started_usec));
		request_fail_stop(q, node, ended->node, text);
		return;
	}
	if (request_is_ready(node, start)) {
		if (request_awaits_dependents(q, node) || request_is_settling(q, node))
			return;
		if (q->method == METHOD_START)
			request_succeed(q);
		else
			request_succeed_stop(q, node);
		return;
	}
	blocked = request_find_unreachable(node, start);
	if (blocked)
		request_fail_ready(q, node, blocked);
}

json_t *request_progress(struct request *q, struct node *node)
{
	return json_pack("{s:o, s:o, s:I}", "node", describe_node(node), "guards",
			 describe_guards(node, true), "elapsed_usec",
			 (json_int_t)(clock_now_usec() - q->begun_usec));
}

bool request_takes_progress(struct request *q)
{
	uint64_t now = clock_now_usec();

	if (!q->more || connection_is_clogged(q->connection))
		return false;
	if (now < q->next_usec) {
		alarm_set(&q->tree->ctx->alarms, &q->progress, q->next_usec);
		return false;
	}
	q->next_usec = now + PROGRESS_EVERY_USEC;
	return true;
}

void request_update_shutdown(struct request *q, struct node *node)
{
	if (!node || swansong_completion_done(q->completion)) {
		json_t *parameters = node ? request_progress(q, node) : json_object();

		request_add_forced_kills(q, node, parameters);
		request_reply(q, parameters);
		return;
	}
	if (request_takes_progress(q))
		connection_reply(q->connection, request_progress(q, node), true);
}

/* Adds the services in @node that are not ready, up to a limit, and the number of the others. */
static void request_add_pending(json_t *progress, struct node *node)
{
	json_t *pending = json_array();
	json_int_t more = 0;

	for (struct node *n = node; n; n = node_next(n, node)) {
		if (!n->service || node_is_stopped(n) || service_is_resolved(n->service))
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

static void request_settle_until(struct request *q, struct node *node)
{
	if (strcmp(q->until, "ready") == 0) {
		request_update_ready(q, node);
	} else if (strcmp(q->until, "running") == 0) {
		if (!node_is_stopped(node))
			request_succeed(q);
		else if (node_is_stopped(q->tree->root))
			request_fail(q, ERROR_NODE_STOPPED, node_name(node), NULL);
	} else if (strcmp(q->until, "stopping") == 0) {
		/* The node may have been stopped and renewed within one turn. */
		if (node_is_stopped(node) || node->generation != q->generation)
			request_succeed(q);
	} else if (swansong_completion_done(q->completion)) {
		request_succeed_stop(q, node);
	}
}

void request_update_stop(struct request *q, struct node *node)
{
	if (!node || swansong_completion_done(q->completion))
		request_succeed_stop(q, node);
}

void request_update_wait(struct request *q, struct node *node)
{
	if (node) {
		json_t *progress;

		request_settle_until(q, node);
		if (q->waiting && request_takes_progress(q)) {
			progress = request_progress(q, node);
			request_add_pending(progress, node);
			connection_reply(q->connection, progress, true);
		}
	} else if (request_is_implied_by_the_end(q->until)) {
		request_succeed_stop(q, NULL);
	} else {
		request_fail(q, ERROR_NO_SUCH_NODE, q->path, NULL);
	}
}
