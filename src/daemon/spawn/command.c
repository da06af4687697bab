/*
 * The command in front of which swansongd runs gets all that the daemon itself was given: its
 * environment, its descriptors and its signal mask.  sys/process/command.c knows how; this file
 * keeps the data between the start of the daemon and that of the command.
 */
#include "daemon/spawn/command.h"

/* More descriptors than this are hardly ever inherited; the daemon's own are all CLOEXEC. */
#define INHERITED_MAX 1024

int command_init(struct command *c, const struct command_options *options, char **envp)
{
	siginfo_t info;

	*c = (struct command){ .options = options, .directory = -1 };
	job_init(&c->job);
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
}

bool command_spares_remaining(const struct command *c)
{
	return c && c->options->single && getpid() != 1;
}

void command_prepare(const struct command *c, struct spawn_spec *spec)
{
	spec->keep_descriptors = true;
	spec->keep_session = true;
	spec->take_terminal = false;
	spec->script = true;
	spec->directory_fd = c->directory;
	spec->terminal = job_foreground(&c->job);
	spec->death_signal = c->options->death_signal;
	spec->parent = getpid();
	spec->pid_places[0] = c->pid_place;
}

void command_leave_descriptors(struct command *c)
{
	c->directory = fd_close(c->directory);
	for (int fd = STDERR_FILENO + 1; fd < INHERITED_MAX; fd++) {
		int flags = fcntl(fd, F_GETFD);

		if (flags >= 0 && !(flags & FD_CLOEXEC))
			(void)close(fd);
	}
}
