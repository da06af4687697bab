#include "daemon/progress.h"

#include "daemon/busy.h"
#include "daemon/final.h"
#include "daemon/service-hook.h"

static bool runs_final(const struct node *node)
{
	const struct hook *final = final_hook(node);

	return final && hook_is_running(final);
}

static bool has_work(const struct service *s)
{
	return s->state == STATE_DRAINING || service_running_hook(s, 0) || busy_guards(s) > 0;
}

bool progress_is_expected(const struct tree *tree)
{
	for (const struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		if (!list_is_empty(&n->leases) || runs_final(n))
			return true;
		if (n->service && fsm_has_process(n->service->state) && has_work(n->service))
			return true;
	}
	return false;
}
