/*
 * http-load: many clients of a server of HTTP, which count the results of their requests.
 *
 * usage: http-load PORT CLIENTS SECONDS
 *
 * Each of CLIENTS asks 127.0.0.1:PORT, has the answer, thinks, and asks again: three times of four on
 * the same connection, else (after "Connection: close") on a new one.  Most think for up to 100 ms,
 * one in ten for up to 2 s.  After SECONDS, or at SIGTERM, the answers to open requests are waited for, and nothing
 * more is asked.
 *
 * Nothing is asked twice.  A request is begun with its connect(2), and has failed if it has no whole
 * answer of status 200, whatever the reason; HTTP would let a client send some of these again:
 *
 *	refused  no process listens at the port
 *	reset    the connection is reset before the first byte of an answer
 *	closed   the same, but by an end
 *	cut      by either, in the midst of an answer
 *	late     there is no whole answer after 30 s
 *	other    anything else, a wrong answer for one
 *
 * A client that finds, before it asks, that its connection was ended (hung-up) just makes a new one, as
 * all do.
 *
 * Each 200 answers there is a line "answered N"; the last line is NAME=VALUE of all counts, of the
 * number of processes that answered, of the time from the begin of a request to its answer (median, 99th
 * percentile, most), and of the longest pause, in which no client had an answer.
 */
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SEC	   UINT64_C(1000000)
#define LATE_USEC  (30 * SEC)
#define MSEC_MAX   20000
#define N_SERVERS  64
#define ANSWER_MAX 1024

enum failure { REFUSED, RESET, CLOSED, CUT, LATE, OTHER, N_FAILURES };
static const char *const failure_names[] = { "refused", "reset", "closed", "cut", "late", "other" };

enum state { THINKING, CONNECTING, ASKED };

struct client {
	int fd; /* or -1 */
	enum state state;
	bool slow;
	bool last; /* the connection ends with this answer */
	uint64_t begun, deadline;
	size_t length;
	char answer[ANSWER_MAX];
};

struct load {
	struct sockaddr_in address;
	int epoll;
	struct client *clients;
	size_t n;
	bool over; /* nothing more is asked */
	uint64_t requests, answered, failed[N_FAILURES], hung_up, connections;
	uint64_t last_answer, pause_usec;
	unsigned int msec[MSEC_MAX + 1];
	int servers[N_SERVERS];
	size_t n_servers;
};

static uint64_t now_usec(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SEC + (uint64_t)t.tv_nsec / 1000;
}

static void hang_up(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

static void think(struct client *c, uint64_t now)
{
	c->state = THINKING;
	c->deadline = now + (uint64_t)random() % (c->slow ? 2 * SEC : SEC / 10);
}

/* ---- the end of a request ---- */

static void fail(struct load *l, struct client *c, enum failure why)
{
	l->failed[why]++;
	hang_up(c);
	think(c, now_usec());
}

static void fail_by_errno(struct load *l, struct client *c, int error)
{
	if (error == ECONNREFUSED)
		fail(l, c, REFUSED);
	else if (error == ECONNRESET || error == EPIPE)
		fail(l, c, c->length ? CUT : RESET);
	else
		fail(l, c, OTHER);
}

static void note_server(struct load *l, const char *body)
{
	int pid = 0;

	if (sscanf(body, "served by %d", &pid) != 1)
		return;
	for (size_t i = 0; i < l->n_servers; i++)
		if (l->servers[i] == pid)
			return;
	if (l->n_servers < N_SERVERS)
		l->servers[l->n_servers++] = pid;
}

static void succeed(struct load *l, struct client *c, const char *body)
{
	uint64_t now = now_usec(), msec = (now - c->begun) / 1000;

	l->msec[msec < MSEC_MAX ? msec : MSEC_MAX]++;
	if (l->last_answer && now - l->last_answer > l->pause_usec)
		l->pause_usec = now - l->last_answer;
	l->last_answer = now;
	note_server(l, body);
	if (++l->answered % 200 == 0) {
		printf("answered %" PRIu64 "\n", l->answered);
		fflush(stdout);
	}
	if (c->last || strstr(c->answer, "\r\nConnection: close\r\n"))
		hang_up(c);
	think(c, now);
}

/* ---- its begin ---- */

static void send_request(struct load *l, struct client *c)
{
	char text[200];
	ssize_t n;

	(void)snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: localhost\r\n%s\r\n",
		       c->last ? "Connection: close\r\n" : "");
	n = send(c->fd, text, strlen(text), MSG_NOSIGNAL);
	if (n == (ssize_t)strlen(text))
		c->state = ASKED;
	else
		fail_by_errno(l, c, n < 0 ? errno : EIO);
}

static bool watch(const struct load *l, struct client *c, int operation, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = c };

	return epoll_ctl(l->epoll, operation, c->fd, &event) == 0;
}

static void begin_connection(struct load *l, struct client *c)
{
	c->state = CONNECTING;
	l->connections++;
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (c->fd < 0 || !watch(l, c, EPOLL_CTL_ADD, EPOLLOUT)) {
		fail(l, c, OTHER);
		return;
	}
	if (connect(c->fd, (const struct sockaddr *)&l->address, sizeof(l->address)) < 0 &&
	    errno != EINPROGRESS)
		fail_by_errno(l, c, errno);
}

/* While nothing was asked there can be nothing but the end. */
static void look_for_end(struct load *l, struct client *c)
{
	char byte;

	if (c->fd < 0 || (recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN))
		return;
	l->hung_up++;
	hang_up(c);
}

static void ask(struct load *l, struct client *c, uint64_t now)
{
	look_for_end(l, c);
	l->requests++;
	c->begun = now;
	c->deadline = now + LATE_USEC;
	c->length = 0;
	c->last = random() % 4 == 0;
	if (c->fd < 0)
		begin_connection(l, c);
	else
		send_request(l, c);
}

/* ---- events ---- */

static void on_connected(struct load *l, struct client *c)
{
	int error = 0;
	socklen_t size = sizeof(error);

	(void)getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &size);
	if (error)
		fail_by_errno(l, c, error);
	else if (!watch(l, c, EPOLL_CTL_MOD, EPOLLIN))
		fail(l, c, OTHER);
	else
		send_request(l, c);
}

static void on_answer(struct load *l, struct client *c)
{
	size_t room = sizeof(c->answer) - 1 - c->length;
	ssize_t n = recv(c->fd, c->answer + c->length, room, MSG_DONTWAIT);
	const char *body, *size;

	if (n < 0 && errno == EAGAIN)
		return;
	if (n < 0) {
		fail_by_errno(l, c, errno);
		return;
	}
	if (n == 0) {
		fail(l, c, c->length ? CUT : CLOSED);
		return;
	}
	c->length += (size_t)n;
	c->answer[c->length] = '\0';
	body = strstr(c->answer, "\r\n\r\n");
	size = strstr(c->answer, "\r\nContent-Length: ");
	if (body && strtoul(size ? size + 18 : "0", NULL, 10) > strlen(body + 4))
		return;
	if (body && size && strncmp(c->answer, "HTTP/1.1 200 ", 13) == 0)
		succeed(l, c, body + 4);
	else if (body || c->length == sizeof(c->answer) - 1)
		fail(l, c, OTHER);
}

static void on_event(struct load *l, struct client *c)
{
	if (c->state == CONNECTING)
		on_connected(l, c);
	else if (c->state == ASKED)
		on_answer(l, c);
	else
		look_for_end(l, c);
}

/* Carries out the actions that have expired, and returns the time of the next. */
static uint64_t follow_time(struct load *l, uint64_t end)
{
	uint64_t now = now_usec(), next = end > now && !l->over ? end : UINT64_MAX;

	for (size_t i = 0; i < l->n; i++) {
		struct client *c = &l->clients[i];

		if (c->state == THINKING && l->over)
			continue;
		if (c->deadline <= now && c->state == THINKING)
			ask(l, c, now);
		else if (c->deadline <= now)
			fail(l, c, LATE);
		if (c->deadline < next && !(c->state == THINKING && l->over))
			next = c->deadline;
	}
	return next;
}

static bool all_think(const struct load *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->clients[i].state != THINKING)
			return false;
	return true;
}

static void run(struct load *l, uint64_t end)
{
	struct epoll_event events[64];

	while (!l->over || !all_think(l)) {
		uint64_t next = follow_time(l, end), now = now_usec();
		int msec = next <= now ? 0 : (int)((next - now + 999) / 1000);
		int n = epoll_wait(l->epoll, events, 64, next == UINT64_MAX ? 1000 : msec);

		for (int i = 0; i < n; i++) {
			if (events[i].data.ptr)
				on_event(l, events[i].data.ptr);
			else
				l->over = true;
		}
		l->over = l->over || now_usec() >= end;
	}
}

/* ---- */

static unsigned int percentile(const struct load *l, uint64_t percent)
{
	uint64_t before = 0;

	for (unsigned int i = 0; i <= MSEC_MAX; i++) {
		before += l->msec[i];
		if (before > 0 && before * 100 >= l->answered * percent)
			return i;
	}
	return 0;
}

static void report(const struct load *l)
{
	uint64_t failed = 0;

	for (int i = 0; i < N_FAILURES; i++)
		failed += l->failed[i];
	printf("requests=%" PRIu64 " answered=%" PRIu64 " failed=%" PRIu64, l->requests,
	       l->answered, failed);
	for (int i = 0; i < N_FAILURES; i++)
		printf(" %s=%" PRIu64, failure_names[i], l->failed[i]);
	printf(" connections=%" PRIu64 " hung-up=%" PRIu64 " servers=%zu", l->connections,
	       l->hung_up, l->n_servers);
	printf(" median-ms=%u p99-ms=%u most-ms=%u pause-ms=%" PRIu64 "\n", percentile(l, 50),
	       percentile(l, 99), percentile(l, 100), l->pause_usec / 1000);
}

static bool prepare(struct load *l, char *argv[])
{
	sigset_t set;
	int fd;

	l->address.sin_family = AF_INET;
	l->address.sin_port = htons((uint16_t)atoi(argv[1]));
	l->address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	l->n = strtoul(argv[2], NULL, 10);
	l->clients = calloc(l->n, sizeof(*l->clients));
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (!l->clients || l->epoll < 0 || fd < 0 ||
	    epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &(struct epoll_event){ .events = EPOLLIN }) < 0)
		return false;
	for (size_t i = 0; i < l->n; i++) {
		l->clients[i].fd = -1;
		l->clients[i].slow = i % 10 == 0;
		think(&l->clients[i], now_usec());
	}
	return true;
}

int main(int argc, char *argv[])
{
	static struct load load;

	if (argc != 4 || !prepare(&load, argv)) {
		fprintf(stderr, "usage: http-load PORT CLIENTS SECONDS\n");
		return EXIT_FAILURE;
	}
	run(&load, now_usec() + strtoul(argv[3], NULL, 10) * SEC);
	report(&load);
	free(load.clients);
	return EXIT_SUCCESS;
}
