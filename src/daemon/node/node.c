/*
 * A generation is a libswansong node and its completion; a stopped one is never started again.
 * With a final action there are two libswansong nodes, one below the other: guards and children are
 * on the lower one, so that the final action runs between the last guard and Complete.  Callbacks
 * of the library only put the node on the agenda.
 */
#include "daemon/node/node.h"

DEFINE_CLEANUP(struct node *, node_free)

/* An earlier generation that is not Complete. */
struct earlier {
	struct list in_node;
	struct node *node;
	struct swansong_completion *completion;
};

void node_count_draining(struct node *node, int n)
{
	for (; node; node = node->parent)
		node->draining += n;
}

void node_add_task(struct node *node, enum task task)
{
	agenda_add(&node->ctx->agenda, task, &node->due);
}

void node_end_task(struct node *node, enum task task)
{
	agenda_remove(&node->ctx->agenda, TASK_BIT(task), &node->due);
}

void node_update_soon(struct node *node)
{
	node_add_task(node, TASK_COMPLETIONS);
	trace_touch(node->trace);
}

/* This runs inside the call that drops the last guard, so it only puts the node on the agenda. */
static void node_on_drained(void *arg)
{
	node_update_soon(arg);
}

static void node_on_complete(void *arg)
{
	node_count_draining(arg, -1);
	node_update_soon(arg);
}

static void node_forget_earlier(struct earlier *earlier)
{
	list_remove(&earlier->in_node);
	swansong_completion_unref(earlier->completion);
	free(earlier);
}

static void node_on_earlier_complete(void *arg)
{
	struct earlier *earlier = arg;

	node_count_draining(earlier->node, -1);
	context_update_soon(earlier->node->ctx);
	node_forget_earlier(earlier);
}

struct generation {
	struct swansong *handle, *work;
	struct swansong_completion *completion, *drained;
};

static void node_generation_done(struct generation *g)
{
	swansong_completion_unref(g->drained);
	swansong_completion_unref(g->completion);
	swansong_unref(g->work);
	swansong_unref(g->handle);
	*g = (struct generation){ .handle = NULL };
}

static int node_new_generation(const struct node *node, struct generation *ret)
{
	cleanup(node_generation_done) struct generation g = { .handle = NULL };
	int r;

	if (node->parent)
		r = swansong_child(node->parent->work, &g.handle);
	else
		r = swansong_new(&g.handle);
	if (r >= 0)
		r = swansong_completion_new(g.handle, &g.completion);
	if (r < 0)
		return r;
	/* A final action runs between the last guard and Complete: guards are one level below. */
	if (node_config_hook(node->config, HOOK_FINAL)->n == 0) {
		g.work = swansong_ref(g.handle);
	} else {
		r = swansong_child(g.handle, &g.work);
		if (r >= 0)
			r = swansong_completion_new(g.work, &g.drained);
		if (r < 0)
			return r;
	}
	*ret = g;
	g = (struct generation){ .handle = NULL };
	return 0;
}

/* Makes @g the present generation; @g becomes the one before. */
static void node_exchange_generation(struct node *node, struct generation *g)
{
	const struct generation before = {
		.handle = node->handle,
		.work = node->work,
		.completion = node->completion,
		.drained = node->drained,
	};

	node->handle = g->handle;
	node->work = g->work;
	node->completion = g->completion;
	node->drained = g->drained;
	*g = before;
}

static int node_watch_completion(struct node *node)
{
	int r = swansong_completion_notify(node->completion, node_on_complete, node);

	if (r >= 0 && node->drained)
		r = swansong_completion_notify(node->drained, node_on_drained, node);
	return r;
}

static void node_on_budget(struct alarm *alarm)
{
	struct node *node = container_of(alarm, struct node, budget);

	node_add_task(node, TASK_DEADLINES);
}

/*
 * A node is in front of the runs aside of its section, also of one that was removed and comes back: their
 * generations are taken.
 */
static struct list *node_place_of_new(const struct node *node)
{
	struct node *n;

	if (node_is_aside(node) || node->ctx->runs_aside == 0)
		return &node->parent->children;
	list_for_each (n, &node->parent->children, sibling)
		if (node_is_aside(n) && strcmp(n->config->path, node->path) == 0)
			break;
	return &n->sibling; /* or the head of the list */
}

int node_new(struct node **ret, struct context *ctx, struct config *config_ref_,
	     const struct node_config *config, const char *path, struct node *parent)
{
	cleanup(node_freep) struct node *node = NULL;
	struct generation g;
	int r;

	node = calloc(1, sizeof(*node));
	if (!node)
		return -ENOMEM;
	node->ctx = ctx;
	node->config_ref = config_ref(config_ref_);
	node->config = config;
	node->path = strcmp(path, config->path) == 0 ? config->path : strdup(path);
	ctx->runs_aside += node_is_aside(node);
	node->disabled = disabled_has(&ctx->disabled, config->path);
	node->parent = parent;
	node->deadline_usec = node->kill_usec = node->call_usec = USEC_INFINITY;
	node->latest.usec = USEC_INFINITY;
	node->since_usec = clock_now_usec();
	list_init(&node->children);
	list_init(&node->sibling);
	list_init(&node->in_batch);
	alarm_init(&node->budget, node_on_budget);
	list_init(&node->leases);
	list_init(&node->earlier);

	r = node->path ? trace_new(&node->trace, &ctx->traces, node, config->path) : -ENOMEM;
	if (r >= 0)
		r = node_new_generation(node, &g);
	if (r < 0)
		return r;
	node_exchange_generation(node, &g);
	if (parent)
		list_append(node_place_of_new(node), &node->sibling);
	node->generation = node_next_generation(node);
	/* A node below a stopped one is stopped from the beginning. */
	if (node_is_stopped(node)) {
		node_count_draining(node, 1);
		node->stop_usec = node->since_usec;
		trace_begin(node->trace, node->generation, NULL, node->since_usec);
	}
	r = node_watch_completion(node);
	if (r < 0)
		return r;
	*ret = take(node);
	return 0;
}

void node_use_config(struct node *node, struct config *config_ref_,
		     const struct node_config *config)
{
	struct config *before = node->config_ref;

	if (!node_is_aside(node))
		node->path = config->path;
	node->config_ref = config_ref(config_ref_);
	node->config = config;
	config_unref(before);
}

bool node_has_edge(const struct node *node, size_t list, const struct node *target)
{
	for (struct node *const *to = node_edges(node, list); to && *to; to++)
		if (*to == target)
			return true;
	return false;
}

void node_edges_free(struct edges *edges)
{
	for (size_t i = 0; edges && i < N_LISTS; i++)
		free(edges->lists[i]);
	free(edges);
}

struct node *node_free(struct node *node)
{
	struct generation g = { .handle = NULL };

	if (!node)
		return NULL;
	/* There are no children any more: the count is its own. */
	node_count_draining(node, -node->draining);
	while (!list_is_empty(&node->earlier))
		node_forget_earlier(list_entry(node->earlier.next, struct earlier, in_node));
	/*
	 * The completion goes first: the release of the root's last handle stops the root, which
	 * must not be reported.
	 */
	node_exchange_generation(node, &g);
	node_generation_done(&g);
	roster_write(node->ctx->roster, &node->place, NULL);
	roster_write(node->ctx->roster, &node->transient_place, NULL);
	alarm_stop(&node->ctx->alarms, &node->budget);
	list_remove(&node->sibling);
	agenda_remove(&node->ctx->agenda, ALL_TASKS, &node->due);
	list_remove(&node->in_batch);
	node_edges_free(node->edges.present);
	if (node_is_aside(node)) {
		node->ctx->runs_aside--;
		free((char *)node->path);
	}
	config_unref(node->config_ref);
	trace_free(node->trace);
	return free_memory(node);
}

const char *node_name(const struct node *node)
{
	return node->parent ? node->path : CONFIG_ROOT_NAME;
}

bool node_is_stopped(const struct node *node)
{
	return swansong_state(node->handle) != SWANSONG_RUNNING;
}

const struct node *node_root(const struct node *node)
{
	while (node->parent)
		node = node->parent;
	return node;
}

bool node_is_tree_stopped(const struct node *node)
{
	return node_is_stopped(node_root(node));
}

bool node_is_stopped_by_request(const struct node *node)
{
	for (; node; node = node->parent)
		if (node->goal == GOAL_DOWN &&
		    (node->cause == CAUSE_OPERATOR || node->cause == CAUSE_DEPENDENCY ||
		     node_is_stopped_for(node, CAUSE_PRESSURE) || node_is_stopped_for(node, CAUSE_SLEEP)))
			return true;
	return false;
}

const struct node *node_with_pressure_stop(const struct node *node)
{
	while (node->parent && !node_config_extras(node->config)->pressure_stop.window_usec)
		node = node->parent;
	return node;
}

enum goal node_goal(const struct node *node)
{
	enum goal goal = node->goal;

	while ((node = node->parent))
		goal = node->goal < goal ? node->goal : goal;
	return goal;
}

const char *node_state_name(const struct node *node)
{
	if (!node_is_stopped(node))
		return "running";
	return node->complete ? "complete" : "shutting_down";
}

void node_add_event(const struct node *node, const char *kind, const char *from, const char *to,
		    const char *reason)
{
	events_add(node->ctx->events, &(struct event){
					      .kind = kind,
					      .node = node->path,
					      .generation = node->generation,
					      .from = from,
					      .to = to,
					      .reason = reason,
				      });
}

void node_changed(const struct node *node, const char *from, const char *reason)
{
	node_add_event(node, "node", from, node_state_name(node), reason);
}

void node_update_roster(struct node *node)
{
	enum goal initial =
		goal_initial(node->config->argv, node_starts_by_itself(node, node->config));
	struct roster_row row = roster_row(ROSTER_GOAL, (int)node->goal, node_name(node), "");

	row.detail[0] = node->cause;
	row.detail[1] = node->stop_usec;
	row.detail[2] = node->deadline_usec;
	row.detail[3] = node->parent ? 0 : node->ctx->held_usec;
	row.detail[4] = node->parent ? 0 : node->ctx->bound_usec;
	row.detail[5] = node->forced;
	roster_write(node->ctx->roster, &node->place, node->goal == initial ? NULL : &row);
}

void node_note_forced(struct node *node)
{
	uint64_t now = clock_now_usec();

	node->force.own_usec = now;
	for (; node; node = node->parent) {
		node->force.any_usec = now;
		if (node->forced || !node->stop_usec)
			continue;
		node->forced = true;
		node_update_roster(node);
	}
}

void node_guards_changed(struct node *node)
{
	node_add_task(node, TASK_GUARDS);
	trace_touch(node->trace);
	node->ctx->changes++;
}

bool node_is_within(const struct node *node, const struct node *ancestor)
{
	for (; node; node = node->parent)
		if (node == ancestor)
			return true;
	return false;
}

bool node_is_ready(const struct node *node)
{
	return node->counts.ready == node->counts.services;
}

/* Keeps the present generation as an earlier one, unless it is Complete. */
static int node_remember_present(struct node *node)
{
	struct earlier *earlier;
	int r;

	if (swansong_completion_done(node->completion))
		return 0;
	earlier = malloc(sizeof(*earlier));
	if (!earlier)
		return -ENOMEM;
	earlier->node = node;
	r = swansong_completion_new(node->handle, &earlier->completion);
	if (r < 0) {
		free(earlier);
		return r;
	}
	list_append(&node->earlier, &earlier->in_node);
	return swansong_completion_notify(earlier->completion, node_on_earlier_complete, earlier);
}

unsigned node_next_generation(const struct node *node)
{
	unsigned generation = node->generation;
	const struct node *aside;

	node_for_each_aside (aside, node)
		generation = MAX(generation, aside->generation);
	return generation + 1;
}

int node_renew(struct node *node)
{
	const char *before = node_state_name(node);
	struct generation g;
	int r;

	r = node_new_generation(node, &g);
	if (r < 0)
		return r;
	r = node_remember_present(node);
	if (r < 0) {
		node_generation_done(&g);
		return r;
	}
	node_exchange_generation(node, &g);
	node_generation_done(&g);
	node_end_task(node, TASK_COMPLETIONS);
	node->generation = node_next_generation(node);
	node->since_usec = clock_now_usec();
	node->stop_usec = 0;
	node->deadline_usec = node->kill_usec = node->call_usec = USEC_INFINITY;
	node->complete = false;
	node->forced = false;
	node->force.own_usec = 0;
	alarm_stop(&node->ctx->alarms, &node->budget);
	node_changed(node, before, "");
	return node_watch_completion(node);
}

struct node *node_next_beside(const struct node *node, const struct node *top)
{
	for (; node != top; node = node->parent)
		if (node->sibling.next != &node->parent->children)
			return list_entry(node->sibling.next, struct node, sibling);
	return NULL;
}

struct node *node_next(const struct node *node, const struct node *top)
{
	return list_is_empty(&node->children)
		       ? node_next_beside(node, top)
		       : list_entry(node->children.next, struct node, sibling);
}
