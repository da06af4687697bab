#include "model/diff.h"

#include "base/attributes.h"
#include "model/kinds.h"
#include "model/values-hook.h"

/*
 * A facet is what has become of a key's value when everything is resolved: where it is kept, and of
 * what kind it is.  That may be another place than the one that model/keys.h reads it into, which
 * does not know yet what is inherited.
 */
struct facet {
	const struct kind *kind;
	size_t offset; /* in the part; for commands around a service, which */
	/* Of the configuration for a key of [swansong] only, else of a node. */
	enum { OF_CONFIG, OF_NODE, OF_HOOKS, OF_EXTRAS, OF_EDGES, OF_OUTPUTS, OF_ATTRIBUTES } part;
};

#define CONFIG(member)	  offsetof(struct config, member), OF_CONFIG
#define NODE(member)	  offsetof(struct node_config, member), OF_NODE
#define HOOK(hook)	  hook, OF_HOOKS
#define EXTRA(member)	  offsetof(struct extras, member), OF_EXTRAS
#define EDGE(edge)	  offsetof(struct stated_edges, nodes[edge]), OF_EDGES
#define OUTPUT(member)	  offsetof(struct outputs, member), OF_OUTPUTS
#define ATTRIBUTE(member) offsetof(struct attributes, member), OF_ATTRIBUTES

/* clang-format off */
static const struct facet facets[N_KEYS] = {
	[KEY_CONTROL_SOCKET] = { &kind_text, CONFIG(control_socket) },
	[KEY_CONTROL_GROUP] = { &kind_control_group, 0, OF_CONFIG },
	[KEY_CONTROL_MODE] = { &kind_mode, CONFIG(control_mode) },
	[KEY_EXIT_WHEN] = { &kind_exit_when, CONFIG(exit_when) },
	[KEY_EXIT_ON_SIGNAL] = { &kind_exit_on_signal, CONFIG(exit_on_signal) },
	[KEY_REPORT] = { &kind_text, CONFIG(report) },
	[KEY_SHUTDOWN_TIMEOUT] = { &kind_duration, NODE(shutdown_timeout_usec) },
	[KEY_REQUIRES] = { &kind_nodes, EDGE(EDGE_REQUIRES) },
	[KEY_WANTS] = { &kind_nodes, EDGE(EDGE_WANTS) },
	[KEY_AFTER] = { &kind_nodes, EDGE(EDGE_AFTER) },
	[KEY_TERM_AFTER] = { &kind_nodes, EDGE(EDGE_TERM_AFTER) },
	[KEY_STRATEGY] = { &kind_strategy, NODE(strategy) },
	[KEY_FINAL] = { &kind_commands, HOOK(HOOK_FINAL) },
	[KEY_FINAL_TIMEOUT] = { &kind_duration, EXTRA(final_timeout_usec) },
	[KEY_COMMAND] = { &kind_command, 0, OF_NODE },
	[KEY_TYPE] = { &kind_type, NODE(type) },
	[KEY_LISTEN] = { &kind_listen, 0, OF_EXTRAS },
	[KEY_AUTOSTART] = { &kind_bool, NODE(autostart) },
	[KEY_RESTART] = { &kind_restart, NODE(restart) },
	[KEY_RESTART_DELAY] = { &kind_duration, NODE(restart_delay_usec) },
	[KEY_RESTART_DELAY_MAX] = { &kind_duration, NODE(restart_delay_max_usec) },
	[KEY_RESTART_RESET] = { &kind_duration, EXTRA(restart_reset_usec) },
	[KEY_RESTART_LIMIT] = { &kind_limit, NODE(restart_limit) },
	[KEY_SUCCESS_STATUS] = { &kind_status, EXTRA(success_status) },
	[KEY_ON_FAILED] = { &kind_on_failed, NODE(on_failed) },
	[KEY_READY] = { &kind_probe, NODE(ready) },
	[KEY_NOTIFY] = { &kind_bool, NODE(notify) },
	[KEY_CONTROL] = { &kind_bool, NODE(control) },
	[KEY_FD_STORE_MAX] = { &kind_number, EXTRA(fd_store_max) },
	[KEY_ATTACH] = { &kind_bool, NODE(attach) },
	[KEY_START_TIMEOUT] = { &kind_duration, NODE(start_timeout_usec) },
	[KEY_WATCHDOG] = { &kind_watchdog, EXTRA(watchdog_usec) },
	[KEY_WATCHDOG_SIGNAL] = { &kind_signal, EXTRA(watchdog_signal) },
	[KEY_HEALTH] = { &kind_probe, EXTRA(health) },
	[KEY_HEALTH_INTERVAL] = { &kind_duration, EXTRA(health_interval_usec) },
	[KEY_HEALTH_TIMEOUT] = { &kind_duration, EXTRA(health_timeout_usec) },
	[KEY_HEALTH_RETRIES] = { &kind_number, EXTRA(health_retries) },
	[KEY_ON_UNHEALTHY] = { &kind_on_unhealthy, EXTRA(on_unhealthy) },
	[KEY_START_COMMAND] = { &kind_commands, HOOK(HOOK_START_COMMAND) },
	[KEY_POST_START] = { &kind_commands, HOOK(HOOK_POST_START) },
	[KEY_RELOAD_SIGNAL] = { &kind_signal, EXTRA(reload_signal) },
	[KEY_RELOAD_COMMAND] = { &kind_commands, HOOK(HOOK_RELOAD_COMMAND) },
	[KEY_DRAIN_DELAY] = { &kind_duration, EXTRA(drain_delay_usec) },
	[KEY_STOP_COMMAND] = { &kind_commands, HOOK(HOOK_STOP_COMMAND) },
	[KEY_STOP_SIGNAL] = { &kind_signal, NODE(stop_signal) },
	[KEY_SIGNAL_SCOPE] = { &kind_signal_scope, NODE(signal_scope) },
	[KEY_KILL_SIGNAL] = { &kind_signal, EXTRA(kill_signal) },
	[KEY_KILL_LEFTOVERS] = { &kind_bool, NODE(kill_leftovers) },
	[KEY_POST_STOP] = { &kind_commands, HOOK(HOOK_POST_STOP) },
	[KEY_ESSENTIAL] = { &kind_bool, NODE(essential) },
	[KEY_TERMINAL] = { &kind_bool, NODE(terminal) },
	[KEY_CGROUP_MEMORY_MAX] = { &kind_bound, EXTRA(cgroup_memory_max) },
	[KEY_CGROUP_PIDS_MAX] = { &kind_bound, EXTRA(cgroup_pids_max) },
	[KEY_CGROUP_CPU_WEIGHT] = { &kind_bound, EXTRA(cgroup_cpu_weight) },
	[KEY_USER] = { &kind_user, EXTRA(credentials) },
	[KEY_GROUP] = { &kind_group, EXTRA(credentials) },
	[KEY_GROUPS] = { &kind_groups, EXTRA(credentials) },
	[KEY_DIRECTORY] = { &kind_text, NODE(directory) },
	[KEY_ENVIRONMENT] = { &kind_environment, NODE(environment) },
	[KEY_ENVIRONMENT_FILE] = { &kind_words, NODE(environment_files) },
	[KEY_UMASK] = { &kind_mode, NODE(umask) },
	[KEY_LIMIT_AS] = { &kind_rlimit, ATTRIBUTE(limits[RLIMIT_AS]) },
	[KEY_LIMIT_CORE] = { &kind_rlimit, ATTRIBUTE(limits[RLIMIT_CORE]) },
	[KEY_LIMIT_CPU] = { &kind_rlimit, ATTRIBUTE(limits[RLIMIT_CPU]) },
	[KEY_LIMIT_DATA] = { &kind_rlimit, ATTRIBUTE(limits[RLIMIT_DATA]) },
	[KEY_LIMIT_FSIZE] = { &kind_rlimit, ATTRIBUTE(limits[RLIMIT_FSIZE]) },
	[KEY_LIMIT_LOCKS] = { &kind_rlimit, ATTRIBUTE(limits[RLIMIT_LOCKS]) },
	[KEY_LIMIT_MEMLOCK] = { &kind_rlimit, ATTRIBUTE(limits[RLIMIT_MEMLOCK]) },
	[KEY_LIMIT_MSGQUEUE] = { &kind_rlimit, ATTRIBUTE(limits[RLIMIT_MSGQUEUE]) },
	[KEY_LIMIT_NICE] = { &kind_rlimit, ATTRIBUTE(limits[RLIMIT_NICE]) },
	[KEY_LIMIT_NOFILE] = { &kind_rlimit, ATTRIBUTE(limits[RLIMIT_NOFILE]) },
	[KEY_LIMIT_NPROC] = { &kind_rlimit, ATTRIBUTE(limits[RLIMIT_NPROC]) },
	[KEY_LIMIT_RSS] = { &kind_rlimit, ATTRIBUTE(limits[RLIMIT_RSS]) },
	[KEY_LIMIT_RTPRIO] = { &kind_rlimit, ATTRIBUTE(limits[RLIMIT_RTPRIO]) },
	[KEY_LIMIT_RTTIME] = { &kind_rlimit, ATTRIBUTE(limits[RLIMIT_RTTIME]) },
	[KEY_LIMIT_SIGPENDING] = { &kind_rlimit, ATTRIBUTE(limits[RLIMIT_SIGPENDING]) },
	[KEY_LIMIT_STACK] = { &kind_rlimit, ATTRIBUTE(limits[RLIMIT_STACK]) },
	[KEY_NICE] = { &kind_number, ATTRIBUTE(nice) },
	[KEY_OOM_SCORE_ADJUST] = { &kind_number, ATTRIBUTE(oom_score_adjust) },
	[KEY_IO_CLASS] = { &kind_io_class, ATTRIBUTE(io_priority) },
	[KEY_CPU_AFFINITY] = { &kind_cpus, ATTRIBUTE(cpus) },
	[KEY_NO_NEW_PRIVILEGES] = { &kind_flag, ATTRIBUTE(no_new_privileges) },
	[KEY_CAPABILITIES] = { &kind_capabilities, ATTRIBUTE(capabilities) },
	[KEY_STOP_TIMEOUT] = { &kind_duration, NODE(stop_timeout_usec) },
	[KEY_DRAIN_TIMEOUT] = { &kind_duration, NODE(drain_timeout_usec) },
	[KEY_STDIN] = { &kind_output, OUTPUT(stdio[0]) },
	[KEY_STDOUT] = { &kind_output, OUTPUT(stdio[1]) },
	[KEY_STDERR] = { &kind_output, OUTPUT(stdio[2]) },
	[KEY_LOG] = { &kind_output, OUTPUT(log) },
};
/* clang-format on */

bool key_is_compared(enum key_id key)
{
	return facets[key].kind;
}

/* What of @node the facet of @key is in, unless the facet is one of its hooks. */
static const void *part_of(enum key_id key, const struct node_config *node)
{
	static const struct attributes no_attributes = ATTRIBUTES_NONE;
	static const struct stated_edges no_edges;

	switch (facets[key].part) {
	case OF_EXTRAS:
		return node_config_extras(node);
	case OF_EDGES:
		return node->edges ? node->edges : &no_edges;
	case OF_OUTPUTS:
		return node_config_outputs(node);
	case OF_ATTRIBUTES:
		return node->attributes ? node->attributes : &no_attributes;
	default:
		return node;
	}
}

static const void *facet_of(enum key_id key, const void *base)
{
	switch (facets[key].part) {
	case OF_HOOKS:
		return node_config_hook(base, facets[key].offset);
	case OF_CONFIG:
		return (const char *)base + facets[key].offset;
	default:
		return (const char *)part_of(key, base) + facets[key].offset;
	}
}

static bool differs(enum key_id key, const void *a, const void *b)
{
	return !facets[key].kind->equal(facet_of(key, a), facet_of(key, b));
}

static bool has_final(const struct node_config *node)
{
	return node_config_hook(node, HOOK_FINAL)->n > 0;
}

/* Does it mean anything in both?  What is inherited is for whoever runs something. */
static bool is_of_both(enum key_id key, const struct node_config *a, const struct node_config *b)
{
	bool services = a->argv && b->argv;

	switch (keys[key].scope) {
	case SCOPE_NODE:
		return true;
	case SCOPE_SERVICE:
		return services || key == KEY_COMMAND;
	case SCOPE_INHERITED:
		return services || (has_final(a) && has_final(b));
	default:
		return false;
	}
}

unsigned node_config_diff(const struct node_config *a, const struct node_config *b,
			  struct key_set *ret)
{
	unsigned n = 0;

	*ret = (struct key_set){ 0 };
	for (enum key_id key = 0; key < N_KEYS; key++) {
		if (!is_of_both(key, a, b) || !differs(key, a, b))
			continue;
		key_set_add(ret, key);
		n++;
	}
	return n;
}

unsigned config_diff(const struct config *a, const struct config *b, struct key_set *ret)
{
	unsigned n = 0;

	*ret = (struct key_set){ 0 };
	for (enum key_id key = 0; key < N_KEYS; key++) {
		if (keys[key].scope != SCOPE_ROOT || !differs(key, a, b))
			continue;
		key_set_add(ret, key);
		n++;
	}
	return n;
}

enum key_apply key_set_apply(const struct key_set *set)
{
	enum key_apply most = APPLY_LIVE;

	for (enum key_id key = 0; key < N_KEYS; key++) {
		if (key_set_has(set, key) && keys[key].apply > most)
			most = keys[key].apply;
	}
	return most;
}

void key_print(FILE *file, const struct config *config, const struct node_config *node,
	       enum key_id key)
{
	const void *base = keys[key].scope == SCOPE_ROOT ? (const void *)config : node;

	facets[key].kind->print(file, facet_of(key, base), facets[key].kind);
}
