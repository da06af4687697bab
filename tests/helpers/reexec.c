/*
 * reexec DAEMON N: leaves a child of the process DAEMON behind, of a session of its own, which N
 * times gives the supervisor a file to keep and executes itself in the same breath.  Then that
 * writes "reexec: done", and stays as its parent does.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void leave(pid_t daemon)
{
	pid_t pid = fork();

	/* It has the session before DAEMON sees it. */
	if (pid == 0)
		(void)setsid();
	if (pid == 0 && fork() > 0)
		_exit(0);
	if (pid != 0)
		for (;;)
			(void)pause();
	while (getppid() != daemon)
		(void)usleep(1000);
}

static int store(int fd, const char *name)
{
	const char *socket_name = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	char text[64];
	struct iovec iov = { .iov_base = text };
	struct msghdr msg = {
		.msg_name = &address,
		.msg_namelen =
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(socket_name)),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	int link = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path, socket_name, strlen(socket_name));
	if (*socket_name == '@')
		address.sun_path[0] = '\0';
	iov.iov_len = (size_t)snprintf(text, sizeof(text), "FDSTORE=1\nFDNAME=%s", name);
	*c = (struct cmsghdr){
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
		.cmsg_len = CMSG_LEN(sizeof(int)),
	};
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(link, &msg, 0) < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	char rest[12];
	int n;

	if (argc < 3 || argc > 4)
		return 2;
	if (argc == 3)
		leave((pid_t)atoi(argv[1]));
	n = atoi(argv[2]);
	if (n > 0) {
		if (store(memfd_create("kept", MFD_CLOEXEC), argv[2]) < 0)
			return 1;
		(void)snprintf(rest, sizeof(rest), "%d", n - 1);
		(void)execl("/proc/self/exe", argv[0], argv[1], rest, "again", (char *)NULL);
		return 1;
	}
	(void)puts("reexec: done");
	(void)fflush(stdout);
	for (;;)
		(void)pause();
}
