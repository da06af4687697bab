#include "sys/process/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/parse.h"

void command_options_init(struct command_options *options)
{
	*options = (struct command_options){
		.leftover_timeout_usec = COMMAND_LEFTOVER_TIMEOUT_USEC,
	};
	forward_init(&options->forward);
}

static const char *parse_success(struct command_options *options, const char *value)
{
	uint64_t status;

	if (parse_uint(value, 255, &status) < 0)
		return "an exit status, 0 to 255";
	options->success[status / 64] |= UINT64_C(1) << status % 64;
	return NULL;
}

const char *command_option(struct command_options *options, int option, const char *value)
{
	struct forward *forward = &options->forward;

	switch (option) {
	case 'g':
		forward->scope = FORWARD_GROUP;
		return NULL;
	case COMMAND_SINGLE:
		options->single = true;
		forward->scope = FORWARD_MAIN;
		return NULL;
	case COMMAND_SCOPE:
		return forward_parse_scope(value, &forward->scope) < 0 ? "group, main or all"
								       : NULL;
	case 'r':
		return forward_rewrite(forward, value) < 0
			       ? "FROM:TO, as in TERM:QUIT, with TO 0 for nothing"
			       : NULL;
	case 'p':
		return parse_signal(value, &options->death_signal) < 0 ? "a signal" : NULL;
	case 'e':
		return parse_success(options, value);
	case COMMAND_LEFTOVER:
		return parse_duration(value, &options->leftover_timeout_usec) < 0
			       ? "a time, as in 500ms, 30s, or infinity"
			       : NULL;
	default:
		return "known";
	}
}

void command_watch_parent(const struct command_options *options, pid_t parent)
{
	if (!options->death_signal)
		return;
	(void)prctl(PR_SET_PDEATHSIG, options->death_signal);
	if (getppid() != parent)
		(void)kill(getpid(), options->death_signal);
}

int command_leave_directory(void)
{
	int fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = fd < 0 ? -errno : 0;

	/* A missing standard file is no place for it. */
	if (r == 0 && fd <= STDERR_FILENO)
		r = -EBADF;
	if (r == 0 && chdir("/") < 0)
		r = -errno;
	if (r == 0)
		return fd;
	if (fd >= 0)
		(void)close(fd);
	return r;
}

int command_status(const struct command_options *options, bool signaled, int value)
{
	unsigned status = (unsigned)(signaled ? 128 + value : value) & 0xff;

	return options->success[status / 64] >> status % 64 & 1 ? 0 : (int)status;
}

char *command_listen_pid(char **envp, char buf[static COMMAND_LISTEN_PID_MAX])
{
	static const char name[] = "LISTEN_PID=";
	uint64_t pid;

	for (; *envp; envp++)
		if (strncmp(*envp, name, sizeof(name) - 1) == 0)
			break;
	if (!*envp || parse_uint(*envp + sizeof(name) - 1, INT32_MAX, &pid) < 0 ||
	    (pid_t)pid != getpid())
		return NULL;
	(void)memcpy(buf, name, sizeof(name));
	*envp = buf;
	return buf + sizeof(name) - 1;
}
