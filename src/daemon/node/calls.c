#include "daemon/node/calls.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/macro.h"

static void on_call(void *arg)
{
	struct calls *c = arg;

	c->called = true;
	node_add_task(c->node, TASK_DEMANDS);
}

static void on_period_end(struct alarm *alarm)
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
	alarm_init(&c->alarm, on_period_end);
	*ret = c;
	return 0;
}

struct calls *calls_free(struct calls *c)
{
	if (c)
		calls_end_period(c);
	free(c);
	return NULL;
}

int calls_await(struct calls *c, struct activation *activation)
{
	c->called = false;
	return activation_watch(activation, on_call, c);
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
}
