/*
 * The end of a service ends the tree if it is essential (exit-when = any), if its failure is fatal
 * (on-failed, on-unhealthy), or if it is the last one that counts (exit-when = all): the last
 * essential service, or the last of all if none is essential.
 */
#include "daemon/tree/exit.h"

#include "daemon/tree/goals.h"

bool exit_has_essential(const struct tree *tree)
{
	for (const struct node *n = tree->root; n; n = node_next(n, tree->root))
		if (n->service && n->config->essential && n->goal != GOAL_GONE)
			return true;
	return false;
}

static bool exit_is_counted(const struct node *n, bool essential)
{
	return n->service && n->goal != GOAL_GONE && !node_is_aside(n) &&
	       (!essential || n->config->essential);
}

static bool exit_is_due(const struct tree *tree)
{
	bool essential = exit_has_essential(tree), any = false;

	for (const struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		if (!exit_is_counted(n, essential))
			continue;
		/* A service has ended if nothing under way, such as an event, starts it again. */
		if (n->service->posted.n > 0 || !service_is_resolved(n->service) || service_is_at_work(n->service) ||
		    service_is_listening(n->service) || node_goal(n) == GOAL_CYCLE)
			return false;
		any = true;
	}
	return any;
}

static bool exit_has_ended_badly(const struct service *s)
{
	if (s->state == STATE_FAILED)
		return true;
	return s->run.outcome.kind != OUTCOME_NONE && !policy_is_clean(s->config, &s->run.outcome);
}

static struct service *exit_cause(const struct tree *tree)
{
	bool essential = exit_has_essential(tree);
	struct service *first = NULL, *any = NULL;

	for (const struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		struct service *s = n->service;

		if (!exit_is_counted(n, essential))
			continue;
		if (essential && !any)
			any = s;
		if (exit_has_ended_badly(s) && (!first || s->since_usec < first->since_usec))
			first = s;
	}
	return first ? first : any;
}

static bool exit_is_fatal(const struct tree *tree, const struct service *s)
{
	if (service_is_at_work(s))
		return s->run.outcome.kind == OUTCOME_UNHEALTHY; /* on-unhealthy = shutdown */
	if (s->config->essential && tree->ends.exit_when == EXIT_WHEN_ANY)
		return true;
	if (s->state != STATE_FAILED)
		return false;
	return s->config->on_failed == ON_FAILED_SHUTDOWN ||
	       (s->config->on_failed == ON_FAILED_SHUTDOWN_PARENT && !s->node->parent->parent);
}

/* A service without a section is not essential; one that is restarted has not ended. */
static void exit_note_end(struct tree *tree, struct service *s)
{
	struct ends *ends = &tree->ends;

	if (s->node->goal == GOAL_GONE || node_goal(s->node) == GOAL_CYCLE ||
	    node_is_aside(s->node) || service_awaits_connection(s) || service_is_skipped(s))
		return;
	if (exit_is_fatal(tree, s) && !ends->cause)
		ends->cause = s;
	if (service_is_at_work(s))
		return;
	ends->any = true;
	if (s->config->essential && !ends->first)
		ends->first = s;
}

static void exit_end_tree(struct tree *tree, const char *reason)
{
	const struct service *cause = tree->ends.cause;

	tree->ends.by_itself = true;
	tree->ends.given_up = cause && cause->state == STATE_FAILED;
	goals_lower_one(tree, tree->root, CAUSE_SHUTDOWN, REQUEST_STOP, reason);
}

void exit_update(struct tree *tree)
{
	struct node *node;

	node_for_each_taken (node, tree->ctx, TASK_ENDS)
		exit_note_end(tree, node->service);
	if (tree->ends.cause && !node_is_stopped(tree->root)) {
		char reason[CONFIG_NAME_MAX + 20];

		(void)snprintf(reason, sizeof(reason), "%s %s", tree->ends.cause->config->path,
			       tree->ends.cause->state == STATE_FAILED ? "has failed"
			       : service_is_at_work(tree->ends.cause)  ? "is unhealthy"
								       : "has ended");
		exit_end_tree(tree, reason);
	}
}

void exit_update_last(struct tree *tree)
{
	struct ends *ends = &tree->ends;

	if (ends->exit_when != EXIT_WHEN_ALL || !ends->any || node_is_stopped(tree->root) ||
	    !exit_is_due(tree))
		return;
	ends->cause = exit_cause(tree);
	exit_end_tree(tree, exit_has_essential(tree) ? "all essential services have ended"
						     : "all services have ended");
}

/* --- the exit status --- */

const struct service *exit_service(const struct tree *tree)
{
	const struct service *first = tree->ends.first;

	/* After a reload the first essential service that has ended may not be essential any more. */
	if (tree->ends.cause || !first || !first->config->essential)
		return tree->ends.cause;
	return first;
}

int exit_status_of_cause(const struct tree *tree)
{
	const struct service *cause = exit_service(tree);

	if (tree->ends.former >= 0 || !cause)
		return tree->ends.former;
	return policy_end_status(cause->config, &cause->run.outcome);
}

void exit_enter(struct tree *tree, int signo)
{
	struct ends *ends = &tree->ends;
	struct roster_row row = roster_row(ROSTER_END, signo, "", "");

	if (!node_is_stopped(tree->root))
		return;
	row.detail[0] = (uint64_t)exit_status_of_cause(tree) + 1;
	row.detail[1] = ends->by_itself;
	row.detail[2] = ends->given_up;
	row.detail[3] = tree->root->forced;
	if (ends->place && memcmp(row.detail, ends->entered, sizeof(ends->entered)) == 0)
		return;
	memcpy(ends->entered, row.detail, sizeof(ends->entered));
	roster_write(tree->ctx->roster, &ends->place, &row);
}

int exit_take_former(struct tree *tree)
{
	size_t at = 0;
	const struct roster_row *row = roster_next(tree->ctx->roster, ROSTER_END, &at);

	if (!row || !node_is_stopped(tree->root))
		return 0;
	tree->ends.former = (int)MIN(row->detail[0], (uint64_t)UINT8_MAX + 1) - 1;
	tree->ends.by_itself = row->detail[1];
	tree->ends.given_up = row->detail[2];
	tree->root->forced |= row->detail[3];
	return row->number & INT8_MAX;
}
