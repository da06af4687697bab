/*
 * A node is made with its final action and, if it has a command, its service; a failure halfway
 * frees all of it.  The tree is freed from its leaves.  A node without a section is freed when it
 * is Complete and nothing of an earlier generation remains either.
 *
 * Completion goes up the tree: the library reports a node whose last guard is released, and the
 * task runs its final action or records that the node is Complete.
 */
#include "daemon/tree/build.h"

#include "daemon/node/agent.h"
#include "daemon/node/pressure.h"
#include "daemon/service/machine.h"
#include "daemon/tree/edges.h"
#include "daemon/tree/timetable.h"

DEFINE_DICT_NAME(tree_path_of, struct node, path)

static void tree_remove_service(struct tree *tree, struct node *node)
{
	if (tree->ends.cause == node->service)
		tree->ends.cause = NULL;
	if (tree->ends.first == node->service)
		tree->ends.first = NULL;
	node->service = service_free(node->service);
}

void tree_remove(struct tree *tree, struct node *node)
{
	tree->ctx->changes++;
	edges_remove(node);
	lease_lose_all(node);
	dict_remove(&tree->by_path, node->path);
	tree_remove_service(tree, node);
	node->timetable = timetable_free(node->timetable);
	node->alert = alert_free(node->alert);
	node->agent = agent_free(node->agent);
	pressure_free(node);
	node->final = final_free(node->final);
	node_free(node);
}

int tree_add(struct tree *tree, struct config *config, const struct node_config *nc,
	     const char *path, struct node **ret)
{
	struct node *parent = nc->parent ? tree_find(tree, nc->parent->path) : NULL;
	struct timetable *timetable = NULL;
	struct node *node = NULL;
	int r;

	r = node_new(&node, tree->ctx, config, nc, path, parent);
	if (r < 0)
		return r;
	r = dict_add(&tree->by_path, node);
	if (r < 0) {
		node_free(node);
		return r;
	}
	events_reserve(tree->ctx->events, tree->by_path.n);
	goals_init(node, nc);
	r = final_new(&node->final, node, nc);
	if (r >= 0)
		r = alert_new(&node->alert, node, nc);
	/* The agent goes over to a successor with the name. */
	if (r >= 0 && !node_is_aside(node))
		r = agent_new(&node->agent, node, nc);
	if (r >= 0 && nc->argv)
		r = service_new(&node->service, node, nc);
	if (r >= 0)
		r = timetable_new(&timetable, node, nc);
	timetable_use(node, timetable);
	if (r < 0) {
		tree_remove(tree, node);
		return r;
	}
	*ret = node;
	return 0;
}

int tree_init(struct tree *tree, struct context *ctx, struct config *config)
{
	int r = 0;

	*tree = (struct tree){
		.ctx = ctx,
		.ends = { .exit_when = config->exit_when, .former = -1 },
	};
	dict_init(&tree->by_path, tree_path_of);
	for (size_t i = 0; r == 0 && i < config->n_nodes; i++) {
		struct node *node;

		r = tree_add(tree, config, config->nodes[i], config->nodes[i]->path, &node);
		if (r == 0 && !node->parent)
			tree->root = node;
	}
	if (r == 0)
		r = edges_prepare(tree, config);
	if (r == 0)
		edges_commit(tree);
	else
		tree_done(tree);
	if (r < 0)
		return r;
	tree_use_config(tree, config);
	tree_enter_config(tree);
	return 0;
}

void tree_use_config(struct tree *tree, struct config *config)
{
	struct config *former = tree->config;

	tree->config = config_ref(config);
	config_unref(former);
	for (struct node *n = tree->root; n; n = node_next(n, tree->root))
		if (n->pressure || node_config_extras(n->config)->pressure_stop.window_usec)
			node_add_task(n, TASK_PRESSURES);
}

void tree_enter_config(struct tree *tree)
{
	struct config *former = tree->entered;

	roster_enter_descriptor(tree->ctx->roster, &tree->place, tree->config->tape, 0,
				ROSTER_CONFIGURATION);
	if (former && former != tree->config && former->tape > 0)
		(void)fcntl(former->tape, F_SETFD, FD_CLOEXEC);
	tree->entered = config_ref(tree->config);
	config_unref(former);
}

void tree_done(struct tree *tree)
{
	while (tree->root) {
		struct node *node = tree->root;

		while (!list_is_empty(&node->children))
			node = list_entry(node->children.next, struct node, sibling);
		if (node == tree->root)
			tree->root = NULL;
		tree_remove(tree, node);
	}
	dict_done(&tree->by_path);
	tree->config = config_unref(tree->config);
	tree->entered = config_unref(tree->entered);
}

static bool tree_is_prunable(const struct node *node)
{
	if (node->goal != GOAL_GONE || !node->complete || !list_is_empty(&node->children))
		return false;
	/* A request waits for its end and needs the node for its reply. */
	if (agenda_has(&node->due, TASK_TRANSIENT))
		return false;
	/* A node of a later generation may be Complete while guards of an earlier one are held. */
	return list_is_empty(&node->leases) && !final_is_pending(node) && !alert_hook(node) &&
	       !(node->service && (fsm_has_process(node->service->state) ||
				   !list_is_empty(&node->service->remaining)));
}

/* Frees @node if it has no section and nothing of it remains; then its ancestors likewise. */
static void tree_prune(struct tree *tree, struct node *node)
{
	while (node && tree_is_prunable(node)) {
		struct node *parent = node->parent;

		if (node_is_aside(node)) /* a hand-over may wait for its end */
			context_update_soon(tree->ctx);
		tree_remove(tree, node);
		node = parent;
	}
}

void tree_process_completion(struct tree *tree, struct node *node)
{
	alert_update(node);
	final_update(node);
	if (!node->complete && swansong_completion_done(node->completion)) {
		char took[CLOCK_TEXT_MAX];
		int level =
			node->service && list_is_empty(&node->children) ? LOG_DEBUG : LOG_NOTICE;

		node->complete = true;
		node->since_usec = clock_now_usec();
		trace_complete(node->trace, node->forced, node->force.own_usec,
			       node->config->shutdown_timeout_usec, node->since_usec);
		node_changed(node, "shutting_down", node->forced ? "forced" : "");
		if (node->transient)
			node_add_task(node, TASK_TRANSIENT);
		alarm_stop(&node->ctx->alarms, &node->budget);
		node_log(node, level, "complete in %s%s",
			 clock_text(took, node->since_usec - node->stop_usec),
			 node->forced ? " (forced)" : "");
	}
	if (node->service && !node->config->argv && !fsm_has_process(node->service->state))
		tree_remove_service(tree, node);
	if (node->complete)
		goals_complete(node);
	tree_prune(tree, node);
}
