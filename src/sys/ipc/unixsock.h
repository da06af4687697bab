#pragma once

/* UNIX sockets with the identity of the peer.  All are CLOEXEC and non-blocking. */

#include "sys/file/path.h"

/* Clients that wait in a socket of unix_listen(). */
#define UNIX_BACKLOG 128

/* A listening socket at a path, and the lock of the process that serves it. */
struct unix_listener {
	int fd, lock_fd;
	char *path;
};

/*
 * Binds a socket of @type at @path; clients cannot connect before it listens.  CLOEXEC; blocking
 * unless @type has SOCK_NONBLOCK.  The socket gets @mode before it has a name, and then @owner and
 * @group, unless they are -1.  A stale socket, which no process serves, is replaced; missing
 * directories are made with mode 0755.
 *
 * Return: the descriptor; -EADDRINUSE: another process serves @path; -ELOOP: sys/file/path.h; -errno.
 */
int unix_bind(const char *path, int type, mode_t mode, uid_t owner, gid_t group);

/* Removes the socket at @path if it is still this one. */
void unix_remove(const char *path, dev_t device, ino_t inode);

/*
 * Listens on @path.  The socket gets @mode before it has a name, and then @group, unless that is
 * (gid_t)-1.  The lock @path.lock is held until the process ends; a stale socket is replaced only
 * under the lock.  The socket is named "@path~" until it listens, so that a client that finds @path
 * can connect.  unix_receive() on its connections returns the sender.
 *
 * Return: 0; -EADDRINUSE: a live process serves @path; -errno.
 */
int unix_listen(struct unix_listener *ret, const char *path, mode_t mode, gid_t group);

/* Stops listening and removes the socket. */
void unix_unlisten(struct unix_listener *listener);

/*
 * Opens a datagram socket with a name that the kernel chooses ("@..." in *name, as in
 * $NOTIFY_SOCKET). Each message comes with its sender.  Every process of the network namespace can
 * reach the socket.
 *
 * Return: the descriptor or -errno.
 */
#define UNIX_NAME_MAX 16
int unix_datagram_new(char name[static UNIX_NAME_MAX]);

/*
 * Makes two connected stream sockets.  Messages at fds[0] come with their sender; fds[1] is for
 * another process, and blocks.  Return: 0 or -errno.
 */
int unix_pair(int fds[static 2]);

/* The identity of the process that connected (pid 0: not visible from here).  Return: 0 or -errno. */
int unix_peer(int fd, struct ucred *ret);

/* Returns true if the process that connected is in @group, as its group or a supplementary one. */
bool unix_peer_in_group(int fd, gid_t group);

/* From now on unix_receive() returns the sender.  Return: 0 or -errno. */
int unix_pass_credentials(int fd);

/* Makes the kernel refuse messages with descriptors, from Linux 6.16 on. */
void unix_refuse_descriptors(int fd);

/*
 * Ends the input of a connected stream, and reads what is queued if it has no descriptors.  Returns
 * true if nothing is left, and close(2) cannot block (see sys/ipc/passed.h).
 */
bool unix_end_input(int fd);

/* Closes such a stream, in a child process if the call may block; the caller must reap the child. */
void unix_close(int fd);

/*
 * Receives a message, or bytes of a stream.
 *
 * Return: the number of bytes (0: the end); -EAGAIN; -EBADMSG: the message is truncated, or has no
 * sender; -EPROTO: the message has descriptors, and is still queued (see sys/ipc/passed.h), or they
 * came behind other bytes of a stream, and a child process closes them; -errno.
 */
ssize_t unix_receive(int fd, void *buf, size_t size, struct ucred *sender);

/*
 * The sender of the next message, which stays queued; the pid is 0 if the message has no sender.
 *
 * Return: 1 if the message has descriptors, or 0; -EAGAIN; -errno.
 */
int unix_peek(int fd, struct ucred *sender);

/* The descriptors of a message, CLOEXEC: at most as many as the kernel passes at once. */
#define UNIX_PASSED_MAX 253
struct unix_passed {
	int fds[UNIX_PASSED_MAX];
	size_t n;
};

/*
 * As unix_receive(), but *passed gets the descriptors.  The caller must close them, also those of a
 * refused message; closing may block: see sys/ipc/passed.h.
 */
ssize_t unix_receive_passed(int fd, void *buf, size_t size, struct ucred *sender,
			    struct unix_passed *passed);

/* Closes the remaining descriptors, except for -1.  Only for files that the kernel alone serves. */
void unix_passed_close(struct unix_passed *passed);
