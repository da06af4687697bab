/*
 * A plan is carried out in three steps.  First all that can fail is made beside the objects in use,
 * and freed again after a failure.  Then the new objects replace those in use, which cannot fail.
 * Then nodes are started, stopped or restarted.
 */

#include "daemon/logger/own-log.h"
#include "daemon/node/agent.h"
#include "daemon/service/machine.h"
#include "daemon/tree/build.h"
#include "daemon/tree/edges.h"
#include "daemon/tree/timetable.h"
#include "daemon/reload/plan.h"
#include "daemon/describe/report.h"
#include "daemon/service/setup.h"

/* --- preparation: steps that can fail --- */

static int plan_prepare_entry(struct plan *plan, struct plan_entry *entry)
{
	struct node *node = entry->node;
	int r = 0;

	if (entry->kind == PLAN_REMOVE)
		return 0;
	if (node) {
		if (entry->to->argv && !node->service)
			r = service_new(&entry->service, node, entry->to);
		else if (entry->to->argv)
			r = setup_new(&entry->setup, node->service, entry->to);
		if (r >= 0 && entry->setup)
			r = policy_new(&entry->policy, entry->to);
		if (r >= 0)
			r = final_new(&entry->final, node, entry->to);
		if (r >= 0)
			r = alert_new(&entry->alert, node, entry->to);
		if (r >= 0)
			r = agent_new(&entry->agent, node, entry->to);
		if (r >= 0)
			r = timetable_new(&entry->timetable, node, entry->to);
	} else {
		r = tree_add(plan->tree, plan->config, entry->to, entry->to->path, &entry->node);
		entry->made = r == 0;
	}
	return r;
}

static int plan_prepare(struct plan *plan)
{
	size_t n = 0;
	int r = 0;

	while (r == 0 && n < plan->n_entries)
		r = plan_prepare_entry(plan, &plan->entries[n++]);
	if (r == 0)
		r = edges_prepare(plan->tree, plan->config);
	while (r < 0 && n-- > 0) {
		setup_free(take(plan->entries[n].setup));
		policy_free(take(plan->entries[n].policy));
		service_free(take(plan->entries[n].service));
		final_free(take(plan->entries[n].final));
		alert_free(take(plan->entries[n].alert));
		agent_free(take(plan->entries[n].agent));
		timetable_free(take(plan->entries[n].timetable));
		if (plan->entries[n].made)
			tree_remove(plan->tree, plan->entries[n].node);
	}
	return r;
}

/* --- commit: steps that cannot fail --- */

static void plan_commit_service(struct node *node, struct plan_entry *entry)
{
	if (entry && entry->service)
		node->service = take(entry->service);
	else if (node->service && node->config->argv)
		service_reconfigure(node->service, node->config, entry ? take(entry->setup) : NULL,
				    entry ? take(entry->policy) : NULL);
	if (!node->service)
		return;
	service_note_goal(node->service);
	/* A node that has become a group frees its service when the last process has ended. */
	if (!node->config->argv)
		node_update_soon(node);
}

static void plan_commit(struct plan *plan)
{
	struct plan_entry *entry = plan->entries;
	struct tree *tree = plan->tree;

	for (size_t i = 0; i < plan->config->n_nodes; i++) {
		const struct node_config *to = plan->config->nodes[i];
		bool has_entry = entry < plan->entries + plan->n_entries && entry->to == to;
		struct node *node = tree_find(tree, to->path);

		/*
		 * The undo of a rollout may be repeated: the same section, for a run that is outdated.  A
		 * new node has all that belongs to it.
		 */
		if (node->config != to || (has_entry && !entry->made)) {
			bool was_group = !node->config->argv;

			node_use_config(node, plan->config, to);
			goals_reconfigure(node, was_group);
			plan_commit_service(node, has_entry ? entry : NULL);
			final_use(node, has_entry ? take(entry->final) : NULL);
			if (has_entry) {
				alert_use(node, take(entry->alert));
				agent_free(node->agent);
				node->agent = take(entry->agent);
				timetable_use(node, take(entry->timetable));
			}
		}
		node->transient = false;
		roster_write(tree->ctx->roster, &node->transient_place, NULL);
		entry += has_entry;
	}
	edges_commit(tree);
	tree_use_config(tree, plan->config);
	report_use_all(tree);
	if (tree->ctx->own_log)
		(void)own_log_reload(tree->ctx->own_log, plan->config->nodes[0]);
}

/* --- effects --- */

static void plan_start_added(const struct plan_entry *entry, struct goals *goals)
{
	struct node *node = entry->node;
	bool back = node->goal == GOAL_GONE;

	node_log(node, LOG_NOTICE, "%s", back ? "added again" : "added");
	if (back)
		goals_add(goals, node);
	else
		node_changed(node, "none", "");
}

static void plan_log_change(const struct plan_entry *entry)
{
	static const char *const when[] = {
		[APPLY_LIVE] = "now",
		[APPLY_NEXT_START] = "at the next start",
		[APPLY_RESTART] = "at the next start",
	};

	for (enum key_id key = 0; key < N_KEYS; key++) {
		if (key_set_has(&entry->keys, key))
			node_log(entry->node, LOG_INFO, "%s has changed, effective %s",
				 keys[key].name,
				 entry->restart || entry->start ? "now" : when[keys[key].apply]);
	}
}

static void plan_apply_change(const struct plan_entry *entry, struct goals *goals)
{
	struct node *node = entry->node;

	plan_log_change(entry);
	if (entry->forgets_run)
		service_post(node->service, EVENT_RESET);
	if (entry->start)
		goals_raise(node, node->goal == GOAL_DOWN ? REQUEST_START : REQUEST_NEED,
			    goals->cause);
	if (entry->restart) {
		goals_forget_restarts(node);
		goals_lower(goals, node, REQUEST_RESTART, "section changed");
	} else if (node->service && service_is_outdated(node->service)) {
		alert_raise(node, ALERT_OUTDATED, NULL, "a rollout has changed its settings");
	}
}

static void plan_update_node(const struct plan_entry *entry, struct goals *goals)
{
	if (entry->kind == PLAN_ADD)
		plan_start_added(entry, goals);
	else if (entry->kind == PLAN_CHANGE)
		plan_apply_change(entry, goals);
	else
		goals_lower(goals, entry->node, REQUEST_REMOVE, "section removed");
}

/* Additions come first, so that a stop does not find dependents that were absent until now. */
static void plan_update_goals(struct plan *plan)
{
	struct events *events = plan->tree->ctx->events;
	char cause[EVENT_CAUSE_MAX];
	struct goals goals;

	events_cause(events, cause);
	goals_begin(&goals, plan->tree, CAUSE_RELOAD);
	for (enum plan_kind kind = 0; kind < N_PLAN_KINDS; kind++)
		for (size_t i = 0; i < plan->n_entries; i++)
			if (plan->entries[i].kind == kind)
				plan_update_node(&plan->entries[i], &goals);
	for (size_t i = 0; i < plan->n_dependents; i++) {
		char reason[CONFIG_NAME_MAX + 20];

		(void)snprintf(reason, sizeof(reason), "requires %s",
			       plan->dependents[i].because->path);
		goals_lower(&goals, plan->dependents[i].node, REQUEST_CYCLE, reason);
	}
	goals_commit(&goals);
	goals_need_all(plan->tree);
	/* A stop sets a cause of its own; the starts have that of the reload. */
	events_because(events, cause);
	context_update_soon(plan->tree->ctx);
}

int plan_apply(struct plan *plan)
{
	int r = plan_prepare(plan);

	if (r < 0)
		return r;
	plan_commit(plan);
	plan_update_goals(plan);
	return 0;
}
