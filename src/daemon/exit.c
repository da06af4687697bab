#include "daemon/exit.h"

#include "model/policy.h"

bool exit_has_essential(const struct tree *tree)
{
	for (const struct node *n = tree->root; n; n = node_next(n, tree->root))
		if (n->service && n->config->essential && !n->retired)
			return true;
	return false;
}

static bool counts(const struct node *n, bool essential)
{
	return n->service && !n->retired && (!essential || n->config->essential);
}

/* For good, as far as can be seen: nothing that goes on by itself starts it again. */
static bool has_ended(const struct service *s)
{
	return service_is_settled(s) && !service_is_at_work(s) && !node_is_restarted(s->node);
}

bool exit_is_due(const struct tree *tree)
{
	bool essential = exit_has_essential(tree), any = false;

	for (const struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		if (!counts(n, essential))
			continue;
		if (!has_ended(n->service))
			return false;
		any = true;
	}
	return any;
}

static bool ended_badly(const struct service *s)
{
	if (s->state == STATE_FAILED)
		return true;
	return s->outcome.kind != OUTCOME_NONE && !policy_is_clean(s->config, &s->outcome);
}

struct service *exit_cause(const struct tree *tree)
{
	bool essential = exit_has_essential(tree);
	struct service *first = NULL, *any = NULL;

	for (const struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		struct service *s = n->service;

		if (!counts(n, essential))
			continue;
		if (essential && !any)
			any = s;
		if (ended_badly(s) && (!first || s->since_usec < first->since_usec))
			first = s;
	}
	return first ? first : any;
}
