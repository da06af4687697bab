#include "model/base/nodes.h"

/*
 * Nodes live in config.nodes, in the order of their creation, which puts parents before children,
 * and are found by path.  A node and its path are one block of memory.
 */

DEFINE_DICT_NAME(config_path_of, struct node_config, path)

static int config_new_node(struct config *config, const char *path, struct node_config *parent,
			   struct place place, struct node_config **ret)
{
	cleanup(freep) struct node_config *node = NULL;

	if (config->n_nodes == CONFIG_NODES_MAX)
		return -E2BIG;
	node = malloc(sizeof(*node) + strlen(path) + 1);
	if (!node || array_reserve(config->nodes, config->n_nodes) < 0)
		return -ENOMEM;
	node_config_init(node, strcpy((char *)(node + 1), path));
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
		int r;

		end = strchrnul(end, '/');
		if ((size_t)(end - path) >= sizeof(part))
			return -EINVAL;
		*(char *)mempcpy(part, path, (size_t)(end - path)) = '\0';
		child = config_find(config, part);
		r = child ? 0 : config_new_node(config, part, node, place, &child);
		if (r < 0)
			return r;
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
	*config = (struct config)CONFIG_DEFAULTS;
	config->refs = 1;
	dict_init(&config->by_path, config_path_of);
	r = config_new_node(config, "", NULL, (struct place){ .file = NULL }, &root);
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

struct config *config_unref(struct config *config)
{
	if (!config || --config->refs > 0)
		return NULL;
	dict_done(&config->by_path);
	for (size_t i = 0; i < config->n_nodes; i++)
		node_config_leave(config->nodes[i]);
	for (size_t i = 0; i < config->n_files; i++)
		free(config->files[i]);
	free(config->nodes);
	free(config->files);
	if (config->tape > 0)
		(void)close(config->tape);
	free(config->control_socket);
	free(config->report);
	free(config->history);
	free(config->state);
	credentials_done(&config->log_user);
	return free_memory(config);
}

int config_add_file(struct config *config, const char *name, const char **ret)
{
	if (array_reserve(config->files, config->n_files) < 0)
		return -ENOMEM;
	config->files[config->n_files] = strdup(name);
	if (!config->files[config->n_files])
		return -ENOMEM;
	*ret = config->files[config->n_files++];
	return 0;
}

static const char *config_check_name_part(const char *part, size_t length)
{
	if (length == 0)
		return "empty part: expected parts joined by single slashes";
	/* The name is also the name of directories: of a cgroup, of a log. */
	if ((length == 1 && part[0] == '.') || (length == 2 && part[0] == '.' && part[1] == '.'))
		return "the part . or .. names a directory";
	/* A template has instances, not nodes below it. */
	if (part[length - 1] == '@' && part[length] == '/')
		return "@ ends a part that is not the last: expected a template's name at the end";
	return strspn(part, TEXT_LETTERS TEXT_DIGITS "_.@-") == length
		       ? NULL
		       : "expected letters, digits and _ . @ - in parts joined by /";
}

const char *config_check_name(const char *path)
{
	unsigned depth = 0;

	if (strlen(path) > CONFIG_NAME_MAX)
		return "too long: at most " STRINGIFY(CONFIG_NAME_MAX) " bytes";
	for (const char *part = path;; part++) {
		const char *end = strchrnul(part, '/');
		const char *why = config_check_name_part(part, (size_t)(end - part));

		if (why)
			return why;
		if (++depth > CONFIG_DEPTH_MAX)
			return "too deep: at most " STRINGIFY(CONFIG_DEPTH_MAX) " parts";
		if (depth == 1 &&
		    strncmp(part, CONFIG_ROOT_SECTION "/", sizeof(CONFIG_ROOT_SECTION)) == 0)
			return "begins with the root's name: expected the path without it";
		if (depth == 1 && (size_t)(end - part) == strlen(CONFIG_ROOT_NAME) &&
		    strncmp(part, CONFIG_ROOT_NAME, strlen(CONFIG_ROOT_NAME)) == 0)
			return "reserved for the root in messages and requests";
		part = end;
		if (!*part)
			break;
	}
	if (strcmp(path, CONFIG_ROOT_SECTION) == 0)
		return "the name of the root: expected a node below it";
	return NULL;
}

bool config_is_template(const char *path)
{
	size_t length = strlen(path);

	return length > 0 && path[length - 1] == '@';
}

bool config_is_instance(const char *path, const char *template)
{
	size_t length = strlen(template);

	return strncmp(path, template, length) == 0 && !strchr(path + length, '/');
}

const char *config_required_template(const struct node_config *node, const char *path)
{
	char **name = node->parts.edges ? node->parts.edges->required : NULL;

	for (; name && *name; name++)
		if (config_is_template(*name) && config_is_instance(path, *name))
			return *name;
	return NULL;
}

struct node_config *config_find(const struct config *config, const char *path)
{
	return dict_find(&config->by_path, path);
}
