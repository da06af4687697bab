#pragma once

/*
 * A section as written, while it is read and resolved: what needs no other section or node is in the
 * node (and the config) already, the rest is here.
 */

#include "model/settings.h"

/* The keys, in the order of swansong.ini(5); model/keys.h has the table. */
enum key_id {
	KEY_CONTROL_SOCKET,
	KEY_CONTROL_GROUP,
	KEY_CONTROL_MODE,
	KEY_SHUTDOWN_TIMEOUT,
	KEY_REQUIRES,
	KEY_AFTER,
	KEY_COMMAND,
	KEY_TYPE,
	KEY_RESTART,
	KEY_RESTART_DELAY,
	KEY_RESTART_DELAY_MAX,
	KEY_RESTART_LIMIT,
	KEY_READY,
	KEY_START_TIMEOUT,
	KEY_STOP_SIGNAL,
	KEY_SIGNAL_SCOPE,
	KEY_KILL_SIGNAL,
	KEY_KILL_LEFTOVERS,
	KEY_ESSENTIAL,
	KEY_CGROUP_MEMORY_MAX,
	KEY_CGROUP_PIDS_MAX,
	KEY_CGROUP_CPU_WEIGHT,
	KEY_USER,
	KEY_GROUP,
	KEY_DIRECTORY,
	KEY_ENVIRONMENT,
	KEY_UMASK,
	KEY_STOP_TIMEOUT,
	KEY_LOG,
	N_KEYS
};

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
	unsigned lines[N_KEYS];	  /* where each key stands; 0: nowhere */
	char **requires, **after; /* names of nodes */
	char **argv;		  /* this and the others before substitution */
	struct stated_user user;
	gid_t group;
	char *directory;
	char **environment;
	int umask;
	uint64_t stop_timeout_usec;
	struct output log;
};

void stated_user_done(struct stated_user *user);
void section_done(struct section *section);
