/*
 * Parts of a node are allocated on demand, so that a node with few keys is small: a missing part is
 * read as its constant defaults.
 */
#include "model/base/settings.h"

static const struct part {
	size_t size;
	const void *defaults;
} parts[N_PARTS] = {
	[PART_EXTRAS] = { sizeof(struct extras), &(const struct extras)EXTRAS_DEFAULTS },
	[PART_EDGES] = { sizeof(struct stated_edges), &(const struct stated_edges){} },
	[PART_HOOKS] = { sizeof(struct hooks), &(const struct hooks){} },
	[PART_OUTPUTS] = { sizeof(struct outputs), &(const struct outputs)OUTPUTS_DEFAULTS },
	[PART_ATTRIBUTES] = { sizeof(struct attributes),
			      &(const struct attributes)ATTRIBUTES_NONE },
	[PART_SANDBOX] = { sizeof(struct sandbox), &(const struct sandbox){} },
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

static void settings_free_extras(struct extras *extras)
{
	if (!extras)
		return;
	probe_config_done(&extras->health);
	listen_done(extras->listen, extras->n_listen);
	listen_done(extras->agent, extras->agent ? 1 : 0);
	credentials_done(&extras->credentials);
	free(extras->schedule);
	free(extras->timezone);
	free(extras->pid_file);
	free(extras->root_directory);
	for (size_t i = 0; i < N_FOLDERS; i++)
		free(extras->folders[i]);
	for (size_t i = 0; i < N_CHAINS; i++)
		free(extras->chains[i]);
	free(extras->instances);
	free(extras->environment_pass);
	free(extras);
}

static void settings_free_hooks(struct hooks *hooks)
{
	for (size_t i = 0; hooks && i < N_HOOKS; i++) {
		for (size_t j = 0; j < hooks->of[i].n; j++)
			free(hooks->of[i].argv[j]);
		free(hooks->of[i].argv);
	}
	free(hooks);
}

static void settings_free_outputs(struct outputs *outputs)
{
	for (size_t i = 0; outputs && i < 3; i++)
		free(outputs->stdio[i].path);
	if (outputs)
		free(outputs->log.path);
	free(outputs);
}

static void settings_free_edges(struct stated_edges *edges)
{
	for (size_t i = 0; edges && i < N_EDGES; i++)
		free(edges->nodes[i]);
	if (edges)
		free(edges->required);
	free(edges);
}

static void settings_free_sandbox(struct sandbox *sandbox)
{
	if (sandbox) {
		free(sandbox->write_paths);
		free(sandbox->read_paths);
		free(sandbox->tcp_bind);
		free(sandbox->tcp_connect);
		free(sandbox->system_calls);
		free(sandbox->protect);
		free(sandbox->address_families);
	}
	free(sandbox);
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

	return origin ? origin->place.line : 0;
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
	settings_free_extras(node->parts.extras);
	settings_free_edges(node->parts.edges);
	settings_free_hooks(node->parts.hooks);
	settings_free_outputs(node->parts.outputs);
	free(node->parts.attributes);
	settings_free_sandbox(node->parts.sandbox);
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
	settings_free_edges(take(node->parts.edges));
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
