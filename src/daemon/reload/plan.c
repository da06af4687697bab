/*
 * A plan has an entry for each node that differs between the tree and the configuration, in the
 * order of the latter, then for the nodes that leave.  Restarts spread along requirements: each one
 * adds its dependents that run, and these theirs, until none is new.
 */
#include "daemon/reload/plan.h"

#include "daemon/tree/start-order.h"

static bool plan_is_to_run(const struct node *node)
{
	return node->service && service_is_wanted(node->service);
}

/* A service that was stopped by request stays stopped; it starts with a group that restarts. */
static bool plan_is_to_begin(const struct node *node, const struct node_config *to)
{
	if (!to->argv || !node_starts_by_itself(node, to) || node_goal(node) <= GOAL_DOWN)
		return false;
	return !node->config->argv || node->goal == GOAL_IDLE;
}

/* It was stopped with a node to which it was bound, and will be bound to none. */
static bool plan_is_freed(const struct node *node, const struct node_config *to)
{
	struct node_config *const *was = node_config_edges(node->config, EDGE_BINDS_TO);
	struct node_config *const *now = node_config_edges(to, EDGE_BINDS_TO);

	return node->goal == GOAL_DOWN && node->cause == CAUSE_FAILURE && was && *was &&
	       !(now && *now);
}

/* A new service starts by itself unless the group that it comes into is stopped. */
static bool plan_is_to_start(const struct plan *plan, const struct node_config *to)
{
	const struct node_config *above = to->parent;
	const struct node *node = NULL;

	while (above && !(node = tree_find(plan->tree, above->path)))
		above = above->parent;
	return to->argv && to->autostart == AUTOSTART_YES &&
	       !disabled_has(&plan->tree->ctx->disabled, to->path) &&
	       (!node || node_goal(node) > GOAL_DOWN);
}

static void plan_add_entry(struct plan *plan, struct plan_entry entry)
{
	plan->counts[entry.kind]++;
	plan->entries[plan->n_entries++] = entry;
}

/* Returns the configuration of the present run of the service of @node, or of the last one. */
static const struct node_config *plan_running_config(const struct node *node)
{
	return node->service->next_setup ? node->service->setup.launch.config : node->config;
}

/* Returns true if the service loses its schedule, rests after a run by it, and has to run again. */
static bool plan_forgets_run(const struct node *node, const struct node_config *to)
{
	return node->service && node->goal == GOAL_IDLE &&
	       (node->service->state == STATE_DONE || node->service->state == STATE_FAILED) &&
	       !node_config_extras(to)->schedule &&
	       node_config_needs_restart(plan_running_config(node), to);
}

static void plan_compare_node(struct plan *plan, struct node *node, const struct node_config *to)
{
	struct plan_entry entry = {
		.kind = PLAN_CHANGE,
		.node = node,
		.from = node->config,
		.to = to,
		.start = plan_is_to_begin(node, to) || plan_is_freed(node, to),
		.forgets_run = plan_forgets_run(node, to),
	};
	bool needs_restart;

	/* A service that waits for its start begins with the new configuration. */
	needs_restart = plan_is_to_run(node) && node->service->state != STATE_DOWN &&
			node_config_needs_restart(plan_running_config(node), to);
	if (node_config_diff(entry.from, to, &entry.keys) == 0) {
		if (!needs_restart)
			return;
		entry.from = plan_running_config(node);
		(void)node_config_diff(entry.from, to, &entry.keys);
		key_set_remove_live(&entry.keys);
	}
	/* A service that becomes a group has no next run. */
	entry.outdated = needs_restart && plan->rollout && to->argv;
	entry.restart = needs_restart && !entry.outdated;
	plan_add_entry(plan, entry);
}

static void plan_compare_nodes(struct plan *plan)
{
	struct tree *tree = plan->tree;

	for (size_t i = 0; i < plan->config->n_nodes; i++) {
		const struct node_config *to = plan->config->nodes[i];
		struct node *node = tree_find(tree, to->path);

		if (node && node->goal != GOAL_GONE)
			plan_compare_node(plan, node, to);
		else
			plan_add_entry(plan,
				       (struct plan_entry){ .kind = PLAN_ADD,
							    .node = node,
							    .to = to,
							    .start = plan_is_to_start(plan, to) });
	}
	for (struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		if (n->goal != GOAL_GONE && !tree_keeps(n, plan->config))
			plan_add_entry(plan, (struct plan_entry){ .kind = PLAN_REMOVE,
								  .node = n,
								  .from = n->config });
	}
	plan->n_daemon = config_diff(tree->config, plan->config, &plan->daemon);
}

/* --- restarts because of a requirement --- */

/* Returns true if a service in @node runs or is to run. */
static bool plan_has_any_to_run(const struct node *node)
{
	for (const struct node *n = node; n; n = node_next(n, node))
		if (plan_is_to_run(n))
			return true;
	return false;
}

/* Returns true if @node is to be removed, or restarts, itself or with a node above it. */
static bool plan_is_leaving(const struct node *node, const void *arg)
{
	const struct plan *plan = arg;
	const struct node_config *to = config_find(plan->config, node->config->path);
	bool kept = to;

	while (to && !plan->restarts[to->index])
		to = to->parent;
	return !kept || to;
}

/* Returns true if @node requires a template of which @instance is one, and another one goes on. */
static bool plan_has_enough_without(const struct plan *plan, const struct node_config *node,
				    const struct node_config *instance)
{
	const struct node *present = tree_find(plan->tree, instance->path);

	return present && present->parent &&
	       start_order_count_others(node, present, plan_is_leaving, plan).present > 0;
}

/* Returns the node in @top with which @node restarts, as it requires that, or NULL. */
static const struct node_config *plan_find_required(const struct plan *plan,
						    const struct node_config *node,
						    const struct node_config *top)
{
	static const enum edge edges[] = { EDGE_REQUIRES, EDGE_BINDS_TO };

	for (size_t i = 0; i < ARRAY_SIZE(edges); i++) {
		struct node_config *const *to = node_config_edges(node, edges[i]);

		for (; to && *to; to++)
			if (node_config_is_within(*to, top) &&
			    !plan_has_enough_without(plan, node, *to))
				return *to;
	}
	return NULL;
}

/* Adds the running nodes that require @top or a node in it. */
static void plan_add_dependents_of(struct plan *plan, const struct node_config *top)
{
	for (size_t i = 0; i < plan->config->n_nodes; i++) {
		const struct node_config *to = plan->config->nodes[i];
		const struct node_config *required = plan_find_required(plan, to, top);
		struct node *node;

		if (!required || node_config_is_within(to, top) || plan->restarts[to->index])
			continue;
		node = tree_find(plan->tree, to->path);
		if (!node || node->goal < GOAL_UP || !plan_has_any_to_run(node))
			continue;
		plan->restarts[to->index] = true;
		plan->dependents[plan->n_dependents++] = (struct plan_entry){
			.kind = PLAN_CHANGE,
			.node = node,
			.from = node->config,
			.to = to,
			.restart = true,
			.because = required,
		};
	}
}

/* Returns true if the nodes that require this one always have a run that is ready: by a hand-over. */
static bool plan_hands_over(const struct plan_entry *entry)
{
	return entry->to->handover && service_can_hand_over(entry->node->service);
}

int plan_new(struct plan **ret, struct tree *tree, struct config *config, bool rollout)
{
	cleanup(plan_freep) struct plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return -ENOMEM;
	plan->tree = tree;
	plan->config = config_ref(config);
	plan->rollout = rollout;
	plan->entries = calloc(config->n_nodes + tree->by_path.n, sizeof(*plan->entries));
	plan->dependents = calloc(config->n_nodes, sizeof(*plan->dependents));
	plan->restarts = calloc(config->n_nodes, sizeof(*plan->restarts));
	if (!plan->entries || !plan->dependents || !plan->restarts)
		return -ENOMEM;
	plan_compare_nodes(plan);
	/* The loop covers the dependents that it adds. */
	for (size_t i = 0; i < plan->n_entries; i++)
		if (plan->entries[i].restart && !plan_hands_over(&plan->entries[i]))
			plan->restarts[plan->entries[i].to->index] = true;
	for (size_t i = 0; i < plan->n_entries; i++)
		if (plan->entries[i].restart && !plan_hands_over(&plan->entries[i]))
			plan_add_dependents_of(plan, plan->entries[i].to);
	for (size_t i = 0; i < plan->n_dependents; i++)
		plan_add_dependents_of(plan, plan->dependents[i].to);
	*ret = take(plan);
	return 0;
}

bool plan_is_scaling(const struct plan *plan, const char *template)
{
	for (size_t i = 0; i < plan->n_entries; i++) {
		const struct plan_entry *e = &plan->entries[i];

		if (e->kind != PLAN_CHANGE &&
		    !config_is_instance((e->to ? e->to : e->from)->path, template))
			return false;
		/* A run with other settings than its section does not count as a change of the files. */
		if (e->kind == PLAN_CHANGE && e->from != e->node->config)
			continue;
		/* Lists of nodes have all instances. */
		for (enum key_id key = 0; e->kind == PLAN_CHANGE && key < N_KEYS; key++)
			if (key_set_has(&e->keys, key) && keys[key].part != PART_EDGES)
				return false;
	}
	return plan->n_daemon == 0;
}

struct plan *plan_free(struct plan *plan)
{
	if (!plan)
		return NULL;
	free(plan->entries);
	free(plan->dependents);
	free(plan->restarts);
	config_unref(plan->config);
	return free_memory(plan);
}

/* --- output --- */

static const char *const kind_names[N_PLAN_KINDS] = {
	[PLAN_ADD] = "add",
	[PLAN_CHANGE] = "change",
	[PLAN_REMOVE] = "remove",
};

static const char *const apply_names[] = {
	[APPLY_LIVE] = "live",
	[APPLY_IN_PLACE] = "in_place",
	[APPLY_NEXT_START] = "next_start",
	[APPLY_RESTART] = "restart",
	[APPLY_DAEMON] = "daemon",
};

static json_t *plan_value_json(const struct config *config, const struct node_config *node,
			       enum key_id key)
{
	cleanup(freep) char *text = NULL;
	struct memstream m;

	if (memstream_open(&m) < 0)
		return NULL;
	key_print(m.file, config, node, key);
	if (memstream_close(&m, &text) < 0)
		return NULL;
	return *text ? message_string(text) : json_null();
}

static json_t *plan_keys_json(const struct plan *plan, const struct plan_entry *entry)
{
	json_t *list = json_array();

	for (enum key_id key = 0; key < N_KEYS; key++) {
		if (!key_set_has(&entry->keys, key))
			continue;
		(void)json_array_append_new(
			list, json_pack("{s:s, s:o, s:o, s:s}", "key", keys[key].name, "from",
					plan_value_json(plan->tree->config, entry->from, key), "to",
					plan_value_json(plan->config, entry->to, key), "apply",
					apply_names[keys[key].apply]));
	}
	return list;
}

/* An entry without @from and @to is about the daemon itself. */
static json_t *plan_entry_json(const struct plan *plan, const struct plan_entry *entry)
{
	const struct node_config *config = entry->to ? entry->to : entry->from;
	bool is_service = config && config->argv;

	return json_pack("{s:s, s:s, s:b, s:b, s:b, s:b, s:b, s:s*, s:o}", "kind",
			 kind_names[entry->kind], "node", config ? config->path : "", "service",
			 is_service, "autostart",
			 entry->kind == PLAN_ADD ? entry->start
						 : is_service && config->autostart == AUTOSTART_YES,
			 "restart", entry->restart, "outdated", entry->outdated, "start",
			 entry->start, "because", entry->because ? entry->because->path : NULL,
			 "keys", plan_keys_json(plan, entry));
}

json_t *plan_json(const struct plan *plan)
{
	const struct plan_entry daemon = { .kind = PLAN_CHANGE, .keys = plan->daemon };
	json_t *list = json_array();

	if (plan->n_daemon > 0)
		(void)json_array_append_new(list, plan_entry_json(plan, &daemon));
	for (size_t i = 0; i < plan->n_entries; i++)
		(void)json_array_append_new(list, plan_entry_json(plan, &plan->entries[i]));
	for (size_t i = 0; i < plan->n_dependents; i++)
		(void)json_array_append_new(list, plan_entry_json(plan, &plan->dependents[i]));
	return list;
}
