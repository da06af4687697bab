#include "model/settings.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"

/*
 * Nodes live in config.nodes, in the order of their creation, which puts parents before children,
 * and are found by path.  A node and its path are one block of memory.
 */

static const char *path_of(const void *node)
{
	return ((const struct node_config *)node)->path;
}

int attributes_new(struct attributes **ret)
{
	struct attributes *attributes = malloc(sizeof(*attributes));

	if (!attributes)
		return -ENOMEM;
	*attributes = (struct attributes)ATTRIBUTES_NONE;
	*ret = attributes;
	return 0;
}

void node_config_init(struct node_config *node, const char *path)
{
	*node = (struct node_config){
		.path = path,
		.shutdown_timeout_usec = *path ? USEC_INFINITY : 90 * USEC_PER_SEC,
		.umask = -1,
		.ready = { .kind = PROBE_STARTED },
		.start_timeout_usec = 90 * USEC_PER_SEC,
		.restart = RESTART_ON_FAILURE,
		.restart_delay_usec = 100 * USEC_PER_MSEC,
		.restart_delay_max_usec = 30 * USEC_PER_SEC,
		.restart_limit = { .count = 5, .window_usec = 30 * USEC_PER_SEC },
		.autostart = true,
		.stop_signal = SIGTERM,
		.kill_leftovers = true,
		.stop_timeout_usec = 10 * USEC_PER_SEC,
		.drain_timeout_usec = 5 * 60 * USEC_PER_SEC,
	};
}

int commands_add(struct commands *commands, char **argv)
{
	char ***more = reallocarray(commands->argv, commands->n + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	more[commands->n++] = argv;
	commands->argv = more;
	return 0;
}

void commands_done(struct commands *commands)
{
	for (size_t i = 0; i < commands->n; i++)
		free(commands->argv[i]);
	free(commands->argv);
	*commands = (struct commands){ .n = 0 };
}

void probe_config_done(struct probe_config *probe)
{
	free(probe->text);
	switch (probe->kind) {
	case PROBE_TCP:
	case PROBE_HTTP:
		free(probe->address);
		break;
	case PROBE_EXEC:
		free(probe->argv);
		break;
	case PROBE_LOG:
		if (probe->regex)
			regfree(probe->regex);
		free(probe->regex);
		break;
	default:
		break;
	}
	*probe = (struct probe_config){ .kind = PROBE_NONE };
}

static const struct extras no_extras = {
	.health_interval_usec = 10 * USEC_PER_SEC,
	.health_timeout_usec = 5 * USEC_PER_SEC,
	.health_retries = 3,
	.final_timeout_usec = 10 * USEC_PER_SEC,
	.restart_reset_usec = 10 * USEC_PER_SEC,
	.watchdog_signal = SIGABRT,
	.reload_signal = SIGHUP,
	.kill_signal = SIGKILL,
	.fd_store_max = CONFIG_FD_STORE_DEFAULT,
};

const struct extras *node_config_extras(const struct node_config *node)
{
	return node->extras ? node->extras : &no_extras;
}

struct extras *node_config_own_extras(struct node_config *node)
{
	if (!node->extras) {
		node->extras = malloc(sizeof(*node->extras));
		if (node->extras)
			*node->extras = no_extras;
	}
	return node->extras;
}

static const struct outputs no_outputs = {
	.stdio = { { .kind = OUTPUT_DEFAULT },
		   { .kind = OUTPUT_DEFAULT },
		   { .kind = OUTPUT_DEFAULT } },
};

const struct outputs *node_config_outputs(const struct node_config *node)
{
	return node->outputs ? node->outputs : &no_outputs;
}

struct outputs *node_config_own_outputs(struct node_config *node)
{
	if (!node->outputs) {
		node->outputs = malloc(sizeof(*node->outputs));
		if (node->outputs)
			*node->outputs = no_outputs;
	}
	return node->outputs;
}

struct stated_edges *node_config_own_edges(struct node_config *node)
{
	if (!node->edges)
		node->edges = calloc(1, sizeof(*node->edges));
	return node->edges;
}

const struct commands *node_config_hook(const struct node_config *node, enum hook_kind kind)
{
	static const struct commands none;

	return node->hooks ? &node->hooks[kind] : &none;
}

const char *hook_name(enum hook_kind kind)
{
	static const char *const names[N_HOOKS] = {
		[HOOK_START_COMMAND] = "start-command",	  [HOOK_POST_START] = "post-start",
		[HOOK_RELOAD_COMMAND] = "reload-command", [HOOK_STOP_COMMAND] = "stop-command",
		[HOOK_POST_STOP] = "post-stop",		  [HOOK_FINAL] = "final",
	};

	return names[kind];
}

static void extras_free(struct extras *extras)
{
	if (!extras)
		return;
	probe_config_done(&extras->health);
	listen_done(extras->listen, extras->n_listen);
	free(extras->credentials.groups);
	free(extras->credentials.user);
	free(extras->credentials.home);
	free(extras->credentials.shell);
	free(extras);
}

static void outputs_free(struct outputs *outputs)
{
	if (!outputs)
		return;
	for (size_t i = 0; i < 3; i++)
		free(outputs->stdio[i].path);
	free(outputs->log.path);
	free(outputs);
}

static void edges_free(struct stated_edges *edges)
{
	for (size_t i = 0; edges && i < N_EDGES; i++)
		free(edges->nodes[i]);
	free(edges);
}

void node_config_done(struct node_config *node)
{
	for (int i = 0; node->hooks && i < N_HOOKS; i++)
		commands_done(&node->hooks[i]);
	free(node->hooks);
	edges_free(node->edges);
	free(node->argv);
	free(node->command);
	probe_config_done(&node->ready);
	extras_free(node->extras);
	outputs_free(node->outputs);
	free(node->directory);
	free(node->environment);
	free(node->environment_files);
	free(node->attributes);
}

static int config_reserve(struct config *config)
{
	size_t n = config->n_slots ? config->n_slots * 2 : 16;
	struct node_config **nodes;

	if (config->n_nodes < config->n_slots)
		return 0;
	nodes = reallocarray(config->nodes, n, sizeof(struct node_config *));
	if (!nodes)
		return -ENOMEM;
	config->nodes = nodes;
	config->n_slots = n;
	return 0;
}

/* @path need not end where the name does: @length bytes of it count. */
static int config_new_node(struct config *config, const char *path, size_t length,
			   struct node_config *parent, struct place place, struct node_config **ret)
{
	cleanup(freep) struct node_config *node = NULL;
	char *name;
	int r;

	if (config->n_nodes == CONFIG_NODES_MAX)
		return -E2BIG;
	r = config_reserve(config);
	if (r < 0)
		return r;
	node = malloc(sizeof(*node) + length + 1);
	if (!node)
		return -ENOMEM;
	name = (char *)(node + 1);
	*(char *)mempcpy(name, path, length) = '\0';
	node_config_init(node, name);
	node->refs = 1;
	node->parent = parent;
	node->place = place;
	node->index = (unsigned)config->n_nodes;
	if (dict_add(&config->by_path, node) < 0)
		return -ENOMEM;
	*ret = config->nodes[config->n_nodes++] = take(node);
	return 0;
}

int config_add_node(struct config *config, const char *path, struct place place,
		    struct node_config **ret)
{
	struct node_config *node = config->nodes[0];
	char part[CONFIG_NAME_MAX + 1];

	for (const char *end = path; *end; end += *end == '/') {
		struct node_config *child;
		size_t length;
		int r;

		end = strchrnul(end, '/');
		length = (size_t)(end - path);
		if (length >= sizeof(part))
			return -EINVAL;
		memcpy(part, path, length);
		part[length] = '\0';

		child = config_find(config, part);
		if (!child) {
			r = config_new_node(config, path, length, node, place, &child);
			if (r < 0)
				return r;
		}
		node = child;
	}
	*ret = node;
	return 0;
}

int config_new(struct config **ret)
{
	cleanup(config_unrefp) struct config *config = calloc(1, sizeof(*config));
	struct node_config *root;
	int r;

	if (!config)
		return -ENOMEM;
	*config = (struct config){ .refs = 1, .control_mode = 0660 };
	dict_init(&config->by_path, path_of);
	r = config_new_node(config, "", 0, NULL, (struct place){ .file = NULL }, &root);
	if (r < 0)
		return r;
	*ret = take(config);
	return 0;
}

struct config *config_ref(struct config *config)
{
	config->refs++;
	return config;
}

const struct node_config *node_config_ref(const struct node_config *node)
{
	((struct node_config *)node)->refs++;
	return node;
}

const struct node_config *node_config_unref(const struct node_config *node)
{
	struct node_config *n = (struct node_config *)node;

	if (!n || --n->refs > 0)
		return NULL;
	node_config_done(n);
	free(n);
	return NULL;
}

/* Whoever keeps it still must not come upon what goes with the config. */
static void forget_node(struct node_config *node)
{
	edges_free(take(node->edges));
	node->parent = NULL;
	node->place = (struct place){ .file = NULL };
	node_config_unref(node);
}

struct config *config_unref(struct config *config)
{
	if (!config || --config->refs > 0)
		return NULL;
	if (config->kept)
		config->kept_free(config->kept);
	dict_done(&config->by_path);
	for (size_t i = 0; i < config->n_nodes; i++)
		forget_node(config->nodes[i]);
	for (size_t i = 0; i < config->n_files; i++)
		free(config->files[i]);
	free(config->nodes);
	free(config->files);
	free(config->control_socket);
	free(config->report);
	free(config);
	return NULL;
}

int config_add_file(struct config *config, const char *name, const char **ret)
{
	char **files = reallocarray(config->files, config->n_files + 1, sizeof(*files));

	if (!files)
		return -ENOMEM;
	config->files = files;
	files[config->n_files] = strdup(name);
	if (!files[config->n_files])
		return -ENOMEM;
	*ret = files[config->n_files++];
	return 0;
}

static bool name_byte_is_good(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("_.@-", c));
}

static const char *name_check_part(const char *part, size_t length)
{
	if (length == 0)
		return "has an empty part, allowed are parts joined by single slashes";
	/* A node's name also becomes a directory's: of a cgroup, of a log. */
	if ((length == 1 && part[0] == '.') || (length == 2 && part[0] == '.' && part[1] == '.'))
		return "has a part that is . or .., which name directories";
	/* Of a template there are instances, not nodes below it. */
	if (part[length - 1] == '@' && part[length] == '/')
		return "has a part that ends with @ and is not the last, allowed is a template's name at the end";
	for (size_t i = 0; i < length; i++) {
		if (!name_byte_is_good(part[i]))
			return "is no name of a node, allowed are letters, digits and _ . @ - in parts joined by /";
	}
	return NULL;
}

const char *config_check_name(const char *path)
{
	unsigned depth = 0;

	if (strlen(path) > CONFIG_NAME_MAX)
		return "is too long, allowed are " STRINGIFY(CONFIG_NAME_MAX) " bytes";
	for (const char *part = path;; part++) {
		const char *end = strchrnul(part, '/');
		const char *why = name_check_part(part, (size_t)(end - part));

		if (why)
			return why;
		if (++depth > CONFIG_DEPTH_MAX)
			return "is too deep, allowed are " STRINGIFY(CONFIG_DEPTH_MAX) " parts";
		if (depth == 1 &&
		    strncmp(part, CONFIG_ROOT_SECTION "/", sizeof(CONFIG_ROOT_SECTION)) == 0)
			return "begins with the root's name, which is not written before those of other nodes";
		part = end;
		if (!*part)
			break;
	}
	if (strcmp(path, CONFIG_ROOT_SECTION) == 0)
		return "is the root, allowed are the nodes below it";
	return NULL;
}

bool config_is_template(const char *path)
{
	size_t length = strlen(path);

	return length > 0 && path[length - 1] == '@';
}

struct node_config *config_find(const struct config *config, const char *path)
{
	return dict_find(&config->by_path, path);
}

const char *node_config_section(const struct node_config *node)
{
	return *node->path ? node->path : CONFIG_ROOT_SECTION;
}

bool node_config_is_within(const struct node_config *node, const struct node_config *ancestor)
{
	for (; node; node = node->parent) {
		if (node == ancestor)
			return true;
	}
	return false;
}

void listen_done(struct listen *listen, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(listen[i].address);
		free(listen[i].name);
	}
	free(listen);
}

const char *listen_prefix(enum listen_kind kind)
{
	static const char *const prefixes[] = {
		[LISTEN_TCP] = "tcp:", [LISTEN_UDP] = "udp:", [LISTEN_UNIX] = "unix:"
	};

	return prefixes[kind];
}

int listen_compare(const struct listen *a, const struct listen *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->kind == LISTEN_UNIX)
		return strcmp(a->address, b->address);
	/* All else in the union is zero. */
	return memcmp(&a->inet, &b->inet, sizeof(a->inet));
}

bool fdname_is_good(const char *name)
{
	size_t length = 0;

	for (; name[length]; length++)
		if (name[length] < ' ' || name[length] > '~' || name[length] == ':')
			return false;
	return length > 0 && length < FDNAME_MAX;
}

const struct output *node_config_output(const struct node_config *node, int fd)
{
	static const struct output inherit = { .kind = OUTPUT_INHERIT };
	const struct outputs *outputs = node_config_outputs(node);
	const struct output *output = &outputs->stdio[fd];

	if (output->kind != OUTPUT_DEFAULT)
		return output;
	return node->terminal ? &inherit : &outputs->log;
}
