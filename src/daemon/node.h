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
#include "daemon/context.h"
#include "model/config.h"
#include "swansong/completion.h"
#include "swansong/node.h"

struct service;
struct final;

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
	struct list in_completed; /* context.completed */
	struct list in_finished;  /* context.finished */
	struct list in_guarded;	  /* context.guarded */
	struct list ending;	  /* children restarted together that have not ended, or just now */
	struct list in_ending;	  /* parent->ending */

	/* The present generation. */
	struct swansong *handle;
	struct swansong *work; /* where its guards and children are: that, or one below it */
	struct swansong_completion *drained; /* of work, if it is another one, until the stop */
	struct swansong_completion *completion;
	uint64_t since_usec;	/* when its state was entered */
	uint64_t stop_usec;	/* when it was stopped */
	uint64_t given_up_usec; /* when what was to come back was last stopped for good */
	uint64_t deadline_usec; /* when its budget is spent; USEC_INFINITY while it runs */
	uint64_t kill_usec;	/* ... but for its final: when what is left is killed; likewise */
	uint64_t call_usec; /* ... and when guards are revoked that signals of others wait for */
	sd_event_source *budget; /* NULL: it has no budget of its own, and no final action */
	uint64_t late_usec;	 /* when its own processes and leases were forced; 0: never */
	uint64_t forced_usec; /* ... or those of one below it, in whatever generation; likewise */
	unsigned generation;
	unsigned services, ready,
		settled;     /* in the subtree: how many, ready, not about to become so */
	struct list earlier; /* generations before it that were not Complete when it began */

	struct trace *trace;	 /* for the report */
	struct service *service; /* NULL for a group */
	struct final *final;	 /* what runs when its guards are gone, or NULL */
	struct list leases;
	bool complete;	/* its present generation is, and followed up */
	bool forced;	/* ... something below had to be killed or revoked during its stop */
	bool restart;	/* to be started again as soon as it is Complete */
	bool retired;	/* no section any more: freed when nothing is left, never started again */
	bool leaving;	/* is, or is about to be by the reload that is being made */
	bool transient; /* of no section: it was asked for over the control socket */
	bool keep;	/* ... and stays when it has ended */

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

bool node_is_stopped(const struct node *node);

/* Is it, or what it is in, stopped only to be started again? */
bool node_is_restarted(const struct node *node);

/* What may be done now that it is Complete, or has been, is looked at in the next turn. */
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

/* Is the present generation, or one before it, stopped and not Complete? */
bool node_is_draining(struct node *node);

/* Is @node, or one of its parents, @ancestor? */
bool node_is_within(const struct node *node, const struct node *ancestor);

/* All services in it are up, or have done their work. */
bool node_is_ready(const struct node *node);

/*
 * Begins the next generation of a stopped node.  The parent must run.  Return: 0 or -ENOMEM, and
 * nothing has changed.
 */
int node_renew(struct node *node);

/* A service in @node has come, gone, or changed: the counts of @node and all above follow. */
void node_count(struct node *node, int services, int ready, int settled);

/*
 * The node after @node in the subtree of @top, parents first, or NULL at its end:
 * for (n = top; n; n = node_next(n, top)).
 */
struct node *node_next(const struct node *node, const struct node *top);
