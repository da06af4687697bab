/*
 * Parts of a node are allocated on demand, so that a node with few keys is small: a missing part is
 * read as its constant defaults.
 */
#include "model/base/settings.h"

/* Pointers to memory of a part, as many as the member has: that memory has no further pointers. */
struct owned {
	size_t offset, n;
};

#define OWNED(of, member) \
	{ offsetof(struct of, member), sizeof(((struct of *)NULL)->member) / sizeof(void *) },
#define PART(of, defaults, ...)                                                                \
	{                                                                                      \
		sizeof(struct of), &(const struct of)defaults,                                 \
			(const struct owned[]){ FOR_EACH(OWNED, of, ##__VA_ARGS__){ 0, 0 } } \
	}

static const struct part {
	size_t size;
	const void *defaults;
	const struct owned *owned; /* the last one has no pointers */
} parts[N_PARTS] = {
	[PART_EXTRAS] = PART(extras, EXTRAS_DEFAULTS, schedule, timezone, pid_file, root_directory,
			     folders, chains, instances, environment_pass),
	[PART_EDGES] = PART(stated_edges, {}, nodes, required),
	[PART_HOOKS] = PART(hooks, {}),
	[PART_OUTPUTS] = PART(outputs, OUTPUTS_DEFAULTS, stdio[0].path, stdio[1].path,
			      stdio[2].path, log.path),
	[PART_ATTRIBUTES] = PART(attributes, ATTRIBUTES_NONE),
	[PART_SANDBOX] = PART(sandbox, {}, write_paths, read_paths, tcp_bind, tcp_connect,
			      system_calls, protect, address_families),
};

const void *node_config_part(const struct node_config *node, enum node_part part)
{
	return node->parts.all[part] ? node->parts.all[part] : parts[part].defaults;
}

void *node_config_own_part(struct node_config *node, enum node_part part)
{
	if (!node->parts.all[part]) {
		node->parts.all[part] = malloc(parts[part].size);
		if (node->parts.all[part])
			memcpy(node->parts.all[part], parts[part].defaults, parts[part].size);
	}
	return node->parts.all[part];
}

void node_config_init(struct node_config *node, const char *path)
{
	*node = (struct node_config)NODE_CONFIG_DEFAULTS;
	node->path = path;
	if (!*path)
		node->shutdown_timeout_usec = NODE_CONFIG_ROOT_USEC;
}

bool node_config_has_hook(const struct node_config *node, enum hook_kind kind)
{
	const struct extras *extras = node_config_extras(node);
	bool has_credential = node_config_hook(node, HOOK_CREDENTIAL)->n > 0;

	if (node_config_hook(node, kind)->n > 0)
		return true;
	if (kind == HOOK_START_COMMAND && (node_config_hook(node, HOOK_CONDITION)->n > 0 || has_credential))
		return true;
	if (kind == HOOK_POST_STOP)
		return (extras->folders[FOLDER_RUNTIME] || has_credential) && !node->handover;
	if (kind == HOOK_RELOAD_COMMAND)
		return has_credential;
	for (size_t i = 0; kind == HOOK_START_COMMAND && i < N_FOLDERS; i++)
		if (extras->folders[i])
			return true;
	return false;
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

static void settings_free_part(struct node_config *node, enum node_part part)
{
	char *memory = take(node->parts.all[part]);

	for (const struct owned *owned = parts[part].owned; memory && owned->n > 0; owned++)
		for (size_t i = 0; i < owned->n; i++)
			free(((void **)(void *)(memory + owned->offset))[i]);
	free(memory);
}

static void settings_free_extras(struct extras *extras)
{
	probe_config_done(&extras->health);
	listen_done(extras->listen, extras->n_listen);
	listen_done(extras->agent, extras->agent ? 1 : 0);
	credentials_done(&extras->credentials);
}

static void settings_free_hooks(struct hooks *hooks)
{
	for (size_t i = 0; i < N_HOOKS; i++) {
		for (size_t j = 0; j < hooks->of[i].n; j++)
			free(hooks->of[i].argv[j]);
		free(hooks->of[i].argv);
	}
}

struct origin *node_config_origin(const struct node_config *node, unsigned key)
{
	for (size_t i = 0; i < node->n_origins; i++)
		if (node->origins[i].key == key)
			return &node->origins[i];
	return NULL;
}

unsigned node_config_line(const struct node_config *node, unsigned key)
{
	const struct origin *origin = node_config_origin(node, key);

	return origin ? origin->line : 0;
}

void node_config_disinherit(struct node_config *node)
{
	if (node->inherited)
		node_config_done(node->inherited);
	node->inherited = free_memory(node->inherited);
}

void node_config_done(struct node_config *node)
{
	node_config_disinherit(node);
	free(node->origins);
	if (node->parts.extras)
		settings_free_extras(node->parts.extras);
	if (node->parts.hooks)
		settings_free_hooks(node->parts.hooks);
	for (enum node_part part = 0; part < N_PARTS; part++)
		settings_free_part(node, part);
	free(node->argv);
	free(node->command);
	probe_config_done(&node->ready);
	free(node->directory);
	free(node->environment);
	free(node->environment_files);
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
	return free_memory(n);
}

void node_config_leave(struct node_config *node)
{
	settings_free_part(node, PART_EDGES);
	free(take(node->origins));
	node->n_origins = 0;
	node->parent = NULL;
	node->place = (struct place){ .file = NULL };
	node_config_unref(node);
}

const char *node_config_section(const struct node_config *node)
{
	return *node->path ? node->path : CONFIG_ROOT_SECTION;
}

size_t node_config_listen_ports(const struct node_config *node,
				in_port_t ports[static NODE_CONFIG_PORTS_MAX])
{
	const struct extras *extras = node_config_extras(node);
	size_t n = 0;

	for (size_t i = 0; i < extras->n_listen && n < NODE_CONFIG_PORTS_MAX; i++)
		if (extras->listen[i].kind == LISTEN_TCP)
			ports[n++] = values_inet_port(&extras->listen[i].inet);
	return n;
}

size_t node_config_ports(const struct node_config *node,
			 in_port_t ports[static NODE_CONFIG_PORTS_MAX])
{
	const struct probe_config *probes[] = { &node->ready, &node_config_extras(node)->health };
	size_t n = node_config_listen_ports(node, ports);

	for (size_t i = 0; n == 0 && i < ARRAY_SIZE(probes); i++)
		if (probes[i]->kind == PROBE_TCP || probes[i]->kind == PROBE_HTTP)
			ports[n++] = values_inet_port(probes[i]->address);
	return n;
}

bool node_config_is_within(const struct node_config *node, const struct node_config *ancestor)
{
	while (node && node != ancestor)
		node = node->parent;
	return node;
}
