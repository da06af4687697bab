#include "ctl/cmd.h"

/*
 * Holds a guard while a command runs.  The guard is the connection: it is released when this
 * process ends, and so this process must outlive the command.  Signals that would end it are taken
 * through a descriptor and passed on; what the terminal sends reaches the command anyway.
 */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "ctl/nodes.h"

enum { COMMAND_NOT_EXECUTABLE = 126, COMMAND_NOT_FOUND = 127 };

struct holder {
	struct ctl *ctl;
	sigset_t old_mask;
	int signal_fd;
	pid_t pid;
};

static int take_signals(struct holder *h)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD };
	sigset_t mask;

	/* If it was ignored when we were started, nobody could wait for the command. */
	(void)signal(SIGCHLD, SIG_DFL);
	sigemptyset(&mask);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaddset(&mask, signals[i]);
	if (sigprocmask(SIG_BLOCK, &mask, &h->old_mask) < 0)
		return -errno;
	h->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return h->signal_fd < 0 ? -errno : 0;
}

static int take_guard(struct ctl *ctl, const char *path)
{
	const char *why = ctl->options.why;

	return session_do(ctl, METHOD_TAKE_GUARD,
			  json_pack("{s:s, s:b, s:o*}", "node", path, "late", ctl->options.late,
				    "why", why ? message_string(why) : NULL));
}

/* Everything is inherited, but for our own descriptors and the signals we block. */
static int run(struct holder *h, char **argv)
{
	posix_spawnattr_t attributes;
	int error;

	error = posix_spawnattr_init(&attributes);
	if (error)
		return -error;
	(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	(void)posix_spawnattr_setsigmask(&attributes, &h->old_mask);
	error = posix_spawnp(&h->pid, argv[0], NULL, &attributes, argv, environ);
	(void)posix_spawnattr_destroy(&attributes);
	return -error;
}

/* Return: 1 and the command's exit status, or 0 if it still runs. */
static int has_ended(const struct holder *h, int *ret)
{
	int status;

	if (waitpid(h->pid, &status, WNOHANG) != h->pid)
		return 0;
	*ret = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return 1;
}

/* The terminal's signals are the kernel's, and went to the command as well. */
static void pass_on(const struct holder *h)
{
	struct signalfd_siginfo info;

	while (read(h->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (info.ssi_signo != SIGCHLD && info.ssi_code != SI_KERNEL)
			(void)kill(h->pid, (int)info.ssi_signo);
}

/* Nothing more is to be said to us; what comes is the end. */
static bool is_connected(struct ctl *ctl)
{
	struct message_reply reply;
	int r;

	while ((r = client_receive(ctl->client, 0, &reply)) == 0)
		message_reply_done(&reply);
	return r == -ETIMEDOUT;
}

static int hold(struct holder *h, const char *command)
{
	struct pollfd fds[] = {
		{ .fd = h->signal_fd, .events = POLLIN },
		{ .fd = client_get_fd(h->ctl->client), .events = POLLIN },
	};
	int status;

	client_set_interrupt(h->ctl->client, -1);
	while (!has_ended(h, &status)) {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
			return ctl_fail(h->ctl, -errno);
		pass_on(h);
		if (!fds[1].revents || is_connected(h->ctl))
			continue;
		log_line(&h->ctl->log, LOG_WARNING,
			 "the daemon has gone, and the guard with it; %s goes on", command);
		fds[1].fd = -1;
	}
	return status;
}

static int guard_command(struct holder *h, char **paths, char **argv)
{
	int r = session_open(h->ctl);

	if (r != CTL_DONE)
		return r;
	/* Until there is a command to pass it on to, a signal ends this. */
	client_set_interrupt(h->ctl->client, h->signal_fd);
	for (size_t i = 0; paths[i]; i++) {
		r = take_guard(h->ctl, paths[i]);
		if (r != CTL_DONE)
			return r;
	}
	r = run(h, argv);
	if (r < 0) {
		log_line(&h->ctl->log, LOG_ERR, "%s: %s", argv[0], strerror(-r));
		return r == -ENOENT ? COMMAND_NOT_FOUND : COMMAND_NOT_EXECUTABLE;
	}
	return hold(h, argv[0]);
}

int cmd_guard(struct ctl *ctl, int argc, char **argv)
{
	struct holder h = { .ctl = ctl, .signal_fd = -1 };
	cleanup(freep) char **paths = NULL;
	int r;

	(void)argc;
	r = nodes_resolve(ctl, argv, 1, &paths);
	if (r != CTL_DONE)
		return r;
	r = take_signals(&h);
	r = r < 0 ? ctl_fail(ctl, r) : guard_command(&h, paths, argv + 1);
	h.signal_fd = fd_close(h.signal_fd);
	return r;
}
