#include "model/keys.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "model/values-hook.h"
#include "model/values-listen.h"
#include "model/values-probe.h"

#define CONFIG(member)	IN_CONFIG, offsetof(struct config, member)
#define NODE(member)	IN_NODE, offsetof(struct node_config, member)
#define SECTION(member) IN_SECTION, offsetof(struct section, member)

#define EXTRA(member)	  IN_EXTRAS, offsetof(struct extras, member)
#define ATTRIBUTE(member) IN_ATTRIBUTES, offsetof(struct attributes, member)

/* clang-format off */
const struct key keys[N_KEYS] = {
	[KEY_INSTANCES] = { "instances", SCOPE_TEMPLATE, &type_instances, SECTION(instances),
		"how many of a template there are, or what they are called", APPLY_LIVE },

	[KEY_CONTROL_SOCKET] = { "control-socket", SCOPE_ROOT, &type_socket, CONFIG(control_socket),
		"path of the control socket, or none", APPLY_DAEMON },
	[KEY_CONTROL_GROUP] = { "control-group", SCOPE_ROOT, &type_control_group, IN_CONFIG, 0,
		"group that may connect to the control socket", APPLY_DAEMON },
	[KEY_CONTROL_MODE] = { "control-mode", SCOPE_ROOT, &type_control_mode, CONFIG(control_mode),
		"permissions of the control socket", APPLY_DAEMON },
	[KEY_EXIT_ON_SIGNAL] = { "exit-on-signal", SCOPE_ROOT, &type_exit_on_signal,
		CONFIG(exit_on_signal), "exit status after a stop by a signal", APPLY_DAEMON },
	[KEY_REPORT] = { "report", SCOPE_ROOT, &type_report, CONFIG(report),
		"file for the report on the shutdown, or none", APPLY_LIVE },

	[KEY_SHUTDOWN_TIMEOUT] = { "shutdown-timeout", SCOPE_NODE, &type_duration,
		NODE(shutdown_timeout_usec), "how long all of the node may take to shut down", APPLY_LIVE },
	[KEY_REQUIRES] = { "requires", SCOPE_NODE, &type_nodes, SECTION(edges[EDGE_REQUIRES]),
		"nodes that must be ready before, and that stop after, this one", APPLY_LIVE },
	[KEY_WANTS] = { "wants", SCOPE_NODE, &type_nodes, SECTION(edges[EDGE_WANTS]),
		"nodes that are started with this one, before it if they can be", APPLY_LIVE },
	[KEY_AFTER] = { "after", SCOPE_NODE, &type_nodes, SECTION(edges[EDGE_AFTER]),
		"nodes that are started before, and stopped after, this one", APPLY_LIVE },
	[KEY_TERM_AFTER] = { "term-after", SCOPE_NODE, &type_nodes, SECTION(edges[EDGE_TERM_AFTER]),
		"nodes that must be complete before this one is sent its signal", APPLY_LIVE },
	[KEY_STRATEGY] = { "strategy", SCOPE_NODE, &type_strategy, NODE(strategy),
		"which services of the node are restarted together", APPLY_LIVE },
	[KEY_FINAL] = { "final", SCOPE_NODE, &type_commands, SECTION(hooks[HOOK_FINAL]),
		"what to run when all guards of the node are gone", APPLY_NEXT_START },
	[KEY_FINAL_TIMEOUT] = { "final-timeout", SCOPE_NODE, &type_duration,
		EXTRA(final_timeout_usec), "how long that may take", APPLY_LIVE },

	[KEY_COMMAND] = { "command", SCOPE_SERVICE, &type_command, IN_SECTION, 0,
		"what to run; makes the node a service", APPLY_RESTART },
	[KEY_TYPE] = { "type", SCOPE_SERVICE, &type_type, NODE(type),
		"does it stay, or end when its work is done", APPLY_RESTART },
	[KEY_LISTEN] = { "listen", SCOPE_SERVICE, &type_listen, IN_SECTION, 0,
		"sockets that are open before it starts and while it is restarted", APPLY_RESTART },
	[KEY_AUTOSTART] = { "autostart", SCOPE_SERVICE, &type_bool, NODE(autostart),
		"is it started with the nodes around it", APPLY_LIVE },
	[KEY_RESTART] = { "restart", SCOPE_SERVICE, &type_restart, NODE(restart),
		"when to start it again after its end", APPLY_LIVE },
	[KEY_RESTART_DELAY] = { "restart-delay", SCOPE_SERVICE, &type_duration, NODE(restart_delay_usec),
		"pause before the first restart, doubled for each further one", APPLY_LIVE },
	[KEY_RESTART_DELAY_MAX] = { "restart-delay-max", SCOPE_SERVICE, &type_duration,
		NODE(restart_delay_max_usec), "longest pause before a restart", APPLY_LIVE },
	[KEY_RESTART_RESET] = { "restart-reset", SCOPE_SERVICE, &type_duration, EXTRA(restart_reset_usec),
		"how long a run makes up for the failures before it", APPLY_LIVE },
	[KEY_RESTART_LIMIT] = { "restart-limit", SCOPE_SERVICE, &type_restart_limit, NODE(restart_limit),
		"how many failures in which time make it give up", APPLY_LIVE },
	[KEY_SUCCESS_STATUS] = { "success-status", SCOPE_SERVICE, &type_success_status,
		EXTRA(success_status), "exit statuses and signals that are no failure", APPLY_LIVE },
	[KEY_ON_FAILED] = { "on-failed", SCOPE_SERVICE, &type_on_failed, NODE(on_failed),
		"what is shut down when it is given up", APPLY_LIVE },
	[KEY_READY] = { "ready", SCOPE_SERVICE, &type_ready, NODE(ready),
		"how to know that it can be used", APPLY_NEXT_START },
	[KEY_NOTIFY] = { "notify", SCOPE_SERVICE, &type_bool, NODE(notify),
		"is it given a socket to say how it is", APPLY_RESTART },
	[KEY_CONTROL] = { "control", SCOPE_SERVICE, &type_bool, NODE(control),
		"is it given a connection to the daemon, for its own node", APPLY_RESTART },
	[KEY_FD_STORE_MAX] = { "fd-store-max", SCOPE_SERVICE, &type_fd_store_max, EXTRA(fd_store_max),
		"how many descriptors it may leave for its next run", APPLY_RESTART },
	[KEY_ATTACH] = { "attach", SCOPE_SERVICE, &type_bool, NODE(attach),
		"may it count its own guards on the node", APPLY_RESTART },
	[KEY_START_TIMEOUT] = { "start-timeout", SCOPE_SERVICE, &type_duration, NODE(start_timeout_usec),
		"how long it may take to be ready", APPLY_LIVE },
	[KEY_WATCHDOG] = { "watchdog", SCOPE_SERVICE, &type_watchdog, EXTRA(watchdog_usec),
		"within which time it has to give a sign of life, ever again", APPLY_RESTART },
	[KEY_WATCHDOG_SIGNAL] = { "watchdog-signal", SCOPE_SERVICE, &type_signal, EXTRA(watchdog_signal),
		"signal that ends it when it gives none", APPLY_LIVE },
	[KEY_HEALTH] = { "health", SCOPE_SERVICE, &type_health, EXTRA(health),
		"how to know that it is still well", APPLY_NEXT_START },
	[KEY_HEALTH_INTERVAL] = { "health-interval", SCOPE_SERVICE, &type_interval,
		EXTRA(health_interval_usec), "how often to look whether it is well", APPLY_LIVE },
	[KEY_HEALTH_TIMEOUT] = { "health-timeout", SCOPE_SERVICE, &type_interval,
		EXTRA(health_timeout_usec), "how long one look at it may take", APPLY_LIVE },
	[KEY_HEALTH_RETRIES] = { "health-retries", SCOPE_SERVICE, &type_retries, EXTRA(health_retries),
		"how many failures in a row make it unhealthy", APPLY_LIVE },
	[KEY_ON_UNHEALTHY] = { "on-unhealthy", SCOPE_SERVICE, &type_on_unhealthy, EXTRA(on_unhealthy),
		"what is done when it is unhealthy", APPLY_LIVE },
	[KEY_START_COMMAND] = { "start-command", SCOPE_SERVICE, &type_commands,
		SECTION(hooks[HOOK_START_COMMAND]), "what to run before the command", APPLY_NEXT_START },
	[KEY_POST_START] = { "post-start", SCOPE_SERVICE, &type_commands,
		SECTION(hooks[HOOK_POST_START]), "what to run once it is ready", APPLY_NEXT_START },
	[KEY_RELOAD_SIGNAL] = { "reload-signal", SCOPE_SERVICE, &type_signal, EXTRA(reload_signal),
		"signal that asks it to read its configuration again", APPLY_LIVE },
	[KEY_RELOAD_COMMAND] = { "reload-command", SCOPE_SERVICE, &type_commands,
		SECTION(hooks[HOOK_RELOAD_COMMAND]), "what to run instead of that signal", APPLY_NEXT_START },
	[KEY_DRAIN_DELAY] = { "drain-delay", SCOPE_SERVICE, &type_duration, EXTRA(drain_delay_usec),
		"how long after the stop it is asked to end", APPLY_LIVE },
	[KEY_STOP_SIGNAL] = { "stop-signal", SCOPE_SERVICE, &type_signal, NODE(stop_signal),
		"signal that asks it to end", APPLY_LIVE },
	[KEY_STOP_COMMAND] = { "stop-command", SCOPE_SERVICE, &type_commands,
		SECTION(hooks[HOOK_STOP_COMMAND]), "what to run instead of that signal", APPLY_NEXT_START },
	[KEY_SIGNAL_SCOPE] = { "signal-scope", SCOPE_SERVICE, &type_signal_scope, NODE(signal_scope),
		"which of its processes get the stop signal", APPLY_LIVE },
	[KEY_KILL_SIGNAL] = { "kill-signal", SCOPE_SERVICE, &type_signal, EXTRA(kill_signal),
		"signal that ends it when the stop signal did not", APPLY_LIVE },
	[KEY_KILL_LEFTOVERS] = { "kill-leftovers", SCOPE_SERVICE, &type_bool, NODE(kill_leftovers),
		"is what its main process leaves behind ended", APPLY_LIVE },
	[KEY_POST_STOP] = { "post-stop", SCOPE_SERVICE, &type_commands,
		SECTION(hooks[HOOK_POST_STOP]), "what to run when nothing of it is left", APPLY_NEXT_START },
	[KEY_ESSENTIAL] = { "essential", SCOPE_SERVICE, &type_bool, NODE(essential),
		"its end is the end of everything", APPLY_LIVE },
	[KEY_TERMINAL] = { "terminal", SCOPE_SERVICE, &type_bool, NODE(terminal),
		"it gets the daemon's terminal", APPLY_RESTART },
	[KEY_CGROUP_MEMORY_MAX] = { "cgroup-memory-max", SCOPE_SERVICE, &type_memory,
		EXTRA(cgroup_memory_max), "how much memory all of it may have", APPLY_RESTART },
	[KEY_CGROUP_PIDS_MAX] = { "cgroup-pids-max", SCOPE_SERVICE, &type_pids, EXTRA(cgroup_pids_max),
		"how many processes and threads it may have", APPLY_RESTART },
	[KEY_CGROUP_CPU_WEIGHT] = { "cgroup-cpu-weight", SCOPE_SERVICE, &type_weight,
		EXTRA(cgroup_cpu_weight), "its share of the processors when they are busy", APPLY_RESTART },

	[KEY_USER] = { "user", SCOPE_INHERITED, &type_user, SECTION(user),
		"user to run as", APPLY_RESTART },
	[KEY_GROUP] = { "group", SCOPE_INHERITED, &type_group, SECTION(group),
		"group to run as", APPLY_RESTART },
	[KEY_GROUPS] = { "groups", SCOPE_INHERITED, &type_groups, IN_SECTION, 0,
		"further groups to be in", APPLY_RESTART },
	[KEY_DIRECTORY] = { "directory", SCOPE_INHERITED, &type_directory, SECTION(directory),
		"working directory", APPLY_RESTART },
	[KEY_ENVIRONMENT] = { "environment", SCOPE_INHERITED, &type_environment, SECTION(environment),
		"variables to add to the environment", APPLY_RESTART },
	[KEY_ENVIRONMENT_FILE] = { "environment-file", SCOPE_INHERITED, &type_environment_files,
		SECTION(environment_files), "files with more of them", APPLY_RESTART },
	[KEY_UMASK] = { "umask", SCOPE_INHERITED, &type_umask, SECTION(umask),
		"permissions that new files do not get", APPLY_RESTART },
	[KEY_LIMIT_AS] = { "limit-as", SCOPE_INHERITED, &type_limit_size,
		ATTRIBUTE(limits[RLIMIT_AS]), "most bytes of its memory", APPLY_RESTART },
	[KEY_LIMIT_CORE] = { "limit-core", SCOPE_INHERITED, &type_limit_size,
		ATTRIBUTE(limits[RLIMIT_CORE]), "most bytes of a core file", APPLY_RESTART },
	[KEY_LIMIT_CPU] = { "limit-cpu", SCOPE_INHERITED, &type_limit,
		ATTRIBUTE(limits[RLIMIT_CPU]), "most seconds of processor time", APPLY_RESTART },
	[KEY_LIMIT_DATA] = { "limit-data", SCOPE_INHERITED, &type_limit_size,
		ATTRIBUTE(limits[RLIMIT_DATA]), "most bytes of its data", APPLY_RESTART },
	[KEY_LIMIT_FSIZE] = { "limit-fsize", SCOPE_INHERITED, &type_limit_size,
		ATTRIBUTE(limits[RLIMIT_FSIZE]), "most bytes of a file that it writes", APPLY_RESTART },
	[KEY_LIMIT_LOCKS] = { "limit-locks", SCOPE_INHERITED, &type_limit,
		ATTRIBUTE(limits[RLIMIT_LOCKS]), "most file locks", APPLY_RESTART },
	[KEY_LIMIT_MEMLOCK] = { "limit-memlock", SCOPE_INHERITED, &type_limit_size,
		ATTRIBUTE(limits[RLIMIT_MEMLOCK]), "most bytes of locked memory", APPLY_RESTART },
	[KEY_LIMIT_MSGQUEUE] = { "limit-msgqueue", SCOPE_INHERITED, &type_limit_size,
		ATTRIBUTE(limits[RLIMIT_MSGQUEUE]), "most bytes of message queues of its user", APPLY_RESTART },
	[KEY_LIMIT_NICE] = { "limit-nice", SCOPE_INHERITED, &type_limit,
		ATTRIBUTE(limits[RLIMIT_NICE]), "20 less the lowest nice value that it may take", APPLY_RESTART },
	[KEY_LIMIT_NOFILE] = { "limit-nofile", SCOPE_INHERITED, &type_limit,
		ATTRIBUTE(limits[RLIMIT_NOFILE]), "most open files", APPLY_RESTART },
	[KEY_LIMIT_NPROC] = { "limit-nproc", SCOPE_INHERITED, &type_limit,
		ATTRIBUTE(limits[RLIMIT_NPROC]), "most processes and threads of its user", APPLY_RESTART },
	[KEY_LIMIT_RSS] = { "limit-rss", SCOPE_INHERITED, &type_limit_size,
		ATTRIBUTE(limits[RLIMIT_RSS]), "most bytes of resident memory, which Linux does not limit", APPLY_RESTART },
	[KEY_LIMIT_RTPRIO] = { "limit-rtprio", SCOPE_INHERITED, &type_limit,
		ATTRIBUTE(limits[RLIMIT_RTPRIO]), "most realtime priority", APPLY_RESTART },
	[KEY_LIMIT_RTTIME] = { "limit-rttime", SCOPE_INHERITED, &type_limit,
		ATTRIBUTE(limits[RLIMIT_RTTIME]), "most microseconds of realtime processor time without a pause", APPLY_RESTART },
	[KEY_LIMIT_SIGPENDING] = { "limit-sigpending", SCOPE_INHERITED, &type_limit,
		ATTRIBUTE(limits[RLIMIT_SIGPENDING]), "most pending signals of its user", APPLY_RESTART },
	[KEY_LIMIT_STACK] = { "limit-stack", SCOPE_INHERITED, &type_limit_size,
		ATTRIBUTE(limits[RLIMIT_STACK]), "most bytes of its stack", APPLY_RESTART },
	[KEY_NICE] = { "nice", SCOPE_INHERITED, &type_nice, ATTRIBUTE(nice),
		"how much it leaves the processor to others", APPLY_RESTART },
	[KEY_OOM_SCORE_ADJUST] = { "oom-score-adjust", SCOPE_INHERITED, &type_oom_score,
		ATTRIBUTE(oom_score_adjust), "how early it is killed when memory runs out", APPLY_RESTART },
	[KEY_IO_CLASS] = { "io-class", SCOPE_INHERITED, &type_io_class, ATTRIBUTE(io_priority),
		"scheduling class and level of its input and output", APPLY_RESTART },
	[KEY_CPU_AFFINITY] = { "cpu-affinity", SCOPE_INHERITED, &type_cpus, ATTRIBUTE(cpus),
		"processors to run on", APPLY_RESTART },
	[KEY_NO_NEW_PRIVILEGES] = { "no-new-privileges", SCOPE_INHERITED, &type_no_new_privileges,
		ATTRIBUTE(no_new_privileges), "no program that it runs gives it more rights", APPLY_RESTART },
	[KEY_CAPABILITIES] = { "capabilities", SCOPE_INHERITED, &type_capabilities,
		ATTRIBUTE(capabilities), "rights of root that it keeps", APPLY_RESTART },
	[KEY_STOP_TIMEOUT] = { "stop-timeout", SCOPE_INHERITED, &type_duration,
		SECTION(stop_timeout_usec), "how long after the stop signal it is killed", APPLY_LIVE },
	[KEY_DRAIN_TIMEOUT] = { "drain-timeout", SCOPE_INHERITED, &type_duration,
		SECTION(drain_timeout_usec), "how long after that while it is busy", APPLY_LIVE },
	[KEY_STDIN] = { "stdin", SCOPE_INHERITED, &type_input, SECTION(stdio[0]),
		"where its standard input comes from", APPLY_RESTART },
	[KEY_STDOUT] = { "stdout", SCOPE_INHERITED, &type_output, SECTION(stdio[1]),
		"where its standard output goes", APPLY_RESTART },
	[KEY_STDERR] = { "stderr", SCOPE_INHERITED, &type_output, SECTION(stdio[2]),
		"where its standard error goes", APPLY_RESTART },
	[KEY_LOG] = { "log", SCOPE_INHERITED, &type_output, SECTION(log),
		"where both go", APPLY_RESTART },
};
/* clang-format on */

const char *keys_limit_name(int resource)
{
	size_t offset =
		offsetof(struct attributes, limits) + (size_t)resource * sizeof(struct rlimit);
	const struct key *key = keys;

	while (key->base != IN_ATTRIBUTES || key->offset != offset)
		key++;
	return key->name;
}

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
	else if (key->scope == SCOPE_TEMPLATE && !config_is_template(section->node->path))
		diag_add(diag, DIAG_ERROR, place,
			 "[%s] %s: is for a template, allowed in a section whose name ends with @",
			 name, key->name);
	else if (before && key->type != &type_commands)
		diag_add(diag, DIAG_ERROR, place,
			 "[%s] %s: stands in line %u already, allowed once", name, key->name,
			 before);
	else
		return true;
	return false;
}

static int key_parse(struct section *section, const struct key *key, struct value *value)
{
	if (key->base == IN_ATTRIBUTES && !section->attributes &&
	    attributes_new(&section->attributes) < 0)
		return -ENOMEM;
	if (key->base == IN_EXTRAS && !node_config_own_extras(section->node))
		return -ENOMEM;

	void *const bases[] = {
		[IN_CONFIG] = section->config,	       [IN_NODE] = section->node,
		[IN_EXTRAS] = section->node->extras,   [IN_SECTION] = section,
		[IN_ATTRIBUTES] = section->attributes,
	};

	return key->type->parse(value, (char *)bases[key->base] + key->offset);
}

static int key_set(struct section *section, const struct key *key, unsigned line, const char *text,
		   const struct config_names *names, struct diag *diag)
{
	struct value value = { .text = text, .names = names };
	char excerpt[DIAG_EXCERPT_MAX];
	int r;

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

int keys_set(struct section *section, unsigned line, const char *name, const char *text,
	     const struct config_names *names, struct diag *diag)
{
	const struct key *key = key_find(name);

	if (!key) {
		key_unknown(section, line, name, diag);
		return 0;
	}
	if (!key_is_in_place(section, key, line, diag))
		return 0;
	return key_set(section, key, line, text, names, diag);
}

int keys_set_default(struct section *section, unsigned line, const char *name, const char *text,
		     const struct config_names *names, struct diag *diag)
{
	const struct key *key = key_find(name);
	size_t id = (size_t)(key - keys);
	uint64_t bit = UINT64_C(1) << id % 64;

	/* Mistakes of the template itself are known already. */
	if (!key || key->scope == SCOPE_TEMPLATE ||
	    (section->lines[id] && !(section->of_template[id / 64] & bit)))
		return 0;
	section->of_template[id / 64] |= bit;
	return key_set(section, key, line, text, names, diag);
}
