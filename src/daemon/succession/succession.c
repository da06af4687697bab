/*
 * The run that is stopped keeps its node, with all that refers to it: the libswansong node, guards,
 * leases, timers, budgets and the control group.  Only names are exchanged: the successor is made as
 * a node of its own, and when it is ready, it takes the name of the section, the edges to the node and
 * the agent.  So a hand-over that fails has touched nothing, one that succeeds is a moment of a turn,
 * and the predecessor is a node without a section, for which a stop is all that there is.
 *
 * Requests and edges of the configuration name a node by its path, and so mean the present run.
 */
#include "daemon/succession/succession.h"

#include "daemon/node/agent.h"
#include "daemon/service/health.h"
#include "daemon/service/setup.h"
#include "daemon/tree/build.h"
#include "daemon/tree/edges.h"
#include "model/keys/diff.h"

DEFINE_CLEANUP(struct agent *, agent_free)

/* Returns the successor of @node, or NULL.  *n gets the number of the other runs aside. */
static struct node *succession_find(const struct node *node, unsigned *n)
{
	struct node *aside, *successor = NULL;

	*n = 0;
	node_for_each_aside (aside, node) {
		if (aside->goal == GOAL_GONE)
			++*n;
		else
			successor = aside;
	}
	return successor;
}

static void succession_stop(struct tree *tree, struct node *aside, const char *reason)
{
	goals_lower_one(tree, aside, aside->cause, REQUEST_REMOVE, reason);
	node_add_task(aside, TASK_TRANSIENT); /* a request that waits reports how it has ended */
}

/* --- begin --- */

static void succession_number(struct node *node, unsigned generation)
{
	node->generation = generation;
	control_group_number(&node->service->group, generation);
}

static int succession_make(struct tree *tree, struct node *node, unsigned generation,
			   struct node **ret)
{
	char path[CONFIG_NAME_MAX + 1];
	int r;

	(void)snprintf(path, sizeof(path), "%s~%u", node->config->path, generation);
	r = tree_add(tree, node->config_ref, node->config, path, ret);
	if (r < 0)
		return r;
	list_remove(&(*ret)->sibling);
	list_append(node->sibling.next, &(*ret)->sibling); /* behind it */
	(*ret)->transient = true;
	succession_number(*ret, generation);
	r = edges_copy(*ret, node);
	if (r < 0) {
		tree_remove(tree, *ret);
		return r;
	}
	tree->ctx->configuration++;
	node_changed(*ret, "none", "");
	return 0;
}

/* Stored sockets that listen are for both runs; any other descriptor is in use by the one that stored it. */
static int succession_copy_sockets(const struct service *from, const struct service *to)
{
	const struct fdstore_entry *entry;
	int r = 0;

	/* After a fault the present run has the objects of the next one. */
	if (!from->setup.launch.activation || !to->setup.launch.activation)
		return 0;
	list_for_each (entry, &activation_fdstore(from->setup.launch.activation)->entries,
		       in_store) {
		int fd = fd_option(entry->fd, SO_ACCEPTCONN) > 0
				 ? fcntl(entry->fd, F_DUPFD_CLOEXEC, 3)
				 : -1;

		if (r == 0 && fd >= 0)
			r = activation_store(to->setup.launch.activation, fd, entry->name,
					     entry->hangup);
	}
	return r < 0 ? r : 0;
}

static int succession_begin(struct tree *tree, struct node *node)
{
	struct node *successor;
	int r = succession_make(tree, node, node_next_generation(node), &successor);

	if (r < 0)
		return r;
	r = succession_copy_sockets(node->service, successor->service);
	if (r == 0)
		goals_raise(successor, REQUEST_NEED, node->cause);
	else
		succession_stop(tree, successor, "no memory for its sockets");
	return r;
}

/* --- end --- */

const char *succession_failure(const struct node *node, char buf[static SUCCESSION_WHY_MAX])
{
	const struct node *aside;
	char outcome[OUTCOME_TEXT_MAX];
	int n = snprintf(buf, SUCCESSION_WHY_MAX, "no hand-over: generation %u goes on",
			 node->generation);

	node_for_each_aside (aside, node)
		if (aside->generation > node->generation)
			(void)snprintf(buf + n, SUCCESSION_WHY_MAX - (size_t)n,
				       ": generation %u: %s", aside->generation,
				       policy_outcome_text(outcome, &aside->service->run.outcome));
	return buf;
}

static void succession_fail(struct tree *tree, struct node *node, struct node *successor)
{
	char why[SUCCESSION_WHY_MAX];

	node_log(node, LOG_ERR, "%s", succession_failure(node, why));
	if (successor)
		succession_stop(tree, successor, "it was not ready");
	node_end_task(node, TASK_SUCCESSIONS);
	goals_complete(node);
}

static void succession_rename_rows_of(const struct node *node)
{
	struct roster *roster = node->ctx->roster;
	const struct lease *lease;

	roster_rename(roster, node->place, node->path);
	roster_rename(roster, node->service->place, node->path);
	roster_rename(roster, node->service->messages_place, node->path);
	list_for_each (lease, &node->leases, of_node)
		roster_rename(roster, lease->place, node->path);
	if (node->service->setup.extras->attach)
		attach_enter_rows(node->service->setup.extras->attach);
}

/* @node is aside, and @successor has its path. */
static void succession_rename_rows(const struct node *node, const struct node *successor)
{
	struct roster *roster = node->ctx->roster;
	struct roster_row exchange = roster_row(ROSTER_EXCHANGE, (int)successor->generation,
						successor->path, node->path);
	unsigned place = 0;

	roster_write(roster, &place, &exchange);
	succession_rename_rows_of(node);
	exchange.detail[0] = true;
	roster_write(roster, &place, &exchange);
	succession_rename_rows_of(successor);
	roster_write(roster, &place, NULL);
}

/* @path is the one of the predecessor @node. */
static void succession_exchange(struct tree *tree, struct node *node, struct node *successor,
				char *path)
{
	dict_remove(&tree->by_path, node->path);
	dict_remove(&tree->by_path, successor->path);
	free((char *)successor->path);
	successor->path = successor->config->path;
	node_use_config(successor, node->config_ref, node->config);
	node->path = path;
	/* The memory is enough for as many as before. */
	(void)dict_add(&tree->by_path, successor);
	(void)dict_add(&tree->by_path, node);
	list_remove(&successor->sibling);
	list_append(&node->sibling, &successor->sibling); /* in its place */
	node->transient = true;
	successor->transient = false;
	successor->service->outage = node->service->outage;
	service_reconfigure(successor->service, successor->config, NULL, NULL);
	service_recount(node->service);
	succession_rename_rows(node, successor);
}

static void succession_complete(struct tree *tree, struct node *node, struct node *successor)
{
	cleanup(agent_freep) struct agent *agent = NULL;
	cleanup(freep) char *path = NULL;
	char reason[64];
	int r = node->agent ? agent_new(&agent, successor, node->config) : 0;

	if (r >= 0)
		path = text_format("%s~%u", node->path, node->generation);
	if (!path || edges_exchange(node, successor) < 0) {
		succession_fail(tree, node, successor);
		return;
	}
	(void)snprintf(reason, sizeof(reason), "generation %u is ready", successor->generation);
	node_end_task(node, TASK_SUCCESSIONS);
	node->agent = agent_free(node->agent);
	successor->agent = take(agent);
	succession_exchange(tree, node, successor, take(path));
	tree->ctx->configuration++;
	node_changed(successor, "running", reason);
	succession_stop(tree, node, reason);
}

/* --- steps --- */

void succession_process(struct tree *tree, struct node *node)
{
	const struct health *health = node->service->setup.extras->health;
	unsigned n;
	struct node *successor = succession_find(node, &n);
	struct key_set set;

	if (node->goal == GOAL_UP && health && health->state == HEALTH_UNHEALTHY)
		goals_lower_one(tree, node, node->cause, REQUEST_RESTART, "unhealthy");
	else if (node->goal == GOAL_HANDOVER && !node->config->handover)
		goals_lower_one(tree, node, node->cause, REQUEST_CYCLE, "handover was removed");
	if (node->goal != GOAL_HANDOVER || node_is_stopped(node)) {
		node_end_task(node, TASK_SUCCESSIONS);
		if (successor)
			succession_stop(tree, successor, "no hand-over is wanted any more");
		if (node->goal == GOAL_HANDOVER)
			goals_complete(node);
	} else if (!successor) {
		if (n < node_config_extras(node->config)->handover_max &&
		    succession_begin(tree, node) < 0)
			succession_fail(tree, node, NULL);
	} else if (node_config_diff(successor->config, node->config, &set) > 0) {
		succession_stop(tree, successor, "section changed");
	} else if (successor->service->state == STATE_UP) {
		succession_complete(tree, node, successor);
	} else if (node_is_stopped(successor) || successor->service->blocked ||
		   successor->service->state >= STATE_BACKOFF) {
		succession_fail(tree, node, successor);
	}
}

/* --- after a fault --- */

/* Processes choose their claims: a large number would leave none for later generations. */
#define GENERATION_MAX ((uint64_t)INT32_MAX)

/* Reads "web/app~3": *node gets that of web/app.  Returns the number; 0: it is no run aside. */
static unsigned succession_read(const struct tree *tree, const char *claim, struct node **node)
{
	const char *number;
	uint64_t generation;

	*node = tree_find_section(tree, claim, &number);
	if (!*node || !(*node)->parent || *number == '0' ||
	    parse_uint(number, GENERATION_MAX, &generation) < 0)
		return 0;
	return (unsigned)generation;
}

void successions_take_former(struct tree *tree)
{
	const struct roster_row *row;
	struct node *node;

	for (size_t at = 0; (row = roster_next(tree->ctx->roster, ROSTER_GOAL, &at));) {
		unsigned generation = succession_read(tree, row->path, &node);

		/* The run goes on until its former goal, restored later, stops it with the time that is left. */
		if (generation && !tree_find(tree, row->path) &&
		    succession_make(tree, node, generation, &node) == 0)
			goals_raise(node, REQUEST_NEED, CAUSE_CONFIGURATION);
	}
	tree_for_each_row (node, row, tree, ROSTER_PROCESS) {
		struct service_row was;

		memcpy(&was, row->detail, sizeof(was));
		if (node->service && was.run.numbered)
			succession_number(node, was.run.generation);
	}
}

const struct node *succession_section(const struct tree *tree, const char *claim)
{
	struct node *node = tree_find(tree, claim);

	return node || succession_read(tree, claim, &node) ? node : NULL;
}

struct node *succession_find_claimed(struct tree *tree, const char *claim)
{
	struct node *found = tree_find(tree, claim), *node;
	unsigned generation = found ? 0 : succession_read(tree, claim, &node), n = 0;
	struct node *aside;

	if (!generation || node->service->group.generation == generation)
		return generation ? node : found;
	/* A run aside that was restarted has the path of its first generation. */
	node_for_each_aside (aside, node) {
		if (aside->service->group.generation == generation)
			return aside;
		n++;
	}
	if (node->service->state == STATE_DOWN && !node->service->group.generation) {
		succession_number(node, generation);
		return node;
	}
	if (n > node_config_extras(node->config)->handover_max) /* with a successor */
		return NULL;
	return succession_make(tree, node, generation, &found) == 0 ? found : NULL;
}
