/*
 * A server with a thread for each connection, which answers every request in progress at its end.
 *
 *	cc threaded-tcp-server.c $(pkg-config --cflags --libs libswansong) && ./a.out 8080
 *
 * A request is a line, and is answered by the same line; a line that begins with "slow" takes a second.
 * At SIGTERM, or when the daemon that it is attached to stops it, the server accepts no further
 * connection.  Each connection ends after its current request, and the program when all connections
 * have ended, or after ten seconds.
 */
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <swansong/swansong.h>

#define PATIENCE_USEC UINT64_C(10000000)
#define RETRY_USEC    UINT64_C(100000)

struct connection {
	int fd;
	struct swansong *server;
	struct swansong_guard guard; /* until the end of the connection */
};

/* Returns true if there is a further request, false at the stop of the server. */
static int wait_for_request(const struct connection *c)
{
	struct pollfd fds[] = {
		{ .fd = swansong_stopped_fd(c->server), .events = POLLIN },
		{ .fd = c->fd, .events = POLLIN },
	};

	return poll(fds, 2, -1) > 0 && !fds[0].revents;
}

static int answer(int fd)
{
	char line[1000];
	ssize_t n = read(fd, line, sizeof(line));

	if (n <= 0)
		return 0;
	printf("answering\n");
	if (n >= 4 && memcmp(line, "slow", 4) == 0)
		sleep(1); /* this is hard work */
	return write(fd, line, (size_t)n) == n;
}

static void *serve(void *arg)
{
	struct connection *c = arg;
	struct swansong_guard guard = c->guard;

	while (wait_for_request(c) && answer(c->fd))
		;
	close(c->fd);
	free(c);
	swansong_guard_drop(&guard); /* last: the program may end now */
	return NULL;
}

static void accept_one(struct swansong *server, int listener)
{
	struct connection *c = malloc(sizeof(*c));
	pthread_t thread;
	int fd = accept(listener, NULL, NULL);

	if (!c || fd < 0) {
		/* The connection waits in its queue: look again when one may have ended. */
		if (fd < 0 && (errno == EMFILE || errno == ENFILE))
			swansong_stopped_wait(server, swansong_deadline_in(RETRY_USEC));
		if (fd >= 0)
			close(fd);
		free(c);
		return;
	}
	*c = (struct connection){ .fd = fd, .server = server, .guard = swansong_guard(server) };
	if (pthread_create(&thread, NULL, serve, c) != 0) {
		swansong_guard_drop(&c->guard);
		close(fd);
		free(c);
		return;
	}
	pthread_detach(thread); /* the end waits for its guard */
}

static int listen_on(const char *port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(port)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 100) < 0) {
		perror("listen");
		exit(EXIT_FAILURE);
	}
	return fd;
}

int main(int argc, char *argv[])
{
	struct swansong *server;
	struct pollfd fds[3];
	sigset_t set;

	if (argc != 2 || swansong_attach(&server) < 0)
		return EXIT_FAILURE;
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGPIPE, SIG_IGN);

	/* Blocked before the first thread starts, so that only the descriptor takes it. */
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	fds[0] = (struct pollfd){ .fd = signalfd(-1, &set, SFD_CLOEXEC), .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = listen_on(argv[1]), .events = POLLIN };
	fds[2] = (struct pollfd){ .fd = swansong_stopped_fd(server), .events = POLLIN };
	printf("ready\n");

	while (poll(fds, 3, -1) > 0 && !fds[0].revents && !fds[2].revents)
		accept_one(server, fds[1].fd);

	close(fds[1].fd);
	swansong_shut_down(server);
	if (swansong_wait(server, swansong_deadline_in(PATIENCE_USEC)) < 0) {
		fprintf(stderr, "%" PRIu64 " connections cut off\n", swansong_guard_count(server));
		return EXIT_FAILURE; /* while their threads run */
	}
	printf("drained\n");
	server = swansong_unref(server);
	close(fds[0].fd);
	return EXIT_SUCCESS;
}
