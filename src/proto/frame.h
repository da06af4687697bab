#pragma once

/*
 * Messages on a stream socket: bytes without a NUL, ended by a NUL.  How the stream was cut into
 * packets never shows.  One thread at a time for each object; no system calls but send(2).
 *
 * A reader is filled and emptied in turns:
 *
 *	r = frame_reader_space(&reader, &space, &size);
 *	n = recvmsg(fd, ... space, size ...);
 *	frame_reader_commit(&reader, n);
 *	while ((r = frame_next(&reader, &text, NULL)) > 0)
 *		...
 *	if (r < 0)
 *		drop the connection
 */

#include <stdbool.h>
#include <stddef.h>

/* Private to frame.c: the bytes from @start to @end wait for their reader. */
struct frame_queue {
	char *bytes;
	size_t size; /* allocated */
	size_t cap;  /* never to be exceeded by end - start, nor by size */
	size_t start, end;
};

struct frame_reader {
	struct frame_queue queue;
	size_t scanned; /* no NUL between start and here */
};

struct frame_writer {
	struct frame_queue queue;
	int passed; /* a descriptor that goes with the next bytes, or -1 */
};

/* @cap is the longest message in bytes, with its NUL; memory is allocated as it is needed. */
void frame_reader_init(struct frame_reader *reader, size_t cap);
void frame_reader_done(struct frame_reader *reader);

/*
 * Where the next bytes belong: at least one, with frame_next() called until it gave 0 before.
 * What frame_next() returned is invalid from here on.
 *
 * Return: 0, -EMSGSIZE or -ENOMEM.
 */
int frame_reader_space(struct frame_reader *reader, char **ret, size_t *ret_size);

/* @n bytes, at most the size given, have been written there. */
void frame_reader_commit(struct frame_reader *reader, size_t n);

/*
 * The next whole message, with its NUL, in the reader's memory; it may be empty.  @ret_length, if
 * wanted, is without the NUL.
 *
 * Return: 1; 0 if there is none yet; -EMSGSIZE, for ever, once a message is longer than the cap.
 */
int frame_next(struct frame_reader *reader, const char **ret, size_t *ret_length);

/* Bytes of a message that has begun and not ended: an end of file here is in the middle of it. */
size_t frame_reader_pending(const struct frame_reader *reader);

/* @cap is the most bytes that may wait to be sent, with the NUL of each message. */
void frame_writer_init(struct frame_writer *writer, size_t cap);
void frame_writer_done(struct frame_writer *writer);

/* Queues a copy of @text.  Return: 0; -ENOBUFS beyond the cap or -ENOMEM, and nothing is queued. */
int frame_writer_add(struct frame_writer *writer, const char *text);

/* @fd, which becomes the writer's, goes with the first bytes of the message that is added next. */
void frame_writer_pass(struct frame_writer *writer, int fd);

/*
 * Sends what the socket takes without blocking, and raises no SIGPIPE.
 *
 * Return: 1 if nothing is left, 0 if the rest waits for POLLOUT, -errno.
 */
int frame_writer_send(struct frame_writer *writer, int fd);

size_t frame_writer_pending(const struct frame_writer *writer);
