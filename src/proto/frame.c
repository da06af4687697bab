/*
 * Reader and writer are the same queue of bytes.  The bytes are contiguous, so that a message can
 * be returned without a copy; they are moved to the front only when memory is needed.
 */
#include "proto/frame.h"

#define QUEUE_SIZE_MIN 4096

static size_t frame_queue_pending(const struct frame_queue *q)
{
	return q->end - q->start;
}

/* Moves the pending bytes to the front, so that all free memory follows them. */
static void frame_queue_compact(struct frame_queue *q)
{
	if (q->start == 0)
		return;
	memmove(q->bytes, q->bytes + q->start, frame_queue_pending(q));
	q->end -= q->start;
	q->start = 0;
}

/* Grows to @size bytes, at most the cap, by doubling. */
static int frame_queue_grow(struct frame_queue *q, size_t size)
{
	size_t want = MIN(q->cap, (size_t)QUEUE_SIZE_MIN);
	char *bytes;

	while (want < size)
		want = want > q->cap / 2 ? q->cap : want * 2;
	if (want <= q->size)
		return 0;
	bytes = realloc(q->bytes, want);
	if (!bytes)
		return -ENOMEM;
	q->bytes = bytes;
	q->size = want;
	return 0;
}

static void frame_queue_done(struct frame_queue *q)
{
	free(q->bytes);
	*q = (struct frame_queue){ .cap = q->cap };
}

void frame_reader_init(struct frame_reader *reader, size_t cap)
{
	*reader = (struct frame_reader){ .queue = { .cap = cap } };
}

void frame_reader_done(struct frame_reader *reader)
{
	frame_queue_done(&reader->queue);
	reader->scanned = 0;
}

int frame_reader_space(struct frame_reader *reader, char **ret, size_t *ret_size)
{
	struct frame_queue *q = &reader->queue;

	reader->scanned -= q->start;
	frame_queue_compact(q);
	if (q->end == q->cap)
		return -EMSGSIZE;
	if (q->end == q->size) {
		int r = frame_queue_grow(q, q->size + 1);

		if (r < 0)
			return r;
	}
	*ret = q->bytes + q->end;
	*ret_size = q->size - q->end;
	return 0;
}

void frame_reader_commit(struct frame_reader *reader, size_t n)
{
	reader->queue.end += n;
}

int frame_next(struct frame_reader *reader, const char **ret, size_t *ret_length)
{
	struct frame_queue *q = &reader->queue;
	const char *nul = NULL;

	if (reader->scanned < q->end)
		nul = memchr(q->bytes + reader->scanned, '\0', q->end - reader->scanned);
	if (!nul) {
		reader->scanned = q->end;
		return frame_queue_pending(q) >= q->cap ? -EMSGSIZE : 0;
	}
	*ret = q->bytes + q->start;
	if (ret_length)
		*ret_length = (size_t)(nul - *ret);
	q->start = (size_t)(nul - q->bytes) + 1;
	reader->scanned = q->start;
	return 1;
}

size_t frame_reader_pending(const struct frame_reader *reader)
{
	return frame_queue_pending(&reader->queue);
}

void frame_writer_init(struct frame_writer *writer, size_t cap)
{
	*writer = (struct frame_writer){ .queue = { .cap = cap }, .passed = -1 };
}

void frame_writer_done(struct frame_writer *writer)
{
	writer->passed = fd_close(writer->passed);
	frame_queue_done(&writer->queue);
}

int frame_writer_add(struct frame_writer *writer, const char *text)
{
	struct frame_queue *q = &writer->queue;
	size_t n = strlen(text) + 1;
	int r;

	if (n > q->cap - frame_queue_pending(q))
		return -ENOBUFS;
	if (n > q->size - q->end)
		frame_queue_compact(q);
	r = frame_queue_grow(q, q->end + n);
	if (r < 0)
		return r;
	memcpy(q->bytes + q->end, text, n);
	q->end += n;
	return 0;
}

void frame_writer_pass(struct frame_writer *writer, int fd)
{
	(void)fd_close(writer->passed);
	writer->passed = fd;
}

int frame_writer_send(struct frame_writer *writer, int fd)
{
	struct frame_queue *q = &writer->queue;

	while (frame_queue_pending(q)) {
		struct iovec iov = { q->bytes + q->start, frame_queue_pending(q) };
		struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
		union fd_room room;
		ssize_t n;

		if (writer->passed >= 0)
			fd_pass(&msg, &room, writer->passed);
		n = sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		writer->passed = fd_close(writer->passed);
		q->start += (size_t)n;
	}
	q->start = q->end = 0;
	if (q->size > QUEUE_SIZE_MIN)
		frame_queue_done(q); /* a connection may stay idle after a large reply */
	return 1;
}

size_t frame_writer_pending(const struct frame_writer *writer)
{
	return frame_queue_pending(&writer->queue);
}
