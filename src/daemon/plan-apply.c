#include <errno.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "daemon/deadline.h"
#include "daemon/edges.h"
#include "daemon/final.h"
#include "daemon/order.h"
#include "daemon/plan.h"
#include "daemon/report.h"
#include "daemon/setup.h"
#include "daemon/shutdown.h"
#include "daemon/starting.h"

/*
 * Three steps: all that can fail is made ready beside what is in use; then the one takes the place
 * of the other, which cannot fail; then what has come, gone or changed is started, stopped or
 * restarted.
 */

/* --- what can fail --- */

static int prepare_service(struct plan_entry *entry)
{
	struct node *node = entry->node;
	int r;

	if (!entry->to->argv)
		return 0;
	if (!node->service)
		return service_new(&entry->service, node, entry->to);
	r = setup_new(&entry->setup, node->service, entry->to);
	return r < 0 ? r : policy_new(&entry->policy, entry->to);
}

static int prepare_entry(struct plan *plan, struct plan_entry *entry)
{
	int r;

	if (entry->kind == PLAN_REMOVE)
		return 0;
	if (entry->node) {
		r = prepare_service(entry);
		if (r >= 0)
			r = final_new(&entry->final, entry->node, entry->to);
	} else {
		r = tree_add(plan->tree, plan->config, entry->to, &entry->node);
		entry->made = r == 0;
	}
	return r < 0 ? r : deadline_watch(entry->node, entry->to);
}

static void cancel_entry(struct plan *plan, struct plan_entry *entry)
{
	setup_free(take(entry->setup));
	policy_free(take(entry->policy));
	service_free(take(entry->service));
	final_free(take(entry->final));
	if (entry->made)
		tree_remove(plan->tree, entry->node);
}

static int prepare(struct plan *plan)
{
	size_t n = 0;
	int r = 0;

	while (r == 0 && n < plan->n_entries)
		r = prepare_entry(plan, &plan->entries[n++]);
	if (r < 0)
		plan->refused = plan->entries[n - 1].to;
	if (r == 0)
		r = edges_prepare(plan->tree, plan->config);
	while (r < 0 && n-- > 0)
		cancel_entry(plan, &plan->entries[n]);
	return r;
}

/* --- what cannot --- */

static void commit_service(struct node *node, struct plan_entry *entry)
{
	if (entry && entry->service)
		node->service = take(entry->service);
	else if (node->service && node->config->argv)
		service_reconfigure(node->service, node->config, entry ? take(entry->setup) : NULL,
				    entry ? take(entry->policy) : NULL);
}

static void commit(struct plan *plan)
{
	struct plan_entry *entry = plan->entries;
	struct tree *tree = plan->tree;

	for (size_t i = 0; i < plan->config->n_nodes; i++) {
		const struct node_config *to = plan->config->nodes[i];
		bool has_entry = entry < plan->entries + plan->n_entries && entry->to == to;
		struct node *node = tree_find(tree, to->path);

		if (node->config != to) {
			node_use_config(node, plan->config, to);
			commit_service(node, has_entry ? entry : NULL);
			final_use(node, has_entry ? take(entry->final) : NULL);
		}
		node->transient = false;
		entry += has_entry;
	}
	edges_commit(tree);
	config_unref(tree->config);
	tree->config = config_ref(plan->config);
	report_use_all(tree);
	/* What comes back has its old mark until then: see follow_add(). */
	for (; entry < plan->entries + plan->n_entries; entry++)
		entry->node->retired = true;
}

/* --- what follows --- */

static void follow_add(const struct plan_entry *entry, struct shutdown_batch *batch)
{
	struct node *node = entry->node;
	bool back = node->retired;

	(void)batch;
	log_line(node->ctx->log, LOG_NOTICE, "%s: %s", node_name(node), back ? "is back" : "added");
	if (!back)
		node_changed(node, "none", "");
	node->retired = false;
	shutdown_revive(node);
	if (node->service && node->config->autostart && !node_is_stopped(node))
		order_want(node->service);
}

static void follow_removal(const struct plan_entry *entry, struct shutdown_batch *batch)
{
	/* Below one that goes itself it is stopped with that. */
	if (!entry->node->parent->retired)
		shutdown_batch_stop(batch, entry->node, "its section is gone");
	if (entry->node->complete)
		node_follow_up(entry->node);
}

static void log_change(const struct plan_entry *entry)
{
	static const char *const when[] = {
		[APPLY_LIVE] = "now",
		[APPLY_NEXT_START] = "at the next start",
		[APPLY_RESTART] = "at the next start",
	};
	struct log *log = entry->node->ctx->log;

	for (enum key_id key = 0; key < N_KEYS; key++) {
		if (key_set_has(&entry->keys, key))
			log_line(log, LOG_INFO, "%s: %s has changed, and counts %s",
				 node_name(entry->node), keys[key].name,
				 entry->restart || entry->start ? "now" : when[keys[key].apply]);
	}
}

static void follow_start(const struct plan_entry *entry, struct shutdown_batch *batch)
{
	(void)batch;
	log_change(entry);
	if (entry->start && !entry->restart && !node_is_stopped(entry->node))
		order_want(entry->node->service);
}

static void follow_restart(const struct plan_entry *entry, struct shutdown_batch *batch)
{
	if (!entry->restart)
		return;
	starting_forget(entry->node);
	if (!node_is_stopped(entry->node))
		shutdown_batch_restart(batch, entry->node, "its section has changed");
}

static void follow(struct plan *plan)
{
	static const struct {
		enum plan_kind kind;
		void (*step)(const struct plan_entry *entry, struct shutdown_batch *batch);
	} steps[] = {
		/* First what is, so that a stop finds no dependents of what has been away only. */
		{ PLAN_ADD, follow_add },
		{ PLAN_REMOVE, follow_removal },
		/* What a restart takes along comes back if it was wanted by then. */
		{ PLAN_CHANGE, follow_start },
		{ PLAN_CHANGE, follow_restart },
	};
	struct events *events = plan->tree->ctx->events;
	char cause[EVENT_CAUSE_MAX];

	events_cause(events, cause);
	for (size_t k = 0; k < ARRAY_SIZE(steps); k++) {
		struct shutdown_batch batch = shutdown_batch_begin(plan->tree);

		for (size_t i = 0; i < plan->n_entries; i++) {
			if (plan->entries[i].kind == steps[k].kind)
				steps[k].step(&plan->entries[i], &batch);
		}
		shutdown_batch_end(&batch);
		starting_want_requirements(plan->tree);
	}
	/* What a stop has told as its own is none of those that start. */
	events_because(events, cause);
	/* A service that is none any more goes with its last process. */
	for (size_t i = 0; i < plan->n_entries; i++) {
		if (plan->entries[i].node->service && !plan->entries[i].node->config->argv)
			node_follow_up(plan->entries[i].node);
	}
	context_settle_soon(plan->tree->ctx);
}

int plan_apply(struct plan *plan)
{
	int r = prepare(plan);

	if (r < 0)
		return r;
	commit(plan);
	follow(plan);
	return 0;
}
