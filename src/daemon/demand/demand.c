/*
 * The state of a service and its goal decide whether its sockets are watched: at rest for the
 * connection that starts it, and while it is up for one that shows that it is in use.  A watch ends
 * with its first connection, so that a busy service wakes the daemon once in a period.
 *
 * With drain-quiet, connections are looked for at the end of each part of that.  A watch of the sockets that the
 * daemon holds would not do: the loop drops an event if the service has accepted the connection first.
 */
#include "daemon/demand/demand.h"

#include "daemon/service/setup.h"
#include "daemon/tree/goals.h"

#define QUIET_PARTS 4 /* of drain-quiet: a connection counts up to one of them longer */

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
static void demand_wake(struct service *s)
{
	service_log(s, LOG_INFO, "starting for a connection");
	s->calls->resting = false;
	if (s->run.started_usec)
		s->not_before_usec = clock_add(s->run.started_usec, s->config->restart_delay_usec);
	if (s->state == STATE_DONE)
		service_post(s, EVENT_RESET);
	goals_raise(s->node, REQUEST_NEED, CAUSE_CONFIGURATION);
}

static void demand_process_rest(struct service *s)
{
	if (s->state == STATE_DOWN && s->node->goal == GOAL_UP)
		return; /* the service starts in this turn, or when its requirements are ready */
	if (s->calls->resting && !s->next_setup && s->node->goal != GOAL_UP) {
		if (s->calls->called)
			demand_wake(s);
		return;
	}
	if (s->node->goal == GOAL_UP)
		goals_make_idle(s->node);
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
 * The loop misses a connection that the service accepts first.  For TCP the kernel also announces each end.
 */
static void demand_begin_period(struct service *s, uint64_t usec)
{
	in_port_t ports[NODE_CONFIG_PORTS_MAX];
	size_t n = node_config_listen_ports(s->setup.launch.config, ports);
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

/* --- draining --- */

/* Called at the beginning, and at the end of each part. */
static int demand_update_quiet(struct service *s, uint64_t quiet)
{
	struct calls *c = s->calls;
	uint64_t now = clock_now_usec();
	in_port_t ports[NODE_CONFIG_PORTS_MAX];
	size_t n = node_config_ports(s->setup.launch.config, ports);
	int r = c->draining ? arrivals_look(&c->arrivals)
		: n == 0    ? -EDESTADDRREQ
			    : arrivals_begin(&c->arrivals, ports, n);

	if (r > 0 || !c->draining)
		c->last_usec = now;
	c->draining = true;
	if (r < 0)
		return r;
	if (now - c->last_usec < quiet) {
		calls_begin_period(c, MIN(quiet / QUIET_PARTS, c->last_usec + quiet - now));
	} else {
		char time[CLOCK_TEXT_MAX];

		calls_end_period(c);
		service_log(s, LOG_INFO, "drain-delay ends early: no connection for %s",
			    clock_text(time, quiet));
		service_post(s, EVENT_TIMEOUT);
	}
	return 0;
}

/*
 * Watches the connections of the service, which has calls, while it is draining, and ends the state.  Returns
 * true while it watches; else the calls are free for other uses.
 */
static bool demand_process_quiet(struct service *s)
{
	struct calls *c = s->calls;
	uint64_t quiet = node_config_extras(s->config)->drain_quiet_usec;
	int r = 0;

	if (s->state != STATE_DRAINING || quiet == 0) {
		if (c->draining)
			calls_end_drain(c);
		return false;
	}
	if (!c->draining)
		calls_end_period(c); /* of another use */
	if (!c->draining || c->expired)
		r = demand_update_quiet(s, quiet);
	if (r == 0)
		return true;
	calls_end_period(c);
	service_log(s, LOG_WARNING, "drain-quiet has no effect: its connections cannot be seen: %s",
		    strerror(-r));
	return true;
}

/* --- the task --- */

void demand_process(struct tree *tree, struct node *node)
{
	struct service *s = node->service;

	if (!s || !s->calls || demand_process_quiet(s) || !service_is_on_demand(s) ||
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
		demand_process_rest(s);
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
