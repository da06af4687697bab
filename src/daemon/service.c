#include "daemon/service.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/failure.h"
#include "daemon/health.h"
#include "daemon/order.h"
#include "daemon/service-cgroup.h"
#include "daemon/service-hook.h"
#include "daemon/service-main.h"
#include "daemon/service-notify.h"
#include "daemon/service-signal.h"
#include "daemon/service-start.h"
#include "daemon/service-timeout.h"
#include "daemon/setup.h"

DEFINE_CLEANUP(struct service *, service_free)

void service_post(struct service *s, enum service_event event)
{
	s->posted = event;
	if (list_is_empty(&s->in_posted))
		list_append(&s->ctx->posted, &s->in_posted);
	context_settle_soon(s->ctx);
}

void service_look_after(struct service *s)
{
	if (list_is_empty(&s->in_lingering))
		list_append(&s->ctx->lingering, &s->in_lingering);
	/* Who is in a control group is asked there. */
	if (!s->has_cgroup)
		s->ctx->sweep = true;
	s->ctx->linger = true;
	context_settle_soon(s->ctx);
}

/* The delay is over, but what it needs may not be there. */
static void begin_again(struct service *s)
{
	s->restarts++;
	if (!order_start_blocker(s)) {
		service_handle(s, EVENT_TIMEOUT);
		return;
	}
	s->timeout_usec = USEC_INFINITY;
	order_want(s);
}

static void on_timeout(struct alarm *alarm)
{
	struct service *s = container_of(alarm, struct service, timer);

	if (fsm_is_coming_up(s->state))
		s->outcome.kind = OUTCOME_START_TIMEOUT;
	if (fsm_is_coming_up(s->state) && s->hook && hook_is_running(s->hook))
		s->outcome.hook = hook_name(s->hook->kind);
	if (s->state == STATE_BACKOFF)
		begin_again(s);
	else
		service_handle(s, service_has_spent_budget(s) ? EVENT_KILL : EVENT_TIMEOUT);
	if (s->state == STATE_DOWN)
		context_settle_soon(s->ctx); /* its not_before_usec */
	/* Should a last exit have gone unnoticed, this finds out. */
	if (!s->main.alive && (s->main.pid > 0 || s->has_cgroup))
		service_look_after(s);
}

int service_new(struct service **ret, struct node *node, const struct node_config *config)
{
	cleanup(service_freep) struct service *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->ctx = node->ctx;
	s->node = node;
	s->config = node_config_ref(config);
	s->state = STATE_DOWN;
	s->since_usec = clock_now_usec();
	s->timeout_usec = s->start_limit_usec = USEC_INFINITY;
	s->stop_signal = s->config->stop_signal;
	list_init(&s->in_posted);
	list_init(&s->in_lingering);
	list_init(&s->in_waiting);
	list_init(&s->in_gated);
	list_init(&s->in_fallen);
	list_init(&s->leftovers);
	list_init(&s->watch.in_watches);
	process_init(&s->main, PROCESS_MAIN, s);
	alarm_init(&s->timer, on_timeout);
	alarm_init(&s->rest, service_rest_is_due);
	service_retally(s, (struct service_tally){ 0 });

	r = policy_new(&s->policy, s->config);
	if (r < 0)
		return r;
	r = service_setup_init(s);
	if (r < 0)
		return r;
	service_cgroup_check(s);
	*ret = take(s);
	return 0;
}

struct service *service_free(struct service *s)
{
	struct service_tally tally;

	if (!s)
		return NULL;
	tally = service_tally(s);
	node_count(s->node, -tally.services, -tally.ready, -tally.settled);
	if (s->ctx->ended == s)
		s->ctx->ended = NULL;
	if (s->ctx->first == s)
		s->ctx->first = NULL;
	if (s->state == STATE_FAILED)
		s->ctx->failed--;
	while (!list_is_empty(&s->leftovers))
		process_free(list_entry(s->leftovers.next, struct process, by_service));
	service_unfollow(s);
	process_remove(&s->main);
	(void)service_cgroup_remove(s);
	if (s->has_cgroup)
		cgroups_unwatch(s->ctx->cgroups, &s->watch);
	list_remove(&s->in_posted);
	list_remove(&s->in_lingering);
	list_remove(&s->in_waiting);
	list_remove(&s->in_gated);
	list_remove(&s->in_fallen);
	alarm_set(&s->ctx->alarms, &s->timer, USEC_INFINITY);
	alarm_set(&s->ctx->alarms, &s->rest, USEC_INFINITY);
	service_setup_done(s);
	sd_event_source_disable_unref(s->reload_timer);
	watchdog_done(s->watchdog);
	free(s->watchdog);
	policy_free(s->policy);
	node_config_unref(s->config);
	free(s);
	return NULL;
}

bool service_is_ready(const struct service *s)
{
	return s->state == STATE_UP || s->state == STATE_DONE;
}

bool service_is_settled(const struct service *s)
{
	if (s->state == STATE_DOWN || s->state == STATE_BACKOFF)
		return s->in_vain || !(s->wanted || s->returning);
	return service_is_ready(s) || s->state == STATE_FAILED;
}

bool service_is_at_work(const struct service *s)
{
	return s->state == STATE_UP && !s->worked;
}

struct service_tally service_tally(const struct service *s)
{
	if (!s->config->autostart && !s->wanted && !s->returning && s->state == STATE_DOWN)
		return (struct service_tally){ 0 };
	return (struct service_tally){
		.services = 1,
		.ready = service_is_ready(s),
		.settled = service_is_settled(s),
	};
}

void service_retally(struct service *s, struct service_tally before)
{
	struct service_tally now = service_tally(s);

	node_count(s->node, now.services - before.services, now.ready - before.ready,
		   now.settled - before.settled);
}

/* --- the one writer of the state --- */

/*
 * The end of an essential service may be that of the tree, and so may be a failure; the first one
 * counts.  One whose section is gone is essential no more, and one that is being restarted has not
 * come to its end.  A oneshot has when its work is done, also if it stays up to be undone.
 */
static void note_end(struct service *s)
{
	bool fatal = (s->config->essential && s->ctx->exit_when == EXIT_WHEN_ANY) ||
		     (s->state == STATE_FAILED && failure_is_fatal(s));

	if (s->node->retired || node_is_restarted(s->node))
		return;
	s->ctx->rested = true;
	if (s->config->essential && !s->ctx->first)
		s->ctx->first = s;
	if (fatal && !s->ctx->ended)
		s->ctx->ended = s;
}

/* What has been reached, for good. */
static void note_progress(struct service *s, enum service_state next)
{
	if (next == STATE_READYING || next == STATE_UP)
		s->outcome.was_ready = true;
	if (next == STATE_UP) {
		s->was_up = true;
		/* What a oneshot left behind was ended: that was not its own end. */
		s->ending = (struct ending){ 0 };
	}
	if (next == STATE_UP && s->launch.config->ready.kind != PROBE_STARTED)
		log_line(s->ctx->log, LOG_INFO, "%s: ready", s->config->path);
	if (next == STATE_UP || next == STATE_BACKOFF || next == STATE_DONE || next == STATE_FAILED)
		s->attempted = true;
}

/* Is the outcome of its run what has led out of its state? */
static bool is_by_outcome(const struct service *s, enum service_event event)
{
	switch (event) {
	case EVENT_DONE:
	case EVENT_RETRY:
	case EVENT_FAIL:
		return true;
	case EVENT_BROKEN:
	case EVENT_ORPHANED:
	case EVENT_TIMEOUT:
		return fsm_is_coming_up(s->state) || s->state == STATE_UP;
	default:
		return false;
	}
}

/* For whoever watches. */
static void tell_change(struct service *s, enum service_state next, enum service_event event)
{
	char text[OUTCOME_TEXT_MAX];

	events_add(s->ctx->events,
		   &(struct event){
			   .kind = "service",
			   .node = s->config->path,
			   .generation = s->node->generation,
			   .from = fsm_state_name(s->state),
			   .to = fsm_state_name(next),
			   .reason = is_by_outcome(s, event)
					     ? policy_outcome_text(text, &s->outcome)
					     : fsm_reason(s->state, event),
		   });
}

static void enter(struct service *s, enum service_state next, enum service_event event)
{
	struct service_tally before = service_tally(s);

	if (s->state == next)
		return;
	log_line(s->ctx->log, LOG_DEBUG, "%s: %s -> %s", s->config->path, fsm_state_name(s->state),
		 fsm_state_name(next));
	tell_change(s, next, event);
	s->ctx->changes++;
	if (fsm_is_going_down(next) && !fsm_is_going_down(s->state))
		s->held_usec = clock_now_usec();
	s->ctx->failed += (unsigned)(next == STATE_FAILED) - (unsigned)(s->state == STATE_FAILED);
	s->state = next;
	s->since_usec = clock_now_usec();
	trace_state(s->node->trace, fsm_state_name(next), s->since_usec);
	service_disarm(s);
	note_progress(s, next);
	if (s->readiness && next != STATE_STARTING)
		readiness_stop(s->readiness);
	if (next == STATE_GATED && list_is_empty(&s->in_gated))
		list_append(&s->ctx->gated, &s->in_gated);
	service_notify_follow(s);
	health_follow(s->health);
	if (next == STATE_BACKOFF || next == STATE_FAILED)
		failure_note(s);
	if (next == STATE_DOWN || next == STATE_DONE || next == STATE_FAILED ||
	    (next == STATE_UP && s->worked))
		note_end(s);
	if (!fsm_has_process(next) && s->attach)
		attach_end(s->attach);
	if (!fsm_has_process(next) && next != STATE_BACKOFF)
		(void)service_cgroup_remove(s);
	if (s->node->transient && !fsm_has_process(next))
		node_finished(s->node);
	service_retally(s, before);
	if ((s->node->retired || !s->node->config->argv) && !fsm_has_process(next))
		node_follow_up(s->node);
	context_settle_soon(s->ctx);
}

static void act(struct service *s, unsigned actions)
{
	if (actions & ACT_HOOK)
		service_run_hook(s);
	if (actions & ACT_SPAWN)
		service_spawn(s);
	if (actions & ACT_TERM)
		service_term(s);
	if (actions & ACT_FORCED)
		service_forced(s);
	if (actions & ACT_KILL)
		service_kill(s);
	if (actions & ACT_ARM)
		service_arm(s, actions & ACT_KILL);
	/*
	 * Of nobody's death we would hear: there is nobody.  Or not for us to know; then it is
	 * lingering.
	 */
	if ((actions & (ACT_TERM | ACT_KILL)) && !service_has_any(s) &&
	    list_is_empty(&s->in_lingering))
		service_look_after(s);
}

void service_handle(struct service *s, enum service_event event)
{
	bool at_rest = !fsm_has_process(s->state);
	struct service_step step;

	if (at_rest)
		s->parts = service_configured_parts(s);
	step = fsm_step(s->state, event, service_parts(s));
	if (at_rest && fsm_has_process(step.to))
		service_begin(s);
	enter(s, step.to, event);
	act(s, step.actions);
}
