#pragma once

/*
 * Descriptors that another process has passed.
 *
 * A file of FUSE or NFS is served by a process: fstat(2), poll(2) and close(2) wait for that
 * process, and SIGKILL does not end the wait.  The last close of a TCP socket with SO_LINGER waits,
 * too, even if dropping a message, or a UNIX socket with queued messages, causes it; and each use of a
 * pipe to which another process writes a page of such a file.
 */

#include "base/std.h"

/*
 * Returns true if the kernel alone serves the file of @fd: a socket, a pipe, an anonymous inode or
 * a memfd.  The answer comes from /proc, without a call on the file itself.
 */
bool passed_is_served_by_kernel(int fd);

/*
 * Closes @fds in a child that shares the table of descriptors: a close that hangs blocks only the
 * child, and the numbers are free at once.  The child exits when all are closed.
 *
 * Return: the pid, which the caller must reap; -errno: @fds are still open.
 */
pid_t passed_close_apart(const int *fds, size_t n);

/*
 * Closes @fd, unless it is negative, of which the kernel serves the file, without waiting: such a child, called
 * PASSED_NAME, closes all but sockets of a network, and is reaped with the unowned processes.  Returns -1.
 */
#define PASSED_NAME "swansong-close"
int passed_close_now(int fd);

/* Closes @n descriptors likewise, in one child; no child is made if each is negative. */
void passed_close_all_now(const int *fds, size_t n);

/*
 * Drops the next message of the socket @fd in such a child.  Return: the pid; -errno: the message
 * is still queued.
 */
pid_t passed_drop_apart(int fd);
