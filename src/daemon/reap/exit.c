/*
 * The end of a main process or of a remaining one puts its service on the agenda; TASK_EXITS finds
 * out what remains.  While processes remain, the run goes on and the state machine ends them.  When
 * none does, the restart policy decides on the run, once, and the state machine gets its verdict.
 * The guard of a dead process is held until its own remaining processes are known and have guards.
 *
 * The end of a command begins the next one of its part, or ends the part.  Its guard passes to the run, so
 * that no generation completes between two of them.
 */
#include "daemon/reap/exit.h"

#include "daemon/service/machine.h"
#include "daemon/service/main-process.h"
#include "daemon/service/reload.h"
#include "daemon/service/signal.h"
#include "daemon/service/start.h"
#include "daemon/spawn/command.h"

static void service_note_exit(struct outcome *outcome, const struct reap_exit *exit)
{
	outcome->end = exit->dumped ? END_DUMPED : exit->signaled ? END_KILLED : END_EXITED;
	outcome->end_value = exit->value;
	if (outcome->hook)
		return; /* a consequence of the problem of that command */
	if (outcome->kind != OUTCOME_START_TIMEOUT && outcome->kind != OUTCOME_WATCHDOG &&
	    outcome->kind != OUTCOME_UNHEALTHY)
		outcome->kind = exit->signaled ? OUTCOME_SIGNALED : OUTCOME_EXITED;
	outcome->value = exit->value;
}

void service_process_died(struct service *s, struct process *process, const struct reap_exit *exit)
{
	s->ctx->changes++;
	if (process->kind == PROCESS_REMAINING) {
		service_log(s, LOG_INFO, "remaining pid %d (%s) has ended", (int)process->pid,
			    process->name);
		/*
		 * Its own children are not known before the next scan: its guard is held for these,
		 * without an id.  That of a process of an earlier run holds the root only.
		 */
		if (!s->main.guard.node || (s->main.kept && !process->kept)) {
			swansong_guard_drop(&s->main.guard);
			s->main.id = 0;
			s->main.kept = process->kept;
			s->main.guard = process->guard;
			s->main.generation = process->generation;
			s->main.until_usec = process->until_usec;
			process->guard = (struct swansong_guard){ .node = NULL };
		}
		process_free(process);
		trace_touch(s->node->trace);
		if (!s->main.alive)
			service_check_exits(s);
		/* Children of the dead process are now children of the daemon. */
		context_scan_orphans(s->ctx);
		if (s->node->goal == GOAL_GONE)
			node_update_soon(s->node);
		return;
	}
	service_unwatch_main(s);
	process->last_uid = exit->uid;
	service_note_exit(&s->run.outcome, exit);
	s->main.alive = false;
	s->main.pidfd = fd_close(s->main.pidfd);
	service_update_roster(s);
	launch_ended(&s->setup.launch, s->main.group);
	service_check_exits(s);
}

bool service_may_have_remaining(const struct service *s)
{
	return fsm_has_process(s->state) || !s->config->kill_leftovers;
}

bool service_has_ended_claims(struct service *s)
{
	if (!fsm_has_process(s->state) || !s->run.killed || service_keeps_remaining(s) ||
	    clock_now_usec() < s->run.claims_usec)
		return false;
	if (s->run.claims_usec)
		service_log(
			s, LOG_WARNING,
			"killing new processes with its SWANSONG_NODE, and not waiting for them");
	s->run.claims_usec = 0;
	return true;
}

/* Returns a process with a guard of this run, or NULL. */
static const struct process *service_find_guarded(const struct service *s)
{
	if (s->main.guard.node)
		return &s->main;
	if (list_is_empty(&s->remaining))
		return NULL;
	return list_entry(s->remaining.next, struct process, by_service);
}

/* Takes a guard for @p on the generation of its run, which may be an earlier one. */
static void service_guard_remaining(struct service *s, struct process *p)
{
	const struct process *of_run = service_find_guarded(s);

	if (of_run) {
		p->guard = swansong_guard_clone(&of_run->guard);
		p->generation = of_run->generation;
		p->kept = of_run->kept;
		service_join_kept(s, p, of_run);
		return;
	}
	p->kept = !fsm_has_process(s->state);
	p->guard = swansong_guard(p->kept ? node_root(s->node)->work : s->node->work);
	p->generation = s->node->generation;
}

/*
 * Returns true if @pid has received the stop signal with its group.  A process that was started
 * later has not, such as a child of a signal handler.  If both fall into one clock tick it gets the
 * signal again: a second one does less harm than none.
 */
static bool service_has_signal(const struct service *s, pid_t pid, pid_t group)
{
	uint64_t age_usec;

	return service_has_signalled(s, group) &&
	       (proc_age(pid, &age_usec) < 0 ||
		age_usec >= clock_now_usec() - s->main.signalled_usec);
}

int service_adopt(struct service *s, pid_t pid, pid_t group, const char *name)
{
	struct process *p;
	int r;

	r = process_new(&p, PROCESS_REMAINING, s);
	if (r < 0)
		return r;
	/*
	 * Only the daemon collects it, so the pid is sure; descriptors may be fewer than such
	 * processes.
	 */
	process_add(s->ctx->processes, p, pid, -1);
	p->group = group;
	p->id = ++s->ctx->last_id;
	service_guard_remaining(s, p);
	if (service_has_signal(s, pid, group))
		p->signalled_usec = s->main.signalled_usec;
	strncpy(p->name, name, sizeof(p->name) - 1);
	list_append(&s->remaining, &p->by_service);
	trace_touch(s->node->trace);
	service_log(s, LOG_INFO, "found remaining pid %d (%s)", (int)pid, p->name);
	/* The budget had expired before the process was found. */
	if (fsm_has_process(s->state) && service_kill_usec(s) <= p->since_usec)
		(void)process_signal(p, SIGKILL);
	service_stop_kept(s);
	return 0;
}

/* Adopts only children of the daemon: other members of the group end, or become children, before these end. */
static void service_adopt_member(pid_t pid, void *arg)
{
	struct service *s = arg;
	struct proc_info info;

	if (process_find(s->ctx->processes, pid) || proc_read(pid, &info) < 0 ||
	    info.parent != s->ctx->keeper.reaper || info.state == 'Z')
		return;
	(void)service_adopt(s, pid, info.group, info.name);
}

/*
 * Returns true if processes remain after the main process.  A command that runs beside it does not
 * count.
 */
static bool service_has_remaining(struct service *s)
{
	if (command_spares_remaining(s->ctx->command))
		return false;
	if (!s->group.exists)
		return !list_is_empty(&s->remaining) || service_has_group(s);
	/* The run has not begun.  The child that failed to execute may not have ended yet. */
	if (s->main.pid == 0 && s->run.outcome.kind == OUTCOME_SPAWN_FAILED)
		return !list_is_empty(&s->remaining);
	/* If no command of the run follows, to remove the control group is the cheapest test. */
	if (fsm_is_going_down(s->state) && !(service_parts(s) & PART_POST_STOP) &&
	    control_group_remove(&s->group))
		return !list_is_empty(&s->remaining);
	if (!control_group_is_populated(&s->group))
		return !list_is_empty(&s->remaining);
	control_group_watch(&s->group, service_adopt_member, s);
	/* The group may have become empty between the first test and the watch. */
	return !list_is_empty(&s->remaining) || control_group_is_populated(&s->group);
}

static void service_log_end(struct service *s, enum service_event event)
{
	bool clean = policy_is_clean(s->config, &s->run.outcome);
	/*
	 * With a command, the result is passed on and is no failure, unless it could not be
	 * started.
	 */
	bool passed_on = s->ctx->command && s->run.outcome.kind != OUTCOME_SPAWN_FAILED;
	char text[OUTCOME_TEXT_MAX], delay[CLOCK_TEXT_MAX];

	policy_outcome_text(text, &s->run.outcome);
	if (fsm_is_going_down(s->state))
		service_log(s, LOG_INFO, "%s", text);
	else if (event == EVENT_RETRY)
		service_log(s, clean ? LOG_INFO : LOG_WARNING, "%s; again in %s", text,
			    clock_text(delay, s->delay_usec));
	else if (event == EVENT_FAIL)
		service_log(s, passed_on ? LOG_INFO : LOG_ERR, "%s; failed%s", text,
			    s->config->restart == RESTART_NEVER || node_is_aside(s->node)
				    ? ""
				    : ": restart-limit is reached; swansongctl start resets it");
	else
		service_log(s, LOG_INFO, "%s; done", text);
}

/* Without a scan: all remaining processes are known already. */
static void service_on_output(void *arg)
{
	const struct service *s = arg;

	node_add_task(s->node, TASK_EXITS);
}

/* The last lines should be in their files at the end of the run, unless that takes long. */
static bool service_awaits_output(struct service *s)
{
	return s->state != STATE_KILLING &&
	       capture_awaits(s->setup.launch.capture, service_on_output, s);
}

static void service_end_output(struct service *s)
{
	uint64_t until = clock_add(clock_now_usec(), s->config->stop_timeout_usec);

	capture_end(s->setup.launch.capture, &s->main.guard, s->main.generation,
		    MIN(until, service_kill_usec(s)));
}

/* Keeps the run after its process has ended: its guard is now for the later commands. */
static void service_keep_run(struct service *s)
{
	struct swansong_guard guard = swansong_guard(s->node->work);

	service_end_output(s);
	process_remove(&s->main);
	s->main.guard = guard;
	s->main.kept = false;
	s->main.generation = s->node->generation;
	s->main.signalled_usec = 0;
	s->run.worked = true;
	service_handle(s, EVENT_WORKED);
}

/* Returns the parts for which a oneshot that has done its work goes on. */
static unsigned service_later_parts(const struct service *s)
{
	const struct node_config *config = s->setup.launch.config;
	bool has_post_stop = node_config_hook(config, HOOK_POST_STOP)->n > 0;

	return s->run.parts & (PART_STOP_COMMAND | (has_post_stop ? PART_POST_STOP : 0));
}

static bool service_is_kept(const struct service *s)
{
	if (!s->run.worked || !service_later_parts(s))
		return false;
	return s->state == STATE_READYING || s->state == STATE_UP || s->state == STATE_WAITING;
}

/* Decides on the run, once: a failure must not be counted twice. */
static void service_decide_run(struct service *s)
{
	uint64_t now = clock_now_usec();
	bool began = s->run.outcome.end != END_NONE || s->run.outcome.kind == OUTCOME_UNKNOWN;
	uint64_t ran = began ? now - s->run.started_usec : 0;

	if (s->run.concluded)
		return;
	s->run.concluded = true;
	s->run.verdict = policy_decide(s->policy, &s->run.outcome, now, ran, &s->delay_usec);
	s->delay_usec = clock_add(s->delay_usec,
				  clock_random(policy_jitter_limit(s->config, s->delay_usec)));
	/* A successor is not tried again. */
	if (s->run.verdict == EVENT_RETRY && node_is_aside(s->node))
		s->run.verdict = EVENT_FAIL;
	/*
	 * A oneshot that has done its work keeps its state; only a failure of its later commands
	 * ends it.
	 */
	if (!s->run.worked || s->run.verdict != EVENT_DONE)
		service_log_end(s, s->run.verdict);
}

/*
 * Returns true if the main process of a forking service was found, or may still be: processes
 * remain, and the end of each brings the service here again.
 */
static bool service_update_forking(struct service *s)
{
	bool found = service_take_main(s);

	if (!found && !service_has_remaining(s)) {
		service_explain_main(s);
		return false;
	}
	if (found || s->group.exists || !list_is_empty(&s->remaining))
		node_end_task(s->node, TASK_EXITS);
	return true;
}

/* Kept processes of an earlier run have guards on the root only. */
static bool service_is_guarded_by_others(const struct service *s)
{
	struct process *p;

	list_for_each (p, &s->remaining, by_service)
		if (!p->kept)
			return true;
	return service_running_hook(s, 0);
}

/* --- commands around the main process --- */

/* Sets the outcome of a start that a command has ended, unless an earlier problem has done so. */
static void service_copy_hook_outcome(struct service *s)
{
	const struct outcome *of_hook = &s->setup.extras->hook->outcome;

	if (s->run.outcome.hook || s->run.outcome.kind == OUTCOME_START_TIMEOUT ||
	    s->run.outcome.kind == OUTCOME_WATCHDOG || s->run.outcome.kind == OUTCOME_UNHEALTHY)
		return;
	s->run.outcome.kind = of_hook->kind;
	s->run.outcome.value = of_hook->value;
	s->run.outcome.step = of_hook->step;
	s->run.outcome.subject = of_hook->subject;
	s->run.outcome.hook = of_hook->hook;
}

static void service_conclude_hook(struct service *s)
{
	struct hook *h = s->setup.extras->hook;
	enum hook_kind kind = h->kind;
	bool awaited = service_hook_part(kind) == fsm_part(s->state);
	bool well = hook_was_well(h);
	char text[OUTCOME_TEXT_MAX];

	/* A failed start is logged with its consequences. */
	if (awaited && !well && kind != HOOK_START_COMMAND && kind != HOOK_POST_START)
		node_log(h->node, LOG_WARNING, "%s", policy_outcome_text(text, &h->outcome));
	if (awaited && (well || kind == HOOK_POST_STOP) && hook_continue(h))
		return;
	s->run.parts &= ~service_hook_part(kind);
	service_update_roster(s);
	/* There is no run after which anything were to be done. */
	if (h->outcome.kind == OUTCOME_CONDITION)
		s->run.parts = 0;
	/* Ends the part: all its commands are over, and its state waits for nothing else. */
	if (awaited && kind != HOOK_POST_STOP) {
		if (!well && kind != HOOK_STOP_COMMAND)
			service_copy_hook_outcome(s);
		service_handle(s, well ? EVENT_PASSED : EVENT_BROKEN);
	}
	/* Without a main process its guard is held until the end of this turn. */
	if (!s->main.guard.node) {
		s->main.guard = h->process.guard;
		s->main.kept = false;
		s->main.generation = h->process.generation;
		h->process.guard = (struct swansong_guard){ .node = NULL };
	}
	hook_end(h);
}

/* With ready = log, the lines of a command are not to be among those of the main process. */
static bool service_awaits_hook_output(struct service *s)
{
	if (s->setup.launch.config->ready.kind != PROBE_LOG)
		return false;
	if (service_awaits_output(s))
		return true;
	service_end_output(s);
	return false;
}

/* --- the task --- */

static void service_update_exit(struct service *s)
{
	bool left;

	trace_touch(s->node->trace);
	while (s->setup.extras->hook && hook_has_ended(s->setup.extras->hook)) {
		if (service_awaits_hook_output(s)) {
			node_end_task(s->node, TASK_EXITS);
			return;
		}
		service_conclude_hook(s);
	}
	service_update_reload(s);
	if (s->main.alive || service_awaits_hook(s) || service_is_kept(s)) {
		node_end_task(s->node, TASK_EXITS);
		return;
	}
	if (service_awaits_main(s) && service_update_forking(s))
		return;
	left = service_has_remaining(s);
	if (!fsm_has_process(s->state)) {
		node_end_task(s->node, TASK_EXITS);
		/* The remaining processes of a kept process are known by now. */
		swansong_guard_drop(&s->main.guard);
		if (s->state != STATE_BACKOFF)
			(void)control_group_remove(&s->group);
		return;
	}
	if (!service_running_hook(s, 0) && (!left || service_keeps_remaining(s))) {
		node_end_task(s->node, TASK_EXITS);
		if (service_awaits_output(s))
			return;
		/* A successful oneshot has later commands, now or at its stop. */
		if (s->setup.launch.config->type == TYPE_ONESHOT && !s->run.worked &&
		    (s->state == STATE_STARTING || s->state == STATE_CLEANING) &&
		    policy_is_clean(s->config, &s->run.outcome) &&
		    (s->run.parts & PART_POST_START || service_later_parts(s))) {
			service_keep_run(s);
			return;
		}
		/* Ends the run: nothing of it remains except its post-stop, which may follow. */
		service_end_output(s);
		service_decide_run(s);
		service_handle(s, s->run.verdict);
		process_remove(&s->main);
		s->main.signalled_usec = 0;
		return;
	}
	/*
	 * Remaining processes have guards of their own, and their ends bring the service here
	 * again.  Where they are not known one by one, the guard of the service is held for them,
	 * and the task stays due.
	 */
	if (!list_is_empty(&s->remaining) || service_running_hook(s, 0)) {
		node_end_task(s->node, TASK_EXITS);
		if (service_is_guarded_by_others(s))
			swansong_guard_drop(&s->main.guard);
	}
	service_handle(s, EVENT_ORPHANED);
}

void service_update_exits(struct context *ctx)
{
	struct node *node;

	node_for_each_due (node, ctx, TASK_EXITS)
		service_update_exit(node->service);
}
