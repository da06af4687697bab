#pragma once

/*
 * What a new configuration would change, node by node and key by key; and the carrying out of it.
 *
 * Nodes that are new are started; those that are gone are stopped, and counted above until their
 * last process has ended.  A service that is to run is restarted if a key has changed that needs a
 * new process, by the stop and the start that everybody gets: guards, budgets and ordering edges
 * hold.  All else takes effect where it is, at once or with the next start.  A section that comes
 * back while what ran under its name still drains gets its next generation when that is Complete.
 */

#include <jansson.h>
#include <stdio.h>

#include "daemon/tree/tree.h"
#include "model/keys/diff.h"

enum plan_kind { PLAN_ADD, PLAN_CHANGE, PLAN_REMOVE, N_PLAN_KINDS };

struct plan_entry {
	enum plan_kind kind;
	struct node *node; /* NULL: to be made */
	const struct node_config *from,
		*to;	     /* NULL: not there; @from goes when it is carried out */
	struct key_set keys; /* PLAN_CHANGE */
	bool restart;	     /* it runs, and needs a new process */
	bool start;	     /* it does not run, and starts by this */
	const struct node_config
		*because; /* it restarts with this one, which it requires; or NULL */

	/* Made ready by plan_apply(), until it is certain that all of it can be. */
	bool made;
	struct setup *setup;
	struct policy *policy;
	struct service *service;
	struct final *final;
};

struct plan {
	struct tree *tree;
	struct config *config;
	struct plan_entry *entries; /* in the order of @config, then those that are gone */
	size_t n_entries;
	struct plan_entry *dependents; /* what restarts because it requires something that does */
	size_t n_dependents;
	struct key_set daemon; /* keys of the whole daemon */
	unsigned n_daemon;
	unsigned counts[N_PLAN_KINDS];
	const struct node_config *refused; /* for which plan_apply() has failed, or NULL */
};

/* Compares @config with @tree, and keeps references.  Return: 0 or -ENOMEM. */
int plan_new(struct plan **ret, struct tree *tree, struct config *config);
struct plan *plan_free(struct plan *plan);
DEFINE_CLEANUP(struct plan *, plan_free)

/* Carries it out, once, directly after plan_new().  Return: 0, or -errno without effect. */
int plan_apply(struct plan *plan);

/* "2 added, 1 removed, 3 changed": for the log.  Returns @buf. */
#define PLAN_TEXT_MAX 80
char *plan_text(char buf[static PLAN_TEXT_MAX], const struct plan *plan);

/* An array of Change, as io.swansong has it; NULL without memory. */
json_t *plan_json(const struct plan *plan);
