#pragma once

/*
 * One running service: the state machine of model/fsm.h and what it acts on.
 *
 * Its processes are the main process, which the configuration's command became, and leftovers:
 * others of its session or its environment that have turned up as our children.  Each holds a guard
 * on the node from before it runs until it has been collected.
 */

#include <stdbool.h>
#include <stdint.h>

#include "daemon/cgroup.h"
#include "daemon/launch.h"
#include "daemon/node.h"
#include "daemon/notify.h"
#include "daemon/probe.h"
#include "daemon/process.h"
#include "model/fsm.h"
#include "model/policy.h"

struct service {
	struct context *ctx;
	struct node *node;
	const struct node_config *config;			   /* the node's */
	struct list in_posted, in_lingering, in_waiting, in_gated; /* of the context */

	enum service_state state;
	uint64_t since_usec;	   /* when it was entered */
	uint64_t held_usec;	   /* when it was last stopped, perhaps in an earlier generation */
	uint64_t timeout_usec;	   /* when the state's timeout ends it; USEC_INFINITY: never */
	uint64_t stop_limit_usec;  /* of this ending, however often it is armed */
	enum service_event posted; /* while in context.posted */
	int stop_signal;	   /* the configured one, or what a forwarded stop came as */
	bool wanted;		   /* it is to run, now or as soon as it may */
	bool in_vain;		   /* it waits for what has failed */
	bool attempted;		   /* it has been up, or has failed, at least once */
	bool killed;		   /* in this run it has had the kill-signal */
	bool has_cgroup;	   /* its processes are in a control group of its own */

	struct process main; /* pid 0: none */
	struct list leftovers;
	struct cgroup_watch watch; /* of its control group */
	struct outcome outcome;	   /* of the last run */
	uint64_t started_usec;	   /* the last run */
	uint64_t delay_usec;	   /* before the next one */
	unsigned restarts;	   /* by itself, since it was last started by hand */
	struct policy *policy;

	struct launch launch;
	struct notify *notify; /* NULL unless ready = notify */
	struct probe *probe;   /* NULL unless ready = fd or tcp */
	sd_event_source *timer;
};

/* Allocates all that a start, an exit and a stop need.  Return: 0 or -errno. */
int service_new(struct service **ret, struct node *node);
struct service *service_free(struct service *service);

/* The only way a service changes, and never from inside itself. */
void service_handle(struct service *service, enum service_event event);

/* @event is handled in the next turn: for what happens inside of service_handle(). */
void service_post(struct service *service, enum service_event event);

/*
 * An end is followed up in the next turn: its main process is gone, or could not be made, or somebody
 * it left behind is.
 */
void service_look_after(struct service *service);

bool service_is_ready(const struct service *service);

/* Ready, or not going to be. */
bool service_is_settled(const struct service *service);
