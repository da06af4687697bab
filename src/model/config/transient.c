/*
 * A small configuration is built of the node, its parents and the targets of its edges, and then
 * resolved like a file.  The cycle check copies all edges into a third configuration, so that
 * neither original is changed.
 */
#include "model/config/transient.h"

#include "model/config/graph.h"
#include "model/config/resolve.h"

struct builder {
	const struct transient *transient;
	const struct config *base;
	struct reading reading;
	const char *file;
	struct node_config *node;
};

static void transient_builder_done(struct builder *b)
{
	config_unref(b->reading.config);
}

static int transient_add_node(struct builder *b)
{
	const char *path = b->transient->path, *why = config_check_name(path);
	struct place place = { .file = b->file };
	char excerpt[DIAG_EXCERPT_MAX];

	if (why) {
		diag_add(b->reading.diag, DIAG_ERROR, place, "[%s] invalid name: %s",
			 diag_excerpt(excerpt, path), why);
		return -EINVAL;
	}
	return config_add_node(b->reading.config, path, place, &b->node);
}

static int transient_read_property(struct builder *b, unsigned line, const char *property)
{
	cleanup(freep) char *copy = strdup(property);
	char *equals = copy ? strchr(copy, '=') : NULL;

	if (!copy)
		return -ENOMEM;
	if (!equals) {
		diag_add(b->reading.diag, DIAG_ERROR, (struct place){ b->file, line },
			 "invalid property: expected KEY=VALUE");
		return 0;
	}
	*equals = '\0';
	/* As in a file, blanks around the key and the value are removed. */
	return section_set(&b->reading, b->node, (struct place){ b->file, line },
			   text_trim(copy, " \t"), text_trim(equals + 1, " \t"));
}

static int transient_read_properties(struct builder *b)
{
	char *const *properties = b->transient->properties;
	struct origin command = { b->file, 1, KEY_COMMAND, false };
	int r;

	while (properties && properties[command.line - 1])
		command.line++;
	/* The command is not a property: it counts as set after the last one. */
	r = section_set_origin(b->node, &command);
	for (unsigned line = 1; r == 0 && line < command.line; line++)
		r = transient_read_property(b, line, properties[line - 1]);
	return r;
}

/* Adds the existing nodes that the edges name; missing ones are errors when edges are resolved. */
static int transient_add_targets(struct builder *b)
{
	const struct stated_edges *edges = b->node->parts.edges;

	for (enum edge edge = 0; edges && edge < N_EDGES; edge++) {
		for (char **name = edges->names[edge]; name && *name; name++) {
			struct node_config *target;
			int r;

			if (!b->transient->exists(*name, b->transient->arg) ||
			    config_check_name(*name))
				continue;
			r = config_add_node(b->reading.config, *name,
					    (struct place){ .file = b->file }, &target);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* The node inherits from the groups of the base. */
static int transient_resolve(struct builder *b)
{
	struct node_config *parent = b->node->parent, *above = config_find(b->base, parent->path);
	int r;

	if (above)
		b->node->parent = above;
	r = resolve_sections(b->reading.config, 0, b->reading.names->open, b->reading.diag);
	b->node->parent = parent;
	if (r == 0)
		r = graph_check(b->reading.config, b->reading.diag);
	return r < 0 ? r : graph_rank(b->reading.config);
}

int config_new_transient(struct config **ret, const struct config *base,
			 const struct transient *transient, const struct config_names *names,
			 struct diag *diag)
{
	cleanup(transient_builder_done) struct builder b = {
		.transient = transient,
		.base = base,
		.reading = { .names = names, .diag = diag },
	};
	size_t errors = diag_errors(diag);
	int r;

	r = config_new(&b.reading.config);
	if (r == 0)
		r = config_add_file(b.reading.config, "client", &b.file);
	if (r == 0)
		r = transient_add_node(&b);
	if (r == 0)
		r = transient_read_properties(&b);
	if (r == 0)
		r = transient_add_targets(&b);
	if (r == 0)
		r = transient_resolve(&b);
	if (r == 0 && diag_errors(diag) > errors)
		r = -EINVAL;
	if (r == 0)
		r = config_set_command(b.node, transient->argv);
	if (r < 0)
		return r;
	if (!node_config_line(b.node, KEY_RESTART))
		b.node->restart = RESTART_NEVER;
	node_config_disinherit(b.node);
	*ret = take(b.reading.config);
	return 0;
}

int config_new_requirer(struct config **ret, const char *path, const struct node_config *target)
{
	cleanup(config_unrefp) struct config *config = NULL;
	struct node_config *node, *required;
	struct stated_edges *edges;
	struct place place = {};
	int r;

	r = config_new(&config);
	if (r == 0)
		r = config_add_file(config, "client", &place.file);
	if (r == 0)
		r = config_add_node(config, target->path, place, &required);
	if (r == 0)
		r = config_add_node(config, path, place, &node);
	if (r < 0)
		return r;
	node->shutdown_timeout_usec = target->shutdown_timeout_usec;
	node->stop_rank = target->stop_rank;
	edges = node_config_own_part(node, PART_EDGES);
	if (edges)
		edges->nodes[EDGE_REQUIRES] = calloc(2, sizeof(struct node_config *));
	if (!edges || !edges->nodes[EDGE_REQUIRES])
		return -ENOMEM;
	edges->nodes[EDGE_REQUIRES][0] = required;
	edges->places[EDGE_REQUIRES] = place;
	*ret = take(config);
	return 0;
}

static int transient_copy_targets(struct config *to, struct node_config *const *targets,
				  struct node_config ***ret)
{
	size_t n = 0;
	int r = 0;

	while (targets && targets[n])
		n++;
	/* Two runs of a section that was removed have its path. */
	if (n == 0 || *ret)
		return 0;
	*ret = calloc(n + 1, sizeof(struct node_config *));
	if (!*ret)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = config_add_node(to, targets[i]->path, targets[i]->place, &(*ret)[i]);
	return r;
}

static int transient_copy_edges(struct config *to, const struct node_config *node)
{
	struct node_config *copy;
	struct stated_edges *edges;
	int r;

	if (!node->parts.edges)
		return 0;
	r = config_add_node(to, node->path, node->place, &copy);
	if (r < 0)
		return r;
	copy->place = node->place; /* also if an edge of another node has created it before */
	edges = node_config_own_part(copy, PART_EDGES);
	if (!edges)
		return -ENOMEM;
	for (enum edge edge = 0; r == 0 && edge < N_EDGES; edge++) {
		edges->places[edge] = node->parts.edges->places[edge];
		r = transient_copy_targets(to, node->parts.edges->nodes[edge], &edges->nodes[edge]);
	}
	return r;
}

int transient_check_edges(const struct config *config, const struct node_config *const *nodes,
			  size_t n, struct diag *diag)
{
	cleanup(config_unrefp) struct config *all = NULL;
	int r;

	/* The edges of the node alone have been checked already. */
	if (n == 0)
		return 0;
	r = config_new(&all);
	for (size_t i = 0; r == 0 && i < config->n_nodes; i++)
		r = transient_copy_edges(all, config->nodes[i]);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = transient_copy_edges(all, nodes[i]);
	return r < 0 ? r : graph_check(all, diag);
}
