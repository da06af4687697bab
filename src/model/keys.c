#include "model/keys.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"

#define CONFIG(member)	offsetof(struct config, member)
#define NODE(member)	offsetof(struct node_config, member)
#define SECTION(member) offsetof(struct section, member)

/* clang-format off */
const struct key keys[N_KEYS] = {
	[KEY_CONTROL_SOCKET] = { "control-socket", SCOPE_ROOT, &type_socket, CONFIG(control_socket),
		"path of the control socket, or none" },
	[KEY_CONTROL_GROUP] = { "control-group", SCOPE_ROOT, &type_control_group, 0,
		"group that may connect to the control socket" },
	[KEY_CONTROL_MODE] = { "control-mode", SCOPE_ROOT, &type_control_mode, CONFIG(control_mode),
		"permissions of the control socket" },

	[KEY_SHUTDOWN_TIMEOUT] = { "shutdown-timeout", SCOPE_NODE, &type_duration,
		NODE(shutdown_timeout_usec), "how long all of the node may take to shut down" },
	[KEY_REQUIRES] = { "requires", SCOPE_NODE, &type_nodes, SECTION(requires),
		"nodes that must be ready before, and that stop after, this one" },
	[KEY_AFTER] = { "after", SCOPE_NODE, &type_nodes, SECTION(after),
		"nodes that are started before, and stopped after, this one" },

	[KEY_COMMAND] = { "command", SCOPE_SERVICE, &type_command, 0,
		"what to run; makes the node a service" },
	[KEY_TYPE] = { "type", SCOPE_SERVICE, &type_type, NODE(type),
		"does it stay, or end when its work is done" },
	[KEY_RESTART] = { "restart", SCOPE_SERVICE, &type_restart, NODE(restart),
		"when to start it again after its end" },
	[KEY_RESTART_DELAY] = { "restart-delay", SCOPE_SERVICE, &type_duration, NODE(restart_delay_usec),
		"pause before the first restart, doubled for each further one" },
	[KEY_RESTART_DELAY_MAX] = { "restart-delay-max", SCOPE_SERVICE, &type_duration,
		NODE(restart_delay_max_usec), "longest pause before a restart" },
	[KEY_RESTART_LIMIT] = { "restart-limit", SCOPE_SERVICE, &type_restart_limit, NODE(restart_limit),
		"how many failures in which time make it give up" },
	[KEY_READY] = { "ready", SCOPE_SERVICE, &type_ready, NODE(ready),
		"how to know that it can be used" },
	[KEY_START_TIMEOUT] = { "start-timeout", SCOPE_SERVICE, &type_duration, NODE(start_timeout_usec),
		"how long it may take to be ready" },
	[KEY_STOP_SIGNAL] = { "stop-signal", SCOPE_SERVICE, &type_signal, NODE(stop_signal),
		"signal that asks it to end" },
	[KEY_SIGNAL_SCOPE] = { "signal-scope", SCOPE_SERVICE, &type_signal_scope, NODE(signal_scope),
		"which of its processes get the stop signal" },
	[KEY_KILL_SIGNAL] = { "kill-signal", SCOPE_SERVICE, &type_signal, NODE(kill_signal),
		"signal that ends it when the stop signal did not" },
	[KEY_KILL_LEFTOVERS] = { "kill-leftovers", SCOPE_SERVICE, &type_bool, NODE(kill_leftovers),
		"is what its main process leaves behind ended" },
	[KEY_ESSENTIAL] = { "essential", SCOPE_SERVICE, &type_bool, NODE(essential),
		"its end is the end of everything" },
	[KEY_CGROUP_MEMORY_MAX] = { "cgroup-memory-max", SCOPE_SERVICE, &type_memory,
		NODE(cgroup_memory_max), "how much memory all of it may have" },
	[KEY_CGROUP_PIDS_MAX] = { "cgroup-pids-max", SCOPE_SERVICE, &type_pids, NODE(cgroup_pids_max),
		"how many processes and threads it may have" },
	[KEY_CGROUP_CPU_WEIGHT] = { "cgroup-cpu-weight", SCOPE_SERVICE, &type_weight,
		NODE(cgroup_cpu_weight), "its share of the processors when they are busy" },

	[KEY_USER] = { "user", SCOPE_INHERITED, &type_user, SECTION(user),
		"user to run as" },
	[KEY_GROUP] = { "group", SCOPE_INHERITED, &type_group, SECTION(group),
		"group to run as" },
	[KEY_DIRECTORY] = { "directory", SCOPE_INHERITED, &type_directory, SECTION(directory),
		"working directory" },
	[KEY_ENVIRONMENT] = { "environment", SCOPE_INHERITED, &type_environment, SECTION(environment),
		"variables to add to the environment" },
	[KEY_UMASK] = { "umask", SCOPE_INHERITED, &type_umask, SECTION(umask),
		"permissions that new files do not get" },
	[KEY_STOP_TIMEOUT] = { "stop-timeout", SCOPE_INHERITED, &type_stop_timeout,
		SECTION(stop_timeout_usec), "how long after the stop signal it is killed" },
	[KEY_LOG] = { "log", SCOPE_INHERITED, &type_log, SECTION(log),
		"where its output goes" },
};
/* clang-format on */

static const struct key *key_find(const char *name)
{
	for (size_t i = 0; i < N_KEYS; i++) {
		if (strcmp(keys[i].name, name) == 0)
			return &keys[i];
	}
	return NULL;
}

static void key_unknown(const struct section *section, unsigned line, const char *name,
			struct diag *diag)
{
	struct place place = { .file = section->node->place.file, .line = line };
	const char *names[N_KEYS];
	const char *closest = NULL;

	for (size_t i = 0; i < N_KEYS; i++)
		names[i] = keys[i].name;
	if (diag_errors(diag) < DIAG_MAX)
		closest = text_closest(name, names, N_KEYS);
	diag_add(diag, DIAG_ERROR, place, "[%s] %s: unknown key, %s%s%s",
		 node_config_section(section->node), name,
		 closest ? "did you mean '" : "allowed are those of swansong.ini(5)",
		 closest ? closest : "", closest ? "'?" : "");
}

/* May @key stand here?  Whether a service has a command is known at its end only. */
static bool key_is_in_place(const struct section *section, const struct key *key, unsigned line,
			    struct diag *diag)
{
	struct place place = { .file = section->node->place.file, .line = line };
	unsigned before = section->lines[key - keys];
	const char *name = node_config_section(section->node);
	bool root = !*section->node->path;

	if (key->scope == SCOPE_ROOT && !root)
		diag_add(diag, DIAG_ERROR, place,
			 "[%s] %s: does not belong here, allowed in [%s] only", name, key->name,
			 CONFIG_ROOT_SECTION);
	else if (key->scope == SCOPE_SERVICE && root)
		diag_add(diag, DIAG_ERROR, place,
			 "[%s] %s: the root is no service, allowed in a service's section", name,
			 key->name);
	else if (before)
		diag_add(diag, DIAG_ERROR, place,
			 "[%s] %s: stands in line %u already, allowed once", name, key->name,
			 before);
	else
		return true;
	return false;
}

static int key_parse(struct section *section, const struct key *key, struct value *value)
{
	void *const bases[] = {
		[IN_CONFIG] = section->config,
		[IN_NODE] = section->node,
		[IN_SECTION] = section,
	};

	return key->type->parse(value, (char *)bases[key->type->base] + key->offset);
}

int keys_set(struct section *section, unsigned line, const char *name, const char *text,
	     const struct config_names *names, struct diag *diag)
{
	struct value value = { .text = text, .names = names };
	const struct key *key = key_find(name);
	char excerpt[DIAG_EXCERPT_MAX];
	int r;

	if (!key) {
		key_unknown(section, line, name, diag);
		return 0;
	}
	if (!key_is_in_place(section, key, line, diag))
		return 0;
	section->lines[key - keys] = line;
	r = key_parse(section, key, &value);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		section_error(section, diag, key - keys, "'%s' %s, allowed is %s",
			      diag_excerpt(excerpt, text), value.why ? value.why : "cannot be used",
			      key->type->allowed);
	return 0;
}
