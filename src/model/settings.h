#pragma once

/*
 * What a configuration says: one struct node_config for every section and for every parent that a
 * section's name implies.  Made by config_load() or config_new_command() (model/config.h), and not
 * changed any more after that.
 */

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "model/diag.h"

#define CONFIG_NAME_MAX	 200 /* bytes of a node's path, with the slashes */
#define CONFIG_DEPTH_MAX 32  /* parts of a node's path */
#define CONFIG_NODES_MAX 100000
#define CONFIG_LINE_MAX	 (8 * 1024 * 1024) /* bytes of one value, continuation lines included */

#define CONFIG_ROOT_SECTION "swansong"

enum service_type { TYPE_SIMPLE, TYPE_ONESHOT };
enum restart_policy { RESTART_NEVER, RESTART_ON_FAILURE, RESTART_ALWAYS };
enum ready_kind { READY_STARTED, READY_NOTIFY, READY_FD, READY_TCP };
enum signal_scope { SIGNAL_SCOPE_GROUP, SIGNAL_SCOPE_MAIN, SIGNAL_SCOPE_ALL };
enum output_kind { OUTPUT_INHERIT, OUTPUT_NULL, OUTPUT_FILE };

struct ready {
	enum ready_kind kind;
	int fd; /* READY_FD: 3 or more */
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} address; /* READY_TCP */
};

struct output {
	enum output_kind kind;
	char *path; /* OUTPUT_FILE: absolute */
};

struct credentials {
	bool set;	/* user was named: uid, gid and the user's groups are to be taken */
	bool set_group; /* group was named, perhaps without a user: gid is to be taken */
	uid_t uid;
	gid_t gid;
	char *user, *home, *shell; /* for USER, LOGNAME, HOME, SHELL; NULL without user */
};

/* Not more than @count failures within @window_usec; count 0: no limit. */
struct restart_limit {
	unsigned count;
	uint64_t window_usec;
};

struct node_config {
	char *path;		    /* "web/nginx"; "" is the root, section [swansong] */
	struct node_config *parent; /* NULL for the root */
	struct place place; /* the section's line, or the first section that implied the node */
	size_t index;	    /* in config.nodes */
	bool stated;	    /* has a section of its own */

	/* Any node. */
	uint64_t
		shutdown_timeout_usec; /* the node's whole budget; USEC_INFINITY: the parent's alone */
	struct node_config **requires; /* nodes, NULL-terminated, each once; NULL for none */
	struct node_config **after;
	unsigned requires_line, after_line; /* where these keys stand, in the file of @place */

	/* A service: the rest means nothing while argv is NULL. */
	char **argv;   /* words after substitution, NULL-terminated, or NULL for a group */
	char *command; /* argv as written, for people */
	enum service_type type;
	struct credentials credentials; /* inherited, as the next four */
	char *directory;		/* absolute, or NULL: the daemon's */
	char **environment;		/* "NAME=VALUE", each name once, NULL-terminated, or NULL */
	int umask;			/* or -1: the daemon's */
	struct output log;
	struct ready ready;
	uint64_t start_timeout_usec;
	enum restart_policy restart;
	uint64_t restart_delay_usec, restart_delay_max_usec;
	struct restart_limit restart_limit;
	int stop_signal;
	uint64_t stop_timeout_usec; /* inherited */
	enum signal_scope signal_scope;
	int kill_signal;
	bool kill_leftovers;
	bool essential;
	uint64_t cgroup_memory_max, cgroup_pids_max; /* 0: not set; UINT64_MAX: infinity */
	unsigned cgroup_cpu_weight;		     /* 0: not set */
};

struct config {
	struct node_config *
		*nodes;	      /* parents before their children, else in the order of the files */
	size_t n_nodes;	      /* nodes[0] is the root */
	char *control_socket; /* NULL: the default; "none": no socket */
	unsigned control_mode;
	bool control_group_set;
	gid_t control_group;
	unsigned refs;

	/* Of settings.c. */
	size_t n_slots; /* of nodes */
	void *by_path;	/* the nodes as a search tree */
	char **files;	/* what the places point at */
	size_t n_files;
};

/* How names of users and groups become numbers: -ENOENT if there is no such name. */
struct config_names {
	/*
	 * @name is a name, or the decimal number of a user: then the entry with that uid is meant.
	 * A name is never all digits.  *home and *shell may be left NULL; the strings belong to the
	 * caller of it, who frees them.
	 */
	int (*user)(const char *name, uid_t *uid, gid_t *gid, char **home, char **shell);
	/* Is only asked for names; a number is taken as it is. */
	int (*group)(const char *name, gid_t *gid);
};

/* The root alone, with the defaults of swansong.ini(5).  Return: 0 or -ENOMEM. */
int config_new(struct config **ret);

/* Nodes are freed with their config: whoever keeps a node_config keeps a reference. */
struct config *config_ref(struct config *config);
struct config *config_unref(struct config *config);
DEFINE_CLEANUP(struct config *, config_unref)

/* A copy of @name that lives as long as @config, for places.  Return: 0 or -ENOMEM. */
int config_add_file(struct config *config, const char *name, const char **ret);

/*
 * The node called @path with the defaults, and its missing parents before it; an existing one as
 * it is.  @path must be a good name (config_check_name()).
 *
 * Return: 0, -ENOMEM, or -E2BIG if there would be more than CONFIG_NODES_MAX.
 */
int config_add_node(struct config *config, const char *path, struct place place,
		    struct node_config **ret);

/* A node's defaults, @path taken over; also for a node that belongs to no config. */
void node_config_init(struct node_config *node, char *path);
void node_config_done(struct node_config *node);

/* NULL if @path may be the name of a node below the root, else what is wrong with it. */
const char *config_check_name(const char *path);

/* NULL if there is no such node. */
struct node_config *config_find(const struct config *config, const char *path);

/* "web/nginx", or "swansong" for the root: the section's name. */
const char *node_config_section(const struct node_config *node);

/* Is @node, or one of its parents, @ancestor? */
bool node_config_is_within(const struct node_config *node, const struct node_config *ancestor);

/*
 * Would a service of @a behave as one of @b?  For reload.  The nodes may belong to different
 * configurations; where they stand in their files does not matter.
 */
bool node_config_equal(const struct node_config *a, const struct node_config *b);
