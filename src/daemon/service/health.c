/*
 * The first check is when the service comes up, each further one an interval after the end of the
 * one before, so there is at most one.  A service that reloads may not reply and is not checked:
 * its health stays as it was until the next check.
 */
#include "daemon/service/health.h"

#include "daemon/probe/probe.h"
#include "daemon/service/notify.h"

DEFINE_CLEANUP(struct health *, health_free)

static bool health_is_reloading(const struct service *s)
{
	return (s->setup.extras->reload && hook_is_running(s->setup.extras->reload)) ||
	       (s->setup.extras->messages && s->setup.extras->messages->reloading_usec);
}

void health_note_well(struct service *s)
{
	if (s->in_trouble)
		alert_raise(s->node, ALERT_RECOVERED, NULL, "");
	s->in_trouble = false;
}

static void health_set_state(struct health *h, enum health_state state)
{
	const struct service *s = h->service;

	if (h->state == state)
		return;
	context_update_soon(s->ctx); /* a rollout may watch it */
	if (state == HEALTH_UNHEALTHY) {
		h->service->in_trouble = true;
		alert_raise(s->node, ALERT_UNHEALTHY, NULL, h->why);
		service_log(s, LOG_WARNING, "unhealthy, %u times in a row: %s", h->failures,
			    h->why);
	} else if (h->state == HEALTH_UNHEALTHY && state == HEALTH_HEALTHY)
		service_log(s, LOG_INFO, "healthy again");
	h->state = state;
	h->since_usec = clock_now_usec();
	s->ctx->remarks++;
}

static void health_note_failure(struct health *h, const char *why)
{
	bool was_unhealthy = h->state == HEALTH_UNHEALTHY;
	struct service *s = h->service;
	unsigned retries = node_config_extras(s->config)->health_retries;

	(void)snprintf(h->why, sizeof(h->why), "%s", why);
	if (h->failures < UINT32_MAX)
		h->failures++;
	if (h->failures < retries)
		return;
	health_set_state(h, HEALTH_UNHEALTHY);
	/* A failed hand-over is tried again. */
	if (!was_unhealthy || (service_can_hand_over(s) && h->failures % retries == 0)) {
		switch (node_config_extras(s->config)->on_unhealthy) {
		case ON_UNHEALTHY_RESTART:
			if (service_can_hand_over(s)) {
				node_add_task(s->node, TASK_SUCCESSIONS);
				break;
			}
			s->run.outcome.kind = OUTCOME_UNHEALTHY;
			service_post(s, EVENT_UNWELL);
			break;
		case ON_UNHEALTHY_SHUTDOWN:
			/*
			 * The tree stops in order.  The outcome counts as a failure, which determines the exit
			 * status of the daemon.
			 */
			s->run.outcome.kind = OUTCOME_UNHEALTHY;
			node_add_task(s->node, TASK_ENDS);
			break;
		case ON_UNHEALTHY_LOG:
			break;
		}
	}
}

static void health_probe_later(struct health *h)
{
	const struct service *s = h->service;

	alarm_set(&s->ctx->alarms, &h->timer,
		  clock_add(clock_now_usec(), node_config_extras(s->config)->health_interval_usec));
}

static void health_on_result(void *arg, const char *why)
{
	struct health *h = arg;

	if (!why) {
		*h->why = '\0';
		h->failures = 0;
		health_set_state(h, HEALTH_HEALTHY);
		health_note_well(h->service);
	} else if (!health_is_reloading(h->service)) {
		health_note_failure(h, why);
	}
	/* The check may have ended the service. */
	if (h->on)
		health_probe_later(h);
}

static void health_on_timer(struct alarm *alarm)
{
	struct health *h = container_of(alarm, struct health, timer);

	if (health_is_reloading(h->service))
		health_probe_later(h);
	else
		probe_begin(h->probe, &h->service->main,
			    node_config_extras(h->service->config)->health_timeout_usec);
}

int health_new(struct health **ret, struct service *service, const struct node_config *config)
{
	cleanup(health_freep) struct health *h = NULL;
	struct context *ctx = service->ctx;
	int r;

	*ret = NULL;
	if (node_config_extras(config)->health.kind == PROBE_NONE)
		return 0;
	h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	h->service = service;
	alarm_init(&h->timer, health_on_timer);
	r = probe_new(&h->probe, ctx, &node_config_extras(config)->health, &service->setup.launch,
		      health_on_result, h);
	if (r < 0)
		return r;
	*ret = take(h);
	return 0;
}

struct health *health_free(struct health *h)
{
	if (!h)
		return NULL;
	probe_free(h->probe);
	alarm_stop(&h->service->ctx->alarms, &h->timer);
	return free_memory(h);
}

void health_update(struct health *h)
{
	if (!h)
		return;
	if (h->service->state == STATE_UP && !h->on) {
		h->on = true;
		h->failures = 0;
		*h->why = '\0';
		h->state = HEALTH_UNKNOWN;
		h->since_usec = clock_now_usec();
		alarm_set(&h->service->ctx->alarms, &h->timer, 0);
	} else if (h->service->state != STATE_UP && h->on) {
		h->on = false;
		probe_cancel(h->probe);
		alarm_stop(&h->service->ctx->alarms, &h->timer);
	}
}

const char *health_state_name(enum health_state state)
{
	static const char *const names[] = {
		[HEALTH_UNKNOWN] = "unknown",
		[HEALTH_HEALTHY] = "healthy",
		[HEALTH_UNHEALTHY] = "unhealthy",
	};

	return names[state];
}
