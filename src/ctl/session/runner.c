/*
 * All signals are blocked and come through a signalfd; those from before the command runs are sent to it
 * when it exists.  A signal of the terminal has reached the command already: both are in one process group.
 */
#include "ctl/session/runner.h"

#include <spawn.h>
#include <sys/signalfd.h>

/* The signals that would end this process. */
static void runner_fill_ends(sigset_t *set)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

	(void)sigemptyset(set);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		(void)sigaddset(set, signals[i]);
}

int runner_init(struct runner *r)
{
	sigset_t heard, blocked;

	*r = (struct runner){ .signal_fd = -1 };
	/* If SIGCHLD had been ignored from the start, waitpid(2) would not find the command. */
	(void)signal(SIGCHLD, SIG_DFL);
	runner_fill_ends(&heard);
	(void)sigaddset(&heard, SIGCHLD);
	blocked = heard;
	(void)sigaddset(&blocked, SIGPIPE);
	if (sigprocmask(SIG_BLOCK, &blocked, &r->old_mask) < 0)
		return -errno;
	r->signal_fd = signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK);
	return r->signal_fd < 0 ? -errno : 0;
}

void runner_done(struct runner *r)
{
	r->signal_fd = fd_close(r->signal_fd);
}

int runner_start(struct runner *r, char **argv, int out_fd)
{
	static const struct timespec none = { .tv_sec = 0 };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int error = 0, signo;
	sigset_t ends;

	runner_process_signals(r);
	if (r->signo)
		return -EINTR;
	/* glibc's cannot fail. */
	(void)posix_spawnattr_init(&attributes);
	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	(void)posix_spawnattr_setsigmask(&attributes, &r->old_mask);
	if (out_fd >= 0)
		error = posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO);
	if (!error)
		error = posix_spawnp(&r->pid, argv[0], &actions, &attributes, argv, environ);
	if (error)
		r->pid = 0;
	/* Signals from before the command ran reached this process only, also those of a terminal. */
	runner_fill_ends(&ends);
	while (!error && (signo = sigtimedwait(&ends, NULL, &none)) > 0)
		(void)kill(r->pid, signo);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)posix_spawnattr_destroy(&attributes);
	return -error;
}

int runner_fail(struct ctl *ctl, const char *command, int r)
{
	if (r == -EINTR)
		return ctl_fail(ctl, r);
	log_line(&ctl->log, LOG_ERR, "%s: %s", command, strerror(-r));
	return r == -ENOENT ? RUNNER_NOT_FOUND : RUNNER_NOT_EXECUTABLE;
}

void runner_kill(const struct runner *r, int signo)
{
	if (r->pid > 0)
		(void)kill(r->pid, signo);
}

void runner_process_signals(struct runner *r)
{
	struct signalfd_siginfo info;
	int status;

	while (read(r->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		if (r->pid == 0)
			r->signo = (int)info.ssi_signo;
		else if (info.ssi_code != SI_KERNEL)
			runner_kill(r, (int)info.ssi_signo);
	}
	if (r->pid == 0 || waitpid(r->pid, &status, WNOHANG) != r->pid)
		return;
	r->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	r->pid = 0;
}
