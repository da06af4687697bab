#ifndef SWANSONG_INTERRUPT_IO_H
#define SWANSONG_INTERRUPT_IO_H

/*
 * Calls that end with the stop: each looks at the interrupt before it does anything, and is woken
 * while it waits.  What happens at the stop is the same for all:
 *
 *  - the result is 0 (or false), also if there would be something to read: read(2)'s end of file,
 *    the end of an iteration.  Only swansong_interrupt_accept(), where 0 is a descriptor, has
 *    -ESHUTDOWN.  swansong_interrupted() tells the stop from another end.
 *  - nothing is lost: a call that has transferred something, or accepted somebody, or found
 *    something ready, says so, and the next one ends.  What was not read is still there.
 *  - it stays like that: the call after it ends, too.
 *
 * Signals end nothing: a call goes on after their handlers, and never returns -EINTR.  Deadlines
 * are absolute times of CLOCK_MONOTONIC in microseconds, UINT64_MAX is never; a deadline that has
 * passed asks without waiting.
 *
 * Descriptors may be blocking or not, and their flags stay as they are (but see _accept()).  With
 * neither does a call wait anywhere but for readiness and the stop together, whoever else uses the
 * same file; it needs one descriptor for the node the first time that it waits, and fails with
 * -EMFILE or -ENFILE without.  Exceptions, which Linux leaves:
 *
 *  - files on disks: the disk is waited for.
 *  - on a blocking descriptor of a device that knows no reading without waiting (a
 *    pseudo-terminal's master, inotify), or of a FIFO or terminal that cannot be opened once more
 *    by its descriptor (no /proc, no permission): somebody else may take the input, or the room,
 *    between readiness and the call, and then the call waits until there is more.
 *
 * Any thread may call any of these at any time, also several on one interrupt.
 */

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <swansong/declare.h>
#include <swansong/interrupt.h>

SWANSONG_BEGIN_DECLARATIONS

/*
 * As read(2) and readv(2): what there is, at least one byte.
 *
 * Return: the number of bytes; 0 at the stop, and at the end of the file; or -errno.
 */
ssize_t swansong_interrupt_read(struct swansong_interrupt *i, int fd, void *buffer, size_t size);
ssize_t swansong_interrupt_readv(struct swansong_interrupt *i, int fd, const struct iovec *iov,
				 int n);

/*
 * As write(2) and writev(2) on a non-blocking descriptor: what there is room for, at least one
 * byte.  Who has more to write calls again.  SIGPIPE is raised as by write(2).
 *
 * Return: the number of bytes; 0 at the stop, when nothing has been written; or -errno.
 */
ssize_t swansong_interrupt_write(struct swansong_interrupt *i, int fd, const void *buffer,
				 size_t size);
ssize_t swansong_interrupt_writev(struct swansong_interrupt *i, int fd, const struct iovec *iov,
				  int n);

/**
 * swansong_interrupt_accept() - wait for a connection
 * @i:		the interrupt
 * @fd:		the listening socket, which is made non-blocking, for all who share it: nothing else
 *		keeps accept(2) from waiting
 * @address:	where to write the peer's address, or NULL
 * @length:	the size of @address, and then that of what was written, or NULL
 * @flags:	SOCK_NONBLOCK or 0, for the connection; it is closed on exec in any case
 *
 * Connections that were aborted before they could be accepted are passed over.
 *
 * Return: the connection's descriptor, -ESHUTDOWN at the stop, or -errno.
 */
int swansong_interrupt_accept(struct swansong_interrupt *i, int fd, struct sockaddr *address,
			      socklen_t *length, int flags);

/**
 * swansong_interrupt_poll() - wait for any of several descriptors
 * @i:		the interrupt
 * @fds:	as in poll(2); revents is written unless there is a fault
 * @n:		the number of these
 * @deadline:	when to give up
 *
 * More than 15 descriptors are copied to allocated memory.
 *
 * Return: the number of descriptors with revents; 0 at the stop; -ETIMEDOUT; or -errno.
 */
int swansong_interrupt_poll(struct swansong_interrupt *i, struct pollfd *fds, nfds_t n,
			    uint64_t deadline);

/* Sleeps until the deadline.  False if the stop came first: while (sleep(i, next)) tick(); */
bool swansong_interrupt_sleep(struct swansong_interrupt *i, uint64_t deadline);

/*
 * The next item of an iteration: what @next(@arg, @item) says, which returns false at its end.
 * False at the stop, without a call of @next.  If @next waits, it does so with the interrupt.
 */
bool swansong_interrupt_next(struct swansong_interrupt *i, bool (*next)(void *arg, void *item),
			     void *arg, void *item);

SWANSONG_END_DECLARATIONS

#endif
