/*
 * A keep-alive message only notes its time.  The timer compares the time when it fires, and is set
 * again for the remaining interval, so a busy service costs no timer operations.
 */
#include "daemon/notify/watchdog.h"

static uint64_t watchdog_end_of(const struct watchdog *w)
{
	return w->on && w->interval_usec ? clock_add(w->last_usec, w->interval_usec)
					 : USEC_INFINITY;
}

static void watchdog_arm(struct watchdog *w)
{
	alarm_set(&w->ctx->alarms, &w->timer, watchdog_end_of(w));
}

static void watchdog_on_timer(struct alarm *alarm)
{
	struct watchdog *w = container_of(alarm, struct watchdog, timer);

	if (clock_now_usec() < watchdog_end_of(w)) {
		watchdog_arm(w);
		return;
	}
	w->on = false;
	w->expired(w->arg);
}

void watchdog_init(struct watchdog *w, struct context *ctx, void (*expired)(void *arg), void *arg)
{
	*w = (struct watchdog){ .ctx = ctx, .expired = expired, .arg = arg };
	alarm_init(&w->timer, watchdog_on_timer);
}

void watchdog_done(struct watchdog *w)
{
	if (w)
		alarm_stop(&w->ctx->alarms, &w->timer);
}

void watchdog_set(struct watchdog *w, uint64_t interval_usec)
{
	w->interval_usec = interval_usec == USEC_INFINITY ? 0 : interval_usec;
	w->last_usec = clock_now_usec();
	watchdog_arm(w);
}

void watchdog_start(struct watchdog *w)
{
	w->on = true;
	w->last_usec = clock_now_usec();
	watchdog_arm(w);
}

void watchdog_stop(struct watchdog *w)
{
	w->on = false;
	watchdog_arm(w);
}

void watchdog_ping(struct watchdog *w)
{
	w->last_usec = clock_now_usec();
}

uint64_t watchdog_left(const struct watchdog *w, uint64_t now_usec)
{
	return clock_until(watchdog_end_of(w), now_usec);
}
