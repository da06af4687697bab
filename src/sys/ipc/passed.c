/*
 * The link in /proc/self/fd begins with "/" for a file with a path, and with the type of the object
 * for a file without one; no path can look like that.  A memfd has a path, which any file in
 * another mount namespace may have, too: so its mount is compared with that of a memfd of this
 * process.
 */
#include "sys/ipc/passed.h"

#include <sched.h>
#include <sys/time.h>

#define STACK_SIZE 8192
#define WAIT_USEC  50000

static const char *const kernel_prefixes[] = { "socket:[", "pipe:[", "anon_inode:", "pidfd:[" };

/* Return: the identifier of the mount that the file of @fd is on, or -errno. */
static int passed_mount(int fd)
{
	static const char key[] = "\nmnt_id:";
	char path[64], text[512];
	cleanup(closep) int info = -1;
	const char *found;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = open(path, O_RDONLY | O_CLOEXEC);
	if (info < 0)
		return -errno;
	n = read(info, text, sizeof(text) - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	found = strstr(text, key);
	return found ? atoi(found + strlen(key)) : -ENODATA;
}

static bool passed_is_memfd(int fd)
{
	cleanup(closep) int ours = memfd_create("swansong", MFD_CLOEXEC);
	int mount;

	if (ours < 0)
		return false;
	mount = passed_mount(ours);
	return mount >= 0 && passed_mount(fd) == mount;
}

bool passed_is_served_by_kernel(int fd)
{
	char path[64], link[64];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, link, sizeof(link) - 1);
	if (n < 0)
		return false;
	link[n] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(kernel_prefixes); i++)
		if (strncmp(link, kernel_prefixes[i], strlen(kernel_prefixes[i])) == 0)
			return true;
	return strncmp(link, "/memfd:", 7) == 0 && passed_is_memfd(fd);
}

struct closing {
	const int *fds;
	size_t n;
};

static void passed_on_alarm(int signo)
{
}

/* Runs in the child, with a copy of the memory.  The signal ends the wait of a close of a socket. */
static int passed_close_all(void *arg)
{
	const struct itimerval again = { { 0, WAIT_USEC }, { 0, WAIT_USEC } };
	const struct closing *closing = arg;
	sigset_t only;

	(void)prctl(PR_SET_NAME, PASSED_NAME);
	(void)sigemptyset(&only);
	(void)sigaddset(&only, SIGALRM);
	(void)signal(SIGALRM, passed_on_alarm);
	(void)sigprocmask(SIG_UNBLOCK, &only, NULL);
	(void)setitimer(ITIMER_REAL, &again, NULL);
	for (size_t i = 0; i < closing->n; i++)
		(void)close(closing->fds[i]);
	return 0;
}

static int passed_drop(void *arg)
{
	struct msghdr msg = { .msg_iov = NULL };

	(void)recvmsg(*(const int *)arg, &msg, MSG_DONTWAIT);
	return 0;
}

static pid_t passed_do_apart(int (*work)(void *arg), void *arg)
{
	_Alignas(16) char stack[STACK_SIZE];
	pid_t pid = clone(work, stack + sizeof(stack), CLONE_FILES | SIGCHLD, arg);

	return pid < 0 ? -errno : pid;
}

pid_t passed_close_apart(const int *fds, size_t n)
{
	struct closing closing = { fds, n };

	return passed_do_apart(passed_close_all, &closing);
}

int passed_close_now(int fd)
{
	const struct linger off = { .l_onoff = 0 };
	int domain;

	if (fd < 0)
		return -1;
	domain = fd_option(fd, SO_DOMAIN);
	if ((domain == AF_UNIX || domain <= AF_UNSPEC) && passed_close_apart(&fd, 1) >= 0)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &off, sizeof(off));
	return fd_close(fd);
}

void passed_close_all_now(const int *fds, size_t n)
{
	while (n > 0 && fds[n - 1] < 0)
		n--;
	if (n > 0 && passed_close_apart(fds, n) < 0)
		for (size_t i = 0; i < n; i++)
			(void)passed_close_now(fds[i]);
}

pid_t passed_drop_apart(int fd)
{
	return passed_do_apart(passed_drop, &fd);
}
