/*
 * In front of a command every signal is passed on to it as it comes.  One that requests the end then stops the
 * tree, in which the command gets no stop signal of its own.  A stop of the command (SIGTSTP) stops the daemon,
 * too, for a shell with job control.  For a tree, a stop signal stops the root;
 * a further one logs the nodes that it waits for, and SIGINT at a terminal forces the stop.
 */
#include "daemon/main/signals.h"

#include "daemon/logger/logging.h"
#include "daemon/tree/deadline.h"
#include "daemon/describe/describe.h"
#include "daemon/tree/goals.h"

/* --- for a command --- */

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
		/* The remaining processes of the command have not received the stop signal. */
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

/* --- for a tree --- */

static void daemon_force_root(struct daemon *d, const char *reason)
{
	goals_lower_one(&d->tree, d->tree.root, CAUSE_SHUTDOWN, REQUEST_STOP, reason);
	deadline_force_soon(d->tree.root);
}

static void daemon_on_stop_signal(struct daemon *d, int signo)
{
	bool again = node_is_stopped(d->tree.root);
	char name[SIGNAL_TEXT_MAX], line[DESCRIBE_LINE_MAX];

	parse_signal_text(name, signo);
	if (!again) {
		d->stopped_by = signo;
		goals_lower_one(&d->tree, d->tree.root, CAUSE_SHUTDOWN, REQUEST_STOP, name);
	} else if (signo == SIGINT && isatty(STDIN_FILENO)) {
		daemon_force_root(d, name);
	} else {
		log_line(d->ctx.log, LOG_NOTICE, "%s again; %s", name,
			 describe_line(line, &d->tree));
	}
}

struct service *daemon_command(const struct daemon *d)
{
	struct node *node = tree_find(&d->tree, "main");

	return node ? node->service : NULL;
}

static void daemon_handle_signal(struct daemon *d, const struct signalfd_siginfo *info)
{
	int signo = (int)info->ssi_signo;

	/* The daemon's own SIGPIPE is for a log that is not read any more. */
	if (signo == SIGPIPE && info->ssi_pid == (uint32_t)getpid())
		return;
	if (signo == SIGCHLD || keeper_take(&d->ctx.keeper, info)) {
		pid_t died = signo == SIGCHLD ? (pid_t)info->ssi_pid : d->ctx.keeper.reported.pid;

		if (!d->reap && died > 0) {
			d->first = FIRST_DIED;
			d->died = died;
		}
		d->reap = true;
	} else if (signo == KEEPER_SIGNAL && !d->options->command) {
		return;
	} else if (d->options->command) {
		/* Every signal is passed on; one that requests the end also stops the tree. */
		if (command_signal(&d->command, daemon_command(d), signo, (pid_t)info->ssi_pid) &&
		    !node_is_stopped(d->tree.root))
			daemon_on_stop_signal(d, signo);
	} else if (signo == SIGHUP) {
		d->trial.by_signal = true;
		(void)trial_begin(&d->trial, NULL);
	} else if (signo == SIGQUIT) {
		daemon_force_root(d, "SIGQUIT");
	} else if (signo == SIGUSR1) {
		describe_to_log(&d->tree);
	} else if (signo == SIGUSR2) {
		if (d->ctx.logger)
			logging_reopen(d->ctx.logger, "");
	} else {
		daemon_on_stop_signal(d, signo);
	}
}

static int daemon_on_signal(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct signalfd_siginfo info;

	if (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		daemon_handle_signal(arg, &info);
	return 0;
}

static bool daemon_handles_signal(const struct daemon *d, int signo)
{
	if (signo == SIGCHLD)
		return true;
	/*
	 * Faults of the daemon itself end it even if they are blocked; 32 and 33 belong to the C
	 * library.
	 */
	if (d->options->command)
		return signo != SIGKILL && signo != SIGSTOP && (signo < 32 || signo >= SIGRTMIN);
	return signo == SIGTERM || signo == SIGINT || signo == SIGHUP || signo == SIGQUIT ||
	       signo == SIGUSR1 || signo == SIGUSR2 || signo == SIGRTMIN + 3 ||
	       signo == KEEPER_SIGNAL;
}

/*
 * A descriptor is used because a source of sd_event_add_signal() without memory at the moment of a
 * signal loses that and all later ones.
 */
int daemon_watch_signals(struct daemon *d)
{
	sigset_t ours;
	int fd;

	(void)sigemptyset(&ours);
	for (int signo = 1; signo <= SIGRTMAX; signo++)
		if (daemon_handles_signal(d, signo))
			(void)sigaddset(&ours, signo);
	fd = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
	return context_watch_owned(&d->ctx, &d->signal, fd < 0 ? -errno : fd, EPOLLIN,
				   daemon_on_signal, d);
}
