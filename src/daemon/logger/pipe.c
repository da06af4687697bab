/*
 * Pipes have high numbers.  The low ones are for clients and starts: a process is made faster if
 * its descriptors have low numbers.  The first process inherits the end that pipe2() made; for each
 * later one the pipe is opened again, as inherited descriptors share the flags of one open file.
 */
#include "daemon/logger/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/macro.h"

/* Used if the limit of descriptors is at least twice as high. */
#define PIPES_FROM 1024

int log_pipe_first(void)
{
	struct rlimit limit = { .rlim_cur = 0 };

	(void)getrlimit(RLIMIT_NOFILE, &limit);
	return (int)MIN(limit.rlim_cur / 2, (rlim_t)PIPES_FROM);
}

int log_pipe_new(int fds[static 2], int first)
{
	int low[2], r;

	if (pipe2(low, O_CLOEXEC) < 0)
		return -errno;
	fds[0] = fcntl(low[0], F_DUPFD_CLOEXEC, first);
	fds[1] = fds[0] < 0 ? -1 : fcntl(low[1], F_DUPFD_CLOEXEC, first);
	r = fds[1] < 0 ? -errno : low[1];
	/* The limit has been lowered below @first. */
	if (r == -EINVAL)
		r = -EMFILE;
	(void)close(low[0]);
	if (r >= 0)
		return r;
	fds[0] = fd_close(fds[0]);
	(void)close(low[1]);
	return r;
}

int log_pipe_reopen(int end)
{
	char path[32];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", end);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int log_pipe_open(const int fds[static 2])
{
	int fd = log_pipe_reopen(fds[1]);

	if (fd != -ENOENT)
		return fd;
	/* There is no /proc: the service shares the open file. */
	fd = fcntl(fds[1], F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? -errno : fd;
}

/* --- without a logger --- */

/* A pipe with room takes at least PIPE_BUF bytes at once. */
static int log_pipe_on_output(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };
	char data[PIPE_BUF];
	ssize_t n = read(fd, data, sizeof(data));

	if (n > 0 && poll(&p, 1, 0) > 0)
		(void)!write(STDERR_FILENO, data, (size_t)n);
	return 0;
}

void log_pipe_begin_drain(const int fds[static 2], sd_event *event, sd_event_source **drain)
{
	if (!*drain &&
	    sd_event_add_io(event, drain, fds[0], EPOLLIN, log_pipe_on_output, NULL) >= 0)
		(void)sd_event_source_set_priority(*drain, SD_EVENT_PRIORITY_IDLE);
}

void log_pipe_end_drain(sd_event_source **drain)
{
	*drain = sd_event_source_disable_unref(*drain);
}
