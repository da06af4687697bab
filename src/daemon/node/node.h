#pragma once

/*
 * A node of the running tree: a section of the configuration, the libswansong node of its present
 * generation, and what is known of the services below it.
 *
 * A stopped node never runs again.  Starting it anew makes the next generation, a new libswansong
 * node under the same name; guards of the one before go on holding up whatever is above it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "daemon/loop/context.h"
#include "model/config/config.h"
#include "model/life/goal.h"
#include <swansong/completion.h>
#include <swansong/node.h>

struct service;
struct final;

/* Services of the subtree. */
struct counts {
	int services; /* but for those that are not started, and do not start by themselves */
	int ready;
	int settled; /* ready, or not about to become so */
	int members; /* that start by themselves */
	int present; /* of these: satisfy a requirement */
	int lost;    /* ... and do not, nor will */
};

/* Of ordering edges there are both ends: beside the lists of enum edge a node has these. */
enum {
	LIST_DEPENDENTS = N_EDGES, /* who requires, wants or comes after it */
	LIST_FOLLOWERS,		   /* who is term-after it */
	N_LISTS
};

/* Arrays of node pointers, NULL-terminated, or NULL. */
struct edges {
	struct node **lists[N_LISTS];
};

struct node {
	struct context *ctx;
	struct config *config_ref; /* keeps config */
	const struct node_config *config;
	struct node *parent; /* NULL for the root */
	struct list children, sibling;
	struct agenda_entry due; /* for it, or for its service */

	/* Written by daemon/tree/goals.c alone. */
	enum goal goal;
	enum goal_cause cause;
	int cycling;	      /* children that a strategy restarts and that are not Complete */
	struct list in_batch; /* of daemon/tree/goals.h */

	/* The present generation. */
	struct swansong *handle;
	struct swansong *work; /* where its guards and children are: that, or one below it */
	struct swansong_completion *drained; /* of work, if it is another one, until the stop */
	struct swansong_completion *completion;
	uint64_t since_usec;	/* when its state was entered */
	uint64_t stop_usec;	/* when it was stopped */
	uint64_t deadline_usec; /* when its budget is spent; USEC_INFINITY while it runs */
	uint64_t kill_usec;	/* ... but for its final: when what is left is killed; likewise */
	uint64_t call_usec;   /* ... and when guards are revoked that signals of others wait for */
	struct alarm budget;  /* of that which is nearest */
	uint64_t late_usec;   /* when its own processes and leases were forced; 0: never */
	uint64_t forced_usec; /* ... or those of one below it, in whatever generation; likewise */
	unsigned generation;
	struct counts counts;
	struct list earlier; /* generations before it that are not Complete */
	int draining;	     /* generations in the subtree that are stopped and not Complete */

	struct trace *trace;	 /* for the report */
	struct service *service; /* NULL for a group */
	struct final *final;	 /* what runs when its guards are gone, or NULL */
	struct list leases;
	bool complete;	  /* its present generation is, and followed up */
	bool forced;	  /* ... something below had to be killed or revoked during its stop */
	bool transient;	  /* of no section: it was asked for over the control socket */
	bool keep;	  /* ... and stays when it has ended */
	bool force_asked; /* its kill phase begins in this turn, as it was asked for */

	struct edges *edges;	  /* see node_edges() */
	struct edges *next_edges; /* of daemon/edges.c, while a reload is being made */
	uint64_t program_guards;  /* in the subtree: of attached programs, as last counted */
};

/*
 * Makes the node and its first generation, below @parent's present one.  Return: 0 or -errno.
 */
int node_new(struct node **ret, struct context *ctx, struct config *config_ref,
	     const struct node_config *config, struct node *parent);

/* Its section is @config of @config_ref_ now. */
void node_use_config(struct node *node, struct config *config_ref,
		     const struct node_config *config);

/* Leaves its parent.  Must have no children, service or leases any more. */
struct node *node_free(struct node *node);

/* One of its lists of edges. */
static inline struct node **node_edges(const struct node *node, size_t list)
{
	return node->edges ? node->edges->lists[list] : NULL;
}

void node_edges_free(struct edges *edges);

/* "web/nginx", and "root" for the root, whose path is empty. */
const char *node_name(const struct node *node);

/* The task is due for the node, or for its service; or no longer. */
void node_add_task(struct node *node, enum task task);
void node_end_task(struct node *node, enum task task);

/* See agenda_next() and agenda_take_entry(). */
struct node *node_next_due(struct context *ctx, enum task task);
struct node *node_take_due(struct context *ctx, enum task task);

/* Each node for which @task is due, until node_end_task(). */
#define node_for_each_due(node, ctx, task) \
	for (agenda_rewind(&(ctx)->agenda); ((node) = node_next_due(ctx, task));)

/* Each node for which @task is due; it is done then. */
#define node_for_each_taken(node, ctx, task) \
	for (agenda_rewind(&(ctx)->agenda); ((node) = node_take_due(ctx, task));)

bool node_is_stopped(const struct node *node);

/* Returns true if the root of its tree is stopped, and so all of the tree. */
bool node_is_tree_stopped(const struct node *node);

/* The root of the tree that @node is in. */
const struct node *node_root(const struct node *node);

/* The effective goal: the lowest of its own and of those above it. */
enum goal node_goal(const struct node *node);

/* Returns true if a strategy restarts it, and it is not Complete. */
static inline bool node_is_cycled_by_strategy(const struct node *node)
{
	return node->goal == GOAL_CYCLE && node->cause == CAUSE_STRATEGY;
}

/* It may be Complete, or nothing may be left of it: looked at in the next update turn. */
void node_follow_up(struct node *node);

/* "running", "shutting_down" or "complete", as it has been followed up. */
const char *node_state_name(const struct node *node);

/* Its state is another one than @from now: for whoever watches. */
void node_changed(const struct node *node, const char *from, const char *reason);

/* Something of it is killed or revoked because a budget is spent: it and those above are forced. */
void node_note_forced(struct node *node);

/* Guards that are no process's have been taken on it or dropped: looked at in the next turn. */
void node_guards_changed(struct node *node);

/* A transient node may have come to its end; looked at when whoever waits for it has been told. */
void node_finished(struct node *node);

/* Its stop is about to be latched. */
void node_note_stop(struct node *node);

/* Is @node, or one of its parents, @ancestor? */
bool node_is_within(const struct node *node, const struct node *ancestor);

/* All services in it are up, or have done their work. */
bool node_is_ready(const struct node *node);

/*
 * Begins the next generation of a stopped node.  The parent must run.  Return: 0 or -ENOMEM, and
 * nothing has changed.
 */
int node_renew(struct node *node);

/*
 * The node after @node in the subtree of @top, parents first, or NULL at its end:
 * for (n = top; n; n = node_next(n, top)).
 */
struct node *node_next(const struct node *node, const struct node *top);
