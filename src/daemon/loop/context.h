#pragma once

/*
 * The data that all rooms of the daemon share.  Work without limit is done in portions, one in each
 * turn.
 */

#include "daemon/loop/agenda.h"
#include "daemon/loop/alarm.h"
#include "daemon/loop/disabled.h"
#include "daemon/loop/stamps.h"
#include "daemon/loop/events.h"
#include "daemon/loop/forced-kills.h"
#include "daemon/loop/roster.h"
#include "daemon/loop/trace.h"
#include "sys/spawn/crash-history.h"
#include "sys/spawn/keeper.h"

/* The functions that open and withdraw the daemon's end of a service's control connection. */
struct control_offer {
	/*
	 * Takes ownership of @fd, the end for the service at @path, also on failure.  NULL: no
	 * connections.  Return: 0 or -errno.
	 */
	int (*accept)(const char *path, int fd, void *arg);

	/* Withdraws the connection of the service at @path, if there is one. */
	void (*withdraw)(const char *path, void *arg);
	void *arg;
};

/* Leases and attached programs, for the room daemon/guard. */
struct guards {
	struct list users, descriptors, programs;
	unsigned n_leases;
};

/* Services that run by schedule, for daemon/tree/timetable.h. */
struct timetables {
	struct list list;
	sd_event_source *clock_set; /* NULL: not watched */
};

struct context {
	sd_event *event;
	struct log *log;
	struct process_table *processes;
	struct starts *starts;			   /* of processes, for launch() */
	struct helper_program *sandbox;		   /* for launch() */
	struct cgroups *cgroups;		   /* NULL: none */
	struct orphans *orphans;		   /* NULL: not yet */
	struct notify_directory *notify_directory; /* NULL: none */
	struct logging *logger;			   /* NULL: no output is captured */
	struct roster *roster;			   /* NULL: a fault would end the daemon */
	struct own_log *own_log;		   /* NULL: the log is standard error */
	struct history_log *history_log;	   /* NULL: none */
	const struct signals *signals;		   /* as they were when the daemon started */
	struct {
		char **given; /* for services; borrowed */
		char **child; /* memory for the environment of a child */
		char *mark;   /* a variable of services, see mark.h; NULL: none */
		size_t room;  /* in @child, without the NULL */
	} environment;
	struct {
		int null;	     /* /dev/null, for reading */
		int spare;	     /* see context_give_up_spare() */
		struct rlimit limit; /* RLIMIT_NOFILE at the start, for services */
		bool raised;	     /* its own RLIMIT_NOFILE differs from that */
	} descriptors;
	/*
	 * Time from the stop signal until SIGKILL by the parent manager; USEC_INFINITY: not known.
	 */
	uint64_t grace_usec;
	bool parent_waits;   /* it gives a stop more time by EXTEND_TIMEOUT_USEC= */
	uint64_t bound_usec; /* the limit of the stop of the root by a client; USEC_INFINITY */
	uint64_t held_usec;  /* since when the stop of the root is on hold; 0: it goes on */
	/*
	 * The command in front of which the daemon runs, which inherits its descriptors; or NULL.
	 */
	const struct command *command;
	uint64_t leftover_timeout_usec; /* limit for remaining processes */
	uint64_t last_id;		/* of guards, for users */
	uint64_t unreadable_usec;	/* until then no environment of unreadable_uid is read: */
	uid_t unreadable_uid;		/* see daemon/node/user.h */
	enum crash_reason reason;	/* of this image of the process */
	uint64_t resumed_usec;		/* when it had taken over from the former image; 0: none */
	bool outages_on;		/* outages of services are recorded */
	struct keeper keeper;		/* it has the parent of the processes of services */
	unsigned launched;		/* children that launch() has started */
	unsigned runs_aside;		/* nodes of them, see node_is_aside() */
	struct alarms alarms;		/* the timers of services */
	struct events *events;
	struct forced_kills *forced_kills;
	struct control_offer control;
	struct list listeners; /* open sockets of services and agents */
	char *refused;	       /* why the last socket was not opened, for the client; or NULL */
	struct guards guards;
	struct list discards; /* for daemon/loop/closer.h */
	struct timetables timetables;
	struct traces traces; /* of nodes, for the report */
	struct disabled disabled;
	struct disabled_copy disabled_copy;
	struct stamps stamps;
	struct saving *saving; /* the last change of daemon/reload/enable.h; NULL: none so far */

	uint64_t changes;	/* counts changes of services, processes and guards */
	uint64_t remarks;	/* counts changes of health, status texts and settings */
	uint64_t configuration; /* counts those that were applied, and transient nodes */
	struct agenda agenda;
	bool scan_orphans;
};

/* Makes the loop and the reserved descriptors.  Return: 0 or -errno. */
int context_init(struct context *ctx, struct log *log, const struct signals *signals);
void context_done(struct context *ctx);

/*
 * Makes libsystemd allocate the memory that it first needs when events arrive, so that these are
 * noticed later without memory.  It must be called when the sources of the configuration exist.
 * Return: 0 or -errno.
 */
int context_rehearse_events(struct context *ctx);

/*
 * Watches @fd, which belongs to the source *ret from now on.  After an error it is closed; @fd may be an
 * error itself.  Return: 0 or -errno.
 */
int context_watch_owned(struct context *ctx, sd_event_source **ret, int fd, uint32_t events,
			sd_event_io_handler_t fn, void *arg);

/* Closes the reserved descriptor for work that needs one.  Returns true if there was one. */
bool context_give_up_spare(struct context *ctx);

/* Reserves a descriptor again, if one is free. */
void context_take_spare(struct context *ctx);

/* Returns true if @r means a lack of descriptors or memory, which may end soon. */
bool context_is_shortage(int r);

/* Makes room for the environment of a child with @own more variables.  Return: 0 or -ENOMEM. */
int context_reserve_environment(struct context *ctx, size_t own);

/*
 * Requests an orphan scan at the next TASK_EXITS: a process may have become a child of the daemon.
 */
void context_scan_orphans(struct context *ctx);

/* Requests another update turn: a change may concern waiting services or requests. */
void context_update_soon(struct context *ctx);
