#pragma once

/*
 * One running service: the state machine of model/fsm.h and what it acts on.
 *
 * Its processes are the main process, which the configuration's command became; the commands around
 * it, one at a time; and leftovers: others of a session or the environment of these that have
 * turned up as our children.  Each holds a guard on the node from before it runs until it has been
 * collected.
 *
 * A run begins with the first start-command and ends with the last post-stop.  That of a oneshot
 * which has something to undo goes on after its process, and the process's guard with it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "daemon/attach.h"
#include "daemon/cgroup.h"
#include "daemon/hook.h"
#include "daemon/launch.h"
#include "daemon/node.h"
#include "daemon/notify.h"
#include "daemon/process.h"
#include "daemon/readiness.h"
#include "daemon/watchdog.h"
#include "model/fsm.h"
#include "model/policy.h"

struct health;
struct setup;
struct service_words;

/* How a run comes to its end, from when that was asked for, or began by itself. */
struct ending {
	uint64_t began_usec;	 /* 0: it has not */
	uint64_t idle_usec;	 /* when it was last busy since; 0: never */
	uint64_t extended_usec;	 /* what it asked for itself; 0: nothing */
	uint64_t leftovers_usec; /* for what the main process left; USEC_INFINITY: it is there */
	uint64_t last_call_usec; /* what the budget allows */
	uint64_t limit_usec;	 /* what came of all that */
	bool busy, told;	 /* it is; it was, and the log says so */
};

struct service {
	struct context *ctx;
	struct node *node;
	const struct node_config *config; /* counted; the node's, or the last with a command */
	struct list in_posted, in_lingering, in_waiting, in_gated, in_fallen; /* of the context */

	enum service_state state;
	enum service_event posted; /* while in context.posted */
	uint64_t since_usec;	   /* when it was entered */
	uint64_t held_usec;	   /* when it was last stopped, perhaps in an earlier generation */
	uint64_t timeout_usec;	   /* when the state's timeout ends it; USEC_INFINITY: never */
	uint64_t start_limit_usec; /* of this start, its commands included */
	uint64_t kept_usec; /* the kill_usec of an earlier generation that it ends with; 0: none */
	struct ending ending;
	int stop_signal;	/* the configured one, or what a forwarded stop came as */
	bool wanted : 1;	/* it is to run, now or as soon as it may */
	bool was_wanted : 1;	/* ... until the stop */
	bool returning : 1;	/* stopped, and started again when that is over */
	bool in_vain : 1;	/* it waits for what has failed */
	bool together : 1;	/* it starts when nobody drains whom a strategy restarts with it */
	bool attempted : 1;	/* it has been up, or has failed, at least once */
	bool killed : 1;	/* in this run it has had the kill-signal */
	bool has_cgroup : 1;	/* its processes are in a control group of its own */
	bool cgroup_killed : 1; /* ... that has been killed, and is of no more use */
	bool was_up : 1;	/* in the last run, as the rest of these */
	bool worked : 1;	/* a oneshot that has ended well and is kept */
	bool late : 1;		/* its stop-timeout, or a budget above, was spent */
	bool concluded : 1;	/* its end has been judged: see verdict */

	struct process main;	    /* pid 0: none */
	sd_event_source *main_gone; /* NULL: it is our child, or there is none */
	uint64_t vain_usec; /* until then vain looks at who may be executing are paid for */
	struct list leftovers;
	struct cgroup_watch watch; /* of its control group */
	struct hook *hook;	   /* the commands around it; NULL: it has none */
	struct hook *reload;	   /* its reload-command, beside those; or NULL */
	sd_event_source *reload_timer;

	/* The last run. */
	struct outcome outcome;
	uint64_t started_usec;
	unsigned parts;		    /* of enum service_part: what it has, and what is not over */
	enum service_event verdict; /* DONE, RETRY or FAIL */
	unsigned restarts;	    /* by itself, since it was last started by hand */

	uint64_t delay_usec;	  /* before the next one */
	uint64_t not_before_usec; /* it does not start earlier, wanted or not; 0: at once */
	struct policy *policy;

	/* The present setup (daemon/setup.h). */
	struct launch launch;
	struct notify *notify;	     /* NULL: it is given no socket */
	struct service_words *words; /* NULL likewise */
	struct readiness *readiness; /* NULL: ready = started or notify */
	struct health *health;	     /* NULL: health = none */
	struct attach *attach;	     /* NULL: attach = no */
	struct setup *next_setup;    /* NULL: the next run is made with the same */

	struct watchdog *watchdog; /* NULL: it has never been given one */
	struct alarm timer;
	struct alarm rest; /* for what is let be beside another generation: its until_usec */
};

/*
 * Allocates all that a start, an exit and a stop need.  @config is the node's, or is about to be.
 * Return: 0 or -errno.
 */
int service_new(struct service **ret, struct node *node, const struct node_config *config);
struct service *service_free(struct service *service);

/* The only way a service changes, and never from inside itself. */
void service_handle(struct service *service, enum service_event event);

/* @event is handled in the next turn: for what happens inside of service_handle(). */
void service_post(struct service *service, enum service_event event);

/*
 * An end is followed up in the next turn: its main process is gone, or could not be made, or
 * somebody it left behind is.
 */
void service_look_after(struct service *service);

/* When its budget is spent: that of the stop by which it ends, or the node's. */
static inline uint64_t service_kill_usec(const struct service *service)
{
	uint64_t usec = service->node->kill_usec;

	return service->kept_usec && service->kept_usec < usec ? service->kept_usec : usec;
}

bool service_is_ready(const struct service *service);

/* Ready, or not going to be. */
bool service_is_settled(const struct service *service);

/* Is it up, and its work not done?  A oneshot that stays up to be undone is not at work. */
bool service_is_at_work(const struct service *service);

/*
 * What it adds to the counts of the nodes it is in; whoever changes what these follow from takes
 * them before and says so after.  One that nobody has started, and that is not started by itself,
 * is missed by nobody: it adds nothing.
 */
struct service_tally {
	int services, ready, settled;
};
struct service_tally service_tally(const struct service *service);
void service_retally(struct service *service, struct service_tally before);
