#ifndef SWANSONG_INTERRUPT_IO_H
#define SWANSONG_INTERRUPT_IO_H

/*
 * System calls that end with the stop: each looks at the interrupt before it does anything, and is
 * woken while it waits.  All behave in the same way at the stop:
 *
 *  - The result is 0 (or false), as at the end of a file or of an iteration, even if there is more
 *    to read.  Only swansong_interrupt_accept() and _connect(), where 0 is a result, return -ESHUTDOWN.
 *    swansong_interrupted() distinguishes the stop from another end.
 *  - Nothing is lost: a call that has transferred bytes, or accepted a connection, or found a ready
 *    descriptor returns that, and the next call ends.  Bytes that were not read are still there.
 *  - All later calls end, too.
 *
 * Signals end nothing: a call goes on after their handlers, and never returns -EINTR.  Deadlines
 * are absolute times of CLOCK_MONOTONIC in microseconds, and UINT64_MAX is never; with a deadline
 * that has passed, a call does not wait.
 *
 * Descriptors may be blocking or not, and their flags stay as they are (but see _accept()).  With
 * either a call waits only for readiness and the stop together, whichever processes use the same
 * file.  The first call that waits on a node needs one descriptor for it, and fails with -EMFILE or
 * -ENFILE if there is none.  Linux leaves two exceptions:
 *
 *  - Files on disks: a call waits for the disk.
 *  - A blocking descriptor of a device that cannot be read without waiting (a pseudo-terminal's
 *    master, inotify), or of a FIFO or terminal that cannot be opened once more by its descriptor
 *    (no /proc, no permission): another process may take the input, or the room, between readiness
 *    and the call, and then the call waits until there is more.
 *
 * Any thread may call any of these at any time, also several threads on one interrupt.  A call that
 * waits is a cancellation point (pthread_cancel(3)).
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
 * As read(2) and readv(2): reads the bytes that there are, at least one.
 *
 * Return: the number of bytes; 0 at the stop, and at the end of the file; or -errno.
 */
ssize_t swansong_interrupt_read(struct swansong_interrupt *i, int fd, void *buffer, size_t size);
ssize_t swansong_interrupt_readv(struct swansong_interrupt *i, int fd, const struct iovec *iov,
				 int n);

/*
 * As write(2) and writev(2) on a non-blocking descriptor: writes as many bytes as there is room
 * for, at least one.  For the remaining bytes, call again.  SIGPIPE is raised as by write(2).
 *
 * Return: the number of bytes; 0 at the stop, when nothing has been written; or -errno.
 */
ssize_t swansong_interrupt_write(struct swansong_interrupt *i, int fd, const void *buffer,
				 size_t size);
ssize_t swansong_interrupt_writev(struct swansong_interrupt *i, int fd, const struct iovec *iov,
				  int n);

/*
 * Waits for a connection, as accept4(2).  The listening socket @fd is made non-blocking, for all
 * processes that share it, as nothing else keeps accept(2) from waiting.  @flags are SOCK_NONBLOCK
 * or 0, for the connection; it is closed on exec in any case.  Connections that were aborted before
 * they could be accepted are skipped.
 *
 * Return: the connection's descriptor, -ESHUTDOWN at the stop, or -errno.
 */
int swansong_interrupt_accept(struct swansong_interrupt *i, int fd, struct sockaddr *address,
			      socklen_t *length, int flags);

/*
 * Connects a socket, as connect(2), and makes it non-blocking.  Returns 0, -ESHUTDOWN at the stop,
 * or -errno.  The kernel may go on after the stop or a deadline; close the socket then.
 */
int swansong_interrupt_connect(struct swansong_interrupt *i, int fd, const struct sockaddr *address,
			       socklen_t length);

/* As recvmsg(2) and sendmsg(2), once.  Return: the number of bytes; 0 at the stop; or -errno. */
ssize_t swansong_interrupt_recvmsg(struct swansong_interrupt *i, int fd, struct msghdr *message,
				   int flags);
ssize_t swansong_interrupt_sendmsg(struct swansong_interrupt *i, int fd,
				   const struct msghdr *message, int flags);

/*
 * Waits for any of several descriptors, as poll(2), until the deadline; revents is written unless
 * there is a fault.  More than 15 descriptors are copied to allocated memory.
 *
 * Return: the number of descriptors with revents; 0 at the stop; -ETIMEDOUT; or -errno.
 */
int swansong_interrupt_poll(struct swansong_interrupt *i, struct pollfd *fds, nfds_t n,
			    uint64_t deadline);

/* Sleeps until the deadline.  False if the stop came first: while (sleep(i, next)) tick(); */
bool swansong_interrupt_sleep(struct swansong_interrupt *i, uint64_t deadline);

/*
 * Gets the next item of an iteration: returns @next(@arg, @item), which is false at the end of the
 * iteration.  Returns false at the stop, without a call of @next.  If @next waits, it has to do so
 * with the interrupt.
 */
bool swansong_interrupt_next(struct swansong_interrupt *i, bool (*next)(void *arg, void *item),
			     void *arg, void *item);

SWANSONG_END_DECLARATIONS

#endif
