#pragma once

/*
 * The goals of the nodes (model/life/goal.h): the only place where they change.
 *
 * A batch is what one cause changes.  A stop is latched on a node and all below it at once; when the
 * batch is committed, it goes on to the dependents, and what has been raised is put on the agenda.
 * The update turn does the rest: it sends signals, begins generations and starts services.  So the
 * ordering edges hold between all that one batch stops, however many nodes it names.
 */

#include "daemon/tree/tree.h"

struct goals {
	struct tree *tree;
	enum goal_cause cause;
	uint64_t usec;	     /* when all of it is stopped */
	struct list lowered; /* nodes, by in_batch */
	bool any;
	/* If set: hears of each node that is stopped or restarted along with what it requires. */
	void (*on_dependent)(const struct node *node, void *arg);
	void *arg;
};

/* The goal of a new node. */
void goals_init(struct node *node, const struct node_config *config);

/* A reload may have made a service of a group, or a group of a service. */
void goals_reconfigure(struct node *node, bool was_group);

void goals_begin(struct goals *goals, struct tree *tree, enum goal_cause cause);
void goals_commit(struct goals *goals);

/* Stops @node by REQUEST_STOP, _REMOVE or _CYCLE, unless it is stopped.  @reason is logged. */
void goals_lower(struct goals *goals, struct node *node, enum goal_request request,
		 const char *reason);

/* The section of @node has come back: it starts as a new one would. */
void goals_add(struct goals *goals, struct node *node);

/* @node starts by itself from now on: it starts unless it is stopped. */
void goals_want(struct goals *goals, struct node *node);

/*
 * By hand: starts @node, what starts with it, and whatever that needs, near or far.  What happened
 * before does not count any more, and nothing is delayed.  Siblings in a stopped group stay down.
 *
 * Return: 0; -ESHUTDOWN if @node, or something that it requires, is in a tree that is being shut
 * down or has no section any more: then nothing has changed.
 */
int goals_start(struct goals *goals, struct node *node);

/* By hand: stops @node, then starts it as goals_start(), and all that ran.  Return: likewise. */
int goals_restart(struct goals *goals, struct node *node, const char *reason);

/* @service is about to start, or runs: what it requires or wants and is idle starts, too. */
void goals_need(struct tree *tree, const struct service *service);

/* The same for all services that run, or are to. */
void goals_need_all(struct tree *tree);

/* @node is Complete, and starts again if it was stopped for that. */
void goals_complete(struct tree *tree, struct node *node);

/* One request about one node, as a batch of its own. */
void goals_stop(struct tree *tree, struct node *node, enum goal_cause cause, const char *reason);

/* The restarts of all services in @node do not count any more, and nothing delays their start. */
void goals_forget_restarts(struct node *node);
