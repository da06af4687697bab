#pragma once

/* UNIX sockets with the identity of who is at the other end.  All are CLOEXEC and non-blocking. */

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

struct unix_peer {
	pid_t pid; /* 0: not visible from here */
	uid_t uid;
	gid_t gid;
};

/* A listening socket at a path, and the lock that says it is served. */
struct unix_listener {
	int fd, lock_fd;
	char *path;
};

/*
 * A socket of @type at @path, to which nobody can connect before it listens; CLOEXEC, blocking
 * unless @type says SOCK_NONBLOCK.  It gets @mode before it has a name, and @owner and @group then,
 * unless they are -1.  A socket that nobody serves any more is replaced.
 *
 * Return: the descriptor; -EADDRINUSE if somebody serves it; -errno.
 */
int unix_bind(const char *path, int type, mode_t mode, uid_t owner, gid_t group);

/*
 * Listens on @path.  The socket gets @mode before it has a name, and @group then, unless that is
 * (gid_t)-1.  Beside it, @path.lock is held as long as we live: that a stale socket may be replaced
 * is decided under the lock.  Until it listens its name is "@path~", so that whoever finds it at
 * @path can connect.  On its connections unix_receive() tells who sends.
 *
 * Return: 0; -EADDRINUSE if somebody alive serves it; -errno.
 */
int unix_listen(struct unix_listener *ret, const char *path, mode_t mode, gid_t group);

/* Stops listening and removes the socket. */
void unix_unlisten(struct unix_listener *listener);

/*
 * A datagram socket with a name that the kernel chose ("@..." in *name, as $NOTIFY_SOCKET has it),
 * each message with its sender.  Every process of the network namespace reaches it.
 * Return: the descriptor or -errno.
 */
#define UNIX_NAME_MAX 16
int unix_datagram_new(char name[static UNIX_NAME_MAX]);

/*
 * Two stream sockets that are connected: what is received at fds[0] has its sender; fds[1] is for
 * somebody else, and blocks.  Return: 0 or -errno.
 */
int unix_pair(int fds[static 2]);

/* Of the process that connected.  Return: 0 or -errno. */
int unix_peer(int fd, struct unix_peer *ret);

/* Is the process that connected in @group, by its group or its other groups? */
bool unix_peer_in_group(int fd, gid_t group);

/* From now on unix_receive() tells who sends.  Return: 0 or -errno. */
int unix_pass_credentials(int fd);

/* The kernel refuses messages with descriptors from now on, from Linux 6.16 on. */
void unix_refuse_descriptors(int fd);

/*
 * Receives what is there.
 *
 * Return: bytes (0: the end); or -EAGAIN; -EBADMSG for a message cut short, or without its sender;
 * -EPROTO: descriptors come with the message, which stays (see sys/ipc/passed.h); -errno.
 */
ssize_t unix_receive(int fd, void *buf, size_t size, struct unix_peer *sender);

/*
 * The sender of the next message, which stays; its pid is 0 if there is none.
 *
 * Return: 1 if descriptors come with it, or 0; -EAGAIN; -errno.
 */
int unix_peek(int fd, struct unix_peer *sender);

/* The descriptors that came with a message: as many as the kernel passes at once, CLOEXEC. */
#define UNIX_PASSED_MAX 253
struct unix_passed {
	int fds[UNIX_PASSED_MAX];
	size_t n;
};

/*
 * As unix_receive(), but the descriptors are in *passed, for the caller to close, also of a message
 * that is refused; see sys/ipc/passed.h for what closing them may cost.
 */
ssize_t unix_receive_passed(int fd, void *buf, size_t size, struct unix_peer *sender,
			    struct unix_passed *passed);

/* Closes what is left in it, which the kernel alone serves; -1 is none. */
void unix_passed_close(struct unix_passed *passed);
