#pragma once

/*
 * The values of keys that are more than a number or a text: choices, addresses, credentials,
 * commands, probes.  A struct owns the memory that its pointers name; its _done() frees that.
 */

#include <netinet/in.h>
#include <regex.h>

#include "base/std.h"

enum service_type { TYPE_SIMPLE, TYPE_ONESHOT, TYPE_FORKING };
/* AUTOSTART_NO is 0: only the other two start the service without a request. */
enum autostart { AUTOSTART_NO, AUTOSTART_YES, AUTOSTART_ON_DEMAND };
enum restart_policy { RESTART_NEVER, RESTART_ON_FAILURE, RESTART_ALWAYS };
/* The nodes that are shut down when a service has failed for good. */
enum on_failed { ON_FAILED_NOTHING, ON_FAILED_SHUTDOWN_PARENT, ON_FAILED_SHUTDOWN };

/* The action for a running service before the host sleeps. */
enum on_sleep { ON_SLEEP_NOTHING, ON_SLEEP_STOP };

/* The action for a running service that is unhealthy. */
enum on_unhealthy { ON_UNHEALTHY_RESTART, ON_UNHEALTHY_SHUTDOWN, ON_UNHEALTHY_LOG };

/* The services of a group that restart with a failed one: none, all, or those after it. */
enum strategy { ONE_FOR_ONE, ONE_FOR_ALL, REST_FOR_ONE };

/* The end of the tree by itself: with the first essential service, with the last one, or never. */
enum exit_when { EXIT_WHEN_ANY, EXIT_WHEN_ALL, EXIT_WHEN_NEVER };

/* The exit status after a signal has stopped the root: 0, or 128 and the number of the signal. */
enum exit_on_signal { EXIT_ON_SIGNAL_ZERO, EXIT_ON_SIGNAL_NUMBER };

enum signal_scope { SIGNAL_SCOPE_GROUP, SIGNAL_SCOPE_MAIN, SIGNAL_SCOPE_ALL };

/*
 * The ways to check readiness or health: first the ones that the service does by itself, then
 * probes.
 */
enum probe_kind {
	PROBE_NONE,
	PROBE_STARTED,
	PROBE_NOTIFY,
	PROBE_FD,
	PROBE_TCP,
	PROBE_UNIX,
	PROBE_HTTP,
	PROBE_EXEC,
	PROBE_LOG, /* also done by the service itself */
};
enum listen_kind { LISTEN_TCP, LISTEN_UDP, LISTEN_UNIX, LISTEN_HTTP };
enum output_kind {
	OUTPUT_INHERIT,
	OUTPUT_NULL,
	OUTPUT_FILE,
	OUTPUT_JOURNAL,
	OUTPUT_SYSLOG,
	OUTPUT_STDOUT, /* the daemon's standard output, of either stream */
	OUTPUT_STDERR,
	OUTPUT_DEFAULT, /* as log, or the terminal; of log: captured, see log_rules() */
};

/* How a line is written: as it is, behind the name of its node, or as an object of JSON. */
enum output_format {
	LOG_FORMAT_DEFAULT, /* plain to files, else prefix */
	LOG_FORMAT_PLAIN,
	LOG_FORMAT_PREFIX,
	LOG_FORMAT_JSON,
};

/* The time in front of a line; the last two in local time. */
enum log_timestamp {
	LOG_TIMESTAMP_NONE,
	LOG_TIMESTAMP_ISO,
	LOG_TIMESTAMP_ISO_USEC,
	LOG_TIMESTAMP_UNIX,
	LOG_TIMESTAMP_ISO_LOCAL,
	LOG_TIMESTAMP_ISO_USEC_LOCAL,
};

/* The consequence when a log file cannot be written: lines are dropped, or the service waits. */
enum log_full { LOG_FULL_DROP, LOG_FULL_BLOCK };

/* The processes of a service that may send to its notification socket; all but the first one as any user. */
enum notify_access { NOTIFY_ACCESS_USER, NOTIFY_ACCESS_MAIN, NOTIFY_ACCESS_ALL };

/* As swansong-sandbox reads them by their words; 0 is no limit, or an error if the kernel refuses one. */
enum read_only { READ_ONLY_NO, READ_ONLY_USR, READ_ONLY_FULL, READ_ONLY_YES };
enum hide_home { HIDE_HOME_NO, HIDE_HOME_READ_ONLY, HIDE_HOME_YES };
enum sandbox_mode { SANDBOX_STRICT, SANDBOX_BEST_EFFORT };

/* An edge of a node to another node. */
enum edge {
	EDGE_REQUIRES,	 /* starts only when the other is ready; stops before the other */
	EDGE_BINDS_TO,	 /* as EDGE_REQUIRES, and stops when the other has ended by itself */
	EDGE_WANTS,	 /* a start also starts the other; else as EDGE_AFTER */
	EDGE_AFTER,	 /* starts when the other is ready or has failed; stops before the other */
	EDGE_TERM_AFTER, /* no order at the start; signalled when the other is Complete */
	N_EDGES
};

/* The commands around the life of a service or node, one key each. */
enum hook_kind {
	HOOK_CONDITION, /* no key of commands: part of HOOK_START_COMMAND */
	HOOK_START_COMMAND,
	HOOK_POST_START,
	HOOK_RELOAD_COMMAND,
	HOOK_STOP_COMMAND,
	HOOK_POST_STOP,
	HOOK_FINAL,
	HOOK_ON_FAILURE,
	HOOK_ON_EVENT,
	HOOK_CREDENTIAL, /* files, "NAME:FILE": part of HOOK_START_COMMAND and HOOK_RELOAD_COMMAND */
	N_HOOKS
};

/* Where the directories of a service are, a key each. */
enum folder { FOLDER_RUNTIME, FOLDER_STATE, FOLDER_CACHE, FOLDER_LOG, N_FOLDERS };

/* Ends of a service with which others start: its run has succeeded, or it is given up. */
enum chain { CHAIN_SUCCESS, CHAIN_FAILURE, N_CHAINS };

/* The commands of one key, in the order of the file. */
struct commands {
	char ***argv; /* each: words after substitution, NULL-terminated */
	size_t n;
};

union inet_address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* Returns the port, in network order. */
static inline in_port_t values_inet_port(const union inet_address *address)
{
	return address->any.sa_family == AF_INET6 ? address->in6.sin6_port : address->in.sin_port;
}

struct probe_config {
	enum probe_kind kind;
	int fd;	    /* PROBE_FD: 3 or more */
	char *text; /* the text after the kind, if any; PROBE_UNIX: absolute path */
	union {
		union inet_address *address; /* PROBE_TCP, PROBE_HTTP */
		char **argv;		     /* PROBE_EXEC: as those of struct commands */
		regex_t *regex;		     /* PROBE_LOG */
	};
};

#define LISTEN_NAME_DEFAULT "listen"
#define LISTEN_MODE_DEFAULT 0660

/*
 * A socket that the daemon opens: for a service, which is passed it at each start (sd_listen_fds(3)),
 * or to answer balancers itself (key agent; LISTEN_HTTP is for these alone).
 */
struct listen {
	enum listen_kind kind;
	char *address;		 /* as written; LISTEN_UNIX: absolute path */
	char *name;		 /* in $LISTEN_FDNAMES; NULL: of the key agent */
	union inet_address inet; /* all kinds but LISTEN_UNIX */
	unsigned mode;		 /* LISTEN_UNIX, as the next two */
	uid_t owner;		 /* or -1: the daemon's */
	gid_t group;
};

struct output {
	enum output_kind kind;
	char *path; /* OUTPUT_FILE: absolute */
};

struct credentials {
	bool set;	/* key user: take uid, gid and the user's groups */
	bool set_group; /* key group, with or without user: take gid */
	uid_t uid;
	gid_t gid;
	gid_t user_gid;	 /* the group of the user; -1: the user is a number without a name */
	bool set_groups; /* key groups: take @groups beside those of the user */
	gid_t *groups, *user_groups;
	size_t n_groups, n_user_groups;
	char *user;		    /* as the file has it; NULL without user */
	char *login, *home, *shell; /* for USER and LOGNAME, HOME, SHELL */
};

/* At most @count failures within @window_usec; count 0: no limit. */
struct restart_limit {
	uint64_t count, window_usec;
};

/* Processes wait for memory for @percent of @window_usec; window_usec 0: not looked at. */
struct pressure_limit {
	uint64_t percent, window_usec;
};

/* Key inhibit: the requests for which the host waits while the node has guards. */
enum inhibit {
	INHIBIT_SHUTDOWN = 1 << 0,
	INHIBIT_SLEEP = 1 << 1,
	INHIBIT_BLOCK = 1 << 2, /* for as long as it takes */
};

/* Additional ends that count as clean: a bit for each. */
struct success_status {
	uint64_t codes[4]; /* exit status 0 to 255 */
	uint64_t signals;  /* signal 1 to 64: bit 0 to 63 */
};

void probe_config_done(struct probe_config *probe);
void credentials_done(struct credentials *credentials);

/*
 * All groups of a process, each once: with a user @gid, which replaces that of the user, and those of the user;
 * those of the key.  The caller frees *ret.  Return: 0 or -ENOMEM.
 */
int credentials_groups(const struct credentials *credentials, gid_t gid, gid_t **ret, size_t *n);
void listen_done(struct listen *listen, size_t n);

/* "tcp:", "udp:", "unix:" or "http://": the prefix of an address in a configuration. */
const char *listen_prefix(enum listen_kind kind);

/* Compares the addresses of two struct listen: 0 if both can only be the same socket. */
int listen_compare(const void *one, const void *other);

/* Returns true for a valid name of a descriptor: 1 to 255 printable ASCII characters, no colon. */
#define FDNAME_MAX 256
bool fdname_is_good(const char *name);
