#include "model/config/config.h"

#include "model/config/dropin.h"
#include "model/config/graph.h"
#include "model/file/reader.h"
#include "model/config/resolve.h"
#include "model/config/sockets.h"
#include "model/file/source.h"

/*
 * The steps from files to nodes; each is a module, and all add their errors to the same diag:
 *
 *	source ──▶ reader ──▶ dropin ──▶ keys ──▶ dropin ────▶ resolve ──▶ graph
 *	files	   lines      overrides  values	 instances    nodes	   order
 *
 * This module runs the steps, and makes a node of each section.  A section with an invalid or
 * duplicate name is read into a scrap section: so its keys are still checked.
 *
 * The drop-ins of a file are read before it.  A section takes theirs at its end, and passes over its
 * own entries of the same keys; the sections that are in no file come last.
 */
struct loader {
	struct reading reading;
	const char *file; /* being read; owned by the config */
	struct node_config *current;
	struct dropins dropins;
	bool in_dropin;		  /* the file is one */
	struct dropin *overrides; /* of the current section, or NULL */

	struct node_config scrap;
	char *scrap_path;

	char **scaled; /* copies of those of the reading */
	size_t n_scaled;
	struct dropins templates;
	bool in_template;	/* the current section is one, read into the scrap */
	size_t template_errors; /* how many there were when it began */
};

static void config_loader_done(struct loader *l)
{
	node_config_done(&l->scrap);
	free(l->scrap_path);
	dropins_done(&l->templates);
	dropins_done(&l->dropins);
	while (l->n_scaled > 0)
		free(l->scaled[--l->n_scaled]);
	free(l->scaled);
	config_unref(l->reading.config);
}

/* Continues with the scrap section, which has @name in messages. */
static int config_loader_scrap(struct loader *l, const char *name)
{
	char *path = strdup(name);

	if (!path)
		return -ENOMEM;
	node_config_done(&l->scrap);
	free(l->scrap_path);
	l->scrap_path = path;
	node_config_init(&l->scrap, path);
	l->scrap.place.file = l->file;
	l->current = &l->scrap;
	return 0;
}

/* Return: 0; -E2BIG, which has been reported; -errno. */
static int config_loader_add_node(struct loader *l, const char *path, struct place error,
				  struct place place, struct node_config **ret)
{
	int r = config_add_node(l->reading.config, path, place, ret);

	if (r == -E2BIG)
		diag_add(l->reading.diag, DIAG_ERROR, error, "[%s] too many nodes: at most %d",
			 path, CONFIG_NODES_MAX);
	return r;
}

static int config_loader_add(struct loader *l, const char *path, struct place place)
{
	struct node_config *node;
	int r = config_loader_add_node(l, path, place, place, &node);

	if (r == -E2BIG)
		return config_loader_scrap(l, path);
	if (r < 0)
		return r;
	if (node->stated) {
		diag_add(l->reading.diag, DIAG_ERROR, place,
			 "[%s] duplicate section (first in %s:%u)", node_config_section(node),
			 node->place.file, node->place.line);
		return config_loader_scrap(l, path);
	}
	node->stated = true;
	node->place = place;
	l->current = node;
	return 0;
}

static int config_loader_begin_template(struct loader *l, const char *name, struct place place)
{
	const struct dropin *before = dropins_find(&l->templates, name);
	int r;

	if (before) {
		diag_add(l->reading.diag, DIAG_ERROR, place,
			 "[%s] duplicate section (first in %s:%u)", name, before->place.file,
			 before->place.line);
		return config_loader_scrap(l, name);
	}
	l->template_errors = diag_errors(l->reading.diag);
	r = config_loader_scrap(l, name);
	if (r == 0)
		r = dropins_section(&l->templates, name, place, l->reading.diag);
	l->scrap.place = place;
	l->in_template = r == 0;
	return r;
}

/* The instances have the position of the template in the order of the files. */
static int config_loader_add_instance(struct loader *l, const char *instance)
{
	char path[CONFIG_NAME_MAX + 1], excerpt[DIAG_EXCERPT_MAX];
	struct place place = section_place(&l->scrap, KEY_INSTANCES);
	struct node_config *node;
	int n;

	n = snprintf(path, sizeof(path), "%s%s", l->scrap.path, instance);
	if (n >= (int)sizeof(path) || config_check_name(path)) {
		diag_add(l->reading.diag, DIAG_ERROR, place,
			 "[%s] instances: invalid value '%s': expected letters, digits and _ . -",
			 l->scrap.path, diag_excerpt(excerpt, instance));
		return 0;
	}
	return config_loader_add_node(l, path, place, l->scrap.place, &node);
}

static int config_loader_entry(struct loader *l, struct place place, const char *key,
			       const char *value)
{
	int r = l->in_template ? dropins_entry(&l->templates, key, value, place) : 0;

	return r < 0 ? r : section_set(&l->reading, l->current, place, key, value);
}

static int config_on_scaled(void *arg, const char *word, char *text, size_t size)
{
	struct loader *l = arg;

	if (array_reserve(l->scaled, l->n_scaled) < 0)
		return -ENOMEM;
	l->scaled[l->n_scaled] = strdup(word);
	return l->scaled[l->n_scaled++] ? 0 : -ENOMEM;
}

/* Adds the instances of the template that ends: as many as it is scaled to, or those of its key. */
static int config_loader_add_instances(struct loader *l)
{
	char **instance = node_config_extras(&l->scrap)->instances;
	cleanup(freep) char **scaled = NULL;
	size_t length = strlen(l->scrap.path);
	int r = 0;

	for (size_t i = 0; r == 0 && i < l->n_scaled; i++) {
		struct value value = { .type = &type_instances };

		if (strncmp(l->scaled[i], l->scrap.path, length) != 0 ||
		    l->scaled[i][length] != ' ')
			continue;
		value.text = l->scaled[i] + length + 1;
		r = type_parse(&value, &scaled);
		instance = scaled;
	}
	for (; r == 0 && instance && *instance; instance++)
		r = config_loader_add_instance(l, *instance);
	return r;
}

/* Ends a section: applies its drop-ins, and creates the instances of a template. */
static int config_loader_end_section(struct loader *l)
{
	const struct dropin *overrides = take(l->overrides);
	int r = 0;

	for (size_t i = 0; r == 0 && overrides && i < overrides->n; i++)
		r = config_loader_entry(l, overrides->entries[i].place, overrides->entries[i].key,
					overrides->entries[i].value);
	if (r < 0 || !l->in_template)
		return r;
	r = config_loader_add_instances(l);
	l->in_template = false;
	l->templates.current->faulty = diag_errors(l->reading.diag) > l->template_errors;
	return r == -E2BIG ? 0 : r;
}

static int config_loader_section(struct loader *l, struct place place, const char *name)
{
	char excerpt[DIAG_EXCERPT_MAX];
	struct dropin *dropin = dropins_find(&l->dropins, name);
	const char *why;
	int r = config_loader_end_section(l);

	if (r < 0)
		return r;
	if (dropin && !dropin->applied) {
		dropin->applied = true;
		l->overrides = dropin;
	}
	if (!*name)
		return config_loader_scrap(l, "?");
	if (strcmp(name, CONFIG_ROOT_SECTION) == 0)
		return config_loader_add(l, "", place);
	why = config_check_name(name);
	if (!why && config_is_template(name))
		return config_loader_begin_template(l, name, place);
	if (!why)
		return config_loader_add(l, name, place);

	(void)diag_excerpt(excerpt, name);
	diag_add(l->reading.diag, DIAG_ERROR, place, "[%s] invalid name: %s", excerpt, why);
	return config_loader_scrap(l, excerpt);
}

static int config_on_section(void *arg, unsigned line, const char *name)
{
	struct loader *l = arg;
	struct place place = { l->file, line };

	return l->in_dropin ? dropins_section(&l->dropins, name, place, l->reading.diag)
			    : config_loader_section(l, place, name);
}

static int config_on_entry(void *arg, unsigned line, const char *key, const char *value)
{
	struct loader *l = arg;
	struct place place = { l->file, line };

	if (l->in_dropin)
		return dropins_entry(&l->dropins, key, value, place);
	if (l->overrides && dropin_has(l->overrides, key))
		return 0;
	return config_loader_entry(l, place, key, value);
}

/* Return: 0 or -ENOMEM. */
static int config_loader_parse(struct loader *l, const char *file, char *text, size_t size,
			       bool in_dropin)
{
	const struct reader_handler handler = { config_on_section, config_on_entry, l };
	int r = config_add_file(l->reading.config, file, &l->file);

	if (r < 0)
		return r;
	l->in_dropin = in_dropin;
	diag_file(l->reading.diag, file);
	return reader_parse(text, size, l->file, l->reading.diag, &handler);
}

static int config_on_dropin(void *arg, const char *file, char *text, size_t size)
{
	return config_loader_parse(arg, file, text, size, true);
}

static int config_on_file(void *arg, const char *file, char *text, size_t size)
{
	struct loader *l = arg;
	const struct config_names *names = l->reading.names;
	int r;

	diag_file(l->reading.diag, file);
	r = source_each_dropin(
		&(struct source){ names->trust, names->tape, l->reading.diag, config_on_dropin, l },
		file);
	if (r == 0)
		r = config_loader_parse(l, file, text, size, false);
	return r < 0 ? r : config_loader_end_section(l);
}

/* The sections of drop-ins that no file has. */
static int config_loader_add_rest(struct loader *l)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < l->dropins.n; i++) {
		const struct dropin *dropin = l->dropins.list[i];

		if (dropin->applied)
			continue;
		l->file = dropin->place.file;
		r = config_loader_section(l, dropin->place, dropin->name);
	}
	return r < 0 ? r : config_loader_end_section(l);
}

static void config_loader_warn(struct loader *l, const char *path)
{
	const struct config *config = l->reading.config;

	for (size_t i = 0; i < config->n_nodes; i++) {
		if (config->nodes[i]->argv)
			return;
	}
	diag_add(l->reading.diag, DIAG_WARNING, (struct place){ .file = path },
		 config->n_files ? "no service configured: no section has a command"
				 : "no service configured: no file *.ini");
}

/* Only settings that a later node may inherit are kept: those of groups. */
static int config_drop_inherited(const struct config *config)
{
	cleanup(freep) bool *holds = calloc(config->n_nodes, sizeof(*holds));

	if (!holds)
		return -ENOMEM;
	for (size_t i = config->n_nodes; i-- > 0;) {
		struct node_config *node = config->nodes[i];

		if (node->parent)
			holds[node->parent->index] = true;
		if (!holds[i] && node->argv)
			node_config_disinherit(node);
	}
	return 0;
}

/* conf.d is optional. */
size_t config_default_paths(const char *const **ret)
{
	static const char *const paths[] = {
		SYSCONFDIR "/swansong/swansong.ini",
		SYSCONFDIR "/swansong/conf.d",
	};

	*ret = paths;
	return access(paths[1], F_OK) == 0 ? 2 : 1;
}

int config_load(struct config **ret, const char *const *paths, size_t n_paths,
		const struct config_names *names, struct diag *diag)
{
	cleanup(config_loader_done) struct loader l = { .reading = { .names = names,
								     .diag = diag } };
	const struct source source = { names->trust, names->tape, diag, config_on_file, &l };
	const struct source scaled = { names->trust, names->tape, diag, config_on_scaled, &l };
	size_t errors = diag_errors(diag);
	int r;

	dropins_init(&l.dropins);
	dropins_init(&l.templates);
	r = config_new(&l.reading.config);
	if (r == 0)
		r = source_words(&scaled, names->scaled, names->n_scaled);
	for (size_t i = 0; r == 0 && i < n_paths; i++)
		r = source_each(&source, paths[i]);
	if (r == 0)
		r = config_loader_add_rest(&l);
	if (r == 0)
		r = templates_apply(&l.templates, &l.reading);
	if (r == 0)
		r = resolve_sections(l.reading.config, names->tape, names->open, diag);
	if (r == 0)
		r = graph_check(l.reading.config, diag);
	if (r == 0)
		r = graph_rank(l.reading.config);
	if (r == 0 && diag_errors(diag) > errors)
		r = -EINVAL;
	if (r == 0)
		r = sockets_check_drains(l.reading.config, diag);
	if (r == 0)
		r = graph_check_pressure(l.reading.config, diag);
	if (r == 0)
		r = config_drop_inherited(l.reading.config);
	if (r < 0)
		return r;
	config_loader_warn(&l, n_paths ? paths[0] : NULL);
	*ret = take(l.reading.config);
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
	struct outputs *outputs;
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
	outputs = node_config_own_part(node, PART_OUTPUTS);
	if (!outputs)
		return -ENOMEM;
	config->nodes[0]->shutdown_timeout_usec = USEC_INFINITY;
	node->restart = RESTART_NEVER;
	outputs->stdio[0].kind = OUTPUT_INHERIT;
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
