/*
 * Both events, a connection and the end of an idle period, set a flag and put the node on the list
 * of TASK_DEMANDS; the turn decides.  Before the next wait its flag is cleared.
 */
#include "daemon/node/calls.h"

static void calls_on_connection(void *arg)
{
	struct calls *c = arg;

	c->called = true;
	node_add_task(c->node, TASK_DEMANDS);
}

static void calls_on_period_end(struct alarm *alarm)
{
	struct calls *c = container_of(alarm, struct calls, alarm);

	c->expired = true;
	node_add_task(c->node, TASK_DEMANDS);
}

int calls_new(struct calls **ret, struct node *node)
{
	struct calls *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->node = node;
	c->arrivals.fd = -1;
	alarm_init(&c->alarm, calls_on_period_end);
	*ret = c;
	return 0;
}

struct calls *calls_free(struct calls *c)
{
	if (c)
		calls_end_drain(c);
	return free_memory(c);
}

int calls_await(struct calls *c, struct activation *activation)
{
	c->called = false;
	return activation_watch(activation, calls_on_connection, c);
}

void calls_begin_period(struct calls *c, uint64_t usec)
{
	c->expired = false;
	alarm_set(&c->node->ctx->alarms, &c->alarm, clock_add(clock_now_usec(), usec));
}

void calls_end_period(struct calls *c)
{
	c->expired = false;
	alarm_stop(&c->node->ctx->alarms, &c->alarm);
	arrivals_end(&c->arrivals);
}

void calls_end_drain(struct calls *c)
{
	c->draining = false;
	calls_end_period(c);
}
