#include "model/transient.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/graph.h"
#include "model/keys.h"
#include "model/resolve.h"

struct builder {
	const struct transient *transient;
	const struct config *base;
	const struct config_names *names;
	struct diag *diag;
	struct config *config;
	struct section own;	  /* until it is in @sections */
	struct section *sections; /* of all nodes: only the own one owns what it has */
	const char *file;
};

static void builder_done(struct builder *b)
{
	section_done(&b->own);
	free(b->sections);
	config_unref(b->config);
}

static int add_node(struct builder *b)
{
	const char *path = b->transient->path, *why = config_check_name(path);
	struct place place = { .file = b->file };
	char excerpt[DIAG_EXCERPT_MAX];

	if (why) {
		diag_add(b->diag, DIAG_ERROR, place, "[%s] %s", diag_excerpt(excerpt, path), why);
		return -EINVAL;
	}
	b->own.config = b->config;
	return config_add_node(b->config, path, place, &b->own.node);
}

/* Blanks around the key and around the value are none of them, as in a file. */
static char *trim(char *text)
{
	size_t length;

	text += strspn(text, " \t");
	for (length = strlen(text); length > 0 && strchr(" \t", text[length - 1]); length--)
		;
	text[length] = '\0';
	return text;
}

static int read_property(struct builder *b, unsigned line, const char *property)
{
	cleanup(freep) char *copy = strdup(property);
	char *equals = copy ? strchr(copy, '=') : NULL;

	if (!copy)
		return -ENOMEM;
	if (!equals) {
		diag_add(b->diag, DIAG_ERROR, (struct place){ b->file, line },
			 "a property is KEY=VALUE");
		return 0;
	}
	*equals = '\0';
	return keys_set(&b->own, line, trim(copy), trim(equals + 1), b->names, b->diag);
}

static int read_properties(struct builder *b)
{
	char *const *properties = b->transient->properties;
	unsigned n = 0;
	int r = 0;

	while (properties && properties[n])
		n++;
	/* It has one, which does not come as a property. */
	b->own.lines[KEY_COMMAND] = n + 1;
	for (unsigned i = 0; r == 0 && i < n; i++)
		r = read_property(b, i + 1, properties[i]);
	return r;
}

static char ***names_of(struct section *section, enum key_id key)
{
	return (void *)((char *)section + keys[key].offset);
}

/* What its edges name, so that they find it; what is not there is missed when they are resolved. */
static int add_targets(struct builder *b)
{
	for (enum key_id key = 0; key < N_KEYS; key++) {
		char **names = keys[key].type == &type_nodes ? *names_of(&b->own, key) : NULL;

		for (; names && *names; names++) {
			struct node_config *target;
			int r;

			if (!b->transient->exists(*names, b->transient->arg) ||
			    config_check_name(*names))
				continue;
			r = config_add_node(b->config, *names, (struct place){ .file = b->file },
					    &target);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* What it inherits; the edges of the nodes above it are theirs. */
static void borrow_section(struct builder *b, struct node_config *node)
{
	const struct section *theirs = config_kept_section(b->base, node->path);
	struct section *section = &b->sections[node->index];

	if (theirs)
		*section = *theirs;
	section->node = node;
	section->config = b->config;
	for (enum key_id key = 0; key < N_KEYS; key++) {
		if (keys[key].scope == SCOPE_INHERITED)
			continue;
		section->lines[key] = 0;
		if (keys[key].type == &type_nodes)
			*names_of(section, key) = NULL;
	}
}

static int resolve(struct builder *b)
{
	int r;

	b->sections = calloc(b->config->n_nodes, sizeof(*b->sections));
	if (!b->sections)
		return -ENOMEM;
	for (size_t i = 0; i < b->config->n_nodes; i++)
		borrow_section(b, b->config->nodes[i]);
	b->sections[b->own.node->index] = b->own;
	r = resolve_sections(b->config, b->sections, b->diag);
	/* Whatever has become of it, it is to be freed once. */
	b->own = b->sections[b->own.node->index];
	return r < 0 ? r : graph_check(b->config, b->diag);
}

int config_new_transient(struct config **ret, const struct config *base,
			 const struct transient *transient, const struct config_names *names,
			 struct diag *diag)
{
	cleanup(builder_done) struct builder b = {
		.transient = transient,
		.base = base,
		.names = names,
		.diag = diag,
	};
	size_t errors = diag_errors(diag);
	int r;

	r = config_new(&b.config);
	if (r == 0)
		r = config_add_file(b.config, "client", &b.file);
	if (r == 0)
		r = add_node(&b);
	if (r == 0)
		r = read_properties(&b);
	if (r == 0)
		r = add_targets(&b);
	if (r == 0)
		r = resolve(&b);
	if (r < 0)
		return r;
	if (diag_errors(diag) > errors)
		return -EINVAL;
	if (!b.own.lines[KEY_RESTART])
		b.own.node->restart = RESTART_NEVER;
	r = config_set_command(b.own.node, transient->argv);
	if (r < 0)
		return r;
	*ret = take(b.config);
	return 0;
}

static int copy_targets(struct config *to, struct node_config *const *targets,
			struct node_config ***ret)
{
	size_t n = 0;
	int r = 0;

	while (targets && targets[n])
		n++;
	if (n == 0)
		return 0;
	*ret = calloc(n + 1, sizeof(struct node_config *));
	if (!*ret)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = config_add_node(to, targets[i]->path, targets[i]->place, &(*ret)[i]);
	return r;
}

static int copy_edges(struct config *to, const struct node_config *node)
{
	struct node_config *copy;
	struct stated_edges *edges;
	int r;

	if (!node->edges)
		return 0;
	r = config_add_node(to, node->path, node->place, &copy);
	if (r < 0)
		return r;
	copy->place = node->place; /* also if it was there as one that is named by another */
	edges = node_config_own_edges(copy);
	if (!edges)
		return -ENOMEM;
	for (enum edge edge = 0; r == 0 && edge < N_EDGES; edge++) {
		edges->lines[edge] = node->edges->lines[edge];
		r = copy_targets(to, node->edges->nodes[edge], &edges->nodes[edge]);
	}
	return r;
}

int transient_check_edges(const struct config *config, const struct node_config *const *nodes,
			  size_t n, struct diag *diag)
{
	cleanup(config_unrefp) struct config *all = NULL;
	int r;

	/* Nothing is beside it, and by itself it has been checked. */
	if (n == 0)
		return 0;
	r = config_new(&all);
	for (size_t i = 0; r == 0 && i < config->n_nodes; i++)
		r = copy_edges(all, config->nodes[i]);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = copy_edges(all, nodes[i]);
	return r < 0 ? r : graph_check(all, diag);
}
