#include "daemon/service-signal.h"

#include <errno.h>
#include <signal.h>

#include "base/clock.h"
#include "base/parse.h"
#include "daemon/service-hook.h"

bool service_has_group(const struct service *s)
{
	if (s->main.alive)
		return true;
	/* Mostly there is no group.  Where its number is a process again, that is somebody else's. */
	return s->main.pid > 0 && kill(-s->main.group, 0) == 0 && kill(s->main.group, 0) < 0 &&
	       errno == ESRCH;
}

bool service_has_any(const struct service *s)
{
	return service_has_group(s) || !list_is_empty(&s->leftovers) || service_has_hook_running(s);
}

static void signal_group(struct service *s, int signo)
{
	if (service_has_group(s))
		(void)kill(-s->main.group, signo);
}

void service_forward(struct service *s, int signo)
{
	signal_group(s, signo);
}

/* Who hangs is to leave a core. */
static int first_signal(const struct service *s)
{
	return s->state == STATE_CLEANING && s->outcome.kind == OUTCOME_WATCHDOG
		       ? s->config->watchdog_signal
		       : s->stop_signal;
}

void service_term(struct service *s)
{
	int signo = first_signal(s);
	bool has_group = service_has_group(s);
	char name[SIGNAL_TEXT_MAX];
	struct process *p;

	service_term_hooks(s);
	if (s->main.pid > 0 && !s->main.signalled) {
		s->main.signalled = true;
		if (s->main.alive)
			log_line(s->ctx->log, LOG_INFO, "%s: %s to pid %d", s->config->path,
				 parse_signal_text(name, signo), (int)s->main.pid);
		signal_group(s, signo);
		/* What is suspended could not act on it. */
		signal_group(s, SIGCONT);
		list_for_each (p, &s->leftovers, by_service)
			if (has_group && p->group == s->main.group)
				p->signalled = true;
	}
	list_for_each (p, &s->leftovers, by_service) {
		if (p->signalled)
			continue;
		p->signalled = true;
		(void)process_signal(p, signo);
		(void)process_signal(p, SIGCONT);
	}
}

/* Who is killed, by name: every process of the service. */
static void log_kill(const struct service *s, uint64_t since_usec, const char *what)
{
	const char *path = s->config->path;
	char age[CLOCK_TEXT_MAX];
	struct process *p;

	clock_text(age, clock_now_usec() - since_usec);
	if (s->main.alive)
		log_line(s->ctx->log, LOG_WARNING, "%s: killing pid %d (%s), %s after the %s", path,
			 (int)s->main.pid, s->main.name, age, what);
	else if (s->main.pid > 0 && list_is_empty(&s->leftovers))
		log_line(s->ctx->log, LOG_WARNING, "%s: killing process group %d, %s after the %s",
			 path, (int)s->main.group, age, what);
	if (service_has_hook_running(s))
		log_line(s->ctx->log, LOG_WARNING, "%s: killing %s, pid %d (%s), %s after the %s",
			 path, hook_name(s->hook->kind), (int)s->hook->process.pid,
			 s->hook->process.name, age, what);
	list_for_each (p, &s->leftovers, by_service)
		log_line(s->ctx->log, LOG_WARNING,
			 "%s: killing leftover pid %d (%s), %s after the %s", path, (int)p->pid,
			 p->name, age, what);
}

void service_kill(struct service *s)
{
	struct process *p;

	/* Not in a stop; the first time only. */
	if (s->state == STATE_CLEANING && s->timeout_usec == s->stop_limit_usec)
		log_kill(s, s->since_usec, s->main.signalled ? "signal" : "STOPPING=1");
	signal_group(s, SIGKILL);
	service_kill_hooks(s);
	list_for_each (p, &s->leftovers, by_service)
		(void)process_signal(p, SIGKILL);
}

void service_forced(struct service *s)
{
	log_kill(s, s->held_usec, "stop");
	s->late = true;
	for (struct node *n = s->node; n; n = n->parent)
		if (n->stop_usec)
			n->forced = true;
}
