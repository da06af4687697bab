/*
 * A frame is a header, a name and a text, and is read into one buffer, from which whole frames are
 * taken.  Each source remembers the position after its last line: a line before it has come
 * already and is skipped; a line beyond it is preceded by an event for the lost bytes.
 */
#include "proto/log-reader.h"

#define READ_SIZE (32 * 1024)

DEFINE_DICT_NAME(log_source_node, struct log_source, node)

void log_reader_init(struct log_reader *r)
{
	*r = (struct log_reader){ .fd = -1, .output_fd = -1 };
	dict_init(&r->by_node, log_source_node);
}

void log_reader_done(struct log_reader *r)
{
	r->fd = fd_close(r->fd);
	for (size_t i = 0; i < r->n_sources; i++) {
		free(r->sources[i]->text);
		free(r->sources[i]->node);
		free(r->sources[i]);
	}
	free(r->sources);
	free(r->buffer);
	dict_done(&r->by_node);
}

void log_reader_open(struct log_reader *r, int fd)
{
	(void)fd_close(r->fd);
	r->fd = fd;
	r->start = r->end = 0;
	r->gap = false;
}

/* --- sources --- */

static struct log_source *log_source_new(struct log_reader *r, const char *node,
					 enum logger_kind kind)
{
	struct log_source *source = calloc(1, sizeof(*source));

	if (source)
		source->node = strdup(node);
	if (!source || !source->node || array_reserve(r->sources, r->n_sources) < 0) {
		if (source)
			free(source->node);
		free(source);
		return NULL;
	}
	source->kind = kind;
	source->first = dict_find(&r->by_node, node);
	if (!source->first) {
		source->first = source;
		(void)dict_add(&r->by_node, source);
	}
	r->sources[r->n_sources++] = source;
	return source;
}

struct log_source *log_reader_source(struct log_reader *r, const char *node, enum logger_kind kind)
{
	struct log_source *first = dict_find(&r->by_node, node);

	if (first && first->kind == kind)
		return first;
	for (size_t i = 0; first && i < r->n_sources; i++)
		if (r->sources[i]->first == first && r->sources[i]->kind == kind)
			return r->sources[i];
	return log_source_new(r, node, kind);
}

/* --- frames --- */

/* Return: 1: there are more bytes; 0: the end; or as log_reader_next(). */
static int log_reader_fill(struct log_reader *r, uint64_t deadline_usec)
{
	struct pollfd fds[] = { { .fd = r->fd, .events = POLLIN }, { .fd = r->output_fd } };
	int timeout = clock_left_msec(deadline_usec), n;
	ssize_t size;

	n = poll(fds, ARRAY_SIZE(fds), deadline_usec == 0 ? 0 : timeout);
	if (n < 0)
		return errno == EINTR ? 1 : -errno;
	if (n == 0)
		return deadline_usec == 0 ? -EAGAIN : -ETIMEDOUT;
	if (fds[1].revents)
		return -EPIPE;
	if (r->start > 0) {
		memmove(r->buffer, r->buffer + r->start, r->end - r->start);
		r->end -= r->start;
		r->start = 0;
	}
	if (r->size - r->end < READ_SIZE) {
		char *buffer = realloc(r->buffer, r->end + 2 * READ_SIZE);

		if (!buffer)
			return -ENOMEM;
		r->buffer = buffer;
		r->size = r->end + 2 * READ_SIZE;
	}
	size = read(r->fd, r->buffer + r->end, r->size - r->end);
	if (size < 0)
		return errno == EINTR || errno == EAGAIN ? 1 : -errno;
	r->end += (size_t)size;
	return size > 0;
}

/* Takes the line at the start.  Return: 1; 0: it is skipped. */
static int log_reader_take_line(struct log_reader *r, const struct logger_frame *frame,
				struct log_event *event)
{
	struct log_source *s = event->line.source;

	/* It has come before; but a stream may also have begun anew. */
	if (s->seen && frame->next <= s->next && frame->time_usec <= s->last_usec)
		return 0;
	if (s->seen && !r->gap && frame->position > s->next) {
		r->gap = true;
		event->type = LOGGER_FRAME_LOST;
		event->lost = frame->position - s->next;
		return 1;
	}
	r->gap = false;
	s->seen = true;
	s->next = frame->next;
	s->last_usec = frame->time_usec;
	event->line.time_usec = frame->time_usec;
	event->line.pid = frame->pid;
	event->line.generation = frame->generation;
	event->line.position = frame->position;
	return 1;
}

/* Return: 0 or -ENOMEM. */
static int log_reader_take_text(struct log_source *s, const struct logger_frame *frame,
				const char *text, size_t length)
{
	char *all = realloc(s->text, s->size + length + 1);

	if (!all)
		return -ENOMEM;
	s->text = all;
	memcpy(all + s->size, text, length);
	s->size += length;
	s->error = -(int)frame->lost;
	return 0;
}

/* Return: 1: *event is set; 0: the frame has nothing to report; or -EBADMSG or -ENOMEM. */
static int log_reader_take(struct log_reader *r, const struct logger_frame *frame, const char *text,
			   size_t length, struct log_event *event)
{
	struct log_source *s = NULL;
	char name[LOGGER_NAME_MAX] = "";
	int n = 1;

	memcpy(name, text - frame->name_length, frame->name_length);
	if (*name)
		s = log_reader_source(r, name, frame->kind);
	*event = (struct log_event){
		.type = (enum logger_frame_type)frame->type,
		.line = { .source = s, .text = text, .length = length },
	};
	if (frame->type == LOGGER_FRAME_NOW || (frame->type == LOGGER_FRAME_ENDED && !s))
		return frame->type == LOGGER_FRAME_NOW;
	if (!s)
		return frame->name_length ? -ENOMEM : -EBADMSG;
	if (frame->type == LOGGER_FRAME_SEAM) {
		if (length != sizeof(s->seam))
			return -EBADMSG;
		memcpy(&s->seam, text, sizeof(s->seam));
		n = 0;
	} else if (frame->type == LOGGER_FRAME_LINE) {
		n = log_reader_take_line(r, frame, event);
	} else if (frame->type == LOGGER_FRAME_OLDER) {
		n = log_reader_take_text(s, frame, text, length);
	} else if (frame->type == LOGGER_FRAME_LOST) {
		/* Lines that have come before do not count as lost. */
		event->lost = frame->position - (s->seen ? MIN(s->next, frame->position) : 0);
		if (!s->seen)
			event->lost = frame->lost;
		s->next = MAX(s->next, frame->position);
		n = event->lost > 0;
	}
	return n;
}

int log_reader_next(struct log_reader *r, uint64_t deadline_usec, struct log_event *ret)
{
	struct logger_frame frame;
	const char *text;
	size_t length;
	int n;

	for (;;) {
		n = r->end == r->start
			    ? 0
			    : (int)logger_frame_parse(r->buffer + r->start, r->end - r->start,
						      &frame, &text, &length);
		if (n == 0)
			n = log_reader_fill(r, deadline_usec);
		else if (n > 0) {
			n = log_reader_take(r, &frame, text, length, ret);
			/* A gap is reported before its line. */
			if (n >= 0 && !r->gap)
				r->start += frame.size;
			if (n == 0)
				continue;
			return n;
		}
		if (n <= 0)
			return n;
	}
}
