#include "daemon/service-exit.h"

#include <string.h>

#include "base/clock.h"
#include "base/fd.h"
#include "daemon/service-hook.h"
#include "daemon/service-main.h"
#include "daemon/service-signal.h"

static void note_exit(struct outcome *outcome, const struct reap_exit *exit)
{
	outcome->end = exit->dumped ? END_DUMPED : exit->signaled ? END_KILLED : END_EXITED;
	outcome->end_value = exit->value;
	if (outcome->hook)
		return; /* that it ended is what followed from this one's trouble */
	if (outcome->kind != OUTCOME_START_TIMEOUT && outcome->kind != OUTCOME_WATCHDOG &&
	    outcome->kind != OUTCOME_UNHEALTHY)
		outcome->kind = exit->signaled ? OUTCOME_SIGNALED : OUTCOME_EXITED;
	outcome->value = exit->value;
}

void service_process_died(struct service *s, struct process *process, const struct reap_exit *exit)
{
	/*
	 * What it said before it died is heard before.  That may have been that another process is the
	 * main one now; then it is a leftover.
	 */
	if (s->notify)
		notify_drain(s->notify);
	process = process_find(s->ctx->processes, exit->pid);
	if (process->kind == PROCESS_LEFTOVER) {
		log_line(s->ctx->log, LOG_INFO, "%s: leftover pid %d (%s) is gone", s->config->path,
			 (int)process->pid, process->name);
		/* What it leaves is not known before the next sweep: its guard stands for that. */
		if (!s->main.guard.node) {
			s->main.guard = process->guard;
			s->main.generation = process->generation;
			process->guard = (struct swansong_guard){ .node = NULL };
		}
		process_free(process);
		if (!s->main.alive)
			service_look_after(s);
		return;
	}
	service_unfollow(s);
	note_exit(&s->outcome, exit);
	s->main.alive = false;
	s->main.pidfd = fd_close(s->main.pidfd);
	launch_ended(&s->launch, s->main.group);
	service_look_after(s);
}

int service_adopt(struct service *s, pid_t pid, pid_t group, const char *name)
{
	struct process *p;
	int r;

	r = process_new(&p, PROCESS_LEFTOVER, s);
	if (r < 0)
		return r;
	/* Nobody but us collects it, so the pid will do; there may be more of them than descriptors. */
	process_add(s->ctx->processes, p, pid, -1);
	p->group = group;
	p->id = ++s->ctx->last_id;
	p->guard = swansong_guard(s->node->work);
	p->generation = s->node->generation;
	p->signalled = s->main.signalled && group == s->main.group;
	strncpy(p->name, name, sizeof(p->name) - 1);
	list_append(&s->leftovers, &p->by_service);
	log_line(s->ctx->log, LOG_INFO, "%s: pid %d (%s) is a leftover of it", s->config->path,
		 (int)pid, p->name);
	return 0;
}

static void log_end(struct service *s, enum service_event event)
{
	bool stopping = fsm_is_going_down(s->state);
	bool clean = policy_is_clean(s->config, &s->outcome);
	/* In front of a command its end is passed on, and nobody's trouble; that it never began is. */
	bool passed_on = s->ctx->command && s->outcome.kind != OUTCOME_SPAWN_FAILED;
	char text[OUTCOME_TEXT_MAX], delay[CLOCK_TEXT_MAX];

	policy_outcome_text(text, &s->outcome);
	if (stopping)
		log_line(s->ctx->log, LOG_INFO, "%s: %s", s->config->path, text);
	else if (event == EVENT_RETRY)
		log_line(s->ctx->log, clean ? LOG_INFO : LOG_WARNING, "%s: %s; again in %s",
			 s->config->path, text, clock_text(delay, s->delay_usec));
	else if (event == EVENT_FAIL)
		log_line(s->ctx->log, passed_on ? LOG_INFO : LOG_ERR, "%s: %s; failed%s",
			 s->config->path, text,
			 s->config->restart == RESTART_NEVER ? ""
							     : ", its restart-limit is reached");
	else
		log_line(s->ctx->log, LOG_INFO, "%s: %s; done", s->config->path, text);
}

/* A oneshot that has done its work: is there more to do, now or when it is stopped? */
static bool is_to_be_kept(const struct service *s)
{
	return s->config->type == TYPE_ONESHOT && !s->worked &&
	       (s->state == STATE_STARTING || s->state == STATE_CLEANING) &&
	       policy_is_clean(s->config, &s->outcome) &&
	       (s->parts & (PART_POST_START | PART_STOP_COMMAND | PART_POST_STOP));
}

/* Its process is gone, and the guard is now for what is to be undone. */
static void keep(struct service *s)
{
	struct swansong_guard guard = swansong_guard(s->node->work);

	process_remove(&s->main);
	s->main.guard = guard;
	s->main.generation = s->node->generation;
	s->main.signalled = false;
	s->worked = true;
	service_handle(s, EVENT_WORKED);
}

static bool is_kept(const struct service *s)
{
	if (!s->worked || !(s->parts & (PART_STOP_COMMAND | PART_POST_STOP)))
		return false;
	return s->state == STATE_READYING || s->state == STATE_UP || s->state == STATE_GATED;
}

/* Once a run: what it was is not to be counted twice. */
static void judge(struct service *s)
{
	uint64_t now = clock_now_usec();
	bool began = s->outcome.end != END_NONE || s->outcome.kind == OUTCOME_UNKNOWN;
	uint64_t ran = began ? now - s->started_usec : 0;

	if (s->concluded)
		return;
	s->concluded = true;
	s->verdict = policy_decide(s->policy, &s->outcome, now, ran, &s->delay_usec);
	if (!s->worked)
		log_end(s, s->verdict);
}

/* Nothing of the run is left; but for its post-stop, which may follow from this. */
static void conclude(struct service *s)
{
	judge(s);
	service_handle(s, s->verdict);
	process_remove(&s->main);
	s->main.signalled = false;
}

void service_settle_exit(struct service *s)
{
	service_settle_hooks(s);
	if (s->main.alive || !fsm_has_process(s->state) || service_awaits_hook(s) || is_kept(s)) {
		list_remove(&s->in_lingering);
		return;
	}
	if (!service_has_any(s)) {
		list_remove(&s->in_lingering);
		if (is_to_be_kept(s))
			keep(s);
		else
			conclude(s);
		return;
	}
	/*
	 * The leftovers have guards of their own, and their deaths bring us here again.  Where they
	 * are not known one by one, the service's guard stands for them, and it stays on the list.
	 */
	if (!list_is_empty(&s->leftovers) || service_running_hook(s, 0)) {
		list_remove(&s->in_lingering);
		swansong_guard_drop(&s->main.guard);
	}
	service_handle(s, EVENT_ORPHANED);
}
