#pragma once

/*
 * The changes that a new configuration would cause, node by node and key by key, and their
 * execution.
 *
 * New nodes are started.  Nodes without a section are stopped, and remain in the tree until their
 * last process has ended.  A running service is restarted if a key has changed that needs a new
 * process; this stop and start are like any other: guards, budgets and ordering edges are observed.
 * All other keys take effect at once or with the next start.  If a section comes back while the
 * former processes under its name still end, its next generation begins when these are Complete.
 *
 * A run that began before an earlier change of such a key is outdated, and any plan restarts it.  A
 * plan for a rollout restarts no running service: the runs that would have been are outdated then.
 */

#include "daemon/tree/tree.h"
#include "model/keys/diff.h"

enum plan_kind { PLAN_ADD, PLAN_CHANGE, PLAN_REMOVE, N_PLAN_KINDS };

struct plan_entry {
	enum plan_kind kind;
	struct node *node;		     /* NULL: to be made */
	const struct node_config *from, *to; /* NULL: none; @from is freed by the execution */
	struct key_set keys;		     /* PLAN_CHANGE */
	bool restart;			     /* it runs and needs a new process */
	bool outdated;			     /* likewise, but a rollout restarts it */
	bool start;			     /* it does not run and will start */
	bool forgets_run;		     /* its last run was by a schedule that it loses */
	const struct node_config *because;   /* the restarted requirement behind it; or NULL */

	/* Prepared objects; plan_apply() uses them when all of the plan are prepared. */
	bool made;
	struct setup *setup;
	struct policy *policy;
	struct service *service;
	struct final *final;
	struct alert *alert;
	struct agent *agent;
	struct timetable *timetable;
};

struct plan {
	struct tree *tree;
	struct config *config;
	bool rollout;		    /* no running service is restarted */
	struct plan_entry *entries; /* in the order of @config, then the removed nodes */
	size_t n_entries;
	struct plan_entry *dependents; /* restarts because of a restarted requirement */
	size_t n_dependents;
	bool *restarts;	       /* by the index of each node of @config: it restarts */
	struct key_set daemon; /* keys of the daemon as a whole */
	unsigned n_daemon;
	unsigned counts[N_PLAN_KINDS];
};

/*
 * Compares @config with @tree, for a rollout or not; keeps references to both.  Return: 0 or
 * -ENOMEM.
 */
int plan_new(struct plan **ret, struct tree *tree, struct config *config, bool rollout);
struct plan *plan_free(struct plan *plan);
DEFINE_CLEANUP(struct plan *, plan_free)

/*
 * Carries out the plan, once, directly after plan_new().  Return: 0, or -errno and nothing has
 * changed.
 */
int plan_apply(struct plan *plan);

/* Returns true if only instances of @template are added and removed. */
bool plan_is_scaling(const struct plan *plan, const char *template);

/* Returns an array of Change (proto/interface/types.h); NULL without memory. */
json_t *plan_json(const struct plan *plan);
