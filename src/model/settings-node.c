#include "model/settings.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"

/*
 * One node.  What most of them do not say is in parts of their own, which are there when something
 * in them is said; else the defaults are those of all.
 */

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

const struct output *node_config_output(const struct node_config *node, int fd)
{
	static const struct output inherit = { .kind = OUTPUT_INHERIT };
	const struct outputs *outputs = node_config_outputs(node);
	const struct output *output = &outputs->stdio[fd];

	if (output->kind != OUTPUT_DEFAULT)
		return output;
	return node->terminal ? &inherit : &outputs->log;
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
	edges_free(take(node->edges));
	node->parent = NULL;
	node->place = (struct place){ .file = NULL };
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
