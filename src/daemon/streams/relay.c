/*
 * A buffer is read from the pipe and written to the destination before the next one is read.
 * While the destination has no room, its event replaces the one of the pipe.
 */
#include "daemon/streams/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "daemon/loop/roster.h"

/* Other events have their turn after so many reads, however much a service writes. */
#define READS_AT_ONCE 4
/* At the end: more than a pipe of any size holds. */
#define READS_AT_END 1024

struct relay {
	struct context *ctx;
	const char *name;
	int stream;
	unsigned places[3]; /* of its descriptors in the roster, while it has a destination */
	void (*on_line)(void *arg, const char *line);
	void *arg;
	int read_fd, write_fd;
	sd_event_source *in;

	int to; /* the destination; -1: none yet */
	bool is_socket;
	bool may_block;	      /* O_NONBLOCK cannot be set */
	bool failing;	      /* output is lost, which was logged */
	sd_event_source *out; /* on while @to has no room; NULL: it always has */

	bool watched;
	size_t stale; /* bytes of earlier output, which are not watched */
	size_t line_used;
	char line[OUTPUT_LINE_MAX + 1];

	size_t start, end; /* of the data that is still to be written */
	char data[65536];
};
DEFINE_CLEANUP(struct relay *, relay_free)

static void relay_show_lines(struct relay *r, const char *data, size_t length)
{
	for (size_t i = 0; i < length && r->watched; i++) {
		if (data[i] != '\n')
			r->line[r->line_used++] = data[i];
		if (data[i] != '\n' && r->line_used < OUTPUT_LINE_MAX)
			continue;
		r->line[r->line_used] = '\0';
		r->line_used = 0;
		r->on_line(r->arg, r->line);
	}
}

static ssize_t relay_write(const struct relay *r)
{
	struct pollfd p = { .fd = r->to, .events = POLLOUT };
	const char *data = r->data + r->start;
	size_t length = r->end - r->start;

	if (r->is_socket)
		return send(r->to, data, length, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (r->may_block && poll(&p, 1, 0) == 0) {
		errno = EAGAIN;
		return -1;
	}
	/* A pipe with room takes at least PIPE_BUF bytes at once. */
	return write(r->to, data, r->may_block ? MIN(length, (size_t)PIPE_BUF) : length);
}

/* Returns true if all data is written or lost. */
static bool relay_flush(struct relay *r)
{
	while (r->start < r->end) {
		ssize_t n = relay_write(r);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN && r->out)
			return false;
		if (n < 0) {
			if (!r->failing)
				log_node(r->ctx->log, LOG_WARNING, r->name, "output is lost: %s",
					 strerror(errno));
			r->failing = true;
			r->start = r->end = 0;
			continue;
		}
		r->failing = false;
		r->start += (size_t)n;
	}
	r->start = r->end = 0;
	return true;
}

/* Returns true if there may be more to read. */
static bool relay_read(struct relay *r)
{
	ssize_t n = read(r->read_fd, r->data, sizeof(r->data));
	size_t stale;

	if (n <= 0)
		return n < 0 && errno == EINTR;
	r->end = (size_t)n;
	stale = MIN(r->stale, r->end);
	r->stale -= stale;
	/* Written first: the line is at its destination when @on_line is called. */
	(void)relay_flush(r);
	relay_show_lines(r, r->data + stale, (size_t)n - stale);
	return true;
}

static void relay_pump(struct relay *r)
{
	for (int i = 0; i < READS_AT_ONCE; i++) {
		if (!relay_flush(r)) {
			(void)sd_event_source_set_enabled(r->in, SD_EVENT_OFF);
			(void)sd_event_source_set_enabled(r->out, SD_EVENT_ONESHOT);
			return;
		}
		if (!relay_read(r))
			return;
	}
}

static int relay_on_readable(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	relay_pump(arg);
	return 0;
}

static int relay_on_writable(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct relay *r = arg;

	(void)sd_event_source_set_enabled(r->in, SD_EVENT_ON);
	relay_pump(r);
	return 0;
}

/* --- over a fault --- */

static const char *const relay_ends[] = { "read", "write", "to" };

static void relay_name_end(const struct relay *r, size_t end, char name[static ROSTER_NAME_MAX + 1])
{
	(void)snprintf(name, ROSTER_NAME_MAX + 1, "relay %s %d %s", relay_ends[end], r->stream,
		       r->name);
}

static void relay_enter(struct relay *r)
{
	const int fds[] = { r->read_fd, r->write_fd, r->to };
	char name[ROSTER_NAME_MAX + 1];

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		relay_name_end(r, i, name);
		roster_enter_descriptor(r->ctx->roster, &r->places[i], fds[i], 0, name);
	}
}

static int relay_take_end(const struct relay *r, size_t end)
{
	char name[ROSTER_NAME_MAX + 1];

	relay_name_end(r, end, name);
	return roster_take_descriptor(r->ctx->roster, name, NULL);
}

/* --- the destination --- */

/*
 * Returns a descriptor for the open file of @fd.  A pipe or a terminal is opened anew if possible:
 * others share the flags of @fd, so O_NONBLOCK cannot be set there.  Other files never block for
 * long.
 */
static int relay_open_to(int fd, bool *ret_socket, bool *ret_may_block)
{
	char path[32];
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	*ret_socket = S_ISSOCK(st.st_mode);
	*ret_may_block = false;
	if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)) {
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		r = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		if (r >= 0)
			return r;
		*ret_may_block = true;
	}
	r = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return r < 0 ? -errno : r;
}

/* *ret is NULL if @fd always has room, and so cannot be polled. */
static int relay_watch_room(struct relay *r, int fd, sd_event_source **ret)
{
	int e;

	*ret = NULL;
	e = sd_event_add_io(r->ctx->event, ret, fd, EPOLLOUT, relay_on_writable, r);
	if (e == -EPERM)
		return 0;
	if (e >= 0)
		e = sd_event_source_set_enabled(*ret, SD_EVENT_OFF);
	if (e >= 0)
		e = sd_event_source_set_priority(*ret, SD_EVENT_PRIORITY_IDLE);
	return e;
}

int relay_direct(struct relay *r, int fd)
{
	cleanup(closep) int to = -1;
	sd_event_source *out = NULL;
	bool is_socket = false, may_block = false;
	int e, waiting = 0;

	to = relay_open_to(fd, &is_socket, &may_block);
	if (to < 0)
		return to;
	e = relay_watch_room(r, to, &out);
	if (e < 0) {
		sd_event_source_disable_unref(out);
		return e;
	}
	sd_event_source_disable_unref(r->out);
	(void)fd_close(r->to);
	r->to = take_fd(to);
	r->out = out;
	r->is_socket = is_socket;
	r->may_block = may_block;
	r->failing = false;
	(void)ioctl(r->read_fd, FIONREAD, &waiting);
	r->stale = (size_t)waiting;
	r->line_used = 0;
	relay_enter(r);
	return sd_event_source_set_enabled(r->in, SD_EVENT_ON);
}

void relay_watch(struct relay *r, bool on)
{
	r->watched = on;
}

int relay_fd(const struct relay *r)
{
	return r->write_fd;
}

/* Makes a pipe, or takes that of the former image, in which the process of a service may write. */
static int relay_open(struct relay *r)
{
	int fds[2];

	r->read_fd = relay_take_end(r, 0);
	r->write_fd = relay_take_end(r, 1);
	if (r->read_fd >= 0 && r->write_fd >= 0)
		return 0;
	(void)fd_close(r->read_fd);
	(void)fd_close(r->write_fd);
	r->read_fd = r->write_fd = -1;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	r->read_fd = fds[0];
	r->write_fd = fds[1];
	return 0;
}

/* The reader is not blocked, and is called after all other events. */
static int relay_begin(struct relay *r)
{
	cleanup(closep) int to = -1;
	int e = relay_open(r);

	if (e >= 0)
		e = fd_set_nonblock(r->read_fd);
	if (e >= 0)
		e = sd_event_add_io(r->ctx->event, &r->in, r->read_fd, EPOLLIN, relay_on_readable,
				    r);
	if (e >= 0) /* after the events on which the states of services depend */
		e = sd_event_source_set_priority(r->in, SD_EVENT_PRIORITY_IDLE);
	to = relay_take_end(r, 2);
	return e >= 0 && to >= 0 ? relay_direct(r, to) : e;
}

int relay_new(struct relay **ret, struct context *ctx, const char *name, int stream,
	      void (*on_line)(void *arg, const char *line), void *arg)
{
	cleanup(relay_freep) struct relay *r = malloc(sizeof(*r));
	int e;

	if (!r)
		return -ENOMEM;
	*r = (struct relay){
		.ctx = ctx,
		.name = name,
		.stream = stream,
		.on_line = on_line,
		.arg = arg,
		.read_fd = -1,
		.write_fd = -1,
		.to = -1,
	};
	e = relay_begin(r);
	if (e >= 0)
		*ret = take(r);
	return e < 0 ? e : 0;
}

/* Returns the number of bytes that have not reached the destination. */
static size_t relay_count_waiting(const struct relay *r)
{
	int in_pipe = 0;

	(void)ioctl(r->read_fd, FIONREAD, &in_pipe);
	return r->end - r->start + (size_t)in_pipe;
}

bool relay_drain(struct relay *r)
{
	for (int i = 0; i < READS_AT_END && relay_flush(r) && relay_read(r); i++)
		;
	return r->to < 0 || relay_count_waiting(r) == 0;
}

struct relay *relay_free(struct relay *r)
{
	if (!r)
		return NULL;
	r->watched = false;
	if (r->to >= 0 && !relay_drain(r))
		log_node(r->ctx->log, LOG_WARNING, r->name,
			 "the last %zu bytes of output are lost: no room at their destination",
			 relay_count_waiting(r));
	sd_event_source_disable_unref(r->in);
	sd_event_source_disable_unref(r->out);
	for (size_t i = 0; i < ARRAY_SIZE(r->places); i++)
		roster_write(r->ctx->roster, &r->places[i], NULL);
	(void)fd_close(r->read_fd);
	(void)fd_close(r->write_fd);
	(void)fd_close(r->to);
	free(r);
	return NULL;
}
