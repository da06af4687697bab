/*
 * A server with a single thread and an event loop of systemd, which answers every request at its end.
 *
 *	cc sd-event-server.c $(pkg-config --cflags --libs libswansong libsystemd) && ./a.out 8080
 *
 * A connection is one request: a line, which has a second to arrive and is answered by the same line;
 * other connections are served meanwhile.  The end of the last request makes the descriptor of a
 * completion readable.  It is a source of the event loop, and ends the loop.
 */
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <swansong/swansong.h>
#include <systemd/sd-event.h>

struct server {
	struct swansong *node;
	sd_event *event;
	sd_event_source *listener;
};

struct request {
	struct swansong_guard guard; /* from accept() on */
	int fd;
	sd_event_source *timer;
};

static void request_free(struct request *request)
{
	struct swansong_guard guard = request->guard;

	sd_event_source_disable_unref(request->timer);
	close(request->fd);
	free(request);
	swansong_guard_drop(&guard); /* last: a thread that waits may go on now */
}

static int on_answer(sd_event_source *source, uint64_t usec, void *arg)
{
	struct request *request = arg;
	char line[1000];
	ssize_t n = recv(request->fd, line, sizeof(line), MSG_DONTWAIT);

	(void)source;
	(void)usec;
	if (n > 0 && send(request->fd, line, (size_t)n, MSG_NOSIGNAL) < n)
		perror("send");
	request_free(request);
	return 0;
}

static int on_connection(sd_event_source *source, int listener, uint32_t events, void *arg)
{
	struct server *server = arg;
	struct request *request = calloc(1, sizeof(*request));
	int fd = accept(listener, NULL, NULL);

	(void)source;
	(void)events;
	if (!request || fd < 0) {
		free(request);
		return fd < 0 ? 0 : close(fd);
	}
	request->fd = fd;
	request->guard = swansong_guard(server->node);
	printf("answering\n");
	if (sd_event_add_time_relative(server->event, &request->timer, CLOCK_MONOTONIC, 1000000, 0,
				       on_answer, request) < 0)
		request_free(request);
	return 0;
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *si, void *arg)
{
	struct server *server = arg;

	(void)source;
	(void)si;
	server->listener = sd_event_source_disable_unref(server->listener);
	swansong_shut_down(server->node);
	return 0;
}

static int on_complete(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	(void)fd;
	(void)events;
	(void)arg;
	printf("drained\n");
	return sd_event_exit(sd_event_source_get_event(source), EXIT_SUCCESS);
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
	struct server server = { 0 };
	struct swansong_completion *end;
	sigset_t set;
	int fd, r;

	if (argc != 2 || swansong_new(&server.node) < 0 || sd_event_new(&server.event) < 0 ||
	    swansong_completion_new(server.node, &end) < 0)
		return EXIT_FAILURE;
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = listen_on(argv[1]);

	if (sd_event_add_io(server.event, &server.listener, fd, EPOLLIN, on_connection, &server) <
		    0 ||
	    sd_event_add_signal(server.event, NULL, SIGTERM, on_signal, &server) < 0 ||
	    sd_event_add_io(server.event, NULL, swansong_completion_fd(end), EPOLLIN, on_complete,
			    NULL) < 0)
		return EXIT_FAILURE;
	sd_event_source_set_io_fd_own(server.listener, 1);
	printf("ready\n");
	r = sd_event_loop(server.event);

	sd_event_unref(server.event);
	swansong_completion_unref(end);
	swansong_unref(server.node);
	return r;
}
