/*
 * Parts of a node are allocated on demand, so that a node with few keys is small: a missing part is
 * read as its constant defaults.
 */
#include "model/base/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

int commands_add(struct commands *commands, char **argv)
{
	char ***more = reallocarray(commands->argv, commands->n + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	more[commands->n++] = argv;
	commands->argv = more;
	return 0;
}

void probe_config_done(struct probe_config *probe)
{
	if (probe->kind == PROBE_LOG && probe->regex)
		regfree(probe->regex);
	free(probe->argv); /* all pointers of the union are one */
	free(probe->text);
	*probe = (struct probe_config){ .kind = PROBE_NONE };
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
	/* The other bytes of the union are zero. */
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

void credentials_done(struct credentials *credentials)
{
	free(credentials->groups);
	free(credentials->user);
	free(credentials->home);
	free(credentials->shell);
}

static void extras_free(struct extras *extras)
{
	if (!extras)
		return;
	probe_config_done(&extras->health);
	listen_done(extras->listen, extras->n_listen);
	credentials_done(&extras->credentials);
	free(extras->schedule);
	free(extras->pid_file);
	free(extras->instances);
	free(extras->environment_pass);
	free(extras);
}

static void hooks_free(struct hooks *hooks)
{
	for (size_t i = 0; hooks && i < N_HOOKS; i++) {
		for (size_t j = 0; j < hooks->of[i].n; j++)
			free(hooks->of[i].argv[j]);
		free(hooks->of[i].argv);
	}
	free(hooks);
}

static void outputs_free(struct outputs *outputs)
{
	for (size_t i = 0; outputs && i < 3; i++)
		free(outputs->stdio[i].path);
	if (outputs)
		free(outputs->log.path);
	free(outputs);
}

static void edges_free(struct stated_edges *edges)
{
	for (size_t i = 0; edges && i < N_EDGES; i++)
		free(edges->nodes[i]);
	free(edges);
}

struct section *node_config_own_section(struct node_config *node)
{
	if (!node->section) {
		node->section = calloc(1, sizeof(*node->section));
		if (node->section)
			node_config_init(&node->section->stated, node->path);
	}
	return node->section;
}

void section_free(struct section *section)
{
	if (section) {
		node_config_done(&section->stated);
		free(section->files);
	}
	free(section);
}

static void origins_free(struct origins *origins)
{
	if (origins)
		free(origins->files);
	free(origins);
}

void node_config_done(struct node_config *node)
{
	section_free(node->section);
	origins_free(node->origins);
	extras_free(node->parts.extras);
	edges_free(node->parts.edges);
	hooks_free(node->parts.hooks);
	outputs_free(node->parts.outputs);
	free(node->parts.attributes);
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
	free(n);
	return NULL;
}

void node_config_leave(struct node_config *node)
{
	edges_free(take(node->parts.edges));
	origins_free(take(node->origins));
	node->parent = NULL;
	node->place = (struct place){ .file = NULL };
	if (node->parts.extras)
		node->parts.extras->listen_place.file = NULL;
	node_config_unref(node);
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
