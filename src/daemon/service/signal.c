/*
 * A signal reaches the processes of a service by its control group if it has one; otherwise by the
 * process group of the main process and, one by one, by the remaining processes that are known.
 * The second part is about processes that a service keeps beside its run (kill-leftovers = no):
 * they end with the root, by a timer of their own.
 */
#include "daemon/service/signal.h"

#include "daemon/spawn/command.h"
#include "model/keys/keys.h"
#include "model/life/budget.h"

#define KILL_TEXT_MAX 128

bool service_has_group(const struct service *s)
{
	if (s->main.alive)
		return true;
	/* Usually the group is gone.  If the number is the pid of a process again, that process is another one. */
	return s->main.pid > 0 && kill(-s->main.group, 0) == 0 && kill(s->main.group, 0) < 0 &&
	       errno == ESRCH;
}

bool service_has_any(const struct service *s)
{
	return service_has_group(s) || service_running_hook(s, 0) ||
	       (!list_is_empty(&s->remaining) && !service_keeps_remaining(s));
}

static void signal_group(struct service *s, int signo)
{
	struct proc_info info;

	/* A process that became the main one may have begun a group of its own since then. */
	if (s->main.alive && s->main.group != s->main.pid && proc_read(s->main.pid, &info) == 0)
		s->main.group = info.group;
	if (s->main.alive && s->main.group == s->main.pid)
		process_signal_session(&s->main, signo);
	else if (service_has_group(s))
		(void)kill(-s->main.group, signo);
}

/* A process may have left its group since it was found. */
static pid_t signal_find_group(struct process *p)
{
	struct proc_info info;

	if (proc_read(p->pid, &info) == 0)
		p->group = info.group;
	return p->group;
}

void service_send(struct service *s, int signo, enum signal_scope scope)
{
	struct process *p;

	switch (scope) {
	case SIGNAL_SCOPE_MAIN:
		(void)process_signal(&s->main, signo);
		break;
	case SIGNAL_SCOPE_GROUP:
		signal_group(s, signo);
		break;
	case SIGNAL_SCOPE_ALL:
		if (s->group.exists) {
			control_group_signal(&s->group, signo);
			break;
		}
		signal_group(s, signo);
		list_for_each (p, &s->remaining, by_service)
			if (signal_find_group(p) != s->main.group)
				(void)process_signal(p, signo);
		break;
	}
}

bool service_was_asked(const struct service *s)
{
	return s->main.signalled_usec || (s->main.alive && s->ending.began_usec);
}

bool service_has_signalled(const struct service *s, pid_t group)
{
	if (!s->main.signalled_usec || s->config->signal_scope == SIGNAL_SCOPE_MAIN)
		return false;
	return group == s->main.group ||
	       (s->config->signal_scope == SIGNAL_SCOPE_ALL && s->group.exists);
}

static void service_term_remaining(struct service *s, int signo)
{
	struct proc_info info;
	struct process *p;

	list_for_each (p, &s->remaining, by_service) {
		if (!p->signalled_usec) {
			p->signalled_usec = clock_now_usec();
			(void)process_signal(p, signo);
		}
		if (proc_read(p->pid, &info) == 0 && info.state == 'T')
			(void)process_signal(p, SIGCONT);
	}
}

void service_term(struct service *s)
{
	/* A service that hangs is made to dump core. */
	int signo = s->state == STATE_CLEANING && s->run.outcome.kind == OUTCOME_WATCHDOG
			    ? node_config_extras(s->config)->watchdog_signal
			    : s->stop_signal;
	struct hook *h;

	if (s->setup.extras->attach)
		attach_stop(s->setup.extras->attach);
	control_group_thaw_soon(&s->group);
	for (unsigned n = 0; (h = service_running_hook(s, n)); n++)
		hook_term(h);
	if (s->main.pid > 0 && !s->main.signalled_usec) {
		bool has_group = service_has_group(s);
		char name[SIGNAL_TEXT_MAX];
		struct process *p;

		s->main.signalled_usec = clock_now_usec();
		if (s->main.alive)
			service_log(s, LOG_INFO, "%s to pid %d", parse_signal_text(name, signo),
				    (int)s->main.pid);
		service_send(s, signo, s->config->signal_scope);
		/*
		 * A suspended process could not act on the signal.  A single command that runs gets no SIGCONT,
		 * which it would see first in any order; nor do other init programs send it.
		 */
		if (!s->ctx->command || s->ctx->command->stopped)
			service_send(s, SIGCONT, s->config->signal_scope);
		list_for_each (p, &s->remaining, by_service)
			if (s->config->signal_scope == SIGNAL_SCOPE_ALL ||
			    (has_group && service_has_signalled(s, signal_find_group(p))))
				p->signalled_usec = s->main.signalled_usec;
	}
	/* While the main process lives, it is expected to end its other processes. */
	if (service_keeps_remaining(s) ||
	    (s->main.alive && s->config->signal_scope == SIGNAL_SCOPE_MAIN))
		return;
	service_term_remaining(s, signo);
}

/*
 * Returns the time of the stop.  A service without a process may never have been stopped: its
 * remaining processes are stopped with its node.
 */
static uint64_t service_stopped_usec(const struct service *s)
{
	uint64_t node_usec = MAX(s->node->stop_usec, node_root(s->node)->stop_usec);

	return fsm_has_process(s->state) ? s->held_usec : MAX(s->held_usec, node_usec);
}

static void service_log_one_kill(const struct service *s, bool forced, const char *format, ...)
	printf_like(3, 4);
static void service_log_one_kill(const struct service *s, bool forced, const char *format, ...)
{
	const char *itself = s->main.alive ? "STOPPING=1" : "end";
	const char *after = forced ? "stop" : s->main.signalled_usec ? "signal" : itself;
	uint64_t since_usec = forced ? service_stopped_usec(s) : s->since_usec;
	char name[KILL_TEXT_MAX], age[CLOCK_TEXT_MAX];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(name, sizeof(name), format, ap);
	va_end(ap);
	clock_text(age, clock_now_usec() - since_usec);
	service_log(s, LOG_WARNING, "killing %s, %s after the %s", name, age, after);
	if (forced)
		forced_kills_add(s->ctx->forced_kills, s->node->path, "killed %s, %s after the %s",
				 name, age, after);
}

/* Returns true if remaining processes survive a kill of the service. */
static bool service_spares_remaining(const struct service *s)
{
	return service_keeps_remaining(s) && clock_now_usec() < service_kill_usec(s);
}

/* Logs each process that is killed, by name.  @forced: a stop waits for them. */
static void service_log_kill(const struct service *s, bool forced)
{
	struct process *p;
	struct hook *h;

	if (s->main.alive)
		service_log_one_kill(s, forced, "pid %d (%s)", (int)s->main.pid, s->main.name);
	else if (s->main.pid > 0 && list_is_empty(&s->remaining) && s->group.exists)
		service_log_one_kill(s, forced, "the remaining processes of the control group");
	else if (s->main.pid > 0 && list_is_empty(&s->remaining))
		service_log_one_kill(s, forced, "process group %d", (int)s->main.group);
	for (unsigned n = 0; (h = service_running_hook(s, n)); n++)
		service_log_one_kill(s, forced, "%s, pid %d (%s)", hook_name(h->kind),
				     (int)h->process.pid, h->process.name);
	if (service_spares_remaining(s))
		return;
	list_for_each (p, &s->remaining, by_service)
		if (!p->killed)
			service_log_one_kill(s, forced, "remaining pid %d (%s)", (int)p->pid,
					     p->name);
}

void service_kill(struct service *s)
{
	int signo = s->run.killed ? SIGKILL : node_config_extras(s->config)->kill_signal;
	struct process *p;
	struct hook *h;

	if (!s->run.killed)
		s->run.claims_usec = clock_now_usec() + BUDGET_ABANDON_USEC;
	s->run.killed = true;
	/* Only the first kill that is not part of a stop is logged here. */
	if (s->state == STATE_CLEANING && s->timeout_usec == s->ending.limit_usec)
		service_log_kill(s, false);
	for (unsigned n = 0; (h = service_running_hook(s, n)); n++)
		hook_kill(h);
	signal_group(s, signo);
	if (service_spares_remaining(s))
		return;
	list_for_each (p, &s->remaining, by_service) {
		(void)process_signal(p, signo);
		p->killed = true;
	}
	if (signo == SIGKILL)
		control_group_kill(&s->group);
	else
		control_group_thaw_soon(&s->group);
}

char *service_holder(const struct service *s, char buf[static SERVICE_HOLDER_MAX])
{
	unsigned long guards = busy_guards(s);
	const struct hook *hook = service_running_hook(s, 0);

	if (guards > 0 && s->main.alive)
		(void)snprintf(buf, SERVICE_HOLDER_MAX, "%lu guard%s", guards,
			       guards == 1 ? "" : "s");
	else if (hook)
		(void)snprintf(buf, SERVICE_HOLDER_MAX, "%s, pid %d (%s)", hook_name(hook->kind),
			       (int)hook->process.pid, hook->process.name);
	else if (s->main.alive)
		(void)snprintf(buf, SERVICE_HOLDER_MAX, "pid %d (%s)", (int)s->main.pid,
			       s->main.name);
	else
		(void)snprintf(buf, SERVICE_HOLDER_MAX, "remaining processes");
	return buf;
}

void service_forced(struct service *s)
{
	char holder[SERVICE_HOLDER_MAX];

	alert_raise(s->node, ALERT_FORCED, NULL, service_holder(s, holder));
	service_log_kill(s, true);
	s->run.late = true;
	if (s->node->trace && s->node->latest.usec != USEC_INFINITY &&
	    (!s->ending.began_usec ||
	     clock_now_usec() < clock_add(s->ending.began_usec, s->config->stop_timeout_usec)))
		s->node->trace->early = true;
	node_note_forced(s->node);
}

/* --- kept processes --- */

/* The timer may be early: it is set again then. */
static void service_arm_kept(struct service *s, uint64_t usec)
{
	alarm_set(&s->ctx->alarms, &s->timer, MIN(usec, s->timer.usec));
}

void service_end_kept(struct service *s)
{
	uint64_t again = clock_now_usec() + BUDGET_KILL_AGAIN_USEC;
	bool rests = !fsm_has_process(s->state);
	struct process *p;

	if (list_is_empty(&s->remaining) || (!rests && s->config->kill_leftovers))
		return;
	if (rests) {
		service_forced(s);
		service_kill(s);
	}
	list_for_each (p, &s->remaining, by_service)
		p->until_usec = again;
	service_arm_kept(s, again);
}

void service_detach_kept(struct service *s)
{
	struct swansong *root = node_root(s->node)->work;
	struct process *p;

	list_for_each (p, &s->remaining, by_service) {
		struct swansong_guard before = p->guard;

		p->kept = true;
		p->guard = swansong_guard(root);
		swansong_guard_drop(&before);
	}
}

void service_stop_kept(struct service *s)
{
	uint64_t now = clock_now_usec();
	uint64_t usec = MIN(clock_add(now, s->config->stop_timeout_usec), service_kill_usec(s));
	struct process *p;

	if (fsm_has_process(s->state) || list_is_empty(&s->remaining) || service_keeps_remaining(s))
		return;
	service_term_remaining(s, s->stop_signal);
	list_for_each (p, &s->remaining, by_service)
		if (!p->until_usec)
			p->until_usec = usec;
	service_arm_kept(s, usec);
}

void service_postpone_kept(struct service *s, uint64_t usec)
{
	struct process *p;

	list_for_each (p, &s->remaining, by_service) {
		if (!p->until_usec)
			continue;
		p->until_usec += p->killed ? 0 : usec;
		service_arm_kept(s, p->until_usec);
	}
}

void service_join_kept(struct service *s, struct process *p, const struct process *of_run)
{
	p->until_usec = of_run->until_usec;
	if (p->until_usec)
		service_arm_kept(s, p->until_usec);
}

void service_kill_late_kept(struct service *s)
{
	uint64_t now = clock_now_usec();
	struct process *p;

	list_for_each (p, &s->remaining, by_service) {
		int signo = p->killed ? SIGKILL : node_config_extras(s->config)->kill_signal;

		if (!p->until_usec || p->until_usec > now || s->ctx->held_usec)
			continue;
		if (!p->killed) {
			service_log_one_kill(s, true, "remaining pid %d (%s)", (int)p->pid,
					     p->name);
			node_note_forced(s->node);
		}
		p->killed = true;
		(void)process_signal(p, signo);
		p->until_usec = now + BUDGET_KILL_AGAIN_USEC;
	}
}
