#include "daemon/node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"

DEFINE_CLEANUP(struct node *, node_free)

struct earlier {
	struct list in_node;
	struct swansong_completion *completion;
};

void node_follow_up(struct node *node)
{
	if (list_is_empty(&node->in_completed))
		list_append(&node->ctx->completed, &node->in_completed);
	trace_touch(node->trace);
	context_settle_soon(node->ctx);
}

/* On the thread that dropped the last guard: ours, in the middle of something.  So only note it. */
static void on_complete(void *arg)
{
	node_follow_up(arg);
}

struct generation {
	struct swansong *handle, *work;
	struct swansong_completion *completion, *drained;
};

static void generation_done(struct generation *g)
{
	swansong_completion_unref(g->drained);
	swansong_completion_unref(g->completion);
	swansong_unref(g->work);
	swansong_unref(g->handle);
	*g = (struct generation){ .handle = NULL };
}

/*
 * Where something is to be done between the last guard and Complete, the guards are one level
 * below.
 */
static int make_work(struct generation *g, const struct node_config *config)
{
	int r;

	if (node_config_hook(config, HOOK_FINAL)->n == 0) {
		g->work = swansong_ref(g->handle);
		return 0;
	}
	r = swansong_child(g->handle, &g->work);
	return r < 0 ? r : swansong_completion_new(g->work, &g->drained);
}

static int new_generation(const struct node *node, struct generation *ret)
{
	cleanup(generation_done) struct generation g = { .handle = NULL };
	int r;

	if (node->parent)
		r = swansong_child(node->parent->work, &g.handle);
	else
		r = swansong_new(&g.handle);
	if (r >= 0)
		r = swansong_completion_new(g.handle, &g.completion);
	if (r >= 0)
		r = make_work(&g, node->config);
	if (r < 0)
		return r;
	*ret = g;
	g = (struct generation){ .handle = NULL };
	return 0;
}

static void forget_generation(struct node *node)
{
	struct generation g = {
		.handle = node->handle,
		.work = node->work,
		.completion = node->completion,
		.drained = node->drained,
	};

	generation_done(&g);
	node->handle = node->work = NULL;
	node->completion = node->drained = NULL;
}

static void use_generation(struct node *node, const struct generation *g)
{
	node->handle = g->handle;
	node->work = g->work;
	node->completion = g->completion;
	node->drained = g->drained;
}

static int watch_completion(struct node *node)
{
	int r = swansong_completion_notify(node->completion, on_complete, node);

	if (r >= 0 && node->drained)
		r = swansong_completion_notify(node->drained, on_complete, node);
	return r;
}

int node_new(struct node **ret, struct context *ctx, struct config *config_ref_,
	     const struct node_config *config, struct node *parent)
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
	node->parent = parent;
	node->deadline_usec = node->kill_usec = node->call_usec = USEC_INFINITY;
	node->generation = 1;
	node->since_usec = clock_now_usec();
	list_init(&node->children);
	list_init(&node->sibling);
	list_init(&node->in_completed);
	list_init(&node->in_finished);
	list_init(&node->in_guarded);
	list_init(&node->ending);
	list_init(&node->in_ending);
	list_init(&node->leases);
	list_init(&node->earlier);

	r = trace_new(&node->trace, &ctx->traces, node, config->path);
	if (r >= 0)
		r = new_generation(node, &g);
	if (r < 0)
		return r;
	use_generation(node, &g);
	r = watch_completion(node);
	if (r < 0)
		return r;
	if (parent)
		list_append(&parent->children, &node->sibling);
	/* Below a stopped node it is born stopped. */
	if (node_is_stopped(node)) {
		node->stop_usec = node->since_usec;
		trace_begin(node->trace, node->generation, NULL, node->since_usec);
	}
	*ret = take(node);
	return 0;
}

void node_use_config(struct node *node, struct config *config_ref_,
		     const struct node_config *config)
{
	struct config *before = node->config_ref;

	node->config_ref = config_ref(config_ref_);
	node->config = config;
	config_unref(before);
}

static void forget_earlier(struct earlier *earlier)
{
	list_remove(&earlier->in_node);
	swansong_completion_unref(earlier->completion);
	free(earlier);
}

void node_edges_free(struct edges *edges)
{
	for (size_t i = 0; edges && i < N_LISTS; i++)
		free(edges->lists[i]);
	free(edges);
}

struct node *node_free(struct node *node)
{
	if (!node)
		return NULL;
	while (!list_is_empty(&node->earlier))
		forget_earlier(list_entry(node->earlier.next, struct earlier, in_node));
	/* First the completion: the root's last handle stops it, and nobody is to hear of that. */
	forget_generation(node);
	sd_event_source_disable_unref(node->budget);
	list_remove(&node->sibling);
	list_remove(&node->in_completed);
	list_remove(&node->in_finished);
	list_remove(&node->in_guarded);
	list_remove(&node->in_ending);
	node_edges_free(node->edges);
	config_unref(node->config_ref);
	trace_free(node->trace);
	free(node);
	return NULL;
}

const char *node_name(const struct node *node)
{
	return node->parent ? node->config->path : CONFIG_ROOT_NAME;
}

bool node_is_stopped(const struct node *node)
{
	return swansong_state(node->handle) != SWANSONG_RUNNING;
}

bool node_is_restarted(const struct node *node)
{
	while (node && !node->restart)
		node = node->parent;
	return node;
}

const char *node_state_name(const struct node *node)
{
	if (!node_is_stopped(node))
		return "running";
	return node->complete ? "complete" : "shutting_down";
}

void node_changed(const struct node *node, const char *from, const char *reason)
{
	events_add(node->ctx->events, &(struct event){
					      .kind = "node",
					      .node = node->config->path,
					      .generation = node->generation,
					      .from = from,
					      .to = node_state_name(node),
					      .reason = reason,
				      });
}

void node_note_forced(struct node *node)
{
	uint64_t now = clock_now_usec();

	node->late_usec = now;
	for (; node; node = node->parent) {
		node->forced_usec = now;
		node->forced |= node->stop_usec > 0;
	}
}

void node_finished(struct node *node)
{
	if (list_is_empty(&node->in_finished))
		list_append(&node->ctx->finished, &node->in_finished);
	context_settle_soon(node->ctx);
}

void node_guards_changed(struct node *node)
{
	if (list_is_empty(&node->in_guarded))
		list_append(&node->ctx->guarded, &node->in_guarded);
	trace_touch(node->trace);
	node->ctx->changes++;
	context_settle_soon(node->ctx);
}

bool node_is_draining(struct node *node)
{
	struct earlier *e, *next;

	list_for_each_safe (e, next, &node->earlier, in_node)
		if (swansong_completion_done(e->completion))
			forget_earlier(e);
	return !list_is_empty(&node->earlier) ||
	       swansong_state(node->handle) == SWANSONG_SHUTTING_DOWN;
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
	return node->ready == node->services;
}

/*
 * The present generation is about to be an earlier one.  Unlike its own, this completion is silent.
 */
static int remember_present(struct node *node)
{
	struct earlier *earlier;
	int r;

	if (swansong_completion_done(node->completion))
		return 0;
	earlier = malloc(sizeof(*earlier));
	if (!earlier)
		return -ENOMEM;
	r = swansong_completion_new(node->handle, &earlier->completion);
	if (r < 0) {
		free(earlier);
		return r;
	}
	list_append(&node->earlier, &earlier->in_node);
	return 0;
}

int node_renew(struct node *node)
{
	const char *before = node_state_name(node);
	struct generation g;
	int r;

	r = new_generation(node, &g);
	if (r < 0)
		return r;
	r = remember_present(node);
	if (r < 0) {
		generation_done(&g);
		return r;
	}
	forget_generation(node);
	list_remove(&node->in_completed);
	use_generation(node, &g);
	node->generation++;
	node->since_usec = clock_now_usec();
	node->stop_usec = 0;
	node->deadline_usec = node->kill_usec = node->call_usec = USEC_INFINITY;
	node->complete = false;
	node->forced = false;
	node->late_usec = 0;
	if (node->budget)
		(void)sd_event_source_set_enabled(node->budget, SD_EVENT_OFF);
	node_changed(node, before, "");
	return watch_completion(node);
}

void node_count(struct node *node, int services, int ready, int settled)
{
	for (; node; node = node->parent) {
		node->services += (unsigned)services;
		node->ready += (unsigned)ready;
		node->settled += (unsigned)settled;
	}
}

struct node *node_next(const struct node *node, const struct node *top)
{
	if (!list_is_empty(&node->children))
		return list_entry(node->children.next, struct node, sibling);
	for (; node != top; node = node->parent)
		if (node->sibling.next != &node->parent->children)
			return list_entry(node->sibling.next, struct node, sibling);
	return NULL;
}
