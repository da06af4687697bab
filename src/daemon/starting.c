#include "daemon/starting.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/final.h"
#include "daemon/lease.h"
#include "daemon/order.h"
#include "daemon/service-signal.h"
#include "daemon/service-timeout.h"

/*
 * The nodes to be started, as a set of tops of subtrees: none below another, in order of discovery.
 */
struct selection {
	struct node **tops;
	size_t n;
};

static bool is_selected(const struct selection *selection, const struct node *node)
{
	for (size_t i = 0; i < selection->n; i++)
		if (node_is_within(node, selection->tops[i]))
			return true;
	return false;
}

static int select_node(struct selection *selection, struct node *node)
{
	struct node **more;

	if (is_selected(selection, node))
		return 0;
	if (node->retired)
		return -ESHUTDOWN;
	if (node->parent && node_is_stopped(node->parent) && !is_selected(selection, node->parent))
		return -ESHUTDOWN;
	more = realloc(selection->tops, (selection->n + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	more[selection->n++] = node;
	selection->tops = more;
	return 0;
}

/* Is it one that nobody has started yet, and that is not started by itself? */
static bool is_asleep(const struct node *node)
{
	return node->service && !node->service->config->autostart && !node->service->wanted;
}

/* Also if nothing in it is started by itself, so that it could not be more ready. */
static bool is_missing(const struct node *node)
{
	return (!node_is_ready(node) || node_is_stopped(node) || is_asleep(node)) && !node->restart;
}

static int select_missing(struct selection *selection, struct node *const *nodes)
{
	int r = 0;

	for (; r == 0 && nodes && *nodes; nodes++)
		if (is_missing(*nodes))
			r = select_node(selection, *nodes);
	return r;
}

/* What @node or a parent of it requires or wants, and what does not run or soon will by itself. */
static int select_requirements(struct selection *selection, const struct node *node)
{
	int r = 0;

	for (; r == 0 && node; node = node->parent) {
		r = select_missing(selection, node_edges(node, EDGE_REQUIRES));
		/* What is wanted only may be where nothing starts any more. */
		if (r == 0 && select_missing(selection, node_edges(node, EDGE_WANTS)) == -ENOMEM)
			r = -ENOMEM;
	}
	return r;
}

static bool needs_start(const struct service *service)
{
	/* Its section is a group's now, and its last process is awaited. */
	if (!service->node->config->argv)
		return false;
	if (service->state == STATE_DONE)
		return service->config->type == TYPE_SIMPLE;
	return !service->wanted || service->state == STATE_FAILED ||
	       service->state == STATE_BACKOFF;
}

/*
 * Whoever is named is started, by hand or by what requires it; others as far as they are started by
 * themselves, or ran before.
 */
static bool is_meant(const struct node *node, bool named, bool restart)
{
	const struct service *s = node->service;

	return s && (named || s->config->autostart || (restart && s->was_wanted));
}

void starting_forget(struct node *node)
{
	for (struct node *n = node; n; n = node_next(n, node)) {
		if (!n->service)
			continue;
		policy_forget(n->service->policy);
		n->service->restarts = 0;
		n->service->not_before_usec = 0;
		n->service->together = false;
	}
	context_settle_soon(node->ctx); /* who waited for that, and for nothing else */
}

static int renew(struct node *node)
{
	int r = lease_keep_budget(node);

	if (r < 0)
		return r;
	if (node->service) {
		service_keep_rest(node->service);
		service_keep_budget(node->service);
	}
	return node_renew(node);
}

/* Memory is all that can fail, and what was begun before then is right as it is. */
static int start_selected(struct node *top, bool named, bool resume)
{
	for (struct node *n = top; n; n = node_next(n, top)) {
		bool restart = n->restart;
		int r;

		if (n->retired || (resume && n != top && node_is_stopped(n) && !n->restart))
			continue;
		final_record(n);
		r = node_is_stopped(n) ? renew(n) : 0;
		if (r < 0)
			return r;
		n->restart = false;
		if (!is_meant(n, named && n == top, restart) || !needs_start(n->service))
			continue;
		n->service->was_wanted = false;
		order_want(n->service);
	}
	return 0;
}

static bool want_asleep(struct node *const *nodes)
{
	bool changed = false;

	for (; nodes && *nodes; nodes++) {
		if (!is_asleep(*nodes) || node_is_stopped(*nodes))
			continue;
		order_want((*nodes)->service);
		changed = true;
	}
	return changed;
}

/* Services that are wanted may require others that are not; those may do so, too. */
static bool want_requirements(const struct node *node)
{
	bool changed = false;

	for (; node; node = node->parent) {
		changed |= want_asleep(node_edges(node, EDGE_REQUIRES));
		changed |= want_asleep(node_edges(node, EDGE_WANTS));
	}
	return changed;
}

static bool waits(const struct node *node)
{
	const struct service *s = node->service;

	return s && s->wanted && s->state == STATE_DOWN && !node_is_stopped(node);
}

static bool want_requirements_in(struct node *top)
{
	bool changed = false;

	for (struct node *n = top; n; n = node_next(n, top))
		if (waits(n))
			changed |= want_requirements(n);
	return changed;
}

/* Those that are not started by themselves, and are in one of the tops; others are tops. */
static void want_selected_requirements(const struct selection *selection)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = 0; i < selection->n; i++)
			changed |= want_requirements_in(selection->tops[i]);
	}
}

static int begin(struct node *node, bool resume)
{
	struct selection selection = { 0 };
	int r = select_node(&selection, node);

	for (size_t i = 0; r == 0 && i < selection.n; i++) {
		struct node *top = selection.tops[i];

		for (struct node *n = top; r == 0 && n; n = node_next(n, top))
			if (n->service)
				r = select_requirements(&selection, n);
	}
	for (size_t i = 0; r == 0 && i < selection.n; i++) {
		if (!resume)
			starting_forget(selection.tops[i]);
		r = start_selected(selection.tops[i], i > 0 || !resume, resume);
	}
	if (r == 0)
		want_selected_requirements(&selection);
	free(selection.tops);
	return r;
}

int starting_begin(struct node *node)
{
	return begin(node, false);
}

int starting_resume(struct node *node)
{
	return begin(node, true);
}

void starting_want_requirements(struct tree *tree)
{
	while (want_requirements_in(tree->root))
		;
}

void starting_by_itself(struct tree *tree)
{
	for (struct node *n = tree->root; n; n = node_next(n, tree->root))
		if (n->service && n->service->config->autostart)
			order_want(n->service);
	starting_want_requirements(tree);
}

void starting_new(struct tree *tree, struct service *service)
{
	order_want(service);
	starting_want_requirements(tree);
}

static bool is_under_way(const struct service *service)
{
	if (!service->wanted || service->attempted)
		return false;
	return fsm_is_coming_up(service->state) ||
	       (service->state == STATE_DOWN && !order_start_blocker(service));
}

bool starting_is_under_way(const struct tree *tree)
{
	for (const struct node *n = tree->root; n; n = node_next(n, tree->root))
		if (n->service && is_under_way(n->service))
			return true;
	return false;
}
