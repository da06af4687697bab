#include "model/resolve.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "model/environment.h"
#include "model/inherit.h"
#include "model/substitute.h"
#include "model/values-listen.h"
#include "model/values-probe.h"

/* Looking for a name that may be meant compares with all of them; not for ever. */
#define SUGGESTION_EFFORT 100000

struct resolver {
	struct config *config;
	struct section *sections;
	struct diag *diag;
	struct environment_files environment_files;
	const struct node_config *terminal; /* who has it, or NULL */
	const char **paths;		    /* of all nodes, for suggestions */
	size_t effort;
	unsigned *marks; /* the last list of edges that named the node */
	unsigned mark;
	void *listens; /* tsearch(3) tree of all sockets so far, each once */
};

static const char *resolve_suggest(struct resolver *r, const char *name)
{
	size_t n = r->config->n_nodes;

	if (r->effort < n)
		return NULL;
	r->effort -= n;
	return text_closest(name, r->paths + 1, n - 1); /* not the root */
}

static void resolve_no_node(struct resolver *r, const struct section *section, enum key_id key,
			    const char *name)
{
	const char *closest = resolve_suggest(r, name);
	char excerpt[DIAG_EXCERPT_MAX];

	if (strcmp(name, CONFIG_ROOT_SECTION) == 0)
		section_error(
			section, r->diag, key,
			"'%s' is the root, which holds this node, allowed are the nodes below it",
			name);
	else if (closest)
		section_error(section, r->diag, key, "there is no node '%s', did you mean '%s'?",
			      diag_excerpt(excerpt, name), closest);
	else
		section_error(section, r->diag, key,
			      "there is no node '%s', allowed are nodes of this configuration",
			      diag_excerpt(excerpt, name));
}

/*
 * The instances of the template @name, which ends with '@'; each once.  Return: how many there are.
 */
static size_t resolve_instances(const struct resolver *r, const char *name,
				struct node_config **nodes)
{
	size_t length = strlen(name), n = 0;

	for (size_t i = 0; i < r->config->n_nodes; i++) {
		struct node_config *node = r->config->nodes[i];

		if (strncmp(node->path, name, length) != 0 || strchr(node->path + length, '/'))
			continue;
		if (nodes)
			nodes[n] = node;
		n++;
	}
	return n;
}

static const enum key_id edge_keys[N_EDGES] = {
	[EDGE_REQUIRES] = KEY_REQUIRES,
	[EDGE_WANTS] = KEY_WANTS,
	[EDGE_AFTER] = KEY_AFTER,
	[EDGE_TERM_AFTER] = KEY_TERM_AFTER,
};

/* What @names mean, which may be templates.  Room for one more than they are. */
static struct node_config **resolve_room(const struct resolver *r, char *const *names)
{
	size_t n = 0;

	for (; *names; names++)
		n += config_is_template(*names) ? resolve_instances(r, *names, NULL) : 1;
	return calloc(n + 1, sizeof(struct node_config *));
}

static size_t resolve_edge(struct resolver *r, const struct section *section, enum key_id key,
			   const char *name, struct node_config **nodes)
{
	struct node_config *node = config_find(r->config, name);
	size_t n;

	if (!*name || (!node && !config_is_template(name))) {
		resolve_no_node(r, section, key, name);
		return 0;
	}
	if (node) {
		nodes[0] = node;
		n = 1;
	} else {
		n = resolve_instances(r, name, nodes);
		if (n == 0)
			resolve_no_node(r, section, key, name);
	}
	for (size_t i = 0; i < n; i++) {
		if (r->marks[nodes[i]->index] == r->mark)
			section_error(section, r->diag, key, "'%s' is named twice, allowed once",
				      nodes[i]->path);
		r->marks[nodes[i]->index] = r->mark;
	}
	return n;
}

static int resolve_edges(struct resolver *r, const struct section *section, enum key_id key,
			 char *const *stated, struct node_config ***ret)
{
	cleanup(freep) struct node_config **nodes = NULL;
	cleanup(freep) char **names = NULL;
	size_t n = 0;

	if (substitute_words(stated, section->node->path, &names) < 0)
		return -ENOMEM;
	nodes = resolve_room(r, names);
	if (!nodes)
		return -ENOMEM;
	r->mark++;
	for (char **name = names; *name; name++)
		n += resolve_edge(r, section, key, *name, nodes + n);
	*ret = take(nodes);
	return 0;
}

static int resolve_all_edges(struct resolver *r, const struct section *section)
{
	for (size_t i = 0; i < N_EDGES; i++) {
		char *const *names = section->edges[i];
		struct stated_edges *edges;

		if (!names || !*names)
			continue;
		edges = node_config_own_edges(section->node);
		if (!edges)
			return -ENOMEM;
		edges->lines[i] = section->lines[edge_keys[i]];
		if (resolve_edges(r, section, edge_keys[i], names, &edges->nodes[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Those of a group count for how long others wait for it. */
static void resolve_timeouts(const struct resolver *r, struct node_config *node)
{
	const struct section *stop = inherit_source(r->sections, node, KEY_STOP_TIMEOUT);
	const struct section *drain = inherit_source(r->sections, node, KEY_DRAIN_TIMEOUT);

	if (stop)
		node->stop_timeout_usec = stop->stop_timeout_usec;
	if (drain)
		node->drain_timeout_usec = drain->drain_timeout_usec;
}

static int resolve_inherited(struct resolver *r, struct node_config *node)
{
	const struct section *directory = inherit_source(r->sections, node, KEY_DIRECTORY);
	const struct section *mask = inherit_source(r->sections, node, KEY_UMASK);

	if (mask)
		node->umask = mask->umask;
	if (directory && directory->directory &&
	    substitute_text(directory->directory, node->path, &node->directory) < 0)
		return -ENOMEM;
	if (inherit_outputs(r->sections, node) < 0 || inherit_attributes(r->sections, node) < 0 ||
	    inherit_user(r->sections, node, r->diag) < 0)
		return -ENOMEM;
	return environment_resolve(&r->environment_files, r->sections, node, r->diag);
}

static void resolve_check_delays(struct resolver *r, const struct section *section)
{
	const struct node_config *node = section->node;
	enum key_id key =
		section->lines[KEY_RESTART_DELAY] ? KEY_RESTART_DELAY : KEY_RESTART_DELAY_MAX;
	char delay[CLOCK_TEXT_MAX], max[CLOCK_TEXT_MAX];

	if (node->restart_delay_usec <= node->restart_delay_max_usec)
		return;
	section_error(
		section, r->diag, key,
		"restart-delay is %s and restart-delay-max %s, allowed is a delay up to the maximum",
		clock_text(delay, node->restart_delay_usec),
		clock_text(max, node->restart_delay_max_usec));
}

/* There is one terminal. */
static void resolve_check_terminal(struct resolver *r, const struct section *section)
{
	if (!section->node->terminal)
		return;
	if (r->terminal)
		section_error(section, r->diag, KEY_TERMINAL,
			      "[%s] has the terminal already, allowed for one service",
			      node_config_section(r->terminal));
	else
		r->terminal = section->node;
}

static void resolve_check_oneshot(struct resolver *r, const struct section *section)
{
	struct node_config *node = section->node;

	if (node->type != TYPE_ONESHOT)
		return;
	if (!section->lines[KEY_RESTART])
		node->restart = RESTART_NEVER;
	else if (node->restart == RESTART_ALWAYS)
		section_error(
			section, r->diag, KEY_RESTART,
			"'always' would run a oneshot for ever, allowed is on-failure or never");
	if (section->lines[KEY_READY])
		section_error(
			section, r->diag, KEY_READY,
			"a oneshot is ready when it has ended well, allowed with type = simple");
	if (node_config_extras(node)->health.kind != PROBE_NONE)
		section_error(section, r->diag, KEY_HEALTH,
			      "a oneshot does not stay, allowed with type = simple");
}

static void resolve_listen_error(struct resolver *r, const struct section *section,
				 const struct listen *listen, const char *why)
{
	char text[DIAG_EXCERPT_MAX];

	section_error(section, r->diag, KEY_LISTEN, "'%s%s' %s, allowed is %s",
		      listen_prefix(listen->kind), diag_excerpt(text, listen->address), why,
		      type_listen.allowed);
}

static int compare_listens(const void *a, const void *b)
{
	return listen_compare(a, b);
}

/* One address is one socket, in whatever services; a socket has one owner and mode. */
static int resolve_shared(struct resolver *r, const struct section *section,
			  const struct listen *listen)
{
	struct listen *const *found = tsearch(listen, &r->listens, compare_listens);
	const struct listen *other;

	if (!found)
		return -ENOMEM;
	other = *found;
	if (other != listen && other >= section->node->extras->listen && other < listen)
		resolve_listen_error(r, section, listen, "is named twice");
	else if (other->mode != listen->mode || other->owner != listen->owner ||
		 other->group != listen->group)
		resolve_listen_error(r, section, listen,
				     "has another mode, owner or group in another section");
	return 0;
}

static int resolve_listen(struct resolver *r, const struct section *section)
{
	struct extras *extras;
	const char *why;

	if (section->n_listen == 0)
		return 0;
	extras = node_config_own_extras(section->node);
	if (!extras)
		return -ENOMEM;
	extras->listen = calloc(section->n_listen, sizeof(*extras->listen));
	if (!extras->listen)
		return -ENOMEM;
	extras->n_listen = section->n_listen;
	extras->listen_line = section->lines[KEY_LISTEN];
	for (size_t i = 0; i < extras->n_listen; i++) {
		struct listen *listen = &extras->listen[i];
		int e = listen_resolve(&section->listen[i], section->node->path, listen, &why);

		if (e == 0)
			e = resolve_shared(r, section, listen);
		else if (e == -EINVAL)
			resolve_listen_error(r, section, listen, why);
		if (e == -ENOMEM)
			return e;
	}
	return 0;
}

/* What it is given begins with the descriptor 3. */
static int resolve_ready_fd(struct resolver *r, const struct section *section)
{
	struct node_config *node = section->node;
	struct extras *extras;
	size_t end;

	if (node->ready.kind != PROBE_FD)
		return 0;
	extras = node_config_own_extras(node);
	if (!extras)
		return -ENOMEM;
	/* Without notify it means nothing, and another way to be ready is no change of it. */
	if (node->notify && !section->lines[KEY_FD_STORE_MAX])
		extras->fd_store_max = 0;
	end = 3 + extras->n_listen + (node->notify ? extras->fd_store_max : 0);
	if ((size_t)node->ready.fd < end)
		section_error(section, r->diag, KEY_READY,
			      "'fd:%d' is among the descriptors of listen and fd-store-max, "
			      "allowed is fd:%zu and above",
			      node->ready.fd, end);
	return 0;
}

/* A socket is given to whom something is expected of on it. */
static void resolve_notify(struct resolver *r, const struct section *section)
{
	struct node_config *node = section->node;
	const struct extras *extras = node_config_extras(node);
	bool stores = section->lines[KEY_FD_STORE_MAX] && extras->fd_store_max > 0;

	if (!section->lines[KEY_NOTIFY])
		node->notify = node->ready.kind == PROBE_NOTIFY || extras->watchdog_usec || stores;
	else if (!node->notify && node->ready.kind == PROBE_NOTIFY)
		section_error(section, r->diag, KEY_NOTIFY,
			      "'no' leaves ready = notify without an answer, allowed is yes");
	else if (!node->notify && extras->watchdog_usec)
		section_error(section, r->diag, KEY_NOTIFY,
			      "'no' leaves the watchdog without an answer, allowed is yes");
	else if (!node->notify && stores)
		section_error(section, r->diag, KEY_NOTIFY,
			      "'no' leaves nobody to fill the store, allowed is yes");
}

static int resolve_probe(struct resolver *r, const struct section *section, enum key_id key,
			 struct probe_config *probe)
{
	const char *why;
	int e = probe_resolve(probe, section->node->path, &why);
	char text[DIAG_EXCERPT_MAX];

	if (e == -EINVAL)
		section_error(section, r->diag, key, "'%s' %s, allowed is %s",
			      diag_excerpt(text, probe->text), why, keys[key].type->allowed);
	return e == -ENOMEM ? e : 0;
}

static void resolve_check_reload(struct resolver *r, const struct section *section)
{
	if (section->lines[KEY_RELOAD_SIGNAL] && section->lines[KEY_RELOAD_COMMAND])
		section_error(section, r->diag, KEY_RELOAD_SIGNAL,
			      "there is a reload-command, allowed is one of the two");
}

static void resolve_check_group(struct resolver *r, const struct section *section)
{
	for (size_t i = 0; i < N_KEYS; i++) {
		if (keys[i].scope == SCOPE_SERVICE && section->lines[i])
			section_error(
				section, r->diag, i,
				"is for a service, allowed with a command in the same section");
	}
}

static int resolve_hooks(const struct section *section)
{
	struct node_config *node = section->node;

	for (int kind = 0; kind < N_HOOKS; kind++) {
		const struct commands *stated = &section->hooks[kind];

		if (stated->n > 0 && !node->hooks)
			node->hooks = calloc(N_HOOKS, sizeof(*node->hooks));
		if (stated->n > 0 && !node->hooks)
			return -ENOMEM;
		for (size_t i = 0; i < stated->n; i++) {
			cleanup(freep) char **argv = NULL;

			if (substitute_words(stated->argv[i], node->path, &argv) < 0 ||
			    commands_add(&node->hooks[kind], argv) < 0)
				return -ENOMEM;
			(void)take(argv);
		}
	}
	return 0;
}

/* What was stated makes room for what comes of the next. */
static int resolve_command(struct section *section)
{
	cleanup(freep) char **stated = take(section->argv);

	return stated ? substitute_words(stated, section->node->path, &section->node->argv) : 0;
}

static int resolve_section(struct resolver *r, struct section *section)
{
	struct node_config *node = section->node;

	if (resolve_all_edges(r, section) < 0 || resolve_hooks(section) < 0)
		return -ENOMEM;
	resolve_timeouts(r, node);
	if (!section->lines[KEY_COMMAND]) {
		resolve_check_group(r, section);
		/* What a group runs, it runs as its services would. */
		return section->lines[KEY_FINAL] ? resolve_inherited(r, node) : 0;
	}
	resolve_check_delays(r, section);
	resolve_check_oneshot(r, section);
	resolve_notify(r, section);
	if (resolve_probe(r, section, KEY_READY, &node->ready) < 0)
		return -ENOMEM;
	if (node->extras && resolve_probe(r, section, KEY_HEALTH, &node->extras->health) < 0)
		return -ENOMEM;
	if (resolve_listen(r, section) < 0 || resolve_ready_fd(r, section) < 0)
		return -ENOMEM;
	resolve_check_terminal(r, section);
	resolve_check_reload(r, section);
	if (resolve_command(section) < 0)
		return -ENOMEM;
	return resolve_inherited(r, node);
}

static void keep(void *listen)
{
	(void)listen;
}

static void resolver_done(struct resolver *r)
{
	environment_files_done(&r->environment_files);
	tdestroy(r->listens, keep);
}

int resolve_sections(struct config *config, struct section *sections, struct diag *diag)
{
	cleanup(freep) const char **paths = calloc(config->n_nodes, sizeof(*paths));
	cleanup(freep) unsigned *marks = calloc(config->n_nodes, sizeof(*marks));
	cleanup(resolver_done) struct resolver r = {
		.config = config,
		.sections = sections,
		.diag = diag,
		.paths = paths,
		.effort = SUGGESTION_EFFORT,
		.marks = marks,
	};

	if (!paths || !marks)
		return -ENOMEM;
	for (size_t i = 0; i < config->n_nodes; i++)
		paths[i] = config->nodes[i]->path;
	for (size_t i = 0; i < config->n_nodes; i++) {
		if (resolve_section(&r, &sections[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}
