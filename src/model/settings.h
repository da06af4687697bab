#pragma once

/*
 * What a configuration says: one struct node_config for every section and for every parent that a
 * section's name implies.  Made by config_load() or config_new_command() (model/config.h), and not
 * changed any more after that.
 */

#include <netinet/in.h>
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/cleanup.h"
#include "base/dict.h"
#include "model/diag.h"

#define CONFIG_NAME_MAX	     200 /* bytes of a node's path, with the slashes */
#define CONFIG_DEPTH_MAX     32	 /* parts of a node's path */
#define CONFIG_NODES_MAX     100000
#define CONFIG_INSTANCES_MAX 10000	       /* of one template */
#define CONFIG_LINE_MAX	     (8 * 1024 * 1024) /* bytes of one value, continuation lines included */

#define CONFIG_LISTEN_MAX	250 /* sockets of one service */
#define CONFIG_FD_STORE_DEFAULT 16
#define CONFIG_FD_STORE_MAX	250

/* Where the root is configured, and what it is called in messages and by clients. */
#define CONFIG_ROOT_SECTION "swansong"
#define CONFIG_ROOT_NAME    "root"

enum service_type { TYPE_SIMPLE, TYPE_ONESHOT };
enum restart_policy { RESTART_NEVER, RESTART_ON_FAILURE, RESTART_ALWAYS };
/* What becomes of the others when a service is given up. */
enum on_failed { ON_FAILED_NOTHING, ON_FAILED_SHUTDOWN_PARENT, ON_FAILED_SHUTDOWN };

/* What becomes of a service that runs and is not well. */
enum on_unhealthy { ON_UNHEALTHY_RESTART, ON_UNHEALTHY_SHUTDOWN, ON_UNHEALTHY_LOG };

/* Who is restarted with a service of a group: nobody, all of it, or what comes after it there. */
enum strategy { ONE_FOR_ONE, ONE_FOR_ALL, REST_FOR_ONE };

/* When the tree ends by itself: with the first essential service, with the last one, or not. */
enum exit_when { EXIT_WHEN_ANY, EXIT_WHEN_ALL, EXIT_WHEN_NEVER };

enum signal_scope { SIGNAL_SCOPE_GROUP, SIGNAL_SCOPE_MAIN, SIGNAL_SCOPE_ALL };

/* How to know how a service is: what it does by itself first, then what is asked of it. */
enum probe_kind {
	PROBE_NONE,
	PROBE_STARTED,
	PROBE_NOTIFY,
	PROBE_FD,
	PROBE_TCP,
	PROBE_UNIX,
	PROBE_HTTP,
	PROBE_EXEC,
	PROBE_LOG, /* also by itself */
};
enum listen_kind { LISTEN_TCP, LISTEN_UDP, LISTEN_UNIX };
enum output_kind {
	OUTPUT_INHERIT,
	OUTPUT_NULL,
	OUTPUT_FILE,
	OUTPUT_JOURNAL,
	OUTPUT_SYSLOG,
	OUTPUT_DEFAULT, /* as log, or the terminal; log itself is none such */
};

/* What one node can say of another. */
enum edge {
	EDGE_REQUIRES,	 /* starts when that is ready, not without; that stops after this */
	EDGE_WANTS,	 /* brings that along, and otherwise as the next */
	EDGE_AFTER,	 /* starts when that is ready or has failed; stops as with the first */
	EDGE_TERM_AFTER, /* nothing at the start; is signalled when that is Complete */
	N_EDGES
};

/* The commands around the life of a service or node, one key each. */
enum hook_kind {
	HOOK_START_COMMAND,
	HOOK_POST_START,
	HOOK_RELOAD_COMMAND,
	HOOK_STOP_COMMAND,
	HOOK_POST_STOP,
	HOOK_FINAL,
	N_HOOKS
};

/* The commands of one key, in the order of the file. */
struct commands {
	char ***argv; /* each as node_config.argv */
	size_t n;
};

union inet_address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

struct probe_config {
	enum probe_kind kind;
	int fd;	    /* PROBE_FD: 3 or more */
	char *text; /* what is written after the kind, if anything; PROBE_UNIX: absolute path */
	union {
		union inet_address *address; /* PROBE_TCP, PROBE_HTTP */
		char **argv;		     /* PROBE_EXEC: as node_config.argv */
		regex_t *regex;		     /* PROBE_LOG */
	};
};

#define LISTEN_NAME_DEFAULT "listen"
#define LISTEN_MODE_DEFAULT 0660

/* A socket that is open before the service is, and given to it (sd_listen_fds(3)). */
struct listen {
	enum listen_kind kind;
	char *address;		 /* as written; LISTEN_UNIX: absolute path */
	char *name;		 /* in $LISTEN_FDNAMES */
	union inet_address inet; /* LISTEN_TCP, LISTEN_UDP */
	unsigned mode;		 /* LISTEN_UNIX, as the next two */
	uid_t owner;		 /* or -1: the daemon's */
	gid_t group;
};

struct output {
	enum output_kind kind;
	char *path; /* OUTPUT_FILE: absolute */
};

/* Where its standard streams are; what is OUTPUT_DEFAULT is told by node_config_output(). */
struct outputs {
	struct output stdio[3], log;
};

/* The nodes that one names by its keys; NULL-terminated, each once; NULL for none. */
struct stated_edges {
	struct node_config **nodes[N_EDGES];
	unsigned lines[N_EDGES]; /* where these keys stand, in the file of its place */
};

struct credentials {
	bool set;	/* user was named: uid, gid and the user's groups are to be taken */
	bool set_group; /* group was named, perhaps without a user: gid is to be taken */
	uid_t uid;
	gid_t gid;
	bool set_groups; /* groups was named: those below are to be taken beside the user's own */
	gid_t *groups;
	size_t n_groups;
	char *user, *home, *shell; /* for USER, LOGNAME, HOME, SHELL; NULL without user */
};

/* Not more than @count failures within @window_usec; count 0: no limit. */
struct restart_limit {
	unsigned count;
	uint64_t window_usec;
};

/* Ends that count as clean beside those that always do: a bit for each. */
struct success_status {
	uint64_t codes[4]; /* exit status 0 to 255 */
	uint64_t signals;  /* signal 1 to 64: bit 0 to 63 */
};

/* What few services say. */
struct extras {
	struct credentials credentials; /* inherited */
	struct probe_config health;	/* PROBE_NONE, or what is no word of its own */
	uint64_t health_interval_usec;
	uint64_t health_timeout_usec; /* of one probe, of readiness as well */
	unsigned health_retries;      /* so many failures in a row make it unhealthy */
	enum on_unhealthy on_unhealthy;
	struct success_status success_status;
	/* 0: not set; UINT64_MAX: infinity */
	uint64_t cgroup_memory_max, cgroup_pids_max, cgroup_cpu_weight;
	uint64_t final_timeout_usec;
	uint64_t restart_reset_usec; /* a run this long makes up for the failures before it */
	uint64_t drain_delay_usec;
	uint64_t watchdog_usec; /* 0: none */
	int watchdog_signal, reload_signal, kill_signal;
	unsigned fd_store_max; /* descriptors it may leave with us; nothing without notify */
	struct listen *listen;
	size_t n_listen;
	unsigned listen_line; /* where the key stands, in the file of the node's place */
};

struct node_config {
	const char *path;	    /* "web/nginx"; "" is the root, section [swansong] */
	struct node_config *parent; /* NULL for the root */
	struct place place; /* the section's line, or the first section that implied the node */
	unsigned index;	    /* in config.nodes */
	unsigned refs;	    /* of its own, beside those of the config */

	/* Any node. */
	uint64_t shutdown_timeout_usec; /* its whole budget; USEC_INFINITY: the parent's alone */
	struct stated_edges *edges;	/* see node_config_edges() */
	struct commands *hooks;		/* N_HOOKS of them, or NULL: none at all */
	enum strategy strategy;

	/* A service: the rest means nothing while argv is NULL. */
	enum service_type type;
	int umask; /* or -1: the daemon's */
	int stop_signal;
	char **argv;	    /* words after substitution, NULL-terminated, or NULL for a group */
	char *command;	    /* argv as written, for people */
	char *directory;    /* absolute, or NULL: the daemon's */
	char **environment; /* "NAME=VALUE", each name once, NULL-terminated, or NULL */
	char **environment_files; /* whose variables are among them, NULL-terminated, or NULL */
	struct attributes *attributes; /* or NULL: the daemon's */
	struct extras *extras;	       /* see node_config_extras() */
	struct outputs *outputs;       /* inherited; see node_config_outputs() */
	struct probe_config ready;
	uint64_t start_timeout_usec;
	enum restart_policy restart;
	enum on_failed on_failed;
	uint64_t restart_delay_usec, restart_delay_max_usec;
	struct restart_limit restart_limit;
	uint64_t stop_timeout_usec, drain_timeout_usec; /* inherited; of any node */
	enum signal_scope signal_scope;
	bool stated; /* of any node: it has a section of its own */
	bool autostart;
	bool notify; /* it is given a socket to notify us, stated or for what else is asked of it */
	bool kill_leftovers;
	bool essential;
	bool terminal; /* it gets the daemon's */
	bool control;  /* it is given a control connection of its own */
	bool attach;   /* it is given a page for its guards */
};

struct config {
	struct node_config *
		*nodes;	      /* parents before their children, else in the order of the files */
	size_t n_nodes;	      /* nodes[0] is the root */
	char *control_socket; /* NULL: the default; "none": no socket */
	unsigned control_mode;
	bool control_group_set;
	gid_t control_group;
	char *report; /* NULL or "none": none is written */
	enum exit_when exit_when;
	bool exit_on_signal; /* with 128 + the signal that stopped the root */
	unsigned refs;

	/* Of config.c: the sections that others may come to inherit from, and how to free them. */
	void *kept;
	void (*kept_free)(void *kept);

	/* Of settings.c. */
	size_t n_slots; /* of nodes */
	struct dict by_path;
	char **files; /* what the places point at */
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

/* Nothing asked for.  free() releases it.  Return: 0 or -ENOMEM. */
int attributes_new(struct attributes **ret);

/* The root alone, with the defaults of swansong.ini(5).  Return: 0 or -ENOMEM. */
int config_new(struct config **ret);

/*
 * Nodes are freed with their config: whoever keeps a node_config keeps a reference to that, or, if
 * he looks at nothing but the node's own values, one to the node.  Without its config a node has no
 * place, no parent and no edges.
 */
struct config *config_ref(struct config *config);
struct config *config_unref(struct config *config);
DEFINE_CLEANUP(struct config *, config_unref)
const struct node_config *node_config_ref(const struct node_config *node);
const struct node_config *node_config_unref(const struct node_config *node);

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

/*
 * A node's defaults; also for a node that belongs to no config.  @path, which is borrowed, must
 * outlive it.
 */
void node_config_init(struct node_config *node, const char *path);
void node_config_done(struct node_config *node);

/* For config_unref(): the node is without its config from here on, and freed unless it is kept. */
void node_config_leave(struct node_config *node);

/* NULL if @path may be the name of a node below the root, else what is wrong with it. */
const char *config_check_name(const char *path);

/* Is this the name of a template: does it end with '@'? */
bool config_is_template(const char *path);

/* NULL if there is no such node. */
struct node_config *config_find(const struct config *config, const char *path);

/* Those of @node, or the defaults. */
const struct extras *node_config_extras(const struct node_config *node);

/* Its own, to be filled in: the defaults at first.  NULL: out of memory. */
struct extras *node_config_own_extras(struct node_config *node);

/* Likewise. */
const struct outputs *node_config_outputs(const struct node_config *node);
struct outputs *node_config_own_outputs(struct node_config *node);

/* Those of one key, or NULL; and its own, to be filled in.  NULL: out of memory. */
static inline struct node_config **node_config_edges(const struct node_config *node, enum edge edge)
{
	return node->edges ? node->edges->nodes[edge] : NULL;
}
struct stated_edges *node_config_own_edges(struct node_config *node);

/* The commands of one key of @node; of none if it has none. */
const struct commands *node_config_hook(const struct node_config *node, enum hook_kind kind);

/* "start-command": the key. */
const char *hook_name(enum hook_kind kind);

/* Appends @argv, which is taken over on success.  Return: 0 or -ENOMEM. */
int commands_add(struct commands *commands, char **argv);
void commands_done(struct commands *commands);

void probe_config_done(struct probe_config *probe);

/* "web/nginx", or "swansong" for the root: the section's name. */
const char *node_config_section(const struct node_config *node);

/* Is @node, or one of its parents, @ancestor? */
bool node_config_is_within(const struct node_config *node, const struct node_config *ancestor);

void listen_done(struct listen *listen, size_t n);

/* "tcp:", "udp:" or "unix:": what is written before the address. */
const char *listen_prefix(enum listen_kind kind);

/* By what it is bound to: 0 says that they can only be one socket. */
int listen_compare(const struct listen *a, const struct listen *b);

/* May a descriptor be called that?  1 to 255 printable ASCII characters, without a colon. */
#define FDNAME_MAX 256
bool fdname_is_good(const char *name);

/*
 * Where standard output, @fd 1, or standard error, 2, goes: never OUTPUT_DEFAULT, but to the
 * daemon's with a terminal.
 */
const struct output *node_config_output(const struct node_config *node, int fd);
