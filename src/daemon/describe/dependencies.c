#include "daemon/describe/dependencies.h"

#include "model/keys/keys.h"

json_t *dependencies_json(const struct tree *tree, const struct node *node)
{
	json_t *list = json_array();

	for (const struct node *n = tree->root; n; n = node_next(n, tree->root))
		for (enum edge edge = 0; edge < N_EDGES; edge++)
			for (struct node *const *to = node_edges(n, edge); to && *to; to++)
				(void)json_array_append_new(
					list, json_pack("{s:s, s:s, s:s}", "from", n->config->path,
							"to", (*to)->config->path, "kind",
							keys[key_of_edge(edge)].name));
	return json_pack("{s:s, s:o}", "node", node->config->path, "dependencies", list);
}
