#include "ctl/runner.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/macro.h"

/* Those that would end us. */
static void fill_ends(sigset_t *set)
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
	/* If it was ignored when we were started, nobody could wait for the command. */
	(void)signal(SIGCHLD, SIG_DFL);
	fill_ends(&heard);
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

static int spawn(struct runner *r, char **argv, int out_fd, posix_spawnattr_t *attributes,
		 posix_spawn_file_actions_t *actions)
{
	int error = 0;

	(void)posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK);
	(void)posix_spawnattr_setsigmask(attributes, &r->old_mask);
	if (out_fd >= 0)
		error = posix_spawn_file_actions_adddup2(actions, out_fd, STDOUT_FILENO);
	if (!error)
		error = posix_spawnp(&r->pid, argv[0], actions, attributes, argv, environ);
	if (error)
		r->pid = 0;
	return -error;
}

/* What came before there was the command is nobody's but ours, also if a terminal sent it. */
static void pass_on_early(const struct runner *r)
{
	static const struct timespec none = { .tv_sec = 0 };
	sigset_t ends;
	int signo;

	fill_ends(&ends);
	while ((signo = sigtimedwait(&ends, NULL, &none)) > 0)
		(void)kill(r->pid, signo);
}

int runner_start(struct runner *r, char **argv, int out_fd)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int error, result;

	runner_follow(r);
	if (r->signo)
		return -EINTR;
	error = posix_spawnattr_init(&attributes);
	if (error)
		return -error;
	error = posix_spawn_file_actions_init(&actions);
	if (error) {
		(void)posix_spawnattr_destroy(&attributes);
		return -error;
	}
	result = spawn(r, argv, out_fd, &attributes, &actions);
	if (result == 0)
		pass_on_early(r);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)posix_spawnattr_destroy(&attributes);
	return result;
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

static void note_end(struct runner *r)
{
	int status;

	if (r->pid == 0 || waitpid(r->pid, &status, WNOHANG) != r->pid)
		return;
	r->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	r->pid = 0;
}

void runner_follow(struct runner *r)
{
	struct signalfd_siginfo info;

	while (read(r->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		if (r->pid == 0)
			r->signo = (int)info.ssi_signo;
		else if (info.ssi_code != SI_KERNEL)
			runner_kill(r, (int)info.ssi_signo);
	}
	note_end(r);
}
