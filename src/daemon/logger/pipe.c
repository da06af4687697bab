/*
 * Pipes have high numbers: the low ones are for clients and starts.  A process opens the pipe anew, as inherited
 * descriptors share the flags of one open file.
 */
#include "daemon/logger/pipe.h"

#include <sys/resource.h>

#include "sys/ipc/passed.h"

/* Used if the limit of descriptors is at least twice as high. */
#define PIPES_FROM 1024

static int log_pipe_first(void)
{
	struct rlimit limit = { .rlim_cur = 0 };

	(void)getrlimit(RLIMIT_NOFILE, &limit);
	return (int)MIN(limit.rlim_cur / 2, (rlim_t)PIPES_FROM);
}

int log_pipe_new(int fds[static 2])
{
	int low[2], first = log_pipe_first(), r;

	if (pipe2(low, O_CLOEXEC) < 0)
		return -errno;
	fds[0] = fcntl(low[0], F_DUPFD_CLOEXEC, first);
	fds[1] = fds[0] < 0 ? -1 : fcntl(low[1], F_DUPFD_CLOEXEC, first);
	r = fds[1] < 0 ? -errno : 0;
	(void)close(low[0]);
	(void)close(low[1]);
	if (r < 0)
		fds[0] = fd_close(fds[0]);
	return r;
}

bool log_pipe_has_output(const int fds[static 2])
{
	struct pollfd p = { .fd = fds[0], .events = POLLIN };

	return fds[0] >= 0 && poll(&p, 1, 0) > 0;
}

void log_pipe_close(int fds[static 2])
{
	passed_close_all_now(fds, 2);
	fds[0] = fds[1] = -1;
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
