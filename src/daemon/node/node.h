#pragma once

/*
 * A node of the running tree: a section of the configuration, the libswansong node of its present
 * generation, and the counts of the services below it.
 *
 * A stopped libswansong node never runs again.  A new start makes the next generation, another
 * libswansong node under the same name; guards of the earlier generation still hold up the nodes
 * above.
 */

#include "daemon/loop/context.h"
#include "model/config/config.h"
#include "model/life/goal.h"
#include <swansong/completion.h>

/* Services of the subtree. */
struct counts {
	int services; /* without those that are idle and do not start by themselves */
	int ready;
	int coming_up; /* started, and not ready yet nor given up */
	int resolved;  /* ready, or not going to be */
	int members;   /* services that start by themselves and are not stopped by a request */
	int present;   /* members that satisfy a requirement */
	int lost;      /* members that do not, and will not */
	int excused;   /* services that would be members, but are stopped by a request */
};

/* Each ordering edge is stored at both its ends: these lists are for the far ends. */
enum {
	LIST_DEPENDENTS = N_EDGES, /* nodes that require, want or come after it */
	LIST_FOLLOWERS,		   /* nodes that are term-after it */
	N_LISTS
};

/* Arrays of node pointers that end with NULL, or NULL. */
struct edges {
	struct node **lists[N_LISTS];
};

/* The end of its budget: processes are killed, guards revoked. */
struct forcing {
	uint64_t own_usec; /* time for its own processes and leases; 0: never */
	uint64_t any_usec; /* the same for all of its subtree, in any generation */
};

/* The latest times that leave services of a higher rank their time, see daemon/tree/deadline.c. */
struct latest {
	uint64_t gate_usec, end_usec; /* of the present rank */
	uint64_t usec;		      /* of its own rank */
};

struct node {
	struct context *ctx;
	struct config *config_ref; /* keeps config valid */
	const struct node_config *config;
	const char *path;    /* of its section; or its own, of a run aside */
	struct node *parent; /* NULL for the root */
	struct list children, sibling;
	struct agenda_entry due; /* for the node or its service */

	/* Written by daemon/tree/goals.c only. */
	enum goal goal;
	enum goal_cause cause;
	int cycling;	      /* children that a strategy restarts and that are not Complete */
	unsigned index;	      /* of a request for a plan, while it is computed */
	struct list in_batch; /* of daemon/tree/goals.h */

	/* The present generation. */
	struct swansong *handle;
	struct swansong *work; /* parent of its guards and children: handle, or a node below it */
	struct swansong_completion *drained; /* of work, if that is not handle, until the stop */
	struct swansong_completion *completion;
	uint64_t since_usec;	/* when its state was entered */
	uint64_t raised_usec;	/* when its goal became one of running */
	uint64_t stop_usec;	/* time of its stop; 0: none */
	uint64_t deadline_usec; /* end of its budget; USEC_INFINITY while it runs */
	uint64_t kill_usec;	/* time of its kill phase, before the final action; likewise */
	uint64_t call_usec;	/* time of the last call, which revokes guards; likewise */
	struct alarm budget;	/* for the nearest of these three */
	struct latest latest;
	struct forcing force;
	unsigned generation;
	unsigned place; /* of the row of its goal in the roster */
	unsigned transient_place;
	int draining; /* stopped generations in the subtree that are not Complete */
	struct counts counts;
	struct list earlier; /* earlier generations that are not Complete */

	struct trace *trace;	     /* for the report */
	struct service *service;     /* NULL for a group */
	struct timetable *timetable; /* NULL: it does not run by schedule */
	struct final *final;	     /* final action, or NULL */
	struct agent *agent;	     /* NULL: no key agent */
	struct pressure *pressure;   /* NULL: no key pressure-stop */
	struct alert *alert;	     /* on-failure-command, or NULL */
	struct list leases;
	bool force_asked; /* a client has requested the kill phase */
	bool disabled;	/* see daemon/loop/disabled.h; written by daemon/reload/enable.c */
	bool complete;	/* its present generation is Complete and was processed */
	bool forced;	/* a process or guard of it had to be forced during its stop */
	bool transient; /* made by a request, without a section */
	bool keep;	/* a transient node that stays after its end */

	struct {
		struct edges *present; /* see node_edges() */
		struct edges *next;    /* of daemon/tree/edges.c, during a reload */
	} edges;
	uint64_t program_guards; /* of attached programs in the subtree, as last counted */
};

/*
 * Makes a node and its first generation, below the present one of @parent.  @path: that of @config; or
 * the one of a run aside, which is copied.  Return: 0 or -errno.
 */
int node_new(struct node **ret, struct context *ctx, struct config *config_ref,
	     const struct node_config *config, const char *path, struct node *parent);

/* Makes @config, of @config_ref_, the section of @node. */
void node_use_config(struct node *node, struct config *config_ref,
		     const struct node_config *config);

/* Removes @node from its parent and frees it.  It must have no children, service or leases. */
struct node *node_free(struct node *node);

/* Returns one of the lists of edges of @node, which may be NULL. */
static inline struct node **node_edges(const struct node *node, size_t list)
{
	return node->edges.present ? node->edges.present->lists[list] : NULL;
}

bool node_has_edge(const struct node *node, size_t list, const struct node *target);

void node_edges_free(struct edges *edges);

/*
 * Returns true for a run aside: the successor or a predecessor of the run of a service that has the
 * name of the section.  Its path is that with "~" and its generation; see daemon/succession.
 */
static inline bool node_is_aside(const struct node *node)
{
	return node->path != node->config->path;
}

/* Returns true for a transient node of guards that use another node, see daemon/reload/use.h. */
static inline bool node_is_use(const struct node *node)
{
	return node->transient && !node->config->argv;
}

/* Returns the path, such as "web/nginx"; "root" for the root, which has an empty path. */
const char *node_name(const struct node *node);

/* Logs a message about @node. */
#define node_log(node, priority, ...) \
	log_node((node)->ctx->log, priority, node_name(node), __VA_ARGS__)

/* Visits the runs aside of a node, which follow it among its siblings. */
static inline struct node *node_next_aside(const struct node *node, const struct node *last)
{
	const struct list *next = (last ? last : node)->sibling.next;
	struct node *aside;

	if (!node->parent || next == &node->parent->children)
		return NULL;
	aside = list_entry(next, struct node, sibling);
	return node_is_aside(aside) && strcmp(aside->config->path, node->config->path) == 0 ? aside
											    : NULL;
}
#define node_for_each_aside(aside, node) \
	for ((aside) = node_next_aside(node, NULL); (aside); (aside) = node_next_aside(node, aside))

/* Adds @node to the list of @task, for itself or for its service; node_end_task() removes it. */
void node_add_task(struct node *node, enum task task);
void node_end_task(struct node *node, enum task task);

static inline struct node *node_of_entry(struct agenda_entry *entry)
{
	return entry ? container_of(entry, struct node, due) : NULL;
}

/* Visits each node on the list of @task, where it stays until node_end_task(). */
#define node_for_each_due(node, ctx, task)  \
	for (agenda_rewind(&(ctx)->agenda); \
	     ((node) = node_of_entry(agenda_next(&(ctx)->agenda, task)));)

/* Visits each node on the list of @task and removes it. */
#define node_for_each_taken(node, ctx, task) \
	for (agenda_rewind(&(ctx)->agenda);  \
	     ((node) = node_of_entry(agenda_take_entry(&(ctx)->agenda, task)));)

bool node_is_stopped(const struct node *node);

/* Returns true if the root of its tree is stopped, and so the whole tree. */
bool node_is_tree_stopped(const struct node *node);
const struct node *node_root(const struct node *node);

/* Returns true if the service of @node starts by itself with @config, and is not disabled. */
static inline bool node_starts_by_itself(const struct node *node, const struct node_config *config)
{
	return config->autostart == AUTOSTART_YES && !node->disabled && !node_is_aside(node);
}

/*
 * Returns true if a request has stopped @node, a node above it, or a node that one of these
 * requires.  A failure or the end of the tree is no request.
 */
bool node_is_stopped_by_request(const struct node *node);

/* Returns true if the stop of @node itself has @cause: CAUSE_PRESSURE, for memory; CAUSE_SLEEP, of the host. */
static inline bool node_is_stopped_for(const struct node *node, enum goal_cause cause)
{
	return node->goal == GOAL_DOWN && node->cause == cause;
}

/* Returns the nearest node that has the key pressure-stop: @node, or one above; the root if none has. */
const struct node *node_with_pressure_stop(const struct node *node);

/* Returns the effective goal: the lowest of the goals of @node and its ancestors. */
enum goal node_goal(const struct node *node);

/* Returns true if a strategy restarts @node, which is not Complete yet. */
static inline bool node_is_cycled_by_strategy(const struct node *node)
{
	return node->goal == GOAL_CYCLE && node->cause == CAUSE_STRATEGY;
}

/* Puts @node on the agenda of completions: it may be Complete, or nothing of it may remain. */
void node_update_soon(struct node *node);

/* Returns "running", "shutting_down" or "complete", as last processed. */
const char *node_state_name(const struct node *node);

/* Reports to subscribers an event of @node, as in struct event. */
void node_add_event(const struct node *node, const char *kind, const char *from, const char *to,
		    const char *reason);

/* Reports to subscribers that @node is no longer in state @from. */
void node_changed(const struct node *node, const char *from, const char *reason);

/* Writes the goal of @node into the roster, with its stop.  A new node has its first goal without a row. */
void node_update_roster(struct node *node);

/*
 * Marks @node and its ancestors as forced, also in the roster: a process or guard is about to end, because a budget
 * has expired.
 */
void node_note_forced(struct node *node);

/* Puts @node on the agenda of guards: a lease or a guard of an attached program has changed. */
void node_guards_changed(struct node *node);

/* Adds @n to the number of draining generations: 1 for a stop of @node that is about to be latched. */
void node_count_draining(struct node *node, int n);
bool node_is_within(const struct node *node, const struct node *ancestor);

/* Returns true if all services in @node are up or have done their work. */
bool node_is_ready(const struct node *node);

/* Returns the number of the next generation of @node, which no run aside has. */
unsigned node_next_generation(const struct node *node);

/*
 * Begins the next generation of @node, which is stopped; its parent must run.  Return: 0, or
 * -ENOMEM and nothing has changed.
 */
int node_renew(struct node *node);

/*
 * Returns the node after @node in the subtree of @top, parents first; NULL at its end: for (n =
 * top; n; n = node_next(n, top)).
 */
struct node *node_next(const struct node *node, const struct node *top);
/* The same, without the nodes below @node. */
struct node *node_next_beside(const struct node *node, const struct node *top);
