#pragma once

/*
 * Descriptors that another process has passed to us.
 *
 * A file of FUSE or NFS is served by a process: fstat(2), poll(2) and close(2) of it wait for that
 * process, and SIGKILL does not end the wait.  The last close of a TCP socket with SO_LINGER waits,
 * too, also if it comes by dropping a message, or a UNIX socket with messages in its queue.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Returns true if the kernel alone serves the file of @fd: a socket, a pipe, an anonymous inode or
 * a memfd.  The file itself is not asked: /proc knows.
 */
bool passed_is_served_by_kernel(int fd);

/*
 * Closes @fds in a process of its own that shares our descriptors: a close that hangs does so
 * there, and the numbers are free at once.  The child exits when all are closed.
 *
 * Return: its pid, for the caller to collect; or -errno, and @fds are open.
 */
pid_t passed_close_apart(const int *fds, size_t n);

/*
 * Drops the next message of the socket @fd in a process likewise.  Return: its pid, or -errno and
 * the message stays.
 */
pid_t passed_drop_apart(int fd);
