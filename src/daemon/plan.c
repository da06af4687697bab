#include "daemon/plan.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/memstream.h"
#include "proto/message.h"

static bool is_to_run(const struct node *node)
{
	return node->service && node->service->wanted && !node_is_stopped(node);
}

/* Who has had his turn, and has been stopped since, is left as he is. */
static bool is_to_begin(const struct node *node, const struct node_config *to)
{
	if (!to->argv || !to->autostart || node_is_stopped(node))
		return false;
	return !node->config->argv || (!node->config->autostart && !node->service->wanted);
}

static void add_entry(struct plan *plan, struct plan_entry entry)
{
	plan->counts[entry.kind]++;
	plan->entries[plan->n_entries++] = entry;
}

static void compare_node(struct plan *plan, struct node *node, const struct node_config *to)
{
	struct plan_entry entry = {
		.kind = PLAN_CHANGE,
		.node = node,
		.from = node->config,
		.to = to,
		.start = is_to_begin(node, to),
	};

	if (node_config_diff(entry.from, to, &entry.keys) == 0)
		return;
	entry.restart = is_to_run(node) && key_set_apply(&entry.keys) == APPLY_RESTART;
	add_entry(plan, entry);
}

/* A transient node has no section to lose, but goes with the node that it was made below. */
static bool is_leaving(const struct plan *plan, const struct node *node)
{
	if (config_find(plan->config, node->config->path))
		return false;
	return !node->transient || node->parent->leaving;
}

static void compare(struct plan *plan)
{
	struct tree *tree = plan->tree;

	for (size_t i = 0; i < plan->config->n_nodes; i++) {
		const struct node_config *to = plan->config->nodes[i];
		struct node *node = tree_find(tree, to->path);

		if (node && !node->retired)
			compare_node(plan, node, to);
		else
			add_entry(plan,
				  (struct plan_entry){ .kind = PLAN_ADD, .node = node, .to = to });
	}
	for (struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		n->leaving = is_leaving(plan, n);
		if (n->leaving && !n->retired)
			add_entry(plan, (struct plan_entry){ .kind = PLAN_REMOVE,
							     .node = n,
							     .from = n->config });
	}
	(void)config_diff(tree->config, plan->config, &plan->daemon);
}

static size_t count_nodes(const struct tree *tree)
{
	size_t count = 0;

	for (const struct node *n = tree->root; n; n = node_next(n, tree->root))
		count++;
	return count;
}

int plan_new(struct plan **ret, struct tree *tree, struct config *config)
{
	cleanup(plan_freep) struct plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return -ENOMEM;
	plan->tree = tree;
	plan->config = config_ref(config);
	plan->entries = calloc(config->n_nodes + count_nodes(tree), sizeof(*plan->entries));
	if (!plan->entries)
		return -ENOMEM;
	compare(plan);
	*ret = take(plan);
	return 0;
}

struct plan *plan_free(struct plan *plan)
{
	if (!plan)
		return NULL;
	/* What was not carried out is not under way. */
	for (struct node *n = plan->tree->root; n; n = node_next(n, plan->tree->root))
		n->leaving = n->retired;
	free(plan->entries);
	config_unref(plan->config);
	free(plan);
	return NULL;
}

char *plan_text(char buf[static PLAN_TEXT_MAX], const struct plan *plan)
{
	(void)snprintf(buf, PLAN_TEXT_MAX, "%u added, %u removed, %u changed",
		       plan->counts[PLAN_ADD], plan->counts[PLAN_REMOVE],
		       plan->counts[PLAN_CHANGE]);
	return buf;
}

/* --- for people and programs --- */

static const char *const kind_names[N_PLAN_KINDS] = {
	[PLAN_ADD] = "add",
	[PLAN_CHANGE] = "change",
	[PLAN_REMOVE] = "remove",
};

static const char *const apply_names[] = {
	[APPLY_LIVE] = "live",
	[APPLY_NEXT_START] = "next_start",
	[APPLY_RESTART] = "restart",
	[APPLY_DAEMON] = "daemon",
};

/* null if it is not set. */
static json_t *value_json(const struct config *config, const struct node_config *node,
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

static json_t *keys_json(const struct plan *plan, const struct plan_entry *entry,
			 const struct key_set *set)
{
	json_t *list = json_array();

	for (enum key_id key = 0; key < N_KEYS; key++) {
		if (!key_set_has(set, key))
			continue;
		(void)json_array_append_new(
			list,
			json_pack("{s:s, s:o, s:o, s:s}", "key", keys[key].name, "from",
				  value_json(plan->tree->config, entry ? entry->from : NULL, key),
				  "to", value_json(plan->config, entry ? entry->to : NULL, key),
				  "apply", apply_names[keys[key].apply]));
	}
	return list;
}

static json_t *entry_json(const struct plan *plan, const struct plan_entry *entry)
{
	const struct node_config *config = entry->to ? entry->to : entry->from;

	return json_pack("{s:s, s:s, s:b, s:b, s:b, s:b, s:o}", "kind", kind_names[entry->kind],
			 "node", config->path, "service", config->argv != NULL, "autostart",
			 config->argv && config->autostart, "restart", entry->restart, "start",
			 entry->start, "keys", keys_json(plan, entry, &entry->keys));
}

json_t *plan_json(const struct plan *plan)
{
	json_t *list = json_array();
	json_t *daemon = keys_json(plan, NULL, &plan->daemon);

	if (json_array_size(daemon) > 0)
		(void)json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:b, s:b, s:b, s:o}",
							    "kind", "change", "node", "", "service",
							    0, "autostart", 0, "restart", 0,
							    "start", 0, "keys", daemon));
	else
		json_decref(daemon);
	for (size_t i = 0; i < plan->n_entries; i++)
		(void)json_array_append_new(list, entry_json(plan, &plan->entries[i]));
	return list;
}
