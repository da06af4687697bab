#pragma once

/*
 * Messages on a stream socket: bytes without a NUL, ended by a NUL.  The division of the stream
 * into packets has no effect.  Objects are not thread-safe; the only system call is send(2).
 *
 * A reader is filled and emptied alternately:
 *
 *	r = frame_reader_space(&reader, &space, &size);
 *	n = recvmsg(fd, ... space, size ...);
 *	frame_reader_commit(&reader, n);
 *	while ((r = frame_next(&reader, &text, NULL)) > 0)
 *		...
 *	if (r < 0)
 *		drop the connection
 */

#include "base/std.h"

/* Private to frame.c: the bytes from @start to @end are pending. */
struct frame_queue {
	char *bytes;
	size_t size; /* allocated */
	size_t cap;  /* the limit of end - start and of size */
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

/* @cap is the longest message in bytes, with its NUL.  Memory is allocated on demand. */
void frame_reader_init(struct frame_reader *reader, size_t cap);
void frame_reader_done(struct frame_reader *reader);

/*
 * Returns the memory for the next bytes: at least one byte, if frame_next() returned 0 before.
 * Messages from frame_next() are invalid from now on.
 *
 * Return: 0, -EMSGSIZE or -ENOMEM.
 */
int frame_reader_space(struct frame_reader *reader, char **ret, size_t *ret_size);

/* Adds the @n bytes that were written there, at most *ret_size. */
void frame_reader_commit(struct frame_reader *reader, size_t n);

/*
 * Returns the next complete message in the reader's memory, with its NUL; it may be empty.
 * *ret_length, unless NULL, is without the NUL.
 *
 * Return: 1; 0: no message yet; -EMSGSIZE: a message exceeds the cap, and every later call fails.
 */
int frame_next(struct frame_reader *reader, const char **ret, size_t *ret_length);

/*
 * The bytes of an incomplete message: at the end of the stream, more than 0 means a truncated
 * message.
 */
size_t frame_reader_pending(const struct frame_reader *reader);

/* @cap is the limit of pending bytes, with the NUL of each message. */
void frame_writer_init(struct frame_writer *writer, size_t cap);
void frame_writer_done(struct frame_writer *writer);

/* Queues a copy of @text.  Return: 0; -ENOBUFS beyond the cap, or -ENOMEM: nothing is queued. */
int frame_writer_add(struct frame_writer *writer, const char *text);

/* @fd, which becomes the writer's, goes with the first bytes of the message that is added next. */
void frame_writer_pass(struct frame_writer *writer, int fd);

/*
 * Sends as many bytes as the socket accepts without blocking.  Raises no SIGPIPE.
 *
 * Return: 1: all bytes are sent; 0: the remaining bytes wait for POLLOUT; -errno.
 */
int frame_writer_send(struct frame_writer *writer, int fd);

size_t frame_writer_pending(const struct frame_writer *writer);
