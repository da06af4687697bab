#pragma once

/*
 * One service: its data, and what can be said of them.  The state machine that acts on a service is
 * in daemon/service/machine.h; everything below that posts events to it.
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

#include "daemon/guard/attach.h"
#include "daemon/cgroup/control-group.h"
#include "daemon/spawn/hook.h"
#include "daemon/spawn/launch.h"
#include "daemon/node/node.h"
#include "daemon/notify/notify.h"
#include "daemon/loop/process.h"
#include "daemon/probe/readiness.h"
#include "daemon/notify/watchdog.h"
#include "model/life/fsm.h"
#include "model/life/policy.h"

struct health;
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

/* Events for the next update turn, in the order in which they were posted, each of them once. */
struct posted {
	uint8_t events[N_EVENTS];
	unsigned n;
};

/*
 * What the runs of a service are made with: all that is made of a configuration, and keeps pointers
 * into it.  A run keeps the setup that it was begun with; a reload makes another for the next run.
 */
struct setup {
	const struct node_config *config; /* counted */
	struct launch launch;
	struct activation *activation; /* of launch; NULL: it needs none */
	struct notify *notify;	       /* NULL: it is given no socket */
	struct service_words *words;   /* NULL likewise */
	struct readiness *readiness;   /* NULL: ready = started or notify */
	struct health *health;	       /* NULL: health = none */
	struct attach *attach;	       /* NULL: attach = no */
	struct hook *hook, *reload;    /* the commands around it, and beside it; or NULL */
	bool keeps_activation; /* of the next setup: it takes the activation of the present */
};

/* The run that is under way, or the last one. */
struct run {
	struct outcome outcome;
	uint64_t started_usec;
	unsigned generation;	    /* of the node */
	unsigned parts;		    /* of enum service_part: what it has, and what is not over */
	enum service_event verdict; /* DONE, RETRY or FAIL */
	bool was_up : 1;
	bool worked : 1;    /* a oneshot that has ended well and is kept */
	bool killed : 1;    /* it has had the kill-signal */
	bool late : 1;	    /* its stop-timeout, or a budget above, was spent */
	bool concluded : 1; /* its end has been judged: see verdict */
};

/* What it counts for in struct counts of the nodes it is in. */
struct tally {
	bool services, ready, settled, members, present, lost;
};

struct service {
	struct context *ctx;
	struct node *node;
	const struct node_config *config; /* counted; the node's, or the last with a command */

	enum service_state state;
	struct posted posted;
	uint64_t since_usec;	   /* when it was entered */
	uint64_t held_usec;	   /* when it was last stopped, perhaps in an earlier generation */
	uint64_t timeout_usec;	   /* when the state's timeout ends it; USEC_INFINITY: never */
	uint64_t start_limit_usec; /* of this start, its commands included */
	uint64_t kept_usec; /* the kill_usec of an earlier generation that it ends with; 0: none */
	struct ending ending;
	struct tally counted; /* in the nodes it is in */
	int stop_signal;      /* the configured one, or what a forwarded stop came as */
	bool blocked : 1;     /* by a requirement that failed, was stopped or has ended: derived */
	bool attempted : 1;   /* it has been up, or has failed, at least once */

	struct process main;	    /* pid 0: none */
	sd_event_source *main_gone; /* NULL: it is our child, or there is none */
	struct list leftovers;
	struct control_group group;

	struct run run;
	unsigned restarts; /* by itself, since it was last started by hand */

	uint64_t delay_usec;	  /* before the next one */
	uint64_t not_before_usec; /* its restart group starts then; 0: no group, or by hand */
	struct policy *policy;

	struct setup setup;	  /* present */
	struct setup *next_setup; /* NULL: the next run is made with the same */

	struct watchdog *watchdog; /* NULL: it has never been given one */
	struct alarm timer;
	struct alarm rest; /* for what is let be beside another generation: its until_usec */
};

/* Handled by the state machine in the next update turn. */
void service_post(struct service *service, enum service_event event);

/* The state that @event was for has been left. */
void service_forget_posted(struct service *service, enum service_event event);

/*
 * A process of the service is gone, or could not be made: followed in the next update turn.
 */
void service_look_after(struct service *service);

/* Room for its commands, which run one at a time; its end is an exit of it.  Return: 0 or -ENOMEM. */
int service_make_hook(struct service *service, struct hook **ret);

/* It is to be stopped or started: looked at in this update turn, or the next. */
void service_follow_soon(struct service *service);

/* What the next run is made with. */
static inline const struct node_config *service_next_config(const struct service *service)
{
	return service->next_setup ? service->next_setup->config : service->setup.config;
}

/* Its effective goal, or that of what it needs, may be another. */
void service_note_goal(struct service *service);

/* When its budget is spent: that of the stop by which it ends, or the node's. */
static inline uint64_t service_kill_usec(const struct service *service)
{
	uint64_t usec = service->node->kill_usec;

	return service->kept_usec && service->kept_usec < usec ? service->kept_usec : usec;
}

/* Returns true if the generation of its last run is stopped, and it is not down for that yet. */
bool service_is_stopped(const struct service *service);

/* Returns true if it is meant to run, and its node does. */
bool service_is_wanted(const struct service *service);

/* Returns true if the processes that a main process leaves behind are kept: until the root stops. */
bool service_keeps_leftovers(const struct service *service);

/* Up, or done. */
bool service_is_ready(const struct service *service);

/* Ready, or not going to be. */
bool service_is_settled(const struct service *service);

/* Returns true if it satisfies a requirement: a simple service that has ended by itself does not. */
bool service_is_present(const struct service *service);

/* Returns true if it runs, or is to run as soon as it can. */
bool service_is_meant_to_run(const struct service *service);

/* Up with its work not done.  A oneshot that stays up to be undone is not at work. */
bool service_is_at_work(const struct service *service);

/*
 * Brings the counts of the nodes up to date.  To be called when its state, its goal, or whether it
 * is blocked has changed.  A service that has not been started, and does not start by itself, adds
 * nothing.
 */
void service_recount(struct service *service);

/* It adds nothing any more: it is about to be freed. */
void service_discount(struct service *service);
