#pragma once

/*
 * A section as written, while it is read and resolved: what needs no other section or node is in
 * the node (and the config) already, the rest is here.
 */

#include "model/settings.h"

/* The keys, in the order of swansong.ini(5); model/keys.h has the table. */
enum key_id {
	KEY_INSTANCES,
	KEY_CONTROL_SOCKET,
	KEY_CONTROL_GROUP,
	KEY_CONTROL_MODE,
	KEY_EXIT_WHEN,
	KEY_EXIT_ON_SIGNAL,
	KEY_REPORT,
	KEY_SHUTDOWN_TIMEOUT,
	KEY_REQUIRES,
	KEY_WANTS,
	KEY_AFTER,
	KEY_TERM_AFTER,
	KEY_STRATEGY,
	KEY_FINAL,
	KEY_FINAL_TIMEOUT,

	KEY_COMMAND,
	KEY_TYPE,
	KEY_LISTEN,
	KEY_AUTOSTART,
	KEY_RESTART,
	KEY_RESTART_DELAY,
	KEY_RESTART_DELAY_MAX,
	KEY_RESTART_RESET,
	KEY_RESTART_LIMIT,
	KEY_SUCCESS_STATUS,
	KEY_ON_FAILED,
	KEY_READY,
	KEY_NOTIFY,
	KEY_CONTROL,
	KEY_FD_STORE_MAX,
	KEY_ATTACH,
	KEY_START_TIMEOUT,
	KEY_WATCHDOG,
	KEY_WATCHDOG_SIGNAL,
	KEY_HEALTH,
	KEY_HEALTH_INTERVAL,
	KEY_HEALTH_TIMEOUT,
	KEY_HEALTH_RETRIES,
	KEY_ON_UNHEALTHY,
	KEY_START_COMMAND,
	KEY_POST_START,
	KEY_RELOAD_SIGNAL,
	KEY_RELOAD_COMMAND,
	KEY_DRAIN_DELAY,
	KEY_STOP_SIGNAL,
	KEY_STOP_COMMAND,
	KEY_SIGNAL_SCOPE,
	KEY_KILL_SIGNAL,
	KEY_KILL_LEFTOVERS,
	KEY_POST_STOP,
	KEY_ESSENTIAL,
	KEY_TERMINAL,
	KEY_CGROUP_MEMORY_MAX,
	KEY_CGROUP_PIDS_MAX,
	KEY_CGROUP_CPU_WEIGHT,
	KEY_USER,
	KEY_GROUP,
	KEY_GROUPS,
	KEY_DIRECTORY,
	KEY_ENVIRONMENT,
	KEY_ENVIRONMENT_FILE,
	KEY_UMASK,
	KEY_LIMIT_AS,
	KEY_LIMIT_CORE,
	KEY_LIMIT_CPU,
	KEY_LIMIT_DATA,
	KEY_LIMIT_FSIZE,
	KEY_LIMIT_LOCKS,
	KEY_LIMIT_MEMLOCK,
	KEY_LIMIT_MSGQUEUE,
	KEY_LIMIT_NICE,
	KEY_LIMIT_NOFILE,
	KEY_LIMIT_NPROC,
	KEY_LIMIT_RSS,
	KEY_LIMIT_RTPRIO,
	KEY_LIMIT_RTTIME,
	KEY_LIMIT_SIGPENDING,
	KEY_LIMIT_STACK,
	KEY_NICE,
	KEY_OOM_SCORE_ADJUST,
	KEY_IO_CLASS,
	KEY_CPU_AFFINITY,
	KEY_NO_NEW_PRIVILEGES,
	KEY_CAPABILITIES,
	KEY_STOP_TIMEOUT,
	KEY_DRAIN_TIMEOUT,
	KEY_STDIN,
	KEY_STDOUT,
	KEY_STDERR,
	KEY_LOG,
	N_KEYS
};

#define ENVIRONMENT_MAX 1000 /* variables in one section, or file */

/* The user of a section, before it meets the group. */
struct stated_user {
	uid_t uid;
	gid_t gid;
	bool has_gid; /* a number that is nobody's brings no group */
	char *name, *home, *shell;
};

struct section {
	struct config *config;
	struct node_config *node;
	unsigned lines[N_KEYS];	   /* where each key stands; 0: nowhere */
	const char *template_file; /* where those of its template stand; else as the node's */
	uint64_t of_template[(N_KEYS + 63) / 64]; /* which: a bit for each */
	char **edges[N_EDGES];			  /* names of nodes */
	char **instances;			  /* of a template */
	char **argv;				  /* this and the others before substitution */
	struct commands hooks[N_HOOKS];
	struct listen *listen;
	size_t n_listen;
	struct stated_user user;
	gid_t group;
	gid_t *groups;
	size_t n_groups;
	char *directory;
	char **environment;
	char **environment_files; /* before substitution, with a - before those that need not be */
	int umask;
	struct attributes *attributes; /* NULL: no key of them */
	uint64_t stop_timeout_usec, drain_timeout_usec;
	struct output stdio[3], log;
};

/* The length of the NAME of NAME=VALUE, or 0. */
size_t section_variable_name(const char *word);

void stated_user_done(struct stated_user *user);
void section_done(struct section *section);
