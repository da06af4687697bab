/*
 * service_enter() is the only writer of the state.  It notifies the members of the service and puts effects
 * on other services on the agenda; the actions of the transition follow.
 */
#include "daemon/service/machine.h"

#include "daemon/service/health.h"
#include "daemon/service/main-process.h"
#include "daemon/service/notify.h"
#include "daemon/service/setup.h"
#include "daemon/service/start.h"
#include "daemon/service/timeout.h"
#include "model/keys/keys.h"

DEFINE_CLEANUP(struct service *, service_free)

static void service_on_timeout(struct service *s)
{
	s->timed_out = true;
	if (s->ctx->held_usec && fsm_is_going_down(s->state) && s->state != STATE_KILLING)
		return; /* until service_postpone() */
	if (s->state == STATE_DOWN || s->state == STATE_BACKOFF)
		service_update_soon(s);
	else
		service_post(s, service_has_spent_budget(s) ? EVENT_KILL : EVENT_TIMEOUT);
	/* An exit without an event is found here. */
	if (!s->main.alive && (s->main.pid > 0 || s->group.exists))
		service_check_exits(s);
}

static void service_on_timer(struct alarm *alarm)
{
	struct service *s = container_of(alarm, struct service, timer);
	uint64_t now = clock_now_usec();

	service_kill_late_kept(s);
	if (service_warning_usec(s) <= now)
		node_guards_changed(s->node);
	if (!s->timed_out && s->timeout_usec <= now)
		service_on_timeout(s);
	service_set_timer(s);
}

static void service_on_group_change(struct cgroup_watch *watch)
{
	struct service *s = container_of(watch, struct service, group.watch);

	if (!s->main.alive)
		service_check_exits(s);
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
	s->setup.extras = (struct setup_extras *)&setup_no_extras;
	list_init(&s->remaining);
	control_group_init(&s->group, s->ctx, s->config, service_on_group_change);
	process_init(&s->main, PROCESS_MAIN, s);
	alarm_init(&s->timer, service_on_timer);
	service_recount(s);

	r = policy_new(&s->policy, s->config);
	if (r >= 0)
		r = setup_new(&s->next_setup, s, s->config);
	if (r < 0)
		return r;
	service_use_next_setup(s);
	control_group_use(&s->group, s->config);
	service_update_soon(s); /* it may start by itself */
	service_update_demand(s);
	*ret = take(s);
	return 0;
}

struct service *service_free(struct service *s)
{
	if (!s)
		return NULL;
	service_discount(s);
	while (!list_is_empty(&s->remaining))
		process_free(list_entry(s->remaining.next, struct process, by_service));
	service_unwatch_main(s);
	roster_write(s->ctx->roster, &s->place, NULL);
	roster_write(s->ctx->roster, &s->messages_place, NULL);
	process_remove(&s->main);
	control_group_done(&s->group);
	agenda_remove(&s->ctx->agenda, SERVICE_TASKS, &s->node->due);
	alarm_stop(&s->ctx->alarms, &s->timer);
	service_setup_done(s);
	watchdog_done(s->watchdog);
	free(s->watchdog);
	calls_free(s->calls);
	free(s->looked.file);
	if (s->recycle) {
		alarm_stop(&s->ctx->alarms, &s->recycle->alarm);
		closer_done(&s->recycle->closer);
		free(s->recycle);
	}
	policy_free(s->policy);
	node_config_unref(s->config);
	return free_memory(s);
}

/* --- the only writer of the state --- */

/* Returns true if the service leaves its state because of the outcome of its run. */
static bool service_is_by_outcome(const struct service *s, enum service_event event)
{
	switch (event) {
	case EVENT_DONE:
	case EVENT_RETRY:
	case EVENT_FAIL:
		return true;
	case EVENT_BROKEN:
	case EVENT_ORPHANED:
	case EVENT_TIMEOUT:
	case EVENT_UNWELL:
		return fsm_is_coming_up(s->state) || s->state == STATE_UP;
	default:
		return false;
	}
}

/*
 * Puts the effects of the change on other services on the agenda of this update turn or the next.
 */
static void service_put_on_agenda(struct service *s, enum service_event event)
{
	bool has_process = fsm_has_process(s->state);
	/* A oneshot has ended when its work is done, even if it stays up for its later commands. */
	bool has_worked = s->state == STATE_UP && s->run.worked;

	if ((s->state >= STATE_BACKOFF || has_worked) && event < EVENT_FOUND)
		node_add_task(s->node, TASK_FAILURES);
	if ((!has_process && s->state != STATE_BACKOFF && event != EVENT_RESET) || has_worked)
		node_add_task(s->node, TASK_ENDS);
	if (!has_process && s->node->timetable)
		node_add_task(s->node, TASK_SCHEDULES);
	service_update_demand(s);
	if (s->state == STATE_UP)
		node_add_task(s->node, TASK_RECYCLES);
	if (!has_process && s->node->transient)
		node_add_task(s->node, TASK_TRANSIENT);
	if (!has_process && (s->node->goal == GOAL_GONE || !s->node->config->argv))
		node_update_soon(s->node);
	service_update_soon(s);
	context_update_soon(s->ctx);
}

/* Adapts readiness, notify socket, health check and the like to the new state. */
static void service_update_members(struct service *s)
{
	if (s->setup.extras->readiness && s->state != STATE_STARTING) {
		if (s->run.outcome.kind != OUTCOME_NONE)
			readiness_explain_failure(s->setup.extras->readiness);
		readiness_stop(s->setup.extras->readiness);
	}
	if (s->setup.extras->pid_watch && s->state != STATE_STARTING) {
		pid_watch_end(s->setup.extras->pid_watch);
		s->run.pid_file_fault = NULL;
	}
	service_notify_update(s);
	health_update(s->setup.extras->health);
	if (fsm_has_process(s->state))
		return;
	service_detach_kept(s);
	if (s->setup.extras->attach)
		attach_end(s->setup.extras->attach);
	if (s->state != STATE_BACKOFF)
		(void)control_group_remove(&s->group);
}

/*
 * An end without a stop is recorded like one with a stop.  The stop of an earlier generation may
 * still be recorded.
 */
static void service_trace_change(struct service *s, enum service_state before)
{
	bool by_itself = !s->node->stop_usec && fsm_has_process(before);
	bool over = !fsm_has_process(s->state);
	struct trace *trace = s->node->trace;
	char text[OUTCOME_TEXT_MAX];

	if (by_itself && (over || s->state == STATE_CLEANING || s->state == STATE_FINISHING) &&
	    !trace_is_ending(trace))
		trace_begin(trace, s->node->generation, fsm_state_name(before), s->since_usec);
	trace_state(trace, fsm_state_name(s->state), s->since_usec);
	if (!by_itself || !over || !trace_is_ending(trace))
		return;
	if (!*trace->why)
		trace_explain(trace, policy_outcome_text(text, &s->run.outcome));
	trace_complete(trace, s->run.killed, 0, USEC_INFINITY, s->since_usec);
}

static void service_enter(struct service *s, enum service_state next, enum service_event event)
{
	enum service_state before = s->state;
	char text[OUTCOME_TEXT_MAX];

	if (s->state == next)
		return;
	service_log(s, LOG_DEBUG, "%s -> %s", fsm_state_name(s->state), fsm_state_name(next));
	/* Reports the change to subscribers of events. */
	node_add_event(s->node, "service", fsm_state_name(s->state), fsm_state_name(next),
		       service_is_by_outcome(s, event) ? policy_outcome_text(text, &s->run.outcome)
						       : fsm_reason(s->state, event));
	s->ctx->changes++;
	if (fsm_is_going_down(next) && !fsm_is_going_down(s->state))
		s->held_usec = clock_now_usec();
	s->state = next;
	s->since_usec = clock_now_usec();
	s->blocked = false;
	service_trace_change(s, before);
	service_disarm(s);
	service_forget_posted(s, EVENT_TIMEOUT);
	/* Records progress that the run keeps. */
	if (next == STATE_READYING || next == STATE_UP)
		s->run.outcome.was_ready = true;
	if (next == STATE_UP) {
		s->run.was_up = true;
		/* Remaining processes of a oneshot have ended, not the oneshot itself. */
		s->ending = (struct ending){ 0 };
	}
	if (next == STATE_UP && event != EVENT_FOUND &&
	    s->setup.launch.config->ready.kind != PROBE_STARTED)
		service_log(s, LOG_INFO, "ready");
	if (next == STATE_UP && !s->setup.extras->health)
		health_note_well(s);
	if (next == STATE_UP || next == STATE_BACKOFF || next == STATE_DONE || next == STATE_FAILED)
		s->attempted = true;
	service_update_members(s);
	service_recount(s);
	service_update_roster(s);
	service_put_on_agenda(s, event);
}

static void service_note_timeout(struct service *s)
{
	struct launch_failure step;

	if (s->state == STATE_BACKOFF)
		s->restarts++;
	if (!fsm_is_coming_up(s->state))
		return;
	if (service_awaits_main(s))
		service_explain_main(s);
	s->run.outcome.kind = OUTCOME_START_TIMEOUT;
	if (service_awaits_program(s, &step)) {
		s->run.outcome.step = step.step;
		s->run.outcome.subject = step.subject;
	}
	if (s->setup.extras->hook && hook_is_running(s->setup.extras->hook))
		s->run.outcome.hook = s->setup.extras->hook->outcome.hook;
}

void service_handle(struct service *s, enum service_event event)
{
	bool at_rest = !fsm_has_process(s->state);
	struct service_step step;

	if (event == EVENT_TIMEOUT)
		service_note_timeout(s);
	if (at_rest)
		s->run.parts = service_configured_parts(s);
	step = fsm_step(s->state, event, service_parts(s));
	if (at_rest && fsm_has_process(step.to))
		service_begin(s);
	service_enter(s, step.to, event);
	if (step.actions & ACT_HOOK)
		service_run_hook(s);
	if (step.actions & ACT_SPAWN)
		service_spawn(s);
	if (step.actions & ACT_TERM)
		service_term(s);
	if (step.actions & ACT_FORCED)
		service_forced(s);
	if (step.actions & ACT_KILL)
		service_kill(s);
	if (step.actions & ACT_ARM)
		service_arm(s, step.actions & ACT_KILL);
	/* Without a process there will be no exit to handle. */
	if ((step.actions & (ACT_TERM | ACT_KILL)) && !service_has_any(s) &&
	    !agenda_has(&s->node->due, TASK_EXITS))
		service_check_exits(s);
	/* Its signal was sent, its ending has begun, or the control group has refused its command. */
	if (step.actions)
		service_update_roster(s);
}

/* The events lead through the states without a process in their order. */
static enum service_event service_resume_event(enum service_state state)
{
	if (state >= STATE_BACKOFF)
		return (enum service_event)(EVENT_WAS_BACKOFF + (state - STATE_BACKOFF));
	return fsm_is_coming_up(state) ? EVENT_RESUMED : EVENT_FOUND;
}

static bool service_is_outcome(const struct outcome *outcome)
{
	unsigned char was_ready;

	memcpy(&was_ready, &outcome->was_ready, sizeof(was_ready));
	if (was_ready > true || outcome->end > END_DUMPED)
		return false;
	if (outcome->kind == OUTCOME_EXITED)
		return outcome->value >= 0 && outcome->value <= UINT8_MAX;
	if (outcome->kind == OUTCOME_SIGNALED)
		return outcome->value > 0 && outcome->value < NSIG;
	return outcome->kind <= OUTCOME_CONDITION;
}

bool service_can_resume(const struct service *s, const struct roster_row *row)
{
	enum service_state state;
	struct service_row was;

	memcpy(&was, row->detail, sizeof(was));
	if (was.state <= STATE_DOWN || was.state >= N_STATES)
		return false;
	state = (enum service_state)was.state;
	if (row->number ? !fsm_has_process(state)
			: fsm_has_process(state) && !fsm_is_going_down(state) &&
				  was.run.outcome.kind == OUTCOME_NONE)
		return false;
	return service_is_outcome(&was.run.outcome) &&
	       (!was.run.concluded || was.run.verdict == EVENT_DONE ||
		was.run.verdict == EVENT_RETRY || was.run.verdict == EVENT_FAIL);
}

enum service_state service_resume(struct service *s, const struct roster_row *row)
{
	struct outcome *outcome = &s->run.outcome;
	struct service_row was;

	memcpy(&was, row->detail, sizeof(was));
	s->delay_usec = clock_until(clock_add(was.since_usec, was.delay_usec), clock_now_usec());
	service_handle(s, service_resume_event((enum service_state)was.state));
	s->run = was.run;
	if (was.run.refused)
		control_group_forget(&s->group);
	s->run.generation = s->node->generation;
	s->run.parts &= service_configured_parts(s);
	s->run.worked &= s->state == STATE_UP;
	/* The texts about the run come from the former image. */
	outcome->step = outcome->step ? "run" : NULL;
	outcome->subject = s->config->argv[0];
	outcome->hook = outcome->unfound = NULL;
	s->run.pid_file_fault = NULL;
	s->since_usec = was.since_usec;
	service_recount(s);
	if (s->watchdog && s->state == STATE_UP)
		watchdog_set(s->watchdog, was.watchdog_usec);
	service_extend_start(s, was.start_limit_usec);
	s->delay_usec = was.delay_usec;
	s->restarts = (unsigned)was.restarts;
	*policy_delay(s->policy) = was.next_delay_usec;
	/*
	 * A service that was stopping is up until its node is stopped again, and then has the
	 * time that it had left.
	 */
	s->main.signalled_usec = was.signalled_usec;
	s->ending = (struct ending){
		.began_usec = was.began_usec,
		.idle_usec = was.idle_usec,
		.extended_usec = was.extended_usec,
		.remaining_usec = USEC_INFINITY,
		.last_call_usec = USEC_INFINITY,
		.limit_usec = USEC_INFINITY,
	};
	service_update_roster(s);
	if (!fsm_has_process(s->state)) {
		(void)control_group_remove(&s->group);
	} else if (!s->main.alive) {
		s->main.guard = swansong_guard(s->node->work);
		s->main.generation = s->node->generation;
		/* The goal decides on a stop that has not released it. */
		if (was.state > STATE_WAITING && fsm_is_going_down((enum service_state)was.state)) {
			service_handle(s, EVENT_HOLD);
			service_post(s, EVENT_RELEASE);
		}
		service_check_exits(s);
	}
	return (enum service_state)was.state;
}

void service_handle_posted(struct service *s)
{
	while (s->posted.n > 0) {
		enum service_event event = s->posted.events[0];

		service_forget_posted(s, event);
		service_handle(s, event);
	}
}
