/*
 * A path is taken over in steps, so that two daemons cannot serve the same path and a client never
 * finds a socket that does not listen: take the lock, remove a stale socket, which refuses a
 * connection, bind under another name, listen, rename.
 */
#include "sys/ipc/unixsock.h"

#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/un.h>

#include "sys/ipc/passed.h"

#define NOBODY 65534

static int unix_take_lock(const char *path)
{
	cleanup(path_done) struct path in;
	cleanup(closep) int fd = -1;
	char name[NAME_MAX + sizeof(".lock")];
	int r = path_find(&in, path, PATH_FIND);

	if (r < 0)
		return r;
	(void)snprintf(name, sizeof(name), "%s.lock", in.name);
	fd = path_open_in(&in, name, O_RDWR | O_CREAT, 0600);
	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EADDRINUSE : -errno;
	return take_fd(fd);
}

static int unix_address_of(struct sockaddr_un *address, const char *path)
{
	size_t length = strlen(path);

	if (length >= sizeof(address->sun_path))
		return -ENAMETOOLONG;
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(address->sun_path, path, length + 1);
	return 0;
}

/* Removes only a socket, and only if no process answers there. */
static int unix_remove_stale(const struct path *in, const struct sockaddr_un *address)
{
	cleanup(closep) int fd = -1;
	struct stat st;
	int r;

	if (fstatat(in->directory, in->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/*
	 * Any other error, of another protocol or of missing rights, comes from a live process.
	 */
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ||
	    (errno != ECONNREFUSED && errno != ENOENT))
		return -EADDRINUSE;
	r = path_unlink_in(in, in->name);
	return r == -ENOENT ? 0 : r;
}

/*
 * The kernel walks along the path by itself.  Where another user may change it, the rights are those of the
 * owner of the directory, or of its group: a link that comes meanwhile leads to nothing that this user could
 * not make.  Only a directory of root's below one of another user needs a name by its descriptor.
 */
static int unix_bind_as(int fd, const struct path *in, struct sockaddr_un address, mode_t mode)
{
	bool doubtful = *in->doubt.at, ours = path_is_ours(in);
	bool is_owner = in->st.st_uid != 0 && in->st.st_uid != geteuid();
	mode_t was;
	int r;

	if (fchmod(fd, mode) < 0)
		return -errno;
	if (doubtful && ours &&
	    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s",
		     in->directory, in->name) >= (int)sizeof(address.sun_path))
		return -ENAMETOOLONG;
	/* Without the umask, which would remove bits of @mode. */
	was = umask(0);
	if (doubtful && !ours) {
		(void)setfsgid(in->st.st_gid);
		(void)setfsuid(is_owner ? in->st.st_uid : NOBODY);
	}
	r = bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
	(void)setfsuid(geteuid());
	(void)setfsgid(getegid());
	(void)umask(was);
	return r;
}

/* Gives away the socket that has the name, and no other file that may have come in its place. */
static int unix_give(const struct path *in, uid_t owner, gid_t group)
{
	cleanup(closep) int fd = openat(in->directory, in->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISSOCK(st.st_mode) || st.st_nlink != 1)
		return -ELOOP;
	if (*in->doubt.at && owner == (uid_t)-1 && st.st_uid != geteuid())
		owner = geteuid();
	if (*in->doubt.at && group == (gid_t)-1 && st.st_gid != getegid())
		group = getegid();
	if (owner == (uid_t)-1 && group == (gid_t)-1)
		return 0;
	return fchownat(fd, "", owner, group, AT_EMPTY_PATH) < 0 ? -errno : 0;
}

int unix_bind(const char *path, int type, mode_t mode, uid_t owner, gid_t group)
{
	cleanup(path_done) struct path in = { .directory = -1 };
	cleanup(closep) int fd = -1;
	struct sockaddr_un address;
	int r;

	r = unix_address_of(&address, path);
	if (r == 0)
		r = path_find(&in, path, PATH_MAKE);
	if (r == 0)
		r = unix_remove_stale(&in, &address);
	if (r < 0)
		return r;
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	r = unix_bind_as(fd, &in, address, mode);
	if (r < 0)
		return r;
	r = unix_give(&in, owner, group);
	if (r < 0) {
		(void)path_unlink_in(&in, in.name);
		return r;
	}
	return take_fd(fd);
}

void unix_remove(const char *path, dev_t device, ino_t inode)
{
	cleanup(path_done) struct path in;
	struct stat st;

	if (path_find(&in, path, PATH_FIND) == 0 &&
	    fstatat(in.directory, in.name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(st.st_mode) &&
	    st.st_dev == device && st.st_ino == inode)
		(void)path_unlink_in(&in, in.name);
}

int unix_listen(struct unix_listener *ret, const char *path, mode_t mode, gid_t group)
{
	cleanup(closep) int fd = -1;
	cleanup(closep) int lock = -1;
	cleanup(freep) char *name = strdup(path);
	char new_path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	cleanup(path_done) struct path in = { .directory = -1 };
	struct sockaddr_un address;
	int r = unix_address_of(&address, path);

	if (!name)
		return -ENOMEM;
	if (r < 0)
		return r;
	lock = unix_take_lock(path);
	if (lock < 0)
		return lock;
	r = path_find(&in, path, PATH_FIND);
	if (r == 0)
		r = unix_remove_stale(&in, &address);
	if (r < 0)
		return r;
	/* The name until the socket listens, under the lock of @path; cut to @path if that has 107 bytes. */
	(void)snprintf(new_path, sizeof(new_path), "%s~", path);
	fd = unix_bind(new_path, SOCK_STREAM | SOCK_NONBLOCK, mode, (uid_t)-1, group);
	if (fd < 0)
		return fd;
	/* Connections inherit the option: it applies from the first byte on. */
	unix_refuse_descriptors(fd);
	r = unix_pass_credentials(fd);
	if (r == 0 && listen(fd, UNIX_BACKLOG) < 0)
		r = -errno;
	if (r == 0) {
		const char *slash = strrchr(new_path, '/');

		r = path_rename_in(&in, slash ? slash + 1 : new_path, in.name, PATH_REPLACE);
	}
	if (r < 0) {
		(void)path_unlink(new_path);
		return r;
	}
	*ret = (struct unix_listener){
		.fd = take_fd(fd),
		.lock_fd = take_fd(lock),
		.path = take(name),
	};
	return 0;
}

void unix_unlisten(struct unix_listener *listener)
{
	if (!listener->path)
		return;
	(void)path_unlink(listener->path);
	listener->fd = fd_close(listener->fd);
	listener->lock_fd = fd_close(listener->lock_fd);
	listener->path = free_memory(listener->path);
}

int unix_datagram_new(char name[static UNIX_NAME_MAX])
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t length = sizeof(address);
	cleanup(closep) int fd = -1;
	int r;

	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	r = unix_pass_credentials(fd);
	if (r < 0)
		return r;
	/*
	 * For an address with only the family, the kernel chooses an abstract name of five hex
	 * digits.
	 */
	if (bind(fd, (struct sockaddr *)&address, sizeof(sa_family_t)) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &length) < 0)
		return -errno;
	(void)snprintf(name, UNIX_NAME_MAX, "@%.*s", (int)(length - sizeof(sa_family_t) - 1),
		       address.sun_path + 1);
	return take_fd(fd);
}

int unix_pair(int fds[static 2])
{
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	r = fd_set_nonblock(pair[0]);
	if (r == 0)
		r = unix_pass_credentials(pair[0]);
	unix_refuse_descriptors(pair[0]);
	if (r < 0) {
		(void)fd_close(pair[0]);
		(void)fd_close(pair[1]);
		return r;
	}
	memcpy(fds, pair, sizeof(pair));
	return 0;
}

int unix_peer(int fd, struct ucred *ret)
{
	socklen_t length = sizeof(*ret);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ret, &length) < 0 ? -errno : 0;
}

bool unix_peer_in_group(int fd, gid_t group)
{
	gid_t groups[1024];
	socklen_t length = sizeof(groups);
	struct ucred peer = { 0 };

	if (unix_peer(fd, &peer) == 0 && peer.gid == group)
		return true;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &length) < 0)
		return false;
	for (size_t i = 0; i < length / sizeof(groups[0]); i++)
		if (groups[i] == group)
			return true;
	return false;
}

int unix_pass_credentials(int fd)
{
	int on = 1;

	return setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0 ? -errno : 0;
}

#if !defined(SO_PASSRIGHTS) && (defined(__x86_64__) || defined(__aarch64__) || defined(__riscv))
#define SO_PASSRIGHTS 83
#endif

void unix_refuse_descriptors(int fd)
{
#ifdef SO_PASSRIGHTS
	const int off = 0;

	(void)setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof(off));
#else
#endif
}

void unix_passed_close(struct unix_passed *passed)
{
	passed_close_all_now(passed->fds, passed->n);
	passed->n = 0;
}

/* Reads the control messages.  Returns true if the sender is among them. */
static bool unix_read_control(struct msghdr *msg, struct ucred *sender, struct unix_passed *passed)
{
	bool known = false;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_RIGHTS && passed) {
			size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

			for (size_t i = 0; i < n && passed->n < UNIX_PASSED_MAX; i++)
				memcpy(&passed->fds[passed->n++], CMSG_DATA(c) + i * sizeof(int),
				       sizeof(int));
		}
		if (c->cmsg_type != SCM_CREDENTIALS || c->cmsg_len != CMSG_LEN(sizeof(*sender)))
			continue;
		memcpy(sender, CMSG_DATA(c), sizeof(*sender));
		known = true;
	}
	return known;
}

static ssize_t unix_receive_message(int fd, struct msghdr *msg, int flags)
{
	ssize_t n;

	do
		n = recvmsg(fd, msg, flags | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* The sender comes first; the buffer has no room for descriptors, which the kernel then flags. */
int unix_peek(int fd, struct ucred *sender)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct msghdr msg = { .msg_control = &control, .msg_controllen = sizeof(control) };
	ssize_t n = unix_receive_message(fd, &msg, MSG_PEEK);

	*sender = (struct ucred){ 0 };
	if (n < 0)
		return (int)n;
	(void)unix_read_control(&msg, sender, NULL);
	return msg.msg_flags & MSG_CTRUNC ? 1 : 0;
}

ssize_t unix_receive_passed(int fd, void *buf, size_t size, struct ucred *sender,
			    struct unix_passed *passed)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(struct ucred)) +
			   CMSG_SPACE(sizeof(int) * UNIX_PASSED_MAX)];
	} control;
	struct iovec iov = { .iov_base = buf, .iov_len = size };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	bool known;
	ssize_t n;

	passed->n = 0;
	n = unix_receive_message(fd, &msg, 0);
	if (n < 0)
		return n;
	known = unix_read_control(&msg, sender, passed);
	if ((msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) || (n > 0 && !known))
		return -EBADMSG;
	return n;
}

ssize_t unix_receive(int fd, void *buf, size_t size, struct ucred *sender)
{
	struct unix_passed passed;
	struct ucred next;
	int r = unix_peek(fd, &next);
	ssize_t n;

	if (r != 0)
		return r < 0 ? r : -EPROTO;
	n = unix_receive_passed(fd, buf, size, sender, &passed);
	if (passed.n == 0)
		return n;
	unix_passed_close(&passed);
	return -EPROTO;
}

/*
 * MSG_PEEK passes over an urgent byte, which may have descriptors; the number of bytes has it.  Senders
 * would be flagged as descriptors are.
 */
bool unix_end_input(int fd)
{
	const int off = 0;
	char bytes[4096];
	struct iovec iov = { .iov_base = bytes, .iov_len = sizeof(bytes) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	int queued = 0;

	(void)shutdown(fd, SHUT_RD);
	(void)setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &off, sizeof(off));
	if (ioctl(fd, FIONREAD, &queued) < 0 || queued == 0)
		return true;
	if (unix_receive_message(fd, &msg, MSG_PEEK) != queued || msg.msg_flags & MSG_CTRUNC)
		return false;
	return recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) == queued;
}

void unix_close(int fd)
{
	if (fd >= 0 && (unix_end_input(fd) || passed_close_apart(&fd, 1) < 0))
		(void)fd_close(fd);
}
