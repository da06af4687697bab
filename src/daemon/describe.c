#include "daemon/describe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "daemon/final.h"
#include "daemon/health.h"
#include "daemon/lease.h"
#include "daemon/order.h"
#include "daemon/service-notify.h"
#include "daemon/service-hook.h"
#include "proto/message.h"
#include "proto/view.h"

uint64_t describe_left(uint64_t usec, uint64_t now)
{
	if (usec == USEC_INFINITY)
		return FIELD_NONE;
	return usec > now ? usec - now : 0;
}

/* NULL without memory, or if nothing keeps it. */
static json_t *describe_waiting(const struct service *s)
{
	struct node *blocker = NULL;

	if (s->state == STATE_GATED)
		blocker = order_stop_blocker(s);
	else if (!fsm_has_process(s->state) && s->wanted)
		blocker = order_start_blocker(s);
	return blocker ? json_pack("[o]", message_string(node_name(blocker))) : NULL;
}

/* What it says of itself. */
static void describe_words(struct service_view *view, const struct service_words *words,
			   uint64_t now)
{
	if (*words->status)
		view->status = words->status;
	if (words->error)
		view->error = (uint64_t)words->error;
	if (words->reloading_usec)
		view->reloading_usec = now - words->reloading_usec;
	view->ending = words->stopping;
}

static void describe_health(struct service_view *view, const struct health *health, uint64_t now)
{
	if (!health->on)
		return;
	view->health = health_state_name(health->state);
	view->health_since_usec = now - health->since_usec;
	if (*health->why)
		view->health_result = health->why;
}

/* A view, and what it borrows beside the node. */
struct described {
	struct node_view view;
	char result[OUTCOME_TEXT_MAX];
	json_t *waiting;
};

static void described_done(struct described *d)
{
	json_decref(d->waiting);
	d->waiting = NULL;
}

static struct service_view view_service(struct service *s, struct described *d, uint64_t now)
{
	const struct output *log = &node_config_outputs(s->config)->log;
	struct service_view view = {
		.state = fsm_state_name(s->state),
		.since_usec = now - s->since_usec,
		.pid = s->main.alive ? (uint64_t)s->main.pid : FIELD_NONE,
		.command = s->config->command,
		.ready = service_is_ready(s),
		.restarts = s->restarts,
		.result = s->outcome.kind == OUTCOME_NONE || s->main.alive
				  ? NULL
				  : policy_outcome_text(d->result, &s->outcome),
		.waiting = d->waiting = describe_waiting(s),
		.next_usec = describe_left(s->timeout_usec, now),
		.error = FIELD_NONE,
		.reloading_usec = FIELD_NONE,
		.watchdog_usec = s->watchdog ? watchdog_left(s->watchdog, now) : USEC_INFINITY,
		.stored = FIELD_NONE,
		.health_since_usec = FIELD_NONE,
		.log = log->kind == OUTPUT_FILE ? log->path : NULL,
	};

	if (s->launch.activation && activation_fdstore(s->launch.activation)->n)
		view.stored = activation_fdstore(s->launch.activation)->n;
	if (s->health)
		describe_health(&view, s->health, now);
	if (s->words)
		describe_words(&view, s->words, now);
	return view;
}

static const struct node_view *view_node(struct node *node, struct described *d, uint64_t now)
{
	d->view = (struct node_view){
		.path = node->config->path,
		.generation = node->generation,
		.state = !node_is_stopped(node) ? NODE_RUNNING
			 : node->complete	? NODE_COMPLETE
						: NODE_SHUTTING_DOWN,
		.since_usec = now - node->since_usec,
		.guards = swansong_guard_count(node->handle) + node->program_guards,
		.ready = node_is_ready(node),
		.forced = node->forced,
		.deadline_usec = node->stop_usec && !node->complete
					 ? describe_left(node->kill_usec, now)
					 : FIELD_NONE,
		.is_service = node->service,
	};
	if (node->service)
		d->view.service = view_service(node->service, d, now);
	return &d->view;
}

json_t *describe_node(struct node *node)
{
	cleanup(described_done) struct described d = { .waiting = NULL };

	attach_count(node);
	return node_view_build(view_node(node, &d, clock_now_usec()));
}

void describe_begin(struct describe_walk *walk, struct node *top)
{
	attach_count(top);
	*walk = (struct describe_walk){ .top = top, .at = top, .now_usec = clock_now_usec() };
}

int describe_next(struct writer *to, void *arg)
{
	cleanup(described_done) struct described d = { .waiting = NULL };
	struct describe_walk *walk = arg;

	if (!walk->at)
		return 0;
	node_view_append(to, view_node(walk->at, &d, walk->now_usec));
	walk->at = node_next(walk->at, walk->top);
	return 1;
}

void describe_columns(struct writer *to, void *top)
{
	cleanup(columns_done) struct columns columns;
	struct described d = { .waiting = NULL };
	uint64_t now = clock_now_usec();

	attach_count(top);
	node_columns_init(&columns);
	for (struct node *n = top; n; n = node_next(n, top)) {
		node_columns_add(&columns, view_node(n, &d, now));
		described_done(&d);
	}
	columns_append(to, &columns);
}
