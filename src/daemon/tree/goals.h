#pragma once

/*
 * The goals of nodes (model/life/goal.h), which change nowhere else.
 *
 * A batch holds the changes of one cause.  A stop is latched on a node and its subtree at once.
 * The commit of the batch stops the dependents, too, and puts raised nodes on the agenda; the
 * update turn sends signals, begins generations and starts services.  So the ordering edges hold
 * between all that one batch stops, however many nodes it names.
 *
 * A node that requires a template goes on while enough of its other instances are ready.
 */

#include "daemon/tree/tree.h"

struct goals {
	struct tree *tree;
	enum goal_cause cause;
	uint64_t usec;	     /* time of the stop, the same for all nodes */
	uint64_t until_usec; /* the latest end of the budgets of lowered nodes; USEC_INFINITY */
	struct list lowered; /* nodes, by in_batch */
	bool any;
	bool dry_run;  /* nothing is stopped: the commit only reports the dependents */
	uint64_t keep; /* number of other instances that are enough; all of them always are */
	/* Called, if set, for each node that is stopped or restarted because of a requirement. */
	void (*on_dependent)(struct node *node, void *arg);
	void *arg;
};

void goals_init(struct node *node, const struct node_config *config);

/* Adapts the goal of @node if a reload has made a service of a group or a group of a service. */
void goals_reconfigure(struct node *node, bool was_group);

void goals_begin(struct goals *goals, struct tree *tree, enum goal_cause cause);
void goals_commit(struct goals *goals);

/*
 * Stops @node by REQUEST_STOP, _REMOVE, _RESTART or _CYCLE, unless it is stopped.  @reason is logged.
 * A service that can hand over is not stopped by _RESTART: daemon/succession does it.
 */
void goals_lower(struct goals *goals, struct node *node, enum goal_request request,
		 const char *reason);

/* Raises @node as if it were new: its section has come back. */
void goals_add(struct goals *goals, struct node *node);

/*
 * Starts @node alone: by REQUEST_NEED unless it is stopped; by REQUEST_START also after a stop that no client has
 * requested.
 */
void goals_raise(struct node *node, enum goal_request request, enum goal_cause cause);

/* @node has done its work by schedule or on demand, and rests until it is requested or needed. */
void goals_make_idle(struct node *node);

/* Stops @node, a service on demand that is idle: it waits for the next connection. */
void goals_retire(struct tree *tree, struct node *node, const char *reason);

/*
 * Starts @node for a client, with all that starts with it and all that these need, directly or not.
 * The history of restarts is cleared, and nothing is delayed.  Siblings in a stopped group stay
 * down.  With @again services that are done run once more, but restart-delay after that.
 *
 * Return: 0; -ESHUTDOWN and nothing has changed, if @node or a requirement is in a tree that shuts
 * down or has no section any more.
 */
int goals_start(struct node *node, enum goal_cause cause, bool again);

/*
 * Restarts @node for a client: stops it, then starts it as goals_start() does, along with all that
 * ran in it.  Return: likewise.
 */
int goals_restart(struct goals *goals, struct node *node, const char *reason);

/*
 * Starts the idle nodes that @service requires or wants; it runs or is about to start.  Returns true
 * if there was one.
 */
bool goals_need(const struct service *service);
void goals_need_all(struct tree *tree);

/* Handles the completion of @node: its goal rises again after a restart. */
void goals_complete(struct node *node);

/* Calls goals_lower() for @node, as a batch of its own. */
void goals_lower_one(struct tree *tree, struct node *node, enum goal_cause cause,
		     enum goal_request request, const char *reason);

/*
 * Prolongs the stop of @node, puts that of the root on hold, or lets it go on, as in deadline.h, also for the
 * next image of the daemon.
 */
uint64_t goals_extend(struct node *node, uint64_t usec);
bool goals_hold(struct node *root, bool hold);

/* Clears the history of restarts of all services in @node, and all delays of their starts. */
void goals_forget_restarts(struct node *node);
