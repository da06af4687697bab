#include "model/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "model/graph.h"
#include "model/keys.h"
#include "model/reader.h"
#include "model/resolve.h"
#include "model/source.h"
#include "model/template.h"

/*
 * From files to nodes, each step in a module of its own and each adding its mistakes to one diag:
 *
 *	source ──▶ reader ──▶ keys ──▶ template ──▶ resolve ──▶ graph
 *	files	   lines      values   instances    nodes	   order
 *
 * Here the steps are put together, and sections become nodes.  A section that cannot be one, for
 * its name or because there is one already, is read into a scrap section: its keys are still
 * checked.
 */
struct loader {
	const struct config_names *names;
	struct diag *diag;
	struct config *config;
	struct section *sections; /* one for each node */
	size_t n_sections, n_slots;
	const char *file;	 /* being read; owned by config */
	struct section *current; /* in sections or &scrap; valid until the next section begins */

	struct section scrap;
	struct node_config scrap_node;
	char *scrap_path;
	struct config scrap_config;

	struct templates templates;
	bool in_template;	/* the current section is one, read into the scrap */
	size_t template_errors; /* how many there were when it began */
};

static void scrap_done(struct loader *l)
{
	section_done(&l->scrap);
	node_config_done(&l->scrap_node);
	free(l->scrap_path);
	free(l->scrap_config.control_socket);
	free(l->scrap_config.report);
	memset(&l->scrap, 0, sizeof(l->scrap));
	memset(&l->scrap_node, 0, sizeof(l->scrap_node));
	memset(&l->scrap_config, 0, sizeof(l->scrap_config));
	l->scrap_path = NULL;
}

static void loader_done(struct loader *l)
{
	for (size_t i = 0; i < l->n_sections; i++)
		section_done(&l->sections[i]);
	free(l->sections);
	scrap_done(l);
	templates_done(&l->templates);
	config_unref(l->config);
}

/* Goes on with the scrap section, which is called @name in messages. */
static int loader_scrap(struct loader *l, const char *name)
{
	char *path = strdup(name);

	if (!path)
		return -ENOMEM;
	scrap_done(l);
	l->scrap_path = path;
	node_config_init(&l->scrap_node, path);
	l->scrap_node.place.file = l->file;
	l->scrap.node = &l->scrap_node;
	l->scrap.config = &l->scrap_config;
	l->current = &l->scrap;
	return 0;
}

/* A section for every node that has none yet. */
static int loader_grow(struct loader *l)
{
	const struct config *config = l->config;

	if (config->n_slots > l->n_slots) {
		struct section *sections =
			reallocarray(l->sections, config->n_slots, sizeof(*sections));

		if (!sections)
			return -ENOMEM;
		l->sections = sections;
		l->n_slots = config->n_slots;
	}
	for (; l->n_sections < config->n_nodes; l->n_sections++)
		l->sections[l->n_sections] = (struct section){
			.config = l->config,
			.node = config->nodes[l->n_sections],
		};
	return 0;
}

static int loader_add(struct loader *l, const char *path, struct place place)
{
	struct node_config *node;
	int added = config_add_node(l->config, path, place, &node);
	int r = loader_grow(l);

	if (r < 0)
		return r;
	if (added == -E2BIG) {
		diag_add(l->diag, DIAG_ERROR, place, "[%s] is one node too many, allowed are %d",
			 path, CONFIG_NODES_MAX);
		return loader_scrap(l, path);
	}
	if (added < 0)
		return added;
	if (node->stated) {
		diag_add(l->diag, DIAG_ERROR, place, "[%s] is in %s:%u already, allowed once",
			 node_config_section(node), node->place.file, node->place.line);
		return loader_scrap(l, path);
	}
	node->stated = true;
	node->place = place;
	l->current = &l->sections[node->index];
	return 0;
}

static int loader_begin_template(struct loader *l, const char *name, struct place place)
{
	const struct place *before = templates_find(&l->templates, name);
	int r;

	if (before) {
		diag_add(l->diag, DIAG_ERROR, place, "[%s] is in %s:%u already, allowed once", name,
			 before->file, before->line);
		return loader_scrap(l, name);
	}
	l->template_errors = diag_errors(l->diag);
	r = loader_scrap(l, name);
	if (r == 0)
		r = template_begin(&l->templates, name, place);
	l->scrap_node.place = place;
	l->in_template = r == 0;
	return r;
}

/* The instances have their place in the order of the files where the template stands. */
static int loader_add_instance(struct loader *l, const char *instance)
{
	char path[CONFIG_NAME_MAX + 1], excerpt[DIAG_EXCERPT_MAX];
	struct place place = { l->scrap_node.place.file, l->scrap.lines[KEY_INSTANCES] };
	struct node_config *node;
	int n, r;

	n = snprintf(path, sizeof(path), "%s%s", l->scrap_node.path, instance);
	if (n >= (int)sizeof(path) || config_check_name(path)) {
		diag_add(l->diag, DIAG_ERROR, place,
			 "[%s] instances: '%s' makes no good name, allowed are letters, digits and _ . -",
			 l->scrap_node.path, diag_excerpt(excerpt, instance));
		return 0;
	}
	r = config_add_node(l->config, path, l->scrap_node.place, &node);
	if (r == -E2BIG) {
		diag_add(l->diag, DIAG_ERROR, place, "[%s] is one node too many, allowed are %d",
			 path, CONFIG_NODES_MAX);
		return -E2BIG;
	}
	return r < 0 ? r : loader_grow(l);
}

/* What has to be done when a section is over: a template's instances come to be. */
static int loader_end_section(struct loader *l)
{
	int r = 0;

	if (!l->in_template)
		return 0;
	for (char **instance = l->scrap.instances; r == 0 && instance && *instance; instance++)
		r = loader_add_instance(l, *instance);
	l->in_template = false;
	template_end(&l->templates, diag_errors(l->diag) > l->template_errors);
	return r == -E2BIG ? 0 : r;
}

static int on_section(void *arg, unsigned line, const char *name)
{
	struct loader *l = arg;
	struct place place = { .file = l->file, .line = line };
	char excerpt[DIAG_EXCERPT_MAX];
	const char *why;
	int r = loader_end_section(l);

	if (r < 0)
		return r;
	if (!*name)
		return loader_scrap(l, "?");
	if (strcmp(name, CONFIG_ROOT_SECTION) == 0)
		return loader_add(l, "", place);
	why = config_check_name(name);
	if (!why && config_is_template(name))
		return loader_begin_template(l, name, place);
	if (!why)
		return loader_add(l, name, place);

	(void)diag_excerpt(excerpt, name);
	diag_add(l->diag, DIAG_ERROR, place, "[%s] %s", excerpt, why);
	return loader_scrap(l, excerpt);
}

static int on_entry(void *arg, unsigned line, const char *key, const char *value)
{
	struct loader *l = arg;
	int r = l->in_template ? template_add(&l->templates, line, key, value) : 0;

	return r < 0 ? r : keys_set(l->current, line, key, value, l->names, l->diag);
}

static int on_file(void *arg, const char *file, char *text, size_t size)
{
	struct loader *l = arg;
	const struct reader_handler handler = {
		.on_section = on_section,
		.on_entry = on_entry,
		.arg = l,
	};
	int r = config_add_file(l->config, file, &l->file);

	if (r < 0)
		return r;
	diag_file(l->diag, file);
	r = reader_parse(text, size, l->file, l->diag, &handler);
	if (r == 0)
		r = loader_end_section(l);
	if (r < 0 && r != -ENOMEM) {
		/* No file is to blame: the inih at hand loses bytes or takes tiny lines only. */
		diag_add(l->diag, DIAG_ERROR, (struct place){ .file = file },
			 "cannot be read whole with this build of inih");
		return 0;
	}
	return r;
}

static void loader_warn(struct loader *l, const char *path)
{
	for (size_t i = 0; i < l->config->n_nodes; i++) {
		if (l->sections[i].lines[KEY_COMMAND])
			return;
	}
	diag_add(l->diag, DIAG_WARNING, (struct place){ .file = path },
		 l->config->n_files ? "no service is configured: no section has a command"
				    : "no service is configured: there is no *.ini");
}

struct kept {
	size_t n;
	struct section sections[];
};

static void kept_free(void *arg)
{
	struct kept *kept = arg;

	for (size_t i = 0; i < kept->n; i++)
		section_done(&kept->sections[i]);
	free(kept);
}

static bool has_inherited(const struct section *section)
{
	for (enum key_id key = 0; key < N_KEYS; key++) {
		if (keys[key].scope == SCOPE_INHERITED && section->lines[key])
			return true;
	}
	return false;
}

/* Those of nodes that something may come to be below of: of most there is nothing to be kept. */
static int keep_sections(struct loader *l)
{
	cleanup(freep) bool *keeps = calloc(l->config->n_nodes, sizeof(*keeps));
	struct kept *kept;
	size_t n = 0;

	if (!keeps)
		return -ENOMEM;
	for (size_t i = l->config->n_nodes; i-- > 0;) {
		const struct node_config *node = l->config->nodes[i];

		if (node->parent)
			keeps[node->parent->index] = true;
		keeps[i] = (keeps[i] || !node->argv) && has_inherited(&l->sections[i]);
		n += keeps[i];
	}
	kept = calloc(1, sizeof(*kept) + n * sizeof(kept->sections[0]));
	if (!kept)
		return -ENOMEM;
	for (size_t i = 0; i < l->config->n_nodes; i++) {
		if (!keeps[i])
			continue;
		kept->sections[kept->n++] = l->sections[i];
		l->sections[i] = (struct section){ .config = NULL };
	}
	l->config->kept = kept;
	l->config->kept_free = kept_free;
	return 0;
}

const struct section *config_kept_section(const struct config *config, const char *path)
{
	const struct kept *kept = config->kept;

	for (size_t i = 0; kept && i < kept->n; i++) {
		if (strcmp(kept->sections[i].node->path, path) == 0)
			return &kept->sections[i];
	}
	return NULL;
}

int config_load(struct config **ret, const char *const *paths, size_t n_paths,
		const struct config_names *names, struct diag *diag)
{
	cleanup(loader_done) struct loader l = { .names = names, .diag = diag };
	size_t errors = diag_errors(diag);
	int r;

	r = config_new(&l.config);
	if (r < 0)
		return r;
	r = loader_grow(&l);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n_paths; i++) {
		r = source_each(paths[i], diag, on_file, &l);
		if (r < 0)
			return r;
	}
	r = templates_apply(&l.templates, l.sections, l.n_sections, names, diag);
	if (r < 0)
		return r;
	r = resolve_sections(l.config, l.sections, diag);
	if (r < 0)
		return r;
	r = graph_check(l.config, diag);
	if (r < 0)
		return r;
	if (diag_errors(diag) > errors)
		return -EINVAL;

	r = keep_sections(&l);
	if (r < 0)
		return r;
	loader_warn(&l, n_paths ? paths[0] : NULL);
	*ret = take(l.config);
	return 0;
}

int config_set_command(struct node_config *node, char *const *argv)
{
	size_t n = 0, size = 0;
	char *words, *line;

	for (; argv[n]; n++)
		size += strlen(argv[n]) + 1;
	node->argv = malloc((n + 1) * sizeof(*node->argv) + size);
	node->command = malloc(size + 1);
	if (!node->argv || !node->command)
		return -ENOMEM;
	words = (char *)(node->argv + n + 1);
	line = node->command;
	for (size_t i = 0; i < n; i++) {
		node->argv[i] = words;
		words = stpcpy(words, argv[i]) + 1;
		line = stpcpy(stpcpy(line, i ? " " : ""), argv[i]);
	}
	node->argv[n] = NULL;
	return 0;
}

int config_new_command(struct config **ret, char *const *argv, enum command_notify notify,
		       enum signal_scope scope)
{
	cleanup(config_unrefp) struct config *config = NULL;
	struct node_config *node;
	int r;

	r = config_new(&config);
	if (r < 0)
		return r;
	r = config_add_node(config, "main", (struct place){ .file = NULL }, &node);
	if (r < 0)
		return r;
	r = config_set_command(node, argv);
	if (r < 0)
		return r;
	if (!node_config_own_outputs(node))
		return -ENOMEM;
	config->nodes[0]->shutdown_timeout_usec = USEC_INFINITY;
	node->restart = RESTART_NEVER;
	node->outputs->stdio[0].kind = OUTPUT_INHERIT;
	node->start_timeout_usec = USEC_INFINITY;
	node->stop_timeout_usec = USEC_INFINITY;
	node->essential = true;
	node->signal_scope = scope;
	node->notify = notify != COMMAND_NOTIFY_NONE;
	if (notify == COMMAND_NOTIFY_READY)
		node->ready.kind = PROBE_NOTIFY;
	*ret = take(config);
	return 0;
}
