/*
 * Signals are passed on to the command as they come.  One that requests the end then stops the
 * tree, in which the command gets no stop signal of its own.  A stop of the command (SIGTSTP) stops
 * the daemon, too, for a shell with job control.
 */
#include "daemon/main/command-signal.h"

#include <signal.h>

static bool is_end(int signo)
{
	return signo == SIGTERM || signo == SIGINT;
}

static void pass_on(struct command *c, struct service *s, int signo)
{
	forward_send(c->options->forward.scope, s->main.pid, signo, &c->inherited);
}

bool command_signal(struct command *c, struct service *s, int signo, pid_t sender)
{
	const struct forward *f = &c->options->forward;
	int as = forward_as(f, signo, sender);

	if (signo == SIGCONT)
		job_resume(&c->job);
	if (!as)
		return false;
	if (!s || !s->main.alive)
		return is_end(signo);
	pass_on(c, s, as);
	if (as == SIGCONT)
		c->stopped = false;
	/* A suspended command cannot act on the signal. */
	if (c->stopped && (signo == SIGTERM || signo == SIGHUP))
		pass_on(c, s, SIGCONT);
	if (is_end(signo)) {
		/* This is its stop signal; it gets no other. */
		s->main.signalled = true;
		c->told_other = as != s->stop_signal || f->scope == FORWARD_MAIN;
	}
	if (job_is_stop(signo))
		job_suspend(signo);
	return is_end(signo);
}

void command_update(struct command *c, struct service *s)
{
	int signo;

	if (!s)
		return;
	if (!s->main.alive) {
		job_end(&c->job);
		/* Its remaining processes have not received the stop signal. */
		if (c->told_other)
			s->main.signalled = c->told_other = false;
		return;
	}
	c->job.group = s->main.pid;
	signo = job_stopped_by(s->main.pid, &c->stopped);
	if (signo)
		job_follow(&c->job, signo);
}
