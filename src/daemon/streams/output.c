#include "daemon/streams/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

struct output_pipe {
	int read_fd, write_fd;
	sd_event_source *source;
	void (*on_line)(void *arg, const char *line, size_t length);
	void *arg;
	size_t used; /* of a line that has not ended yet */
	char line[OUTPUT_LINE_MAX];
};
DEFINE_CLEANUP(struct output_pipe *, output_free)

static void hand_on(struct output_pipe *o)
{
	const char *at = o->line, *end = o->line + o->used, *newline;

	while ((newline = memchr(at, '\n', (size_t)(end - at)))) {
		o->on_line(o->arg, at, (size_t)(newline - at));
		at = newline + 1;
	}
	o->used = (size_t)(end - at);
	if (o->used == sizeof(o->line)) {
		o->on_line(o->arg, at, o->used);
		o->used = 0;
	}
	memmove(o->line, at, o->used);
}

/* Return: is there more? */
static bool read_some(struct output_pipe *o)
{
	ssize_t n = read(o->read_fd, o->line + o->used, sizeof(o->line) - o->used);

	if (n <= 0)
		return n < 0 && errno == EINTR;
	o->used += (size_t)n;
	hand_on(o);
	return true;
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct output_pipe *o = arg;

	for (int i = 0; i < READS_AT_ONCE && read_some(o); i++)
		;
	return 0;
}

int output_open(sd_event *event, int *read_fd, int *write_fd, sd_event_source **source,
		sd_event_io_handler_t on_input, void *arg)
{
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	*read_fd = fds[0];
	*write_fd = fds[1];
	r = fd_set_nonblock(*read_fd);
	if (r >= 0)
		r = sd_event_add_io(event, source, *read_fd, EPOLLIN, on_input, arg);
	if (r >= 0) /* after all that the services' lives depend on */
		r = sd_event_source_set_priority(*source, SD_EVENT_PRIORITY_IDLE);
	return r;
}

int output_new(struct output_pipe **ret, sd_event *event,
	       void (*on_line)(void *arg, const char *line, size_t length), void *arg)
{
	cleanup(output_freep) struct output_pipe *o = malloc(sizeof(*o));
	int r;

	if (!o)
		return -ENOMEM;
	*o = (struct output_pipe){ .read_fd = -1, .write_fd = -1, .on_line = on_line, .arg = arg };
	r = output_open(event, &o->read_fd, &o->write_fd, &o->source, on_readable, o);
	if (r >= 0)
		*ret = take(o);
	return r < 0 ? r : 0;
}

struct output_pipe *output_free(struct output_pipe *o)
{
	if (!o)
		return NULL;
	o->write_fd = fd_close(o->write_fd);
	for (int i = 0; o->source && i < READS_AT_END && read_some(o); i++)
		;
	if (o->used)
		o->on_line(o->arg, o->line, o->used);
	sd_event_source_disable_unref(o->source);
	o->read_fd = fd_close(o->read_fd);
	free(o);
	return NULL;
}

int output_fd(const struct output_pipe *o)
{
	return o->write_fd;
}
