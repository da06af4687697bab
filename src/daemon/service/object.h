#pragma once

/*
 * A service: its data and predicates.  The state machine that acts on a service is in
 * daemon/service/machine.h; all modules below that post events to it.
 *
 * Its processes are the main process, which runs the command of the configuration; the commands
 * around it, one at a time; and remaining processes: others of the same session or environment that
 * have become children of the daemon.  Each holds a guard on the node from before it runs until it
 * is collected.
 *
 * A run begins with the first start-command and ends with the last post-stop.  The run of a oneshot
 * with later commands goes on after its process, and so does the guard of the process.
 */

#include "daemon/guard/attach.h"
#include "daemon/spawn/alert.h"
#include "daemon/spawn/final.h"
#include "daemon/node/calls.h"
#include "daemon/notify/notify.h"
#include "daemon/loop/closer.h"
#include "daemon/probe/pid-watch.h"
#include "daemon/probe/readiness.h"
#include "daemon/notify/watchdog.h"

/* The end of a run, from when it was requested or began by itself. */
struct ending {
	uint64_t began_usec;	 /* 0: not begun */
	uint64_t idle_usec;	 /* when the service was last busy during this end; 0: never */
	uint64_t extended_usec;	 /* extension by the service itself; 0: none */
	uint64_t remaining_usec; /* end of remaining processes; USEC_INFINITY: main process lives */
	uint64_t last_call_usec; /* the latest end that the budget allows */
	uint64_t limit_usec;	 /* the limit that results from all these */
	bool busy, logged;	 /* it is busy; the log has a line about it */
	bool warned;		 /* it is slow; the log has a line about it */
};

/* Events for the next update turn, in the order in which they were posted, each at most once. */
struct posted {
	uint8_t events[N_EVENTS];
	uint8_t n;
};

/* For few services. */
struct setup_extras {
	struct notify *notify;		   /* NULL: no notification socket */
	struct service_messages *messages; /* NULL likewise */
	struct pid_watch *pid_watch;	   /* NULL: not of type forking */
	struct readiness *readiness;	   /* NULL: ready = started or notify */
	struct health *health;		   /* NULL: health = none */
	struct attach *attach;		   /* NULL: attach = no */
	struct hook *hook, *reload;	   /* commands around it, and of a reload; or NULL */
};
extern const struct setup_extras setup_no_extras;

/*
 * The objects that runs of a service need, made from a configuration to which they keep pointers.
 * A run keeps the setup with which it began; a reload makes another for the next run.
 */
struct setup {
	struct launch launch; /* its config is counted */
	struct setup_extras *extras;
	bool keeps_activation; /* the activation of launch belongs to the other setup: the present one, or the next */
};

/* The present run, or the last one. */
struct run {
	struct outcome outcome;
	uint64_t started_usec;
	uint64_t claims_usec; /* if killed: end of the time for claimed processes; 0: logged */
	unsigned generation;  /* of the node */
	unsigned parts;	      /* bits of enum service_part: configured and not over */
	enum service_event verdict; /* DONE, RETRY or FAIL */
	const char *pid_file_fault; /* the last that was logged of its start; or NULL */
	bool was_up : 1;
	bool worked : 1;    /* a oneshot that has ended successfully and is kept */
	bool killed : 1;    /* the kill-signal was sent */
	bool late : 1;	    /* its stop-timeout or a budget had expired */
	bool concluded : 1; /* its end was judged: verdict is set */
	bool refused : 1; /* in a row: the kernel has refused the control group, see group.refused */
	bool found : 1; /* its main process was any of an earlier image, and is only to be stopped */
	bool numbered : 1; /* in a row: its claims have its generation, see group.generation */
	bool chained : 1;  /* the nodes that start with its end were started */
};

/* The details of its row in the roster. */
struct service_row {
	uint64_t state, since_usec, delay_usec, restarts, next_delay_usec;
	uint64_t began_usec, idle_usec, extended_usec; /* of its ending */
	uint64_t signalled_usec;
	uint64_t watchdog_usec;	   /* also one that the service has set by itself */
	uint64_t start_limit_usec; /* of a start that goes on */
	struct run run;
};

/* The result of daemon/demand/programs.c for a run. */
struct looked {
	uint64_t begun_usec : 62; /* of the look; 0: none */
	uint64_t waits : 1;	  /* it has no result yet */
	uint64_t of_run : 1;	  /* it is for the present run */
	char *file; /* a file that was replaced; "": there is none; NULL: unknown */
};

/* Of daemon/demand/recycle.c. */
struct recycle {
	struct service *service;
	struct alarm alarm;   /* the next look at its age and memory */
	struct closer closer; /* of a child that adds up the memory of its processes */
	bool large;	      /* the last child has found too much memory */
};

/* The share of a service in struct counts of its node and of the nodes above. */
struct tally {
	bool services : 1, ready : 1, coming_up : 1, resolved : 1;
	bool members : 1, present : 1, lost : 1, excused : 1;
};

struct service {
	struct context *ctx;
	struct node *node;
	const struct node_config *config; /* the counted one: of the node, or the last with a command */

	enum service_state state : 8;
	struct posted posted;
	struct tally counted; /* its share in the nodes above */
	unsigned outage : 8;  /* enum outage, as last recorded */
	int stop_signal : 8;  /* the configured one, or that of a forwarded stop */
	bool blocked : 1;     /* by a requirement that failed, was stopped or has ended; derived */
	bool in_trouble : 1;  /* given up or unhealthy since it was last well */
	bool timed_out : 1;   /* the timer has expired for timeout_usec */
	bool attempted : 1;   /* it has been up or has failed at least once */
	unsigned restarts;    /* automatic restarts since the last start by a client */
	uint64_t since_usec;	   /* when the state was entered */
	uint64_t held_usec;	   /* time of the last stop, maybe in an earlier generation */
	uint64_t timeout_usec;	   /* end of the state's timeout; USEC_INFINITY: none */
	uint64_t start_limit_usec; /* end of this start, with its commands */
	uint64_t kept_usec; /* kill_usec of the earlier generation with which it ends; 0: none */
	struct ending ending;

	struct process main;	    /* pid 0: none */
	unsigned place;		    /* of its row in the roster; 0: none */
	unsigned messages_place;    /* of the row of its messages; 0: none */
	sd_event_source *main_gone; /* end of a main process that is no child of the daemon; or NULL */
	struct list remaining;
	struct control_group group;

	struct run run;

	uint64_t delay_usec;	  /* before the next restart */
	uint64_t not_before_usec; /* earliest start by its group; 0: none, or by a client */
	struct policy *policy;

	struct setup setup;	  /* present */
	struct setup *next_setup; /* NULL: the next run uses the present one */

	struct watchdog *watchdog; /* NULL: it never had one */
	struct calls *calls;	   /* NULL: it never was on demand, nor had a drain-quiet */
	struct recycle *recycle;   /* NULL: it never had recycle-memory or recycle-age */
	struct looked looked;
	struct alarm timer; /* for timeout_usec, stop-warning, and until_usec of kept processes */
};

/* Posts @event to the state machine, which handles it in the next update turn. */
void service_post(struct service *service, enum service_event event);

/* Drops a posted @event: the state that it was for has been left. */
void service_forget_posted(struct service *service, enum service_event event);

/*
 * Writes @service into the roster if it can go on after a fault: it has been up or has an outcome, until its
 * run is over; it is at rest after a run, or a oneshot at work.  Else removes it.
 */
void service_update_roster(struct service *service);

/* Puts @service on the agenda of exits: a process of it has ended or could not be made. */
void service_check_exits(struct service *service);

/*
 * Makes memory for commands of @service, which run one at a time; the end of one is handled as an
 * exit.  @on_limit: as of hook_init().  Return: 0 or -ENOMEM.
 */
int service_make_hook(struct service *service, void (*on_limit)(struct alarm *timer),
		      struct hook **ret);

/* Logs a message about @service. */
#define service_log(service, priority, ...) \
	log_node((service)->ctx->log, priority, node_name((service)->node), __VA_ARGS__)

/* Puts @service on the agenda of stops or starts, for this update turn or the next. */
void service_update_soon(struct service *service);

/* Puts @service on the agenda of demands if it is, or was, on demand. */
void service_update_demand(struct service *service);

/* Returns the configuration of the next run. */
static inline const struct node_config *service_next_config(const struct service *service)
{
	return service->next_setup ? service->next_setup->launch.config : service->setup.launch.config;
}

/* Adapts @service to a change of its effective goal or that of a requirement. */
void service_note_goal(struct service *service);

/* Returns the end of its budget: that of the stop by which it ends, or that of its node. */
static inline uint64_t service_kill_usec(const struct service *service)
{
	uint64_t usec = service->node->kill_usec;

	return service->kept_usec && service->kept_usec < usec ? service->kept_usec : usec;
}

/* Returns true if the generation of its last run is stopped and the service is not down yet. */
bool service_is_stopped(const struct service *service);

/* Returns true if its goal is to run and its node runs. */
bool service_is_wanted(const struct service *service);

/* Returns true if processes that outlive the main process are kept, until the root stops. */
bool service_keeps_remaining(const struct service *service);

/* Returns true if connections start @service: autostart = on-demand, unless it is disabled. */
bool service_is_on_demand(const struct service *service);

/*
 * Returns true if @service is on demand and its sockets are open, with a process or without: a
 * connection is served, maybe later.
 */
bool service_is_listening(const struct service *service);

/* Returns true if @service is on demand and has no process until a connection comes. */
bool service_awaits_connection(const struct service *service);

/* Returns true if @service is up or done, or waits for a connection. */
bool service_is_ready(const struct service *service);

/* Returns true if @service is ready, or is not going to be. */
bool service_is_resolved(const struct service *service);

/*
 * Returns true if @service satisfies a requirement.  One of type simple that has ended does not, and
 * one on demand does so by its sockets.
 */
bool service_is_present(const struct service *service);

/* Returns true if @service has not run, as a condition did not hold: this counts as ready. */
bool service_is_skipped(const struct service *service);

/* Returns true if @service runs, or will run as soon as it can. */
bool service_is_meant_to_run(const struct service *service);

/*
 * Returns true if @service is up and its work is not done.  A oneshot that stays up for its later
 * commands is not at work.
 */
bool service_is_at_work(const struct service *service);

/* Returns true if a restart of @service is a hand-over: its present run began with handover = yes. */
bool service_can_hand_over(const struct service *service);

/* Returns "current", "unknown", or "replaced", with *file, by the last look at the present run; NULL: none. */
const char *service_program(const struct service *service, const char **file);

/* Returns true if its process runs, or is about to, with settings before a change that needs a new process. */
bool service_is_outdated(const struct service *service);

/*
 * The number of guards that keep @service busy, and the service that a guard on @node keeps busy, or NULL: each is
 * held on the node of the service or on a descendant without a nearer service, by an attached program or by a
 * lease; its own processes do not count.  A guard on an ancestor names no service that it needs, and keeps none
 * busy.  Code that takes or drops such a guard calls node_guards_changed().
 */
unsigned long busy_guards(const struct service *service);
struct service *busy_service(const struct node *node);

/*
 * Updates the counts of the nodes above.  It must be called after a change of the state, the goal
 * or the member blocked.  An idle service that does not start by itself adds nothing.
 */
void service_recount(struct service *service);

/*
 * Records, as an event and in the history, that @service is not ready any more, or is again, or that
 * the cause has changed.  A service that works to an end is never ready in this sense: of type oneshot,
 * by schedule, or transient.  Nothing is recorded before the start of the daemon is complete.
 */
void service_record_outage(struct service *service);

/* Removes the share of @service from the counts: it is about to be freed. */
void service_discount(struct service *service);
