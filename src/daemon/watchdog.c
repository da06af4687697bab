#include "daemon/watchdog.h"

#include "base/clock.h"

static uint64_t end_of(const struct watchdog *w)
{
	return w->on && w->interval_usec ? clock_add(w->last_usec, w->interval_usec)
					 : USEC_INFINITY;
}

static void arm(struct watchdog *w)
{
	if (w->timer)
		context_arm(w->ctx, w->timer, end_of(w));
}

static int on_timer(sd_event_source *source, uint64_t usec, void *arg)
{
	struct watchdog *w = arg;

	(void)source;
	(void)usec;
	if (clock_now_usec() < end_of(w)) {
		arm(w);
		return 0;
	}
	w->on = false;
	w->expired(w->arg);
	return 0;
}

void watchdog_init(struct watchdog *w, struct context *ctx, void (*expired)(void *arg), void *arg)
{
	*w = (struct watchdog){ .ctx = ctx, .expired = expired, .arg = arg };
}

void watchdog_done(struct watchdog *w)
{
	if (w)
		w->timer = sd_event_source_disable_unref(w->timer);
}

int watchdog_reserve(struct watchdog *w, uint64_t interval_usec)
{
	if (w->timer || interval_usec == 0 || interval_usec == USEC_INFINITY)
		return 0;
	return sd_event_add_time(w->ctx->event, &w->timer, CLOCK_MONOTONIC, USEC_INFINITY, 1,
				 on_timer, w);
}

int watchdog_set(struct watchdog *w, uint64_t interval_usec)
{
	int r = watchdog_reserve(w, interval_usec);

	if (r < 0)
		return r;
	if (interval_usec == USEC_INFINITY)
		interval_usec = 0;
	w->interval_usec = interval_usec;
	w->last_usec = clock_now_usec();
	arm(w);
	return 0;
}

void watchdog_start(struct watchdog *w)
{
	w->on = true;
	w->last_usec = clock_now_usec();
	arm(w);
}

void watchdog_stop(struct watchdog *w)
{
	w->on = false;
	arm(w);
}

void watchdog_ping(struct watchdog *w)
{
	w->last_usec = clock_now_usec();
}

uint64_t watchdog_left(const struct watchdog *w, uint64_t now_usec)
{
	uint64_t end = end_of(w);

	if (end == USEC_INFINITY)
		return USEC_INFINITY;
	return end > now_usec ? end - now_usec : 0;
}
