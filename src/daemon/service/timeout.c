/*
 * An ending may pass several states but has one limit, which no later state prolongs.  Its limit is set by
 * stop-timeout, drain-timeout and extensions of the service itself, but it leaves enough of the budget for all
 * that follows the end of the service: its post-stop, the services with stop signals that wait for it, and the
 * final actions above.
 */
#include "daemon/service/timeout.h"

#include "daemon/node/stop-order.h"
#include "model/life/budget.h"

/* A SIGKILL without effect is logged after this time. */
#define KILL_WARN_USEC (5 * USEC_PER_SEC)

/* Returns the time by which the service must be gone. */
static uint64_t service_gone_by(const struct service *s, uint64_t now)
{
	return budget_before(service_kill_usec(s), now, stop_order_followers_timeout(s->node));
}

/* Returns the time by which its processes must have ended, so that a post-stop can follow. */
static uint64_t service_last_call(const struct service *s, uint64_t now)
{
	uint64_t end = service_gone_by(s, now);

	return service_parts(s) & PART_POST_STOP ? budget_before(end, now, BUDGET_LAST_USEC) : end;
}

static bool service_is_ending(const struct service *s)
{
	return s->state == STATE_ASKING || s->state == STATE_STOPPING || s->state == STATE_CLEANING;
}

static uint64_t service_stop_limit(struct service *s, uint64_t now)
{
	struct ending *e = &s->ending;
	/* A failed service gets no drain-timeout for its guards. */
	bool has_failed = s->state == STATE_CLEANING && s->run.outcome.kind != OUTCOME_NONE;
	unsigned long guards = s->main.alive && !has_failed ? busy_guards(s) : 0;
	struct stop_times times = {
		.began_usec = e->began_usec,
		.busy = guards > 0,
		.stop_timeout_usec = s->config->stop_timeout_usec,
		.drain_timeout_usec = s->config->drain_timeout_usec,
	};
	uint64_t end;

	if (e->busy && !times.busy)
		e->idle_usec = now;
	times.idle_usec = e->idle_usec;
	end = budget_stop_limit(&times);
	if (!s->main.alive && s->state != STATE_ASKING)
		e->remaining_usec =
			MIN(e->remaining_usec, clock_add(now, s->ctx->leftover_timeout_usec));
	end = MIN(end, e->remaining_usec);
	end = end < e->extended_usec ? e->extended_usec : end;
	e->last_call_usec = MIN(e->last_call_usec, service_last_call(s, now));
	end = MIN(end, e->last_call_usec);
	if (e->busy != times.busy) {
		uint64_t left = end > now && end != USEC_INFINITY ? end - now : end;
		char text[CLOCK_TEXT_MAX];

		clock_text(text, left);
		if (guards > 0 && !s->ending.logged)
			service_log(s, LOG_INFO, "busy: %lu guard%s; waiting up to %s", guards,
				    guards == 1 ? "" : "s", text);
		else if (guards == 0 && s->ending.logged)
			service_log(s, LOG_DEBUG, "not busy any more; waiting up to %s", text);
		s->ending.logged |= guards > 0;
	}
	e->busy = times.busy;
	return end;
}

static uint64_t service_post_stop_limit(const struct service *s, uint64_t now)
{
	uint64_t least = now + BUDGET_LAST_USEC;
	uint64_t by = service_gone_by(s, now);

	return MIN(clock_add(s->ending.began_usec, s->config->stop_timeout_usec),
		   by > least ? by : least);
}

/* The drain-delay leaves time for the signal and the stop-timeout after it. */
static uint64_t service_drain_limit(const struct service *s, uint64_t now)
{
	return budget_before(service_last_call(s, now), now, s->config->stop_timeout_usec);
}

static uint64_t service_ending_limit(struct service *s, uint64_t now)
{
	if (!s->ending.began_usec) {
		s->ending = (struct ending){
			.began_usec = now,
			.remaining_usec = USEC_INFINITY,
			.last_call_usec = USEC_INFINITY,
			.limit_usec = USEC_INFINITY,
		};
	}
	if (service_is_ending(s))
		s->ending.limit_usec = service_stop_limit(s, now);
	else
		s->ending.limit_usec = MIN(s->ending.limit_usec, service_post_stop_limit(s, now));
	return s->ending.limit_usec;
}

uint64_t service_warning_usec(const struct service *s)
{
	uint64_t limit = s->ending.limit_usec - s->ending.began_usec;

	if (s->config->stop_warning == 0 || s->ending.warned || !service_is_ending(s) ||
	    !fsm_is_going_down(s->state) || s->ending.limit_usec == USEC_INFINITY)
		return USEC_INFINITY;
	return s->ending.began_usec + limit / 100 * (uint64_t)s->config->stop_warning;
}

/* Logs that the stop is slow, once the timer is set: it was not set for a time that had passed. */
static void service_watch_stop(struct service *s)
{
	uint64_t now = clock_now_usec();
	char used[CLOCK_TEXT_MAX], of[CLOCK_TEXT_MAX], text[OUTCOME_TEXT_MAX];
	char holder[SERVICE_HOLDER_MAX];

	if (now < service_warning_usec(s))
		return;
	s->ending.warned = true;
	(void)snprintf(text, sizeof(text), "%s of %s used, waiting for %s",
		       clock_text(used, now - s->ending.began_usec),
		       clock_text(of, s->ending.limit_usec - s->ending.began_usec),
		       service_holder(s, holder));
	service_log(s, LOG_WARNING, "slow stop: %s", text);
	alert_raise(s->node, ALERT_SLOW_STOP, NULL, text);
}

static uint64_t service_state_limit(struct service *s, uint64_t now)
{
	switch (s->state) {
	case STATE_PREPARING:
	case STATE_STARTING:
	case STATE_READYING:
		return s->start_limit_usec;
	case STATE_DRAINING:
		return MIN(clock_add(now, node_config_extras(s->config)->drain_delay_usec),
			   service_drain_limit(s, now));
	case STATE_ASKING:
	case STATE_STOPPING:
	case STATE_CLEANING:
	case STATE_FINISHING:
	case STATE_CLOSING:
		return service_ending_limit(s, now);
	case STATE_BACKOFF:
		return clock_add(now, s->delay_usec);
	default:
		return USEC_INFINITY;
	}
}

/*
 * A state that began after the kept budget had expired, such as a post-stop after the kill, has a
 * limit of its own.
 */
static bool service_has_kept_budget(const struct service *s)
{
	return s->kept_usec > s->since_usec && fsm_is_going_down(s->state) &&
	       s->state != STATE_KILLING;
}

void service_set_timer(struct service *s)
{
	uint64_t warning = service_warning_usec(s);
	uint64_t next = s->timed_out ? USEC_INFINITY : s->timeout_usec;
	const struct process *p;

	if (warning > clock_now_usec())
		next = MIN(next, warning);
	/* While the stop is on hold, kept processes wait for service_postpone_kept(). */
	list_for_each (p, &s->remaining, by_service)
		if (p->until_usec && !s->ctx->held_usec)
			next = MIN(next, p->until_usec);
	alarm_set(&s->ctx->alarms, &s->timer, next);
}

static void service_set_timeout(struct service *s, uint64_t usec)
{
	s->timeout_usec = service_has_kept_budget(s) ? MIN(usec, s->kept_usec) : usec;
	s->timed_out = false;
	service_set_timer(s);
}

void service_disarm(struct service *s)
{
	if (!fsm_is_going_down(s->state))
		s->kept_usec = 0;
	service_set_timeout(s, USEC_INFINITY);
}

void service_keep_budget(struct service *s)
{
	if (!fsm_is_going_down(s->state) || s->node->kill_usec == USEC_INFINITY)
		return;
	s->kept_usec = service_kill_usec(s);
	if (s->state != STATE_KILLING)
		service_set_timeout(s, s->timeout_usec);
}

bool service_has_spent_budget(const struct service *s)
{
	return service_has_kept_budget(s) && s->kept_usec <= clock_now_usec();
}

void service_arm(struct service *s, bool killed)
{
	uint64_t now = clock_now_usec();

	if (killed || s->state == STATE_KILLING) {
		uint64_t since = now - s->since_usec;

		service_set_timeout(s, now + BUDGET_KILL_AGAIN_USEC);
		if (s->state == STATE_KILLING && since >= KILL_WARN_USEC &&
		    since < KILL_WARN_USEC + BUDGET_KILL_AGAIN_USEC)
			service_log(s, LOG_ERR, "SIGKILL has no effect; trying again");
		return;
	}
	/* An expired ending does not begin anew. */
	if (s->state == STATE_CLEANING && s->ending.began_usec && s->ending.limit_usec <= now)
		return;
	service_set_timeout(s, service_state_limit(s, now));
	service_watch_stop(s);
}

void service_rearm(struct service *s)
{
	uint64_t now = clock_now_usec();

	if (s->state == STATE_DRAINING)
		service_set_timeout(s, MIN(s->timeout_usec, service_drain_limit(s, now)));
	else if (service_is_ending(s) && s->ending.limit_usec > now && !s->run.killed)
		service_set_timeout(s, service_ending_limit(s, now));
	service_watch_stop(s);
}

void service_extend(struct service *s, uint64_t usec)
{
	if (!service_is_ending(s) || usec <= s->ending.extended_usec)
		return;
	s->ending.extended_usec = usec;
	service_update_roster(s);
	s->ctx->changes++;
	service_rearm(s);
}

void service_postpone(struct service *s, uint64_t usec)
{
	struct ending *e = &s->ending;

	if (!fsm_is_going_down(s->state) || s->state == STATE_KILLING)
		return;
	if (s->state == STATE_DRAINING || !e->began_usec || s->run.killed) {
		service_set_timeout(s, s->timeout_usec);
		return;
	}
	if (service_is_ending(s) && e->limit_usec != USEC_INFINITY)
		e->extended_usec = MAX(e->extended_usec, clock_add(e->limit_usec, usec));
	e->limit_usec = clock_add(e->limit_usec, usec);
	e->last_call_usec = clock_add(e->last_call_usec, usec);
	e->remaining_usec = clock_add(e->remaining_usec, usec);
	service_update_roster(s);
	service_set_timeout(s, clock_add(s->timeout_usec, usec));
}

void service_extend_start(struct service *s, uint64_t usec)
{
	if (!fsm_is_coming_up(s->state))
		return;
	s->start_limit_usec = usec;
	service_set_timeout(s, usec);
}

void service_delay(struct service *s)
{
	service_set_timeout(s, s->not_before_usec);
}
