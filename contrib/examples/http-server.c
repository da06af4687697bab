/*
 * A server of HTTP that is restarted under load, and loses no request.
 *
 *	cc -pthread http-server.c $(pkg-config --cflags --libs libswansong libsystemd)
 *
 *	[web]
 *	command      = /usr/local/bin/http-server
 *	listen       = tcp:127.0.0.1:8080
 *	ready        = notify
 *	fd-store-max = 250
 *
 * Each connection has a thread.  Each request has a guard, and takes up to 50 ms.  At SIGTERM the server
 * stops accepting connections, and a request may be in any of these places:
 *
 *  - Its connection is not accepted.  The daemon keeps the socket open, so the connection waits in the
 *    kernel, and the next run accepts it.
 *  - The server works on it, or has read a part of it.  It is answered: the end waits for its guard.
 *  - It arrives on an idle connection.  It is not read: at the stop the calls with an interrupt take
 *    nothing.  The server sends the connection to the daemon's store of descriptors (FDSTORE=1 of
 *    sd_pid_notify_with_fds(3)), and the next run continues with it.
 *
 * So every request is answered, and no client has to repeat one.  When the service is stopped without a
 * next run, the daemon closes the idle connections.
 *
 * Without a store (no FDSTORE in the environment) the server has to close idle connections, and HTTP has
 * no safe way to do so.  For half a second each answer has "Connection: close"; then the server
 * half-closes the connections that are still idle.  A client that sends a request at this very moment
 * sees its connection end without an answer.  The server has not read that request, so the client may
 * send it again (RFC 9112, 9.3.1); a client that does not do so has lost it.
 *
 * Without a socket from the daemon (--port PORT) the server binds its own: connections between two runs
 * are refused.  With --abrupt it ends at once at SIGTERM, as many programs do.
 */
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <swansong/swansong.h>
#include <systemd/sd-daemon.h>

#define WORK_MSEC      50	/* at most */
#define LAME_DUCK_MSEC 500	/* "Connection: close", where there is no store */
#define PEER_SEC       3	/* for the next bytes of the peer */
#define PATIENCE_USEC  10000000 /* for all requests, at the stop */

struct server {
	struct swansong *root;
	struct swansong_interrupt *accepting; /* guarded, too */
	int listener;
	bool own;	     /* bound here: it is closed between two runs */
	bool store;	     /* idle connections go to the daemon at the stop */
	atomic_int room;     /* the number of further connections */
	atomic_bool leaving; /* each answer is the last of its connection */
};

struct connection {
	struct server *server;
	struct swansong_interrupt *interrupt; /* guarded until its thread ends */
	int fd;
	bool fresh; /* no request was on it yet */
	size_t length;
	char input[8192]; /* read and not yet answered, with a final 0 */
};

enum next {
	REQUEST, /* the input begins with a whole request */
	IDLE,	 /* the stop, and no byte of a next request was read */
	END,	 /* of the connection */
};

static void sleep_msec(long msec)
{
	struct timespec t = { .tv_sec = msec / 1000, .tv_nsec = msec % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* ---- a request ---- */

static enum next wait_for_request(struct connection *c)
{
	while (!strstr(c->input, "\r\n\r\n")) {
		char *end = c->input + c->length;
		size_t room = sizeof(c->input) - 1 - c->length;
		bool idle = c->length == 0 && (!c->fresh || c->server->store);
		ssize_t n = idle ? swansong_interrupt_read(c->interrupt, c->fd, end, room)
				 : recv(c->fd, end, room, 0);

		if (n <= 0)
			return n == 0 && idle && swansong_interrupted(c->interrupt) ? IDLE : END;
		c->length += (size_t)n;
		end[n] = '\0';
	}
	c->fresh = false;
	return REQUEST;
}

/* The value of a field of the head, or NULL. */
static const char *field(const char *head, const char *name)
{
	const char *end = strstr(head, "\r\n\r\n");
	size_t length = strlen(name);

	for (const char *line = strstr(head, "\r\n"); line < end; line = strstr(line, "\r\n")) {
		line += 2;
		if (strncasecmp(line, name, length) == 0 && line[length] == ':')
			return line + length + 1 + strspn(line + length + 1, " \t");
	}
	return NULL;
}

/* The first line of the answer.  The content is the same for each path. */
static const char *judge(const char *head, bool *last)
{
	const char *connection = field(head, "Connection");
	const char *version = strstr(head, "\r\n") - strlen(" HTTP/1.1");

	*last = true;
	if (version < head || strncmp(version, " HTTP/1.", 8) != 0)
		return "400 Bad Request";
	if (strncmp(head, "GET ", 4) != 0 || field(head, "Content-Length") ||
	    field(head, "Transfer-Encoding"))
		return "501 Not Implemented";
	*last = version[8] == '0' || (connection && strncasecmp(connection, "close", 5) == 0);
	return "200 OK";
}

static bool send_all(int fd, const char *text, size_t size)
{
	while (size > 0) {
		ssize_t n = send(fd, text, size, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		text += n;
		size -= (size_t)n;
	}
	return true;
}

/* Returns true if the connection goes on. */
static bool answer(struct connection *c)
{
	SWANSONG_GUARD_SCOPE(c->server->root);
	char body[32], text[256];
	bool last;
	const char *status = judge(c->input, &last);
	size_t size = (size_t)(strstr(c->input, "\r\n\r\n") + 4 - c->input);

	sleep_msec(random() % (WORK_MSEC + 1)); /* this is hard work */
	last = last || atomic_load(&c->server->leaving);
	(void)snprintf(body, sizeof(body), "served by %d\n", (int)getpid());
	(void)snprintf(text, sizeof(text),
		       "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
		       "Connection: %s\r\n\r\n%s",
		       status, strlen(body), last ? "close" : "keep-alive", body);
	c->length -= size;
	memmove(c->input, c->input + size, c->length + 1);
	return send_all(c->fd, text, strlen(text)) && !last;
}

/* ---- a connection ---- */

static bool hand_over(struct connection *c)
{
	return c->server->store && atomic_fetch_sub(&c->server->room, 1) > 0 &&
	       sd_pid_notify_with_fds(0, 0, "FDSTORE=1\nFDNAME=connection", &c->fd, 1) > 0;
}

/* With unread input, a close() alone would discard an answer that is being sent. */
static void part(struct connection *c)
{
	shutdown(c->fd, SHUT_WR);
	while (recv(c->fd, c->input, sizeof(c->input), 0) > 0)
		;
}

static void *serve(void *arg)
{
	struct connection *c = arg;
	struct swansong_interrupt *interrupt = c->interrupt;
	enum next next;

	do
		next = wait_for_request(c);
	while (next == REQUEST && answer(c));
	if (next != IDLE || !hand_over(c))
		part(c);
	close(c->fd);
	free(c);
	swansong_interrupt_unref(interrupt); /* and its guard: the last step of this thread */
	return NULL;
}

static void begin(struct server *server, int fd, bool fresh)
{
	struct timeval patience = { .tv_sec = PEER_SEC };
	struct connection *c = calloc(1, sizeof(*c));
	pthread_t thread;

	if (!c || swansong_interrupt_new_guarded(server->root, &c->interrupt) < 0) {
		free(c);
		close(fd);
		return;
	}
	c->server = server;
	c->fd = fd;
	c->fresh = fresh;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (pthread_create(&thread, NULL, serve, c) != 0) {
		swansong_interrupt_unref(c->interrupt);
		free(c);
		close(fd);
		return;
	}
	pthread_detach(thread); /* the end waits for its guard */
}

static void *accept_all(void *arg)
{
	struct server *server = arg;
	struct swansong_interrupt *interrupt = server->accepting;
	int fd;

	while ((fd = swansong_interrupt_accept(interrupt, server->listener, NULL, NULL, 0)) !=
	       -ESHUTDOWN) {
		if (fd >= 0)
			begin(server, fd, true);
		else
			sleep_msec(10); /* until descriptors are free */
	}
	/* Connections that would be lost with the own socket. */
	while (server->own && (fd = accept(server->listener, NULL, NULL)) >= 0)
		begin(server, fd, true);
	close(server->listener);
	swansong_interrupt_unref(interrupt);
	return NULL;
}

/* ---- the begin and the end ---- */

static int listen_on(const char *port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(port)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, SOMAXCONN) < 0) {
		perror("listen");
		exit(EXIT_FAILURE);
	}
	return fd;
}

/* The socket, and the connections of the last run. */
static void take_descriptors(struct server *server)
{
	const char *room = getenv("FDSTORE");
	char **names = NULL;
	int n = sd_listen_fds_with_names(1, &names);

	server->room = room ? atoi(room) : 0;
	server->store = server->room > 0;
	/* A connection in the store stays open when this process closes its own copy. */
	sd_notify(0, "FDSTOREREMOVE=1\nFDNAME=connection");
	for (int i = 0; i < n; i++) {
		if (strcmp(names[i], "connection") == 0)
			begin(server, SD_LISTEN_FDS_START + i, false);
		else
			server->listener = SD_LISTEN_FDS_START + i;
		free(names[i]);
	}
	free(names);
}

static bool parse(struct server *server, int argc, char *argv[], bool *abrupt)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--abrupt") == 0) {
			*abrupt = true;
		} else if (strcmp(argv[i], "--port") == 0 && i + 1 < argc) {
			server->own = true;
			server->listener = listen_on(argv[++i]);
		} else {
			return false;
		}
	}
	return true;
}

static int run(struct server *server, const sigset_t *signals)
{
	struct timespec now;
	pthread_t thread;
	int signal;

	if (swansong_interrupt_new_guarded(server->root, &server->accepting) < 0 ||
	    pthread_create(&thread, NULL, accept_all, server) != 0)
		return EXIT_FAILURE;
	printf("ready\n");
	sd_notify(0, "READY=1");
	sigwait(signals, &signal);

	if (!server->store) {
		atomic_store(&server->leaving, true);
		sleep_msec(LAME_DUCK_MSEC);
	}
	swansong_shut_down(server->root);
	pthread_join(thread, NULL);
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (swansong_wait(server->root, (uint64_t)now.tv_sec * 1000000 + PATIENCE_USEC) < 0) {
		fprintf(stderr, "there are requests that do not end\n");
		return EXIT_FAILURE; /* while their threads run */
	}
	sd_notify_barrier(0, PATIENCE_USEC); /* the daemon has the descriptors */
	return EXIT_SUCCESS;
}

int main(int argc, char *argv[])
{
	struct server server = { .listener = -1 };
	bool abrupt = false;
	sigset_t signals;
	int status;

	/* Not swansong_attach(): until SIGTERM, clients that are stopped first need answers. */
	if (swansong_new(&server.root) < 0)
		return EXIT_FAILURE;
	if (!parse(&server, argc, argv, &abrupt)) {
		fprintf(stderr, "usage: http-server [--port PORT] [--abrupt]\n");
		return EXIT_FAILURE;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* Blocked before the first thread starts, so that only sigwait() takes it. */
	sigemptyset(&signals);
	if (!abrupt)
		sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	take_descriptors(&server);
	if (server.listener < 0) {
		fprintf(stderr, "http-server: there is no socket; see --port\n");
		return EXIT_FAILURE;
	}
	status = run(&server, &signals);
	if (status == EXIT_SUCCESS)
		server.root = swansong_unref(server.root);
	return status;
}
