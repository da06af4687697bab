/*
 * Every section is resolved by itself, in the order of nodes, which puts parents first: edges and
 * values, then checks between keys, then inherited keys.  An inherited key is not copied from node
 * to node: each service finds the nearest section with the key.
 */
#include "model/config/resolve.h"

#include "model/config/environment.h"
#include "model/config/sockets.h"
#include "model/base/nodes.h"
#include "model/file/substitute.h"
#include "model/types/schedule.h"

/* The limit of comparisons: a suggestion compares a name with all nodes. */
#define SUGGESTION_EFFORT 100000

struct resolver {
	struct config *config;
	struct diag *diag;
	struct environment_files environment_files;
	const struct node_config *terminal; /* the service with key terminal, or NULL */
	const char **paths;		    /* of all nodes, for suggestions */
	size_t effort;
	unsigned *marks; /* the last list of edges that named the node */
	unsigned mark;
	struct sockets sockets;
};

/* Adds an error of @node; every function has @node and @r. */
#define resolve_error(key, ...) section_error(node, r->diag, key, __VA_ARGS__)

/* Returns the only path that ends in /@name, or else the closest one; NULL: none. */
static const char *resolve_suggest(struct resolver *r, const char *name)
{
	size_t n = r->config->n_nodes, n_found = 0;
	const char *found = NULL;

	if (r->effort < n)
		return NULL;
	r->effort -= n;
	for (size_t i = 1; i < n; i++) { /* not the root */
		if (!text_ends_in_parts(r->paths[i], name))
			continue;
		found = r->paths[i];
		n_found++;
	}
	return n_found == 1 ? found : text_closest(name, r->paths + 1, n - 1);
}

static void resolve_no_node(struct resolver *r, struct node_config *node, enum diag_level level,
			    enum key_id key, const char *name)
{
	const char *closest = resolve_suggest(r, name);
	char excerpt[DIAG_EXCERPT_MAX];

	if (strcmp(name, CONFIG_ROOT_SECTION) == 0)
		section_report(
			node, r->diag, level, key,
			"'%s' is the root, which contains this node: expected a node below the root",
			name);
	else if (closest)
		section_report(node, r->diag, level, key, "no node '%s': did you mean '%s'?",
			       diag_excerpt(excerpt, name), closest);
	else
		section_report(node, r->diag, level, key,
			       "no node '%s': expected a node of this configuration",
			       diag_excerpt(excerpt, name));
}

/*
 * The instances of the template @name, which ends with '@'; each once.  Returns their number.
 */
static size_t resolve_instances(const struct resolver *r, const char *name,
				struct node_config **nodes)
{
	size_t n = 0;

	for (size_t i = 0; i < r->config->n_nodes; i++) {
		struct node_config *node = r->config->nodes[i];

		if (!config_is_instance(node->path, name))
			continue;
		if (nodes)
			nodes[n] = node;
		n++;
	}
	return n;
}

/* Allocates room for the nodes of @names, which may be templates, and a NULL. */
static struct node_config **resolve_room(const struct resolver *r, char *const *names)
{
	size_t n = 0;

	for (; *names; names++)
		n += config_is_template(*names) ? resolve_instances(r, *names, NULL) : 1;
	return calloc(n + 1, sizeof(struct node_config *));
}

static size_t resolve_edge(struct resolver *r, struct node_config *node, enum key_id key,
			   const char *name, struct node_config **nodes)
{
	struct node_config *found = *name ? config_find(r->config, name) : NULL;
	size_t n = 0;

	if (found)
		nodes[n++] = found;
	else if (config_is_template(name))
		n = resolve_instances(r, name, nodes);
	if (n == 0)
		resolve_no_node(r, node, DIAG_ERROR, key, name);
	for (size_t i = 0; i < n; i++) {
		if (r->marks[nodes[i]->index] == r->mark)
			resolve_error(key, "duplicate node '%s'", nodes[i]->path);
		r->marks[nodes[i]->index] = r->mark;
	}
	return n;
}

static int resolve_edges(struct resolver *r, struct node_config *node, enum edge edge)
{
	cleanup(freep) struct node_config **nodes = NULL;
	struct stated_edges *edges = node->parts.edges;
	enum key_id key = key_of_edge(edge);
	cleanup(freep) char **names = NULL;
	bool any_template = false;
	size_t n = 0;

	if (!edges->names[edge] || !*edges->names[edge])
		return 0;
	edges->places[edge] = section_place(node, key);
	if (substitute_words(edges->names[edge], node->path, &names) < 0)
		return -ENOMEM;
	nodes = resolve_room(r, names);
	if (!nodes)
		return -ENOMEM;
	r->mark++;
	for (char **name = names; *name; name++) {
		n += resolve_edge(r, node, key, *name, nodes + n);
		any_template |= config_is_template(*name);
	}
	free(edges->names[edge]);
	edges->nodes[edge] = take(nodes);
	if (edge == EDGE_REQUIRES && any_template)
		edges->required = take(names);
	return 0;
}

static void resolve_check_chain(struct resolver *r, struct node_config *node, enum chain chain)
{
	char *const *name = node_config_extras(node)->chains[chain];
	enum key_id key = KEY_ON_SUCCESS_START + chain;

	for (; name && *name; name++) {
		const struct node_config *found = config_find(r->config, *name);

		if (found && node_config_is_within(node, found))
			section_warn(node, r->diag, key,
				     "'%s' contains this service: restart = always starts it again",
				     *name);
		else if (!found && !(config_is_template(*name) && resolve_instances(r, *name, NULL)))
			resolve_no_node(r, node, DIAG_WARNING, key, *name);
	}
}

/* --- inherited keys: of the sections above a node, the nearest one with the key applies --- */

/* The nearest node with @key in its section, from @node upward, or NULL. */
static const struct node_config *resolve_find_source(const struct node_config *node,
						     enum key_id key)
{
	while (node && (!node->inherited || !node_config_line(node, key)))
		node = node->parent;
	return node;
}

/* Returns true if a nearer section has log, which is for both streams and overrides @source. */
static bool resolve_is_behind_log(const struct node_config *source, const struct node_config *node)
{
	const struct node_config *log = resolve_find_source(node, KEY_LOG);

	return log && log != source && node_config_is_within(log, source);
}

static int resolve_inherit_key(struct node_config *node, enum key_id key)
{
	const struct node_config *source = resolve_find_source(node, key);
	bool stream = key == KEY_STDOUT || key == KEY_STDERR;

	if (!source || (stream && resolve_is_behind_log(source, node)))
		return 0;
	return key_inherit(&keys[key], source->inherited, node);
}

/* Completes @node with all inherited keys and with its variables.  Return: 0 or -ENOMEM. */
static int resolve_inherited(struct resolver *r, struct node_config *node)
{
	const struct credentials *credentials;

	for (enum key_id key = 0; key < N_KEYS; key++) {
		if (keys[key].scope == SCOPE_INHERITED && resolve_inherit_key(node, key) < 0)
			return -ENOMEM;
	}
	credentials = &node_config_extras(node)->credentials;
	if (credentials->set && !credentials->set_group && credentials->gid == (gid_t)-1)
		section_error(resolve_find_source(node, KEY_USER), r->diag, KEY_USER,
			      "no user has the number %s, so [%s] has no group: set group",
			      credentials->user, node_config_section(node));
	return environment_resolve(&r->environment_files, node, r->diag);
}

/* --- keys against each other --- */

static void resolve_check_delays(struct resolver *r, struct node_config *node)
{
	enum key_id key = node_config_line(node, KEY_RESTART_DELAY) ? KEY_RESTART_DELAY
								    : KEY_RESTART_DELAY_MAX;
	char delay[CLOCK_TEXT_MAX], max[CLOCK_TEXT_MAX];

	if (node->restart_delay_usec <= node->restart_delay_max_usec)
		return;
	resolve_error(key, "restart-delay %s is longer than restart-delay-max %s",
		      clock_text(delay, node->restart_delay_usec),
		      clock_text(max, node->restart_delay_max_usec));
}

/* Only one service can have the terminal. */
static void resolve_check_terminal(struct resolver *r, struct node_config *node)
{
	if (!node->terminal)
		return;
	if (r->terminal)
		resolve_error(KEY_TERMINAL,
			      "only one service has the terminal: [%s] has this key, too",
			      node_config_section(r->terminal));
	else
		r->terminal = node;
}

/* A scheduled service is a oneshot that does not start with the tree, unless its keys differ. */
static void resolve_schedule(struct resolver *r, struct node_config *node)
{
	const struct extras *extras = node_config_extras(node);

	if (extras->timezone && (!extras->schedule || extras->schedule->interval_usec))
		section_warn(node, r->diag, KEY_TIMEZONE,
			     "has no effect without a calendar: set schedule, for example daily 03:00");
	if (!extras->schedule)
		return;
	extras->schedule->calendar.zone = extras->timezone;
	if (!node_config_line(node, KEY_TYPE))
		node->type = TYPE_ONESHOT;
	else if (node->type != TYPE_ONESHOT)
		resolve_error(KEY_SCHEDULE, "a schedule is for work that ends: set type = oneshot");
	if (!node_config_line(node, KEY_AUTOSTART))
		node->autostart = AUTOSTART_NO;
}

/* The process that is started ends, so only the pid-file names the main process. */
static void resolve_check_forking(struct resolver *r, struct node_config *node)
{
	bool forks = node->type == TYPE_FORKING;
	enum probe_kind ready = node->ready.kind;

	if (forks && !node_config_extras(node)->pid_file)
		resolve_error(KEY_TYPE,
			      "'forking' needs the file with the pid of the main process: "
			      "set pid-file, for example pid-file = /run/nginx.pid");
	if (!forks && node_config_extras(node)->pid_file)
		section_warn(node, r->diag, KEY_PID_FILE, "has no effect without type = forking");
	if (forks && (ready == PROBE_NOTIFY || ready == PROBE_FD || ready == PROBE_LOG))
		resolve_error(KEY_READY,
			      "a forking service is ready with its pid-file or by a probe: "
			      "expected started, tcp, unix, http or exec");
}

/* Two runs serve the same sockets for a while, each with processes and descriptors of its own. */
static void resolve_check_handover(struct resolver *r, struct node_config *node)
{
	const struct extras *extras = node_config_extras(node);
	enum probe_kind ready = node->ready.kind;

	if (!node->handover)
		return;
	if (extras->n_listen == 0)
		resolve_error(KEY_HANDOVER, "the next run needs the sockets of the present one: "
					    "set listen, for example listen = tcp:127.0.0.1:8080");
	if (node->type != TYPE_SIMPLE || extras->schedule)
		resolve_error(KEY_HANDOVER, "only a service of type = simple can hand over: with a "
					    "pid file, or work that ends, there is one run");
	if (ready == PROBE_TCP || ready == PROBE_UNIX || ready == PROBE_HTTP || ready == PROBE_LOG)
		resolve_error(KEY_HANDOVER,
			      "the present run could answer a probe of the next, or write its "
			      "line: expected ready = notify, fd or exec");
	if (node->autostart == AUTOSTART_ON_DEMAND || node->terminal || node->control ||
	    !node->kill_leftovers || node_config_hook(node, HOOK_FINAL)->n > 0)
		resolve_error(KEY_HANDOVER, "contradicts autostart = on-demand, terminal, control, "
					    "final and kill-leftovers = no: remove these");
	if (strlen(node->path) > CONFIG_HANDOVER_NAME_MAX)
		resolve_error(KEY_HANDOVER, "the name of the node is too long: at most " STRINGIFY(
						    CONFIG_HANDOVER_NAME_MAX) " bytes");
}

static void resolve_check_oneshot(struct resolver *r, struct node_config *node)
{
	if (node->type != TYPE_ONESHOT)
		return;
	if (!node_config_line(node, KEY_RESTART))
		node->restart = RESTART_NEVER;
	else if (node->restart == RESTART_ALWAYS)
		resolve_error(
			KEY_RESTART,
			"'always' repeats a oneshot without end: expected on-failure or never");
	if (node_config_line(node, KEY_READY))
		resolve_error(KEY_READY, "a oneshot is ready when it has succeeded: "
					 "set type = simple, or no ready");
	if (node_config_extras(node)->health.kind != PROBE_NONE)
		resolve_error(
			KEY_HEALTH,
			"a oneshot does not keep running: set type = simple or remove health");
}

/* The descriptors of listen and fd-store-max begin with 3. */
static int resolve_ready_fd(struct resolver *r, struct node_config *node)
{
	struct extras *extras;
	size_t end;

	if (node->ready.kind != PROBE_FD)
		return 0;
	extras = node_config_own_part(node, PART_EXTRAS);
	if (!extras)
		return -ENOMEM;
	/* Unused without notify: reset, so that a change of ready does not change it. */
	if (node->notify && !node_config_line(node, KEY_FD_STORE_MAX))
		extras->fd_store_max = 0;
	end = 3 + extras->n_listen + (node->notify ? extras->fd_store_max : 0);
	if ((size_t)node->ready.fd < end)
		resolve_error(KEY_READY,
			      "'fd:%d' is among the descriptors of listen and fd-store-max: "
			      "expected fd:%zu or above",
			      node->ready.fd, end);
	return 0;
}

/* A service gets a notification socket if one of its keys needs messages. */
static void resolve_notify(struct resolver *r, struct node_config *node)
{
	const struct extras *extras = node_config_extras(node);
	bool stores = node_config_line(node, KEY_FD_STORE_MAX) && extras->fd_store_max > 0;
	const char *needed_by = node->ready.kind == PROBE_NOTIFY ? "ready = notify"
				: extras->watchdog_usec		 ? "watchdog"
				: stores			 ? "fd-store-max"
								 : NULL;

	if (!node_config_line(node, KEY_NOTIFY))
		node->notify = needed_by;
	else if (!node->notify && needed_by)
		resolve_error(KEY_NOTIFY, "'no' contradicts %s: expected yes", needed_by);
}

/* Resolves values that depend on the node, of all keys that the section may have. */
static int resolve_values(struct resolver *r, struct node_config *node, bool service)
{
	int e = 0;

	for (enum edge edge = 0; e == 0 && node->parts.edges && edge < N_EDGES; edge++)
		e = resolve_edges(r, node, edge);
	for (enum key_id key = 0; e == 0 && key < N_KEYS; key++) {
		if (node_config_line(node, key) && (service || keys[key].scope == SCOPE_NODE))
			e = section_resolve(node, key, r->diag);
	}
	return e;
}

static int resolve_section(struct resolver *r, struct node_config *node)
{
	bool service = node_config_line(node, KEY_COMMAND);

	/* Groups have these timeouts, too. */
	if (resolve_values(r, node, service) < 0 ||
	    resolve_inherit_key(node, KEY_STOP_TIMEOUT) < 0 ||
	    resolve_inherit_key(node, KEY_STOP_WARNING) < 0 ||
	    resolve_inherit_key(node, KEY_DRAIN_TIMEOUT) < 0 ||
	    sockets_resolve(&r->sockets, node, r->diag) < 0)
		return -ENOMEM;
	if (!service) {
		for (size_t i = 0; i < N_KEYS; i++)
			if (keys[i].scope == SCOPE_SERVICE && node_config_line(node, i))
				resolve_error(i, "only services have this key: set command in the "
						 "same section");
		/*
		 * The commands of a group run as those of its services would; the root has the limits
		 * of the daemon's own log.
		 */
		return node_config_line(node, KEY_FINAL) || !node->parent
			       ? resolve_inherited(r, node)
			       : 0;
	}
	resolve_check_delays(r, node);
	resolve_schedule(r, node);
	resolve_check_oneshot(r, node);
	resolve_check_forking(r, node);
	resolve_check_handover(r, node);
	resolve_notify(r, node);
	/* A service on demand waits for connections to its sockets. */
	if (node->autostart == AUTOSTART_ON_DEMAND && node_config_extras(node)->n_listen == 0)
		resolve_error(KEY_AUTOSTART, "'on-demand' waits for a connection: set listen, "
					     "for example listen = tcp:127.0.0.1:8080");
	if (resolve_ready_fd(r, node) < 0)
		return -ENOMEM;
	resolve_check_terminal(r, node);
	for (enum chain chain = 0; chain < N_CHAINS; chain++)
		resolve_check_chain(r, node, chain);
	if (node_config_line(node, KEY_RELOAD_SIGNAL) && node_config_line(node, KEY_RELOAD_COMMAND))
		resolve_error(KEY_RELOAD_SIGNAL, "contradicts reload-command: set one of the two");
	return resolve_inherited(r, node);
}

static void resolve_done(struct resolver *r)
{
	environment_files_done(&r->environment_files);
	sockets_done(&r->sockets);
}

static void resolve_check_log_user(struct resolver *r)
{
	const struct credentials *user = &r->config->log_user;

	if (user->set && user->user_gid == (gid_t)-1)
		section_error(
			r->config->nodes[0], r->diag, KEY_LOG_USER,
			"no user has the number %s: expected a user with a group, for example "
			"nobody",
			user->user);
}

/* The daemon replaces or rotates these files. */
static void resolve_check_files(struct resolver *r)
{
	const struct {
		enum key_id key;
		const char *path;
	} files[] = {
		{ KEY_REPORT, r->config->report },
		{ KEY_HISTORY, r->config->history },
		{ KEY_STATE, r->config->state },
	};

	for (size_t i = 1; i < ARRAY_SIZE(files); i++)
		for (size_t k = 0; k < i && files[i].path; k++)
			if (files[k].path && strcmp(files[i].path, files[k].path) == 0 &&
			    strcmp(files[i].path, "none") != 0)
				section_error(r->config->nodes[0], r->diag, files[i].key,
					      "'%s' is also the file of %s: expected another path",
					      files[i].path, keys[files[k].key].name);
}

int resolve_sections(struct config *config, int tape, int (*open)(const char *path, char **why),
		     struct diag *diag)
{
	cleanup(freep) const char **paths = calloc(config->n_nodes, sizeof(*paths));
	cleanup(freep) unsigned *marks = calloc(config->n_nodes, sizeof(*marks));
	cleanup(resolve_done) struct resolver r = {
		.config = config,
		.diag = diag,
		.environment_files = { .tape = tape, .open = open },
		.paths = paths,
		.effort = SUGGESTION_EFFORT,
		.marks = marks,
	};

	if (!paths || !marks)
		return -ENOMEM;
	for (size_t i = 0; i < config->n_nodes; i++)
		paths[i] = config->nodes[i]->path;
	for (size_t i = 0; i < config->n_nodes; i++) {
		if (resolve_section(&r, config->nodes[i]) < 0)
			return -ENOMEM;
	}
	resolve_check_log_user(&r);
	resolve_check_files(&r);
	return 0;
}
