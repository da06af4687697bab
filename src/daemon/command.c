#include "daemon/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/service.h"

/* Whoever starts us has more than a handful open seldom; ours are all CLOEXEC. */
#define INHERITED_MAX 1024

int command_init(struct command *c, const struct command_options *options, char *const *argv,
		 char **envp)
{
	siginfo_t info;
	size_t n = 0;

	*c = (struct command){ .options = options };
	job_init(&c->job);
	while (argv[n])
		n++;
	c->script = calloc(n + 2, sizeof(*c->script));
	if (!c->script)
		return -ENOMEM;
	c->pid_place = command_listen_pid(envp, c->listen_pid);
	if (getpid() == 1 || waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
		return 0;
	return descendants_inherit(&c->inherited);
}

void command_done(struct command *c)
{
	if (c->options)
		job_end(&c->job);
	descendants_done(&c->inherited);
	free(c->script);
}

void command_prepare(const struct command *c, struct spawn_spec *spec)
{
	spec->keep_descriptors = true;
	spec->keep_session = true;
	spec->take_terminal = false;
	spec->script = c->script;
	spec->terminal = job_foreground(&c->job);
	spec->death_signal = c->options->death_signal;
	spec->parent = getpid();
	spec->pid_places[0] = c->pid_place;
}

void command_leave_descriptors(const struct command *c)
{
	(void)c;
	for (int fd = STDERR_FILENO + 1; fd < INHERITED_MAX; fd++) {
		int flags = fcntl(fd, F_GETFD);

		if (flags >= 0 && !(flags & FD_CLOEXEC))
			(void)close(fd);
	}
}

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
	/* What is suspended cannot act on it. */
	if (c->stopped && (signo == SIGTERM || signo == SIGHUP))
		pass_on(c, s, SIGCONT);
	if (is_end(signo)) {
		/* This is its stop signal: it gets no other. */
		s->main.signalled = true;
		c->told_other = as != s->stop_signal || f->scope == FORWARD_MAIN;
	}
	if (job_is_stop(signo) && job_is_stop(as))
		job_suspend(signo);
	return is_end(signo);
}

void command_follow(struct command *c, struct service *s)
{
	int signo;

	if (!s)
		return;
	if (!s->main.alive) {
		job_end(&c->job);
		/* What it has left behind has not had the stop signal. */
		if (c->told_other)
			s->main.signalled = c->told_other = false;
		return;
	}
	c->job.group = s->main.pid;
	signo = job_stopped_by(s->main.pid);
	if (!signo)
		return;
	c->stopped = true;
	job_follow(&c->job, signo);
}
