#pragma once

/*
 * The settings of a configuration: a struct node_config for each section, and for each parent that
 * the name of a section implies.  config_load() and config_new_command() (model/config/config.h)
 * create them; after that they are constant.
 */

#include "base/attributes.h"
#include "base/dict.h"
#include "model/base/diag.h"
#include "model/base/values.h"

#define CONFIG_NAME_MAX	     200 /* bytes of a node's path, with the slashes */
#define CONFIG_DEPTH_MAX     32	 /* parts of a node's path */
#define CONFIG_NODES_MAX     100000
#define CONFIG_INSTANCES_MAX 10000	       /* of one template */
#define CONFIG_LINE_MAX	     (8 * 1024 * 1024) /* bytes of one value, continuation lines included */

#define CONFIG_LISTEN_MAX	 250 /* sockets of one service */
#define CONFIG_HANDOVER_NAME_MAX 180 /* the path of a run aside is longer */
#define CONFIG_FD_STORE_DEFAULT	 16
#define CONFIG_FD_STORE_MAX	 250
#define CONFIG_LOG_KEEP_DEFAULT	 5
#define CONFIG_LOG_KEEP_MAX	 9999

/* The section of the root, and the root's name in messages and requests. */
#define CONFIG_ROOT_SECTION "swansong"
#define CONFIG_ROOT_NAME    "root"

/*
 * Parts of a node with settings that most nodes lack.  A part is allocated when one of its settings
 * is stated; else its defaults apply.
 */
enum node_part { PART_EXTRAS, PART_EDGES, PART_HOOKS, PART_OUTPUTS, PART_ATTRIBUTES, PART_SANDBOX, N_PARTS };

struct schedule; /* model/types/schedule.h */
/* PART_EXTRAS: settings that few services have. */
struct extras {
	struct schedule *schedule; /* NULL: none */
	uint64_t schedule_jitter_usec;
	char *timezone; /* of its calendar; NULL: the local one */
	struct credentials credentials; /* inherited */
	struct probe_config health;	/* PROBE_NONE, or a kind that swansongd probes */
	uint64_t health_interval_usec;
	uint64_t health_timeout_usec; /* of a probe, also of readiness */
	unsigned handover_max;	      /* predecessors that still end */
	unsigned health_retries;      /* failures in a row until the service is unhealthy */
	enum on_unhealthy on_unhealthy;
	struct success_status success_status;
	/* 0: not set; UINT64_MAX: infinity */
	uint64_t cgroup_memory_max, cgroup_memory_high, cgroup_pids_max;
	uint64_t cgroup_cpu_weight, cgroup_io_weight;
	uint64_t recycle_memory;   /* likewise */
	uint64_t recycle_age_usec; /* 0: any */
	struct pressure_limit pressure_stop;
	int inhibit; /* INHIBIT_... */
	enum on_sleep on_sleep; /* inherited */
	uint64_t start_parallel; /* 0: not set; UINT64_MAX: infinity */
	uint64_t final_timeout_usec;
	uint64_t on_failure_timeout_usec, on_failure_interval_usec;
	uint64_t idle_timeout_usec;  /* of AUTOSTART_ON_DEMAND; 0: never */
	uint64_t restart_reset_usec; /* a run of this length resets the count of failures */
	uint64_t drain_delay_usec;
	uint64_t drain_quiet_usec; /* 0: the whole drain-delay is waited for */
	uint64_t settle_time_usec; /* of PROBE_STARTED */
	uint64_t watchdog_usec;	   /* 0: none */
	int watchdog_signal, reload_signal, kill_signal;
	enum notify_access notify_access;
	uid_t notify_uid; /* the owner of the notification socket; -1: the user of the service */
	int restart_jitter; /* percent; ATTRIBUTE_KEEP: see policy_jitter_limit() */
	unsigned fd_store_max; /* descriptors that the daemon stores; none without notify */
	char *pid_file;	       /* of TYPE_FORKING: absolute */
	char *root_directory;	   /* inherited: absolute, or NULL */
	char **folders[N_FOLDERS]; /* "app", "app/cache:0750", NULL-terminated, or NULL */
	char **chains[N_CHAINS];   /* names of nodes and templates, NULL-terminated, or NULL */
	struct listen *listen;
	size_t n_listen;
	struct listen *agent;	 /* NULL: none */
	char **instances;	 /* of a template; NULL-terminated */
	char **environment_pass; /* inherited: names, NULL-terminated, or NULL */
	bool environment_clear;	 /* inherited: pass only these variables of the daemon */
};

#define EXTRAS_DEFAULTS                                                                           \
	{                                                                                         \
		.health_interval_usec = 10 * USEC_PER_SEC,                                        \
		.health_timeout_usec = 5 * USEC_PER_SEC, .health_retries = 3, .handover_max = 3,  \
		.final_timeout_usec = 10 * USEC_PER_SEC, .restart_reset_usec = 10 * USEC_PER_SEC, \
		.on_failure_timeout_usec = 30 * USEC_PER_SEC,                                     \
		.on_failure_interval_usec = 60 * USEC_PER_SEC, .watchdog_signal = SIGABRT,        \
		.reload_signal = SIGHUP, .kill_signal = SIGKILL, .notify_uid = (uid_t)-1,         \
		.restart_jitter = ATTRIBUTE_KEEP, .fd_store_max = CONFIG_FD_STORE_DEFAULT,        \
	}

/* PART_EDGES: NULL-terminated lists, each in one allocation and each node once; NULL: empty. */
struct stated_edges {
	union {
		struct node_config **nodes[N_EDGES];
		char **names[N_EDGES]; /* until resolve_sections() has found the nodes */
	};
	struct place places[N_EDGES]; /* of these keys */
	char **required; /* the names of requires, if a template is among them; or NULL */
};

/* PART_HOOKS. */
struct hooks {
	struct commands of[N_HOOKS];
};

/* PART_OUTPUTS: the standard streams; for OUTPUT_DEFAULT see node_config_output(). */
struct outputs {
	struct output stdio[3], log;
	uint64_t log_size;     /* bytes; UINT64_MAX: infinity */
	uint64_t log_age_usec; /* 0: none */
	int log_keep;
	gid_t log_group; /* -1: the logger's */
	bool log_compress;
	enum output_format log_format;
	enum log_timestamp log_timestamp;
	enum log_full log_full;
};

#define OUTPUTS_DEFAULTS                                                                   \
	{                                                                                  \
		.stdio = { [0 ... 2] = { .kind = OUTPUT_DEFAULT } },                       \
		.log = { .kind = OUTPUT_DEFAULT }, .log_size = UINT64_C(10) * 1024 * 1024, \
		.log_keep = CONFIG_LOG_KEEP_DEFAULT, .log_group = (gid_t)-1,               \
	}

/* PART_SANDBOX: words, NULL-terminated, or NULL. */
struct sandbox {
	char **write_paths, **read_paths, **tcp_bind, **tcp_connect, **system_calls;
	char **protect, **address_families;
	enum read_only read_only_system;
	enum hide_home hide_home;
	enum sandbox_mode mode;
	bool private_tmp, private_network, private_devices, private_users;
};

/* To be read by node_config_part(), and written by node_config_own_part(). */
union node_parts {
	struct { /* in the order of enum node_part */
		struct extras *extras;
		struct stated_edges *edges;
		struct hooks *hooks;
		struct outputs *outputs;
		struct attributes *attributes;
		struct sandbox *sandbox;
	};
	void *all[N_PARTS];
};

/* Where a key of a section is set. */
struct origin {
	const char *file;
	unsigned line;
	unsigned key : 31;
	unsigned of_template : 1;
};

struct node_config {
	const char *path;	    /* "web/nginx"; "" is the root, section [swansong] */
	struct node_config *parent; /* NULL for the root */
	struct place place; /* the section's line, or the first section that implied the node */
	unsigned index;	    /* in config.nodes */
	unsigned refs;	    /* to the node alone, beside those to the config */

	union node_parts parts;

	/* Any node. */
	uint64_t shutdown_timeout_usec; /* the whole budget; USEC_INFINITY: only the parent's */
	uint64_t stop_timeout_usec, drain_timeout_usec; /* inherited */
	int stop_priority;				/* inherited */
	int stop_rank; /* of a service: its stop-priority, or the highest of those that require it;
			  of a group: the highest of its services */
	int stop_warning; /* inherited: percent; 0: never */
	enum strategy strategy;
	struct node_config *inherited; /* of its section, before substitution: the settings of
					  inherited keys, while nodes may inherit them; or NULL */
	struct origin *origins;	       /* of the keys of its section */
	size_t n_origins;

	/* A service: the following members are undefined while argv is NULL. */
	enum service_type type;
	int umask; /* or -1: the daemon's */
	int stop_signal;
	enum signal_scope signal_scope;
	char **argv;	    /* words after substitution, NULL-terminated, or NULL for a group */
	char *command;	    /* argv with its quotes, to be shown */
	char *directory;    /* absolute, or NULL: the daemon's */
	char **environment; /* "NAME=VALUE", each name once, NULL-terminated, or NULL */
	char **environment_files; /* the files of some of these, NULL-terminated, or NULL */
	struct probe_config ready;
	uint64_t start_timeout_usec;
	enum restart_policy restart;
	enum on_failed on_failed;
	uint64_t restart_delay_usec, restart_delay_max_usec;
	struct restart_limit restart_limit;
	enum autostart autostart;
	bool notify; /* has a notification socket: stated, or needed by another key */
	bool kill_leftovers;
	bool essential;
	bool terminal; /* gets the daemon's terminal */
	bool control;  /* gets a control connection */
	bool attach;   /* gets a page for guards */
	bool handover; /* its next run begins beside the present one */
	bool stated;   /* of any node: it has a section */
};

/* The root has a shutdown-timeout of NODE_CONFIG_ROOT_USEC. */
#define NODE_CONFIG_ROOT_USEC (90 * USEC_PER_SEC)
#define NODE_CONFIG_DEFAULTS                                                                      \
	{                                                                                         \
		.shutdown_timeout_usec = USEC_INFINITY, .stop_timeout_usec = 10 * USEC_PER_SEC,   \
		.drain_timeout_usec = 5 * 60 * USEC_PER_SEC, .umask = -1, .stop_signal = SIGTERM, \
		.ready = { .kind = PROBE_STARTED }, .start_timeout_usec = 90 * USEC_PER_SEC,      \
		.restart = RESTART_ON_FAILURE, .restart_delay_usec = 100 * USEC_PER_MSEC,         \
		.restart_delay_max_usec = 30 * USEC_PER_SEC,                                      \
		.restart_limit = { .count = 5, .window_usec = 30 * USEC_PER_SEC },                \
		.autostart = AUTOSTART_YES, .kill_leftovers = true,                               \
	}

struct config {
	struct node_config *
		*nodes;	      /* parents before their children, else in the order of the files */
	size_t n_nodes;	      /* nodes[0] is the root */
	char *control_socket; /* NULL: the default; "none": no socket */
	unsigned control_mode;
	gid_t control_group, control_run_group; /* -1: none */
	char *report;				/* NULL or "none": no report is written */
	char *history;				/* NULL: beside the report; "none": none */
	char *state;				/* NULL or "none": no service can be disabled */
	struct credentials log_user;		/* of swansong-logger; not set: the daemon's */
	enum exit_when exit_when;
	enum exit_on_signal exit_on_signal;
	int tape; /* the texts of its files, see source_each(); 0: none */
	unsigned refs;
	/* Of nodes.c. */
	struct dict by_path;
	char **files; /* the names that the places point at */
	size_t n_files;
};

#define CONFIG_DEFAULTS                                                                           \
	{                                                                                         \
		.control_mode = 0660, .control_group = (gid_t)-1, .control_run_group = (gid_t)-1, \
	}

/*
 * Functions of the caller that translate names of users and groups to numbers, or return -ENOENT;
 * and the users that files may belong to.
 */
struct config_names {
	/*
	 * @name is a name, or a decimal number: then it means the entry with that uid.  A name
	 * never has only digits.  *home and *shell may stay NULL; the caller frees the strings.
	 *
	 * Without functions, a look-up that is not on the tape ends the reading with -ENOSYS.
	 */
	int (*user)(const char *name, uid_t *uid, gid_t *gid, char **home, char **shell);
	/* Only called for names; a number is used as it is. */
	int (*group)(const char *name, gid_t *gid);
	/*
	 * The login name and the groups, with @gid, of a user that user() has found.  The caller frees both.
	 * NULL: credentials stay without both.
	 */
	int (*groups)(const char *name, gid_t gid, char **login, gid_t **groups, size_t *n);
	bool trust; /* accept files of every user, with a warning */
	int tape;   /* tape with the texts of the files, see source_each(); 0: none */
	/* "TEMPLATE NUMBER": instances in place of those of the files; others are passed over. */
	char *const *scaled;
	size_t n_scaled;
	int (*open)(const char *path, char **why); /* of a file for a service, see struct source */
};

/*
 * Initialises @node with the defaults; also for a node without a config.  @path is borrowed and
 * must outlive the node.
 */
void node_config_init(struct node_config *node, const char *path);
void node_config_done(struct node_config *node);

/*
 * Nodes are freed with their config.  To keep a node_config, take a reference to the config; or, if
 * the node's own values suffice, to the node.  Without its config a node has no place, parent or
 * edges.
 */
const struct node_config *node_config_ref(const struct node_config *node);
const struct node_config *node_config_unref(const struct node_config *node);

/*
 * For config_unref(): detaches the node from its config, and frees it without further references.
 */
void node_config_leave(struct node_config *node);

/* Frees the settings that nodes may inherit. */
void node_config_disinherit(struct node_config *node);

/* Returns where @key is set in the section of @node, or NULL. */
struct origin *node_config_origin(const struct node_config *node, unsigned key);

/* The line of @key in the section of @node, or 0. */
unsigned node_config_line(const struct node_config *node, unsigned key);

/* Returns a part of @node, or the defaults of the part. */
const void *node_config_part(const struct node_config *node, enum node_part part);

/* Returns a part of @node to be written; a new part has the defaults.  NULL: out of memory. */
void *node_config_own_part(struct node_config *node, enum node_part part);

static inline const struct extras *node_config_extras(const struct node_config *node)
{
	return node_config_part(node, PART_EXTRAS);
}

static inline const struct outputs *node_config_outputs(const struct node_config *node)
{
	return node_config_part(node, PART_OUTPUTS);
}

/* The edges of one key, or NULL. */
static inline struct node_config **node_config_edges(const struct node_config *node, enum edge edge)
{
	return node->parts.edges ? node->parts.edges->nodes[edge] : NULL;
}

/* The commands of a key of @node; n may be 0. */
static inline const struct commands *node_config_hook(const struct node_config *node,
						      enum hook_kind kind)
{
	return &((const struct hooks *)node_config_part(node, PART_HOOKS))->of[kind];
}

/*
 * Returns true if @kind has anything to do in a run of @node: its commands, or what comes with start-command, as
 * conditions and the making of directories, and with post-stop, the removal of these.  A run beside another does not remove what both have.
 */
bool node_config_has_hook(const struct node_config *node, enum hook_kind kind);

/* The destination of standard output, @fd 1, or standard error, 2; OUTPUT_DEFAULT as of log. */
const struct output *node_config_output(const struct node_config *node, int fd);

/* "web/nginx", or "swansong" for the root: the section's name. */
const char *node_config_section(const struct node_config *node);

/*
 * Finds the ports of TCP of the key listen, in network order.  Returns their number; more than the
 * maximum are left out.
 */
#define NODE_CONFIG_PORTS_MAX 8
size_t node_config_listen_ports(const struct node_config *node,
				in_port_t ports[static NODE_CONFIG_PORTS_MAX]);

/* The same of all at which the service listens: without those of listen that of ready or health. */
size_t node_config_ports(const struct node_config *node,
			 in_port_t ports[static NODE_CONFIG_PORTS_MAX]);
bool node_config_is_within(const struct node_config *node, const struct node_config *ancestor);
