#include "daemon/service-exit.h"

#include <string.h>

#include "base/clock.h"
#include "base/fd.h"
#include "daemon/service-main.h"
#include "daemon/service-signal.h"

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
	if (s->outcome.kind != OUTCOME_START_TIMEOUT && s->outcome.kind != OUTCOME_WATCHDOG)
		s->outcome.kind = exit->signaled ? OUTCOME_SIGNALED : OUTCOME_EXITED;
	s->outcome.value = exit->value;
	s->main.alive = false;
	s->main.pidfd = fd_close(s->main.pidfd);
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
	p->guard = swansong_guard(s->node->handle);
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
	bool stopping =
		s->state == STATE_GATED || s->state == STATE_STOPPING || s->state == STATE_KILLING;
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

/* Nothing of the run is left. */
static void conclude(struct service *s)
{
	uint64_t now = clock_now_usec();
	enum service_event event;

	event = policy_decide(s->policy, &s->outcome, now, now - s->started_usec, &s->delay_usec);
	log_end(s, event);
	service_handle(s, event);
	process_remove(&s->main);
	s->main.signalled = false;
}

void service_settle_exit(struct service *s)
{
	if (s->main.alive || !fsm_has_process(s->state)) {
		list_remove(&s->in_lingering);
		return;
	}
	if (list_is_empty(&s->leftovers) && !service_has_group(s)) {
		list_remove(&s->in_lingering);
		conclude(s);
		return;
	}
	/*
	 * The leftovers have guards of their own, and their deaths bring us here again.  Where they
	 * are not known one by one, the service's guard stands for them, and it stays on the list.
	 */
	if (!list_is_empty(&s->leftovers)) {
		list_remove(&s->in_lingering);
		swansong_guard_drop(&s->main.guard);
	}
	service_handle(s, EVENT_ORPHANED);
}
