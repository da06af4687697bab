#pragma once

/*
 * What every part of the daemon shares: the event loop, the log, and the turn that settles things.
 *
 * Nothing that happens is followed up from inside its own callback.  Whoever changes something says
 * context_settle_soon(), and before the loop takes the next event daemon.c looks at all that
 * follows from it, in one fixed order.  Work without end is done in portions, one between two
 * events.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <systemd/sd-event.h>

#include "base/list.h"
#include "base/log.h"
#include "daemon/alarm.h"
#include "daemon/events.h"
#include "daemon/losses.h"
#include "daemon/trace.h"
#include "model/settings.h"
#include "sys/signals.h"

struct cgroups;
struct command;
struct process_table;
struct service;
struct sweep;

/* Where a service's end of a control connection has its other end. */
struct control_offer {
	/*
	 * Takes @fd, of the service at @path, also on failure; there is one for each.  NULL: nobody
	 * does.  Return: 0 or -errno.
	 */
	int (*accept)(const char *path, int fd, void *arg);

	/* That of the service at @path, if there is one, is its no more. */
	void (*withdraw)(const char *path, void *arg);
	void *arg;
};

struct context {
	sd_event *event;
	struct log *log;
	struct process_table *processes;
	struct cgroups *cgroups;       /* NULL: none */
	struct sweep *children;	       /* NULL: not yet */
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
	struct losses *losses;
	struct control_offer control;
	struct list lease_users; /* of daemon/lease.h */
	struct list lease_fds;	 /* of daemon/lease-fd.h */
	unsigned n_leases;
	struct traces traces; /* of nodes, for the report */

	uint64_t changes;      /* so often has a service, a process or a guard got on */
	bool settle;	       /* something has changed: see context_settle_soon() */
	struct list posted;    /* services with an event for the next turn */
	struct list lingering; /* services whose main process is gone, the rest maybe not */
	struct list waiting;   /* services that want to start */
	struct list gated;     /* services whose signal waits */
	struct list finished;  /* transient nodes whose end is to be looked at */
	struct list guarded;   /* nodes of which somebody outside has taken or dropped guards */
	struct list listeners; /* open sockets of services */
	struct list attached;  /* runs whose program may be attached */
	struct list completed; /* nodes to be followed up: Complete, or nothing is left of them */
	struct list fallen;    /* services whose end may concern others */
	struct service *ended; /* the first whose end is that of the tree, or NULL */
	struct service *first; /* the first essential one that has ended, or NULL */
	enum exit_when exit_when;
	bool rested;	 /* a service has come to its end */
	unsigned failed; /* services that are */
	bool sweep;	 /* children were adopted or have died: look whose they are */
	bool linger;	 /* look after the lingering */
};

/* Makes the loop and the descriptors that are held in reserve.  Return: 0 or -errno. */
int context_init(struct context *ctx, struct log *log, const struct signals *signals);
void context_done(struct context *ctx);

/*
 * Closes the descriptor that is held in reserve, for what has to be done when there is no other.
 * Return: was there one?
 */
bool context_give_up_spare(struct context *ctx);

/* Holds one in reserve again, if there is any. */
void context_take_spare(struct context *ctx);

/* Is @r what a lack of descriptors or memory is told by, which may be over in a while? */
bool context_is_shortage(int r);

/*
 * Makes room for the environment of a child with @own variables of its own.  Return: 0 or -ENOMEM.
 */
int context_reserve_environment(struct context *ctx, size_t own);

/* There will be a turn that settles things, before the loop waits for anything. */
void context_settle_soon(struct context *ctx);

/* Arms @timer for @usec (CLOCK_MONOTONIC; USEC_INFINITY: never).  A failure is logged. */
void context_arm(struct context *ctx, sd_event_source *timer, uint64_t usec);
