#include "swansong/waiter-private.h"

static struct waiter *waiter_pop(struct list *list)
{
	struct waiter *w = list_entry(list->next, struct waiter, link);

	list_remove(&w->link);
	return w;
}

void waiters_resolve(struct waiters *ws, struct list *ready)
{
	while (!list_is_empty(&ws->list)) {
		struct waiter *w = waiter_pop(&ws->list);

		if (w->run) {
			w->queued = true;
			list_append(ready, &w->link);
		}
		/* Its owner may be gone as soon as the lock is left, and not before. */
		latch_set(&w->resolved);
	}
}

void waiters_run(struct list *ready)
{
	while (!list_is_empty(ready)) {
		struct waiter *w = waiter_pop(ready);

		w->run(w);
	}
}
