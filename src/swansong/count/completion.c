/*
 * A completion is a waiter of its node, which it pins.  Its function is a notice (notice.c).  A latch
 * keeps the result, so that a guard that is taken late does not undo it.
 */
#include <swansong/completion.h>

#include "swansong/count/misuse-private.h"
#include "swansong/count/node-private.h"
#include "swansong/count/notice-private.h"

struct swansong_completion {
	struct notice notice;
	struct swansong *node;
};

static void completion_end(struct waiter *w)
{
	struct swansong_completion *c = container_of(w, struct swansong_completion, notice.waiter);

	latch_done(&w->resolved);
	node_unpin(c->node);
	if (!MISUSE_IS_CAUGHT)
		free(c);
}

int swansong_completion_new(struct swansong *s, struct swansong_completion **ret)
{
	struct swansong_completion *c;

	misuse_of_node(s);
	c = malloc(sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->node = s;
	notice_init(&c->notice, s->tree, completion_end);
	count_pin(s);
	count_watch(s, &c->notice.waiter);
	*ret = c;
	return 0;
}

bool swansong_completion_done(struct swansong_completion *c)
{
	if (latch_is_set(&c->notice.waiter.resolved))
		return true;
	if (!count_is_complete(c->node))
		return false;
	/* The thread that brought the count to zero has not come here yet; a late guard may. */
	latch_set(&c->notice.waiter.resolved);
	return true;
}

static int completion_sleep(void *arg, uint64_t deadline)
{
	struct swansong_completion *c = arg;

	return latch_wait(&c->notice.waiter.resolved, deadline);
}

int swansong_completion_wait(struct swansong_completion *c, uint64_t deadline)
{
	return misuse_wait(completion_sleep, c, deadline, c->node, __func__);
}

int swansong_completion_fd(struct swansong_completion *c)
{
	return latch_fd(&c->notice.waiter.resolved);
}

int swansong_completion_notify(struct swansong_completion *c, void (*fn)(void *arg), void *arg)
{
	return notice_call(&c->notice, &c->notice.waiter.resolved, NULL, fn, arg);
}

struct swansong_completion *swansong_completion_unref(struct swansong_completion *c)
{
	if (c) {
		misuse_of_dropped(c->notice.cancelled);
		notice_drop(&c->notice);
	}
	return NULL;
}

struct sleep {
	struct swansong *node;
	uint32_t turn;
};

static int completion_sleep_on_node(void *arg, uint64_t deadline)
{
	struct sleep *sleep = arg;

	return waiters_sleep(&sleep->node->waiters, sleep->turn, deadline);
}

int swansong_wait(struct swansong *s, uint64_t deadline)
{
	struct sleep sleep = { .node = s };

	misuse_of_node(s);
	if (!count_begin_wait(s, &sleep.turn))
		return 0;
	return misuse_wait(completion_sleep_on_node, &sleep, deadline, s, __func__);
}

int swansong_drain(struct swansong *soft, struct swansong *hard, uint64_t deadline)
{
	int r;

	swansong_shut_down(soft);
	r = swansong_wait(soft, deadline);
	swansong_shut_down(hard);
	return r;
}

uint64_t swansong_deadline_in(uint64_t usec)
{
	return clock_add(clock_now_usec(), usec);
}
