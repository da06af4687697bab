#include "daemon/service.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/service-cgroup.h"
#include "daemon/service-signal.h"
#include "daemon/service-start.h"

/* What is left when the main process is gone has this long after the stop signal, at most. */
#define LEFTOVER_TIMEOUT_USEC (10 * USEC_PER_SEC)
/* SIGKILL again after this: a process may have been made while the last one was sent. */
#define KILL_AGAIN_USEC USEC_PER_SEC
/* ... and after this many it is worth a word. */
#define KILL_WARN_USEC (5 * USEC_PER_SEC)

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

static int on_timeout(sd_event_source *source, uint64_t usec, void *arg)
{
	struct service *s = arg;

	(void)source;
	(void)usec;
	if (s->state == STATE_STARTING)
		s->outcome.kind = OUTCOME_START_TIMEOUT;
	if (s->state == STATE_BACKOFF)
		s->restarts++;
	service_handle(s, EVENT_TIMEOUT);
	/* Should a last exit have gone unnoticed, this finds out. */
	if (s->main.pid > 0 && !s->main.alive)
		service_look_after(s);
	return 0;
}

static void on_message(const struct notify_message *message, void *arg)
{
	struct service *s = arg;

	if (message->has_status)
		context_settle_soon(s->ctx);
	if (message->ready)
		service_handle(s, EVENT_READY);
}

static void on_probe_ready(void *arg)
{
	service_handle(arg, EVENT_READY);
}

static int make_readiness(struct service *s)
{
	switch (s->config->ready.kind) {
	case READY_NOTIFY:
		return notify_new(&s->notify, s->ctx, on_message, s);
	case READY_FD:
	case READY_TCP:
		return probe_new(&s->probe, s->ctx, &s->config->ready, on_probe_ready, s);
	case READY_STARTED:
		break;
	}
	return 0;
}

int service_new(struct service **ret, struct node *node)
{
	cleanup(service_freep) struct service *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->ctx = node->ctx;
	s->node = node;
	s->config = node->config;
	s->state = STATE_DOWN;
	s->since_usec = clock_now_usec();
	s->timeout_usec = s->stop_limit_usec = USEC_INFINITY;
	s->stop_signal = s->config->stop_signal;
	list_init(&s->in_posted);
	list_init(&s->in_lingering);
	list_init(&s->in_waiting);
	list_init(&s->in_gated);
	list_init(&s->leftovers);
	list_init(&s->watch.in_watches);
	process_init(&s->main, PROCESS_MAIN, s);
	node_count(node, 1, 0, 1);

	r = policy_new(&s->policy, s->config);
	if (r < 0)
		return r;
	r = sd_event_add_time(s->ctx->event, &s->timer, CLOCK_MONOTONIC, USEC_INFINITY, 1,
			      on_timeout, s);
	if (r < 0)
		return r;
	r = make_readiness(s);
	if (r < 0)
		return r;
	r = launch_init(&s->launch, s->ctx, s->config,
			s->notify ? notify_address(s->notify) : NULL);
	if (r < 0)
		return r;
	service_cgroup_check(s);
	*ret = take(s);
	return 0;
}

struct service *service_free(struct service *s)
{
	if (!s)
		return NULL;
	node_count(s->node, -1, -(int)service_is_ready(s), -(int)service_is_settled(s));
	if (s->ctx->ended == s)
		s->ctx->ended = NULL;
	if (s->state == STATE_FAILED)
		s->ctx->failed--;
	while (!list_is_empty(&s->leftovers))
		process_free(list_entry(s->leftovers.next, struct process, by_service));
	process_remove(&s->main);
	(void)service_cgroup_remove(s);
	if (s->has_cgroup)
		cgroups_unwatch(s->ctx->cgroups, &s->watch);
	list_remove(&s->in_posted);
	list_remove(&s->in_lingering);
	list_remove(&s->in_waiting);
	list_remove(&s->in_gated);
	sd_event_source_disable_unref(s->timer);
	probe_free(s->probe);
	notify_free(s->notify);
	launch_done(&s->launch);
	policy_free(s->policy);
	free(s);
	return NULL;
}

bool service_is_ready(const struct service *s)
{
	return s->state == STATE_UP || s->state == STATE_DONE;
}

bool service_is_settled(const struct service *s)
{
	return service_is_ready(s) || s->state == STATE_FAILED ||
	       (s->state == STATE_DOWN && (!s->wanted || s->in_vain));
}

/* --- the state's timeout --- */

static uint64_t state_timeout(const struct service *s)
{
	switch (s->state) {
	case STATE_STARTING:
		return s->config->start_timeout_usec;
	case STATE_STOPPING:
	case STATE_CLEANING:
		if (s->main.alive)
			return s->config->stop_timeout_usec;
		return MIN(s->config->stop_timeout_usec, LEFTOVER_TIMEOUT_USEC);
	case STATE_KILLING:
		return KILL_AGAIN_USEC;
	case STATE_BACKOFF:
		return s->delay_usec;
	default:
		return USEC_INFINITY;
	}
}

static void act_arm(struct service *s, bool killed)
{
	uint64_t now = clock_now_usec();
	uint64_t end = clock_add(now, killed ? KILL_AGAIN_USEC : state_timeout(s));

	/* A second wait inside one ending never makes it longer, and a spent one is not begun again. */
	if (s->state == STATE_CLEANING && !killed && s->stop_limit_usec <= now)
		return;
	if ((s->state == STATE_STOPPING || s->state == STATE_CLEANING) && !killed)
		end = s->stop_limit_usec = MIN(end, s->stop_limit_usec);
	s->timeout_usec = end;
	context_arm(s->ctx, s->timer, end);
	if (s->state == STATE_KILLING && now - s->since_usec >= KILL_WARN_USEC &&
	    now - s->since_usec < KILL_WARN_USEC + KILL_AGAIN_USEC)
		log_line(s->ctx->log, LOG_ERR, "%s: SIGKILL does not end it; still trying",
			 s->config->path);
}

/* --- the one writer of the state --- */

static void note_counts(struct service *s, bool was_ready, bool was_settled)
{
	node_count(s->node, 0, service_is_ready(s) - was_ready,
		   service_is_settled(s) - was_settled);
}

/*
 * The end of an essential service is that of the tree; the first one counts.  One whose section is
 * gone is essential no more, and one that is being restarted has not come to its end.
 */
static void note_end(struct service *s)
{
	if (!s->config->essential || s->node->retired || s->ctx->ended)
		return;
	for (const struct node *n = s->node; n; n = n->parent)
		if (n->restart)
			return;
	s->ctx->ended = s;
}

static void enter(struct service *s, enum service_state next)
{
	bool was_ready = service_is_ready(s), was_settled = service_is_settled(s);

	if (s->state == next)
		return;
	log_line(s->ctx->log, LOG_DEBUG, "%s: %s -> %s", s->config->path, fsm_state_name(s->state),
		 fsm_state_name(next));
	if (next == STATE_GATED || (next == STATE_STOPPING && s->state != STATE_GATED))
		s->held_usec = clock_now_usec();
	s->ctx->failed += (unsigned)(next == STATE_FAILED) - (unsigned)(s->state == STATE_FAILED);
	s->state = next;
	s->since_usec = clock_now_usec();
	s->timeout_usec = USEC_INFINITY;
	(void)sd_event_source_set_enabled(s->timer, SD_EVENT_OFF);
	if (next == STATE_UP) {
		s->outcome.was_ready = true;
		if (s->config->ready.kind != READY_STARTED)
			log_line(s->ctx->log, LOG_INFO, "%s: ready", s->config->path);
	}
	if (next == STATE_UP || next == STATE_BACKOFF || next == STATE_DONE || next == STATE_FAILED)
		s->attempted = true;
	if (s->probe && next != STATE_STARTING)
		probe_stop(s->probe);
	if (next == STATE_DOWN || next == STATE_DONE || next == STATE_FAILED)
		note_end(s);
	if (!fsm_has_process(next) && next != STATE_BACKOFF)
		(void)service_cgroup_remove(s);
	note_counts(s, was_ready, was_settled);
	if (s->node->retired && !fsm_has_process(next))
		node_follow_up(s->node);
	context_settle_soon(s->ctx);
}

void service_handle(struct service *s, enum service_event event)
{
	struct service_step step = fsm_step(s->state, event);

	enter(s, step.to);
	if (step.actions & ACT_SPAWN)
		service_spawn(s);
	if (step.actions & ACT_TERM)
		service_term(s);
	if (step.actions & ACT_FORCED)
		service_forced(s);
	if (step.actions & ACT_KILL)
		service_kill(s);
	if (step.actions & ACT_ARM)
		act_arm(s, step.actions & ACT_KILL);
}
