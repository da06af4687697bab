#include "model/settings.h"

#include <errno.h>
#include <search.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"

/*
 * Nodes live in config.nodes, in the order of their creation, which puts parents before children,
 * and in a search tree by path.  The tree's elements are the nodes themselves; a path is compared
 * through a pointer to the struct's first member, so that config_find() needs no node to look for.
 */
_Static_assert(offsetof(struct node_config, path) == 0, "nodes are compared by their first member");

static int node_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void node_config_init(struct node_config *node, char *path)
{
	*node = (struct node_config){
		.path = path,
		.shutdown_timeout_usec = *path ? USEC_INFINITY : 90 * USEC_PER_SEC,
		.umask = -1,
		.start_timeout_usec = 90 * USEC_PER_SEC,
		.restart = RESTART_ON_FAILURE,
		.restart_delay_usec = 100 * USEC_PER_MSEC,
		.restart_delay_max_usec = 30 * USEC_PER_SEC,
		.restart_limit = { .count = 5, .window_usec = 30 * USEC_PER_SEC },
		.stop_signal = SIGTERM,
		.kill_signal = SIGKILL,
		.kill_leftovers = true,
		.stop_timeout_usec = 10 * USEC_PER_SEC,
	};
}

void node_config_done(struct node_config *node)
{
	free(node->path);
	free(node->requires);
	free(node->after);
	free(node->argv);
	free(node->command);
	free(node->credentials.user);
	free(node->credentials.home);
	free(node->credentials.shell);
	free(node->directory);
	free(node->environment);
	free(node->log.path);
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
	cleanup(freep) char *name = strndup(path, length);
	int r;

	if (!name)
		return -ENOMEM;
	if (config->n_nodes == CONFIG_NODES_MAX)
		return -E2BIG;
	r = config_reserve(config);
	if (r < 0)
		return r;
	node = calloc(1, sizeof(*node));
	if (!node)
		return -ENOMEM;
	node_config_init(node, name);
	node->parent = parent;
	node->place = place;
	node->index = config->n_nodes;
	if (!tsearch(node, &config->by_path, node_compare))
		return -ENOMEM;
	take(name);
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

static void node_keep(void *node)
{
	(void)node;
}

struct config *config_unref(struct config *config)
{
	if (!config || --config->refs > 0)
		return NULL;
	tdestroy(config->by_path, node_keep);
	for (size_t i = 0; i < config->n_nodes; i++) {
		node_config_done(config->nodes[i]);
		free(config->nodes[i]);
	}
	for (size_t i = 0; i < config->n_files; i++)
		free(config->files[i]);
	free(config->nodes);
	free(config->files);
	free(config->control_socket);
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

struct node_config *config_find(const struct config *config, const char *path)
{
	void *const *found = tfind(&path, &config->by_path, node_compare);

	return found ? *found : NULL;
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

static bool text_equal(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool texts_equal(char *const *a, char *const *b)
{
	if (!a || !b)
		return a == b;
	for (; *a && *b; a++, b++) {
		if (strcmp(*a, *b) != 0)
			return false;
	}
	return *a == *b;
}

static bool nodes_equal(struct node_config *const *a, struct node_config *const *b)
{
	if (!a || !b)
		return (!a || !*a) && (!b || !*b);
	for (; *a && *b; a++, b++) {
		if (strcmp((*a)->path, (*b)->path) != 0)
			return false;
	}
	return !*a && !*b;
}

static bool credentials_equal(const struct credentials *a, const struct credentials *b)
{
	return a->set == b->set && a->set_group == b->set_group && a->uid == b->uid &&
	       a->gid == b->gid && text_equal(a->user, b->user) && text_equal(a->home, b->home) &&
	       text_equal(a->shell, b->shell);
}

static bool ready_equal(const struct ready *a, const struct ready *b)
{
	if (a->kind != b->kind || a->fd != b->fd)
		return false;
	/* Where there is an address, all else in the union is zero. */
	return a->kind != READY_TCP || memcmp(&a->address, &b->address, sizeof(a->address)) == 0;
}

bool node_config_equal(const struct node_config *a, const struct node_config *b)
{
	if (strcmp(a->path, b->path) != 0 || a->shutdown_timeout_usec != b->shutdown_timeout_usec ||
	    !nodes_equal(a->requires, b->requires) || !nodes_equal(a->after, b->after) ||
	    !texts_equal(a->argv, b->argv))
		return false;
	if (!a->argv)
		return true;
	return a->type == b->type && credentials_equal(&a->credentials, &b->credentials) &&
	       text_equal(a->directory, b->directory) &&
	       texts_equal(a->environment, b->environment) && a->umask == b->umask &&
	       a->log.kind == b->log.kind && text_equal(a->log.path, b->log.path) &&
	       ready_equal(&a->ready, &b->ready) &&
	       a->start_timeout_usec == b->start_timeout_usec && a->restart == b->restart &&
	       a->restart_delay_usec == b->restart_delay_usec &&
	       a->restart_delay_max_usec == b->restart_delay_max_usec &&
	       a->restart_limit.count == b->restart_limit.count &&
	       a->restart_limit.window_usec == b->restart_limit.window_usec &&
	       a->stop_signal == b->stop_signal && a->stop_timeout_usec == b->stop_timeout_usec &&
	       a->signal_scope == b->signal_scope && a->kill_signal == b->kill_signal &&
	       a->kill_leftovers == b->kill_leftovers && a->essential == b->essential &&
	       a->cgroup_memory_max == b->cgroup_memory_max &&
	       a->cgroup_pids_max == b->cgroup_pids_max &&
	       a->cgroup_cpu_weight == b->cgroup_cpu_weight;
}
