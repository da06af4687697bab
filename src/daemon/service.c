#include "daemon/service.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/service-signal.h"
#include "daemon/service-start.h"

/* What is left when the main process is gone has this long after the stop signal, at most. */
#define LEFTOVER_TIMEOUT_USEC (10 * USEC_PER_SEC)
/* SIGKILL again after this: a process may have been made while the last one was sent. */
#define KILL_AGAIN_USEC USEC_PER_SEC
/* ... and after this many it is worth a word. */
#define KILL_WARN_USEC (5 * USEC_PER_SEC)

DEFINE_CLEANUP(struct service *, service_free)
DEFINE_CLEANUP(struct setup *, setup_free)

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
	s->ctx->sweep = true;
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

static int make_readiness(struct service *s, struct setup *setup)
{
	switch (setup->config->ready.kind) {
	case READY_NOTIFY:
		return notify_new(&setup->notify, s->ctx, on_message, s);
	case READY_FD:
	case READY_TCP:
		return probe_new(&setup->probe, s->ctx, &setup->config->ready, on_probe_ready, s);
	case READY_STARTED:
		break;
	}
	return 0;
}

struct setup *setup_free(struct setup *setup)
{
	if (!setup)
		return NULL;
	probe_free(setup->probe);
	notify_free(setup->notify);
	launch_done(&setup->launch);
	node_config_unref(setup->config);
	free(setup);
	return NULL;
}

int setup_new(struct setup **ret, struct service *s, const struct node_config *config)
{
	cleanup(setup_freep) struct setup *setup = calloc(1, sizeof(*setup));
	int r;

	if (!setup)
		return -ENOMEM;
	setup->config = node_config_ref(config);
	r = make_readiness(s, setup);
	if (r < 0)
		return r;
	r = launch_init(&setup->launch, s->ctx, config,
			setup->notify ? notify_address(setup->notify) : NULL);
	if (r < 0)
		return r;
	*ret = take(setup);
	return 0;
}

void service_use_next_setup(struct service *s)
{
	struct setup *next = s->next_setup;
	struct setup present;

	if (!next)
		return;
	s->next_setup = NULL;
	present = (struct setup){ .config = s->launch.config,
				  .launch = s->launch,
				  .notify = s->notify,
				  .probe = s->probe };
	s->launch = next->launch;
	s->notify = next->notify;
	s->probe = next->probe;
	*next = present;
	setup_free(next);
}

/* What it waits for now is waited for as long as it says now; an ending goes on as it began. */
static void rearm(struct service *s)
{
	if (s->state != STATE_STARTING)
		return;
	s->timeout_usec = clock_add(s->since_usec, s->config->start_timeout_usec);
	context_arm(s->ctx, s->timer, s->timeout_usec);
}

void service_reconfigure(struct service *s, const struct node_config *config,
			 struct setup *setup, struct policy *policy)
{
	const struct node_config *before = s->config;

	s->config = node_config_ref(config);
	if (policy) {
		policy_inherit(policy, s->policy);
		policy_free(s->policy);
		s->policy = policy;
	} else {
		policy_use(s->policy, config);
	}
	if (setup) {
		setup_free(s->next_setup);
		s->next_setup = setup;
		s->stop_signal = config->stop_signal;
		rearm(s);
	}
	node_config_unref(before);
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
	s->timeout_usec = s->stop_limit_usec = USEC_INFINITY;
	s->stop_signal = s->config->stop_signal;
	list_init(&s->in_posted);
	list_init(&s->in_lingering);
	list_init(&s->in_waiting);
	list_init(&s->in_gated);
	list_init(&s->leftovers);
	process_init(&s->main, PROCESS_MAIN, s);
	node_count(node, 1, 0, 1);

	r = policy_new(&s->policy, s->config);
	if (r < 0)
		return r;
	r = sd_event_add_time(s->ctx->event, &s->timer, CLOCK_MONOTONIC, USEC_INFINITY, 1,
			      on_timeout, s);
	if (r < 0)
		return r;
	r = setup_new(&s->next_setup, s, config);
	if (r < 0)
		return r;
	service_use_next_setup(s);
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
	list_remove(&s->in_posted);
	list_remove(&s->in_lingering);
	list_remove(&s->in_waiting);
	list_remove(&s->in_gated);
	sd_event_source_disable_unref(s->timer);
	probe_free(s->probe);
	notify_free(s->notify);
	node_config_unref(take(s->launch.config));
	launch_done(&s->launch);
	setup_free(s->next_setup);
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

/* For whoever watches; what has happened is the end of a run, or what it is called. */
static void tell_change(struct service *s, enum service_state next, enum service_event event)
{
	bool ended = event == EVENT_DONE || event == EVENT_RETRY || event == EVENT_FAIL;
	char text[OUTCOME_TEXT_MAX];

	events_add(s->ctx->events,
		   &(struct event){
			   .kind = "service",
			   .node = s->config->path,
			   .generation = s->node->generation,
			   .from = fsm_state_name(s->state),
			   .to = fsm_state_name(next),
			   .reason = ended ? policy_outcome_text(text, &s->outcome)
					   : fsm_event_name(event),
		   });
}

static void enter(struct service *s, enum service_state next, enum service_event event)
{
	bool was_ready = service_is_ready(s), was_settled = service_is_settled(s);

	if (s->state == next)
		return;
	log_line(s->ctx->log, LOG_DEBUG, "%s: %s -> %s", s->config->path, fsm_state_name(s->state),
		 fsm_state_name(next));
	tell_change(s, next, event);
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
	if (s->node->transient && !fsm_has_process(next))
		node_finished(s->node);
	note_counts(s, was_ready, was_settled);
	if ((s->node->retired || !s->node->config->argv) && !fsm_has_process(next))
		node_follow_up(s->node);
	context_settle_soon(s->ctx);
}

void service_handle(struct service *s, enum service_event event)
{
	struct service_step step = fsm_step(s->state, event);

	enter(s, step.to, event);
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
