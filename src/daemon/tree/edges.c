/*
 * Each edge is stored twice: in a list of the node that declares it, and in the opposite list of
 * its target (LIST_DEPENDENTS or LIST_FOLLOWERS).  A reload builds the lists in next_edges of each
 * node, where a lack of memory changes nothing that is in use, and exchanges all pointers
 * afterwards.
 */
#include "daemon/tree/edges.h"

#include "model/config/transient.h"

static int edges_append_to_list(struct node ***list, struct node *node)
{
	size_t n = 0;
	struct node **more;

	while (*list && (*list)[n]) {
		if ((*list)[n] == node)
			return 0;
		n++;
	}
	more = realloc(*list, (n + 2) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	more[n] = node;
	more[n + 1] = NULL;
	*list = more;
	return 0;
}

/* Appends @node to the list of @edges, which are made if they are missing. */
static int edges_append(struct edges **edges, size_t list, struct node *node)
{
	if (!*edges)
		*edges = calloc(1, sizeof(**edges));
	return *edges ? edges_append_to_list(&(*edges)->lists[list], node) : -ENOMEM;
}

/* Adds an edge to both of its nodes, to those in use or to the @next ones. */
static int edges_add(struct node *node, enum edge edge, struct node *target, bool next)
{
	size_t other = edge == EDGE_TERM_AFTER ? LIST_FOLLOWERS : LIST_DEPENDENTS;
	/* In this order: edges_remove() finds the nodes at the other ends by the edges of @node. */
	int r = edges_append(next ? &node->edges.next : &node->edges.present, edge, target);

	if (r < 0)
		return r;
	return edges_append(next ? &target->edges.next : &target->edges.present, other, node);
}

int edges_require(struct node *node, struct node *target)
{
	return edges_add(node, EDGE_REQUIRES, target, false);
}

int edges_copy(struct node *node, const struct node *from)
{
	int r = 0;

	for (enum edge edge = 0; r == 0 && edge < N_EDGES; edge++)
		for (struct node *const *to = node_edges(from, edge); r == 0 && to && *to; to++)
			r = edges_add(node, edge, *to, false);
	return r;
}

/* Adds the edges of one kind from @node to @targets. */
static int edges_link(struct tree *tree, const struct config *config, struct node *node,
		      enum edge edge, struct node_config *const *targets)
{
	bool keeps = tree_keeps(node, config);

	for (; targets && *targets; targets++) {
		struct node *target = tree_find(tree, (*targets)->path);

		if (!target || (keeps && !tree_keeps(target, config)))
			continue;
		/* The keys differ only when a service ends by itself. */
		if ((edge == EDGE_BINDS_TO &&
		     edges_append(&node->edges.next, EDGE_REQUIRES, target) < 0) ||
		    edges_add(node, edge, target, true) < 0)
			return -ENOMEM;
	}
	return 0;
}

int edges_check(const struct tree *tree, const struct config *config, bool leaving,
		const struct node_config *more, struct diag *diag)
{
	size_t n = more && more->parts.edges;
	cleanup(freep) const struct node_config **nodes =
		calloc(tree->by_path.n + 1, sizeof(*nodes));

	if (!nodes)
		return -ENOMEM;
	nodes[0] = more;
	for (const struct node *i = tree->root; i; i = node_next(i, tree->root))
		if (i->config->parts.edges && !config_find(config, i->config->path) &&
		    (leaving || tree_keeps(i, config)))
			nodes[n++] = i->config;
	return n > 0 ? transient_check_edges(config, nodes, n, diag) : 0;
}

static void edges_cancel(struct tree *tree)
{
	for (struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		node_edges_free(n->edges.next);
		n->edges.next = NULL;
	}
}

int edges_prepare(struct tree *tree, const struct config *config)
{
	cleanup(diag_freep) struct diag *diag = NULL;
	int r = diag_new(&diag);
	bool keep;

	/* The nodes that are not in @config keep their edges if these form no cycle with it. */
	if (r == 0)
		r = edges_check(tree, config, true, NULL, diag);
	keep = r == 0 && diag_errors(diag) == 0;
	r = r == -ENOMEM ? r : 0;
	for (struct node *n = tree->root; r == 0 && n; n = node_next(n, tree->root)) {
		const struct node_config *nc = config_find(config, n->config->path);
		const struct node_config *present = nc ? nc : n->config;

		if (!nc && !keep && !tree_keeps(n, config))
			continue;
		if (node_is_use(n)) {
			/* The run that is used may have another name by now. */
			struct node *const *to = node_edges(n, EDGE_REQUIRES);

			r = to && *to ? edges_add(n, EDGE_REQUIRES, *to, true) : 0;
			continue;
		}
		for (enum edge edge = 0; r == 0 && edge < N_EDGES; edge++)
			r = edges_link(tree, config, n, edge, node_config_edges(present, edge));
	}
	if (r < 0)
		edges_cancel(tree);
	return r;
}

void edges_commit(struct tree *tree)
{
	for (struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		struct edges *before = n->edges.present;

		n->edges.present = n->edges.next;
		n->edges.next = before;
	}
	edges_cancel(tree);
}

static void edges_remove_from(struct node **list, const struct node *node)
{
	size_t to = 0;

	for (size_t from = 0; list && list[from]; from++) {
		if (list[from] != node)
			list[to++] = list[from];
	}
	if (list)
		list[to] = NULL;
}

/* Work goes on to use the run that it has used. */
int edges_exchange(struct node *node, struct node *successor)
{
	int r = 0;

	for (size_t i = N_EDGES; i < N_LISTS; i++)
		for (struct node **from = node_edges(node, i); r == 0 && from && *from; from++)
			if (!node_is_use(*from))
				r = edges_append(&successor->edges.present, i, *from);
	/* Without memory nothing has changed: what was added is taken from the other list. */
	for (size_t i = N_EDGES; i < N_LISTS; i++) {
		struct node **kept = node_edges(r < 0 ? node : successor, i);
		struct node **other = node_edges(r < 0 ? successor : node, i);

		for (; kept && *kept; kept++) {
			if (node_is_use(*kept))
				continue;
			for (enum edge edge = 0; r == 0 && edge < N_EDGES; edge++)
				for (struct node **to = node_edges(*kept, edge); to && *to; to++)
					*to = *to == node ? successor : *to;
			edges_remove_from(other, *kept);
		}
	}
	return r;
}

/*
 * An edge is in a list of each of its two nodes, so only the nodes at the edges of @node name it.
 */
void edges_remove(struct node *node)
{
	for (size_t i = 0; i < N_LISTS; i++) {
		struct node **ends = node_edges(node, i);

		for (size_t e = 0; ends && ends[e]; e++)
			for (size_t j = 0; j < N_LISTS; j++)
				edges_remove_from(node_edges(ends[e], j), node);
	}
}
