#pragma once

/* What all parts of the daemon share.  Work without end is done in portions, one in each turn. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <systemd/sd-event.h>

#include "base/list.h"
#include "base/log.h"
#include "daemon/loop/agenda.h"
#include "daemon/loop/alarm.h"
#include "daemon/loop/events.h"
#include "daemon/loop/forced-kills.h"
#include "daemon/loop/trace.h"
#include "model/base/settings.h"
#include "sys/process/signals.h"

struct cgroups;
struct command;
struct logger;
struct own_log;
struct notify_directory;
struct process_table;
struct service;
struct sweep;

/* Where a service's end of a control connection has its other end. */
struct control_offer {
	/* Takes @fd of the service at @path, also on failure.  NULL: none.  0 or -errno. */
	int (*accept)(const char *path, int fd, void *arg);

	/* That of the service at @path, if there is one, is its no more. */
	void (*withdraw)(const char *path, void *arg);
	void *arg;
};

/* Guards from outside, for the room daemon/guard. */
struct guards {
	struct list users, descriptors, programs;
	unsigned n_leases;
};

struct context {
	sd_event *event;
	struct log *log;
	struct process_table *processes;
	struct cgroups *cgroups;		   /* NULL: none */
	struct sweep *children;			   /* NULL: not yet */
	struct notify_directory *notify_directory; /* NULL: none */
	struct logger *logger;			   /* NULL: nothing is captured */
	pid_t logger_pid;	       /* of its process, for an end by SIGABRT; 0: none */
	struct own_log *own_log;       /* NULL: the log is standard error */
	const struct signals *signals; /* as they were when we were started */
	char **environment;	       /* for services; borrowed */
	char **envp;		       /* room to put a child's environment together */
	size_t envp_room;	       /* without the NULL */
	int null_fd;		       /* /dev/null, for reading */
	int spare_fd;		       /* see context_give_up_spare() */
	struct rlimit descriptors;     /* RLIMIT_NOFILE as we were given it, for the services */
	bool share_descriptors;	       /* as spawn_can_share() says */
	bool descriptors_raised;       /* ... and whether ours is another */
	uint64_t
		grace_usec; /* until we are killed once we are to end; USEC_INFINITY: nobody says */
	const struct command
		*command; /* that we stand in front of, which gets all that is ours; or NULL */
	uint64_t leftover_timeout_usec; /* for what is left when a main process is gone, at most */
	uint64_t last_id;		/* of guards, for people */
	unsigned launched;		/* children that launch() has started */
	struct alarms alarms;		/* the timers of services */
	struct events *events;
	struct forced_kills *forced_kills;
	struct control_offer control;
	struct list listeners; /* open sockets of services */
	struct guards guards;
	struct traces traces; /* of nodes, for the report */

	uint64_t changes; /* so often has a service, a process or a guard got on */
	struct agenda agenda;
	bool scan_orphans;
};

/* Makes the loop and the descriptors that are held in reserve.  Return: 0 or -errno. */
int context_init(struct context *ctx, struct log *log, const struct signals *signals);
void context_done(struct context *ctx);

/*
 * Has libsystemd allocate what it first needs when events come, so that they are noticed later even
 * when there is no memory.  To be called when the sources of the configuration are there.  Return: 0
 * or -errno.
 */
int context_rehearse_events(struct context *ctx);

/* Closes the reserved descriptor for work that needs one.  Returns true if there was one. */
bool context_give_up_spare(struct context *ctx);

/* Holds one in reserve again, if there is any. */
void context_take_spare(struct context *ctx);

/* Is @r what a lack of descriptors or memory is told by, which may be over in a while? */
bool context_is_shortage(int r);

/* Makes room for a child's environment with @own more variables.  Return: 0 or -ENOMEM. */
int context_reserve_environment(struct context *ctx, size_t own);

/* TASK_EXITS begins with an orphan scan: a process may have become our child. */
void context_scan_orphans(struct context *ctx);

/* Something has changed that others may wait for: there will be another update turn. */
void context_update_soon(struct context *ctx);
