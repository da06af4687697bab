/*
 * notifier: sends messages to its supervisor.
 *
 * usage: notifier FIFO
 *
 * Every line written to FIFO, for example "READY=1", is sent to $NOTIFY_SOCKET as one message.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int notify_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t length = strlen(path);
	int fd;

	if (length >= sizeof(address.sun_path))
		return -1;
	memcpy(address.sun_path, path, length);
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (connect(fd, (struct sockaddr *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) < 0) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

int main(int argc, char **argv)
{
	const char *path = getenv("NOTIFY_SOCKET");
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	FILE *f;
	int fd;

	if (argc != 2 || !path)
		return EXIT_FAILURE;
	fd = notify_connect(path);
	/* "r+": a FIFO that has a writer never ends. */
	f = fopen(argv[1], "r+e");
	if (fd < 0 || !f) {
		perror("notifier");
		return EXIT_FAILURE;
	}
	while ((n = getline(&line, &size, f)) > 0) {
		if (line[n - 1] == '\n')
			n--;
		if (send(fd, line, (size_t)n, MSG_NOSIGNAL) < 0)
			perror("notifier: send");
	}
	free(line);
	return EXIT_FAILURE;
}
