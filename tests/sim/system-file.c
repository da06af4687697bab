/*
 * The functions about descriptors, sockets and files that the daemon calls.  The files are the
 * configuration and those of tests/sim/files.h; every other path does not exist.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"
#include "sys/file/path.h"
#include "sys/ipc/unixsock.h"
#include "sys/process/usage.h"
#include "tests/sim/client.h"
#include "tests/sim/descriptors.h"
#include "tests/sim/files.h"
#include "tests/sim/kernel.h"
#include "tests/sim/system.h"

#define WRAP(result, name, ...)            \
	result __wrap_##name(__VA_ARGS__); \
	result __wrap_##name(__VA_ARGS__)

#define CLIENT_PID 900 /* of the first client: below those of the table */

const char *system_config = "";

static int system_fail(int error)
{
	errno = error;
	return -1;
}

/* Sockets of services: no client of theirs exists. */
WRAP(int, inet_listen, const struct sockaddr *address, socklen_t length, int type)
{
	int error = kernel_fails(FAULT_SOCKET);

	return error ? -error : descriptors_open(DESCRIPTOR_NULL);
}

/* --- files --- */

static int system_open(const char *path, int flags)
{
	int error = kernel_fails(FAULT_OPEN), fd;
	const char *text;

	if (error)
		return system_fail(error);
	if (strcmp(path, "/dev/null") == 0)
		return descriptors_open(DESCRIPTOR_NULL);
	text = strcmp(path, SYSTEM_CONFIG) == 0 ? system_config : files_text(path);
	if (!text || (flags & O_DIRECTORY))
		return system_fail(ENOENT);
	fd = descriptors_open(DESCRIPTOR_FILE);
	descriptors_find(fd)->text = text;
	return fd;
}

WRAP(int, open, const char *path, int flags, ...)
{
	return system_open(path, flags);
}

WRAP(int, openat, int dir, const char *path, int flags, ...)
{
	return system_open(path, flags);
}

/* The names of the same functions where the compiler checks the room in buffers. */
WRAP(int, __open_2, const char *path, int flags)
{
	return system_open(path, flags);
}

/* The state file, at its place. */
WRAP(int, access, const char *path, int mode)
{
	return files_text(path) ? 0 : system_fail(ENOENT);
}

int __real_fstat(int fd, struct stat *ret);
WRAP(int, fstat, int fd, struct stat *ret)
{
	const struct descriptor *d = descriptors_find(fd);

	if (!d)
		return __real_fstat(fd, ret);
	*ret = (struct stat){ .st_uid = geteuid(), .st_mode = S_IFCHR | 0600, .st_nlink = 1 };
	if (d->kind == DESCRIPTOR_GROUP) {
		ret->st_ino = d->number + 1;
	} else if (d->kind == DESCRIPTOR_FILE) {
		ret->st_mode = S_IFREG | 0600;
		ret->st_size = (off_t)strlen(d->text);
	}
	return 0;
}

static ssize_t system_read_signal(struct signalfd_siginfo *info, size_t size)
{
	int signo = __builtin_ctzll(kernel.pending);

	if (!kernel.pending)
		return system_fail(EAGAIN);
	if (size < sizeof(*info))
		return system_fail(EINVAL);
	kernel.pending &= kernel.pending - 1;
	*info = (struct signalfd_siginfo){ .ssi_signo = (uint32_t)signo };
	if (signo == SIGCHLD)
		info->ssi_pid = (uint32_t)kernel.pending_pid;
	return (ssize_t)sizeof(*info);
}

ssize_t __real_read(int fd, void *buf, size_t size);
WRAP(ssize_t, read, int fd, void *buf, size_t size)
{
	struct descriptor *d = descriptors_find(fd);
	int error = d ? kernel_fails(FAULT_READ) : 0;
	size_t n;

	if (!d)
		return __real_read(fd, buf, size);
	if (error)
		return system_fail(error);
	if (d->kind == DESCRIPTOR_SIGNALS)
		return system_read_signal(buf, size);
	if (d->kind == DESCRIPTOR_CLOCK)
		return system_read_clock();
	if (d->kind == DESCRIPTOR_WATCHES)
		return system_read_watch(buf, size);
	if (d->kind != DESCRIPTOR_FILE)
		return system_fail(EAGAIN);
	n = MIN(size, strlen(d->text + d->offset));
	memcpy(buf, d->text + d->offset, n);
	d->offset += n;
	return (ssize_t)n;
}

WRAP(ssize_t, __read_chk, int fd, void *buf, size_t size, size_t room)
{
	return __wrap_read(fd, buf, size);
}

int __real_close(int fd);
WRAP(int, close, int fd)
{
	return descriptors_close(fd) ? 0 : __real_close(fd);
}

/* Of all commands the daemon uses those of the flag CLOEXEC on descriptors of the world. */
int __real_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...)
{
	struct descriptor *d = descriptors_find(fd);
	va_list ap;
	long value;

	va_start(ap, command);
	value = va_arg(ap, long);
	va_end(ap);
	if (!d)
		return __real_fcntl64(fd, command, value);
	if (command == F_SETFD)
		d->inherited = !((int)value & FD_CLOEXEC);
	return command == F_GETFD && !d->inherited ? FD_CLOEXEC : 0;
}

WRAP(int, path_make_directory, const char *text, mode_t mode)
{
	return -EACCES;
}

WRAP(int, path_open, const char *text, int flags, mode_t mode)
{
	return -ENOENT;
}

/* The file of states, and reports. */
WRAP(int, replace_file, const char *path, mode_t mode, bool sync,
     int (*write)(FILE *f, const void *arg), const void *arg)
{
	int r = -kernel_fails(FAULT_WRITE);
	char *text = NULL;
	size_t size;
	FILE *f = r < 0 ? NULL : open_memstream(&text, &size);

	if (!f)
		return r;
	r = write(f, arg);
	if (fclose(f) == 0 && r == 0)
		files_write(path, text);
	free(text);
	return r;
}

WRAP(bool, mount_is_local, const char *path)
{
	return true;
}

WRAP(int, mount_call, const char *path, unsigned msec, int (*fn)(void *arg), void *arg, size_t size)
{
	return fn(arg);
}

WRAP(int, usage_watch_pressure, int dir, const char *path, uint64_t stall_usec)
{
	int error = kernel_fails(FAULT_OPEN),
	    fd = error ? -error : descriptors_open(DESCRIPTOR_PRESSURE);

	if (fd >= 0)
		descriptors_find(fd)->number = kernel.shortages;
	return fd;
}

WRAP(int, usage_read_pressure, int fd, uint64_t *ret)
{
	int error = kernel_fails(FAULT_READ);

	descriptors_find(fd)->number = kernel.shortages;
	*ret = kernel.shortages * USAGE_PRESSURE_USEC;
	return -error;
}

/* --- sets and signals --- */

WRAP(int, epoll_create1, int flags)
{
	int error = kernel_fails(FAULT_POLL);

	return error ? system_fail(error) : descriptors_open(DESCRIPTOR_EPOLL);
}

WRAP(int, epoll_ctl, int set, int operation, int fd, struct epoll_event *event)
{
	struct descriptor *d = descriptors_find(fd);
	int error = d && operation != EPOLL_CTL_DEL ? kernel_fails(FAULT_POLL) : 0;

	if (!d || error)
		return system_fail(d ? error : EBADF);
	d->set = operation == EPOLL_CTL_DEL ? 0 : set;
	d->armed = operation != EPOLL_CTL_DEL;
	if (event)
		d->data = event->data.u64;
	return 0;
}

WRAP(int, epoll_wait, int set, struct epoll_event *events, int max, int timeout)
{
	int fd = 0, n = 0;

	while (n < max && (fd = descriptors_next(DESCRIPTOR_EXEC, fd))) {
		struct descriptor *d = descriptors_find(fd);

		if (d->set != set || !d->armed || !descriptors_poll(fd))
			continue;
		d->armed = false;
		events[n++] = (struct epoll_event){ .events = EPOLLIN, .data.u64 = d->data };
	}
	return n;
}

WRAP(int, signalfd, int fd, const sigset_t *mask, int flags)
{
	errno = kernel_fails(FAULT_OPEN);
	return errno ? -1 : descriptors_open(DESCRIPTOR_SIGNALS);
}

/* --- the control socket --- */

WRAP(int, unix_listen, struct unix_listener *ret, const char *path, mode_t mode, gid_t group)
{
	*ret = (struct unix_listener){ .fd = descriptors_open(DESCRIPTOR_LISTENER), .lock_fd = -1 };
	return 0;
}

WRAP(void, unix_unlisten, struct unix_listener *listener)
{
	if (listener->fd >= DESCRIPTORS_FIRST)
		(void)descriptors_close(listener->fd);
}

WRAP(int, accept4, int listener, struct sockaddr *address, socklen_t *length, int flags)
{
	int error = kernel_fails(FAULT_ACCEPT), client, fd;

	if (error)
		return system_fail(error);
	client = client_accept();
	if (client < 0)
		return system_fail(EAGAIN);
	fd = descriptors_open(DESCRIPTOR_STREAM);
	descriptors_find(fd)->number = (unsigned)client;
	return fd;
}

WRAP(int, setsockopt, int fd, int level, int option, const void *value, socklen_t length)
{
	return 0;
}

WRAP(int, unix_peer, int fd, struct ucred *ret)
{
	const struct descriptor *d = descriptors_find(fd);

	if (!d)
		return -EBADF;
	*ret = (struct ucred){ .pid = CLIENT_PID + (pid_t)d->number, .uid = geteuid() };
	return 0;
}

WRAP(ssize_t, unix_receive, int fd, void *buf, size_t size, struct ucred *sender)
{
	const struct descriptor *d = descriptors_find(fd);

	int error = kernel_fails(FAULT_READ);

	if (!d || d->kind != DESCRIPTOR_STREAM)
		return -EBADF;
	(void)__wrap_unix_peer(fd, sender);
	if (error)
		return -error;
	return client_receive(d->number, buf, size);
}

WRAP(ssize_t, sendmsg, int fd, const struct msghdr *message, int flags)
{
	const struct descriptor *d = descriptors_find(fd);
	int error = kernel_fails(FAULT_SEND);
	ssize_t n;

	if (!d || d->kind != DESCRIPTOR_STREAM)
		return system_fail(EBADF);
	if (error)
		return system_fail(error);
	n = client_reply(d->number, message->msg_iov->iov_base, message->msg_iov->iov_len);
	return n < 0 ? system_fail((int)-n) : n;
}

WRAP(bool, unix_end_input, int fd)
{
	return true;
}

WRAP(void, unix_close, int fd)
{
	(void)descriptors_close(fd);
}

pid_t __wrap_fork(void);
WRAP(pid_t, passed_close_apart, const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		(void)descriptors_close(fds[i]);
	return __wrap_fork();
}

WRAP(int, passed_close_now, int fd)
{
	(void)descriptors_close(fd);
	return -1;
}

/* --- sockets of messages --- */

void system_send_message(const char *address, const char *text, pid_t sender)
{
	int fd = 0;

	while ((fd = descriptors_next(DESCRIPTOR_DATAGRAM, fd))) {
		struct descriptor *d = descriptors_find(fd);
		struct datagram *m = &d->datagrams[d->n_datagrams];

		if (strcmp(d->name, address) != 0 || d->n_datagrams == DATAGRAMS_MAX)
			continue;
		d->n_datagrams++;
		m->sender = sender;
		(void)snprintf(m->text, sizeof(m->text), "%s", text);
	}
}

WRAP(int, unix_datagram_new, char name[static UNIX_NAME_MAX])
{
	int error = kernel_fails(FAULT_SOCKET);
	int fd = error ? -error : descriptors_open(DESCRIPTOR_DATAGRAM);

	if (fd < 0)
		return fd;
	(void)snprintf(name, UNIX_NAME_MAX, "@%x", (unsigned)kernel.sockets++ & 0xffff);
	(void)snprintf(descriptors_find(fd)->name, UNIX_NAME_MAX, "%s", name);
	return fd;
}

WRAP(int, unix_peek, int fd, struct ucred *sender)
{
	const struct descriptor *d = descriptors_find(fd);

	if (!d || d->n_datagrams == 0)
		return -EAGAIN;
	*sender = (struct ucred){ .pid = d->datagrams[0].sender, .uid = geteuid() };
	return 0;
}

WRAP(ssize_t, unix_receive_passed, int fd, void *buf, size_t size, struct ucred *sender,
     struct unix_passed *passed)
{
	struct descriptor *d = descriptors_find(fd);
	size_t n;

	int error = kernel_fails(FAULT_READ);

	passed->n = 0;
	if (error || __wrap_unix_peek(fd, sender) < 0)
		return error ? -error : -EAGAIN;
	n = MIN(size, strlen(d->datagrams[0].text));
	memcpy(buf, d->datagrams[0].text, n);
	d->n_datagrams--;
	memmove(d->datagrams, d->datagrams + 1, d->n_datagrams * sizeof(*d->datagrams));
	return (ssize_t)n;
}
