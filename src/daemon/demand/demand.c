/*
 * The state of a service and its goal decide whether its sockets are watched: at rest for the
 * connection that starts it, and while it is up for one that shows that it is in use.  A watch ends
 * with its first connection, so that a busy service wakes the daemon once in a period.
 */
#include "daemon/demand/demand.h"

#include <string.h>

#include "base/clock.h"
#include "daemon/demand/quiet.h"
#include "daemon/node/calls.h"
#include "daemon/service/busy.h"
#include "daemon/service/setup.h"
#include "daemon/tree/goals.h"

static void demand_await_connection(struct service *s)
{
	int r = calls_await(s->calls, s->setup.launch.activation);

	if (r < 0)
		service_log(s, LOG_ERR, "cannot watch its sockets for connections: %s",
			    strerror(-r));
}

/* --- at rest --- */

/*
 * A process that ends without having accepted the connection is called at once again, but does not
 * start more often than a service that fails.
 */
static void demand_wake(struct tree *tree, struct service *s)
{
	struct goals goals;

	service_log(s, LOG_INFO, "starting for a connection");
	s->calls->resting = false;
	if (s->run.started_usec)
		s->not_before_usec = clock_add(s->run.started_usec, s->config->restart_delay_usec);
	if (s->state == STATE_DONE)
		service_post(s, EVENT_RESET);
	goals_begin(&goals, tree, CAUSE_CONFIGURATION);
	goals_raise(&goals, s->node);
	goals_commit(&goals);
}

static void demand_process_rest(struct tree *tree, struct service *s)
{
	if (s->state == STATE_DOWN && s->node->goal == GOAL_UP)
		return; /* it starts in this turn, or when its requirements are ready */
	if (s->calls->resting && !s->next_setup && s->node->goal != GOAL_UP) {
		if (s->calls->called)
			demand_wake(tree, s);
		return;
	}
	if (s->node->goal == GOAL_UP)
		goals_make_idle(tree, s->node);
	service_use_next_setup(s);
	/* A failure is logged; the service then waits for a start by hand. */
	if (!s->setup.launch.activation || activation_listen(s->setup.launch.activation) < 0)
		return;
	s->calls->resting = true;
	demand_await_connection(s);
	service_recount(s);
}

/* --- up --- */

static void demand_note_unknown(struct service *s, int error)
{
	if (!s->calls->unknown)
		service_log(s, LOG_WARNING,
			    "idle-timeout has no effect: its connections cannot be counted: %s",
			    strerror(error));
	s->calls->unknown = true;
}

/*
 * The watch misses a connection that the service accepts before the loop looks.  The kernel announces
 * the end of each of TCP.
 */
static void demand_begin_period(struct service *s, uint64_t usec)
{
	in_port_t ports[NODE_CONFIG_PORTS_MAX];
	size_t n = node_config_listen_ports(s->setup.config, ports);
	struct calls *c = s->calls;
	int r = 0;

	calls_end_period(c);
	if (n > 0)
		r = arrivals_begin(&c->arrivals, ports, n);
	calls_begin_period(c, usec);
	demand_await_connection(s);
	if (r == 0)
		return;
	demand_note_unknown(s, -r);
	c->called = true;
}

static bool demand_has_connections(struct service *s)
{
	int r = s->calls->arrivals.fd < 0 ? 0 : arrivals_look(&s->calls->arrivals);

	if (r == 0)
		r = activation_has_connections(s->setup.launch.activation);
	if (r < 0)
		demand_note_unknown(s, -r);
	else
		s->calls->unknown = false;
	return r != 0;
}

/* Returns true if a guard is held for work that uses the node of @s or one above it. */
static bool demand_is_used(const struct service *s)
{
	for (const struct node *n = s->node; n; n = n->parent)
		for (struct node *const *to = node_edges(n, LIST_DEPENDENTS); to && *to; to++)
			if (node_is_use(*to))
				return true;
	return false;
}

/* --- failed --- */

static void demand_process(struct tree *tree, struct service *s)
{
	if (!s->calls || quiet_process(s) || !service_is_on_demand(s) ||
	    node_goal(s->node) < GOAL_IDLE)
		return;
	if (s->state == STATE_UP && !service_is_stopped(s) &&
	    activation_is_listening(s->setup.launch.activation)) {
		uint64_t usec = node_config_extras(s->config)->idle_timeout_usec;
		struct calls *c = s->calls;

		c->resting = false;
		if (usec == 0) {
			calls_end_period(c);
		} else if (c->expired && !c->called && busy_guards(s) == 0 && !demand_is_used(s) &&
			   !demand_has_connections(s)) {
			char time[CLOCK_TEXT_MAX], reason[CLOCK_TEXT_MAX + 16];

			calls_end_period(c);
			(void)snprintf(reason, sizeof(reason), "idle for %s",
				       clock_text(time, usec));
			goals_retire(tree, s->node, reason);
		} else if (c->expired || c->alarm.usec == USEC_INFINITY) {
			demand_begin_period(s, usec);
		}
		return;
	}
	calls_end_period(s->calls);
	if (s->state == STATE_DOWN || s->state == STATE_DONE)
		demand_process_rest(tree, s);
	else
		s->calls->resting = false;
	if (s->state == STATE_FAILED && activation_is_listening(s->setup.launch.activation)) {
		activation_unlisten(s->setup.launch.activation);
		service_log(
			s, LOG_ERR,
			"failed: connections are refused until it is started: swansongctl start %s",
			s->config->path);
	}
}

void demands_process(struct tree *tree)
{
	struct node *node;

	node_for_each_taken (node, tree->ctx, TASK_DEMANDS)
		if (node->service)
			demand_process(tree, node->service);
}
