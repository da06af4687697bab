/*
 * Signals are passed on to the command as they come.  One that requests the end then stops the
 * tree, in which the command gets no stop signal of its own.  A stop of the command (SIGTSTP) stops
 * the daemon, too, for a shell with job control.
 */
#include "daemon/main/command-signal.h"

#include <signal.h>

#include "base/clock.h"

static bool command_is_end_signal(int signo)
{
	return signo == SIGTERM || signo == SIGINT;
}

static void command_forward_to(struct command *c, struct service *s, int signo)
{
	forward_send(c->options->forward.scope, s->main.pid, signo, &c->inherited);
}

bool command_signal(struct command *c, struct service *s, int signo, pid_t sender)
{
	const struct forward *f = &c->options->forward;
	int as = forward_as(f, signo, sender);
	uint64_t now = clock_now_usec();

	if (signo == SIGCONT)
		job_resume(&c->job);
	if (!as)
		return false;
	if (!s || !s->main.alive)
		return command_is_end_signal(signo);
	command_forward_to(c, s, as);
	if (as == SIGCONT)
		c->stopped = false;
	/* A suspended command cannot act on the signal. */
	if (c->stopped && (signo == SIGTERM || signo == SIGHUP))
		command_forward_to(c, s, SIGCONT);
	if (command_is_end_signal(signo)) {
		/* This is its stop signal; it gets no other. */
		s->main.signalled_usec = now;
		c->other_sent = as != s->stop_signal || f->scope == FORWARD_MAIN;
	}
	if (job_is_stop(signo))
		job_suspend(signo);
	return command_is_end_signal(signo);
}

void command_update(struct command *c, struct service *s)
{
	int signo;

	if (!s)
		return;
	if (!s->main.alive) {
		job_end(&c->job);
		/* Its remaining processes have not received the stop signal. */
		if (c->other_sent)
			s->main.signalled_usec = 0;
		c->other_sent = false;
		return;
	}
	c->job.group = s->main.pid;
	signo = job_stopped_by(s->main.pid, &c->stopped);
	if (signo)
		job_process_stop(&c->job, signo);
}
