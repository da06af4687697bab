/*
 * slow-server: a server of HTTP with requests of any duration, and a load for it.
 *
 * usage: slow-server serve FILE
 *        slow-server load PORT CLIENTS LONG-MSEC EVERY-MSEC
 *
 * serve: at the socket that it is given (descriptor 3).  A request for /N is answered after N milliseconds, or when more
 * comes from its client, with the pid of the server.  The word in FILE decides on the start: "exit" ends it with status 3, with
 * "silent" it never sends READY=1, "later" sends that when FILE has another word.  At SIGTERM it accepts no
 * more connections, and ends when each of those that it has is answered.
 *
 * load: each of CLIENTS asks for /50, on a connection of its own, again and again; and each EVERY-MSEC a
 * request of LONG-MSEC begins.  At SIGTERM it waits for all answers, and prints
 *
 *	short=N long=N failed=N servers=N pause-usec=N p99-usec=N
 *
 * The pause is the longest time that a short request took beyond its 50 ms.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <systemd/sd-daemon.h>

#define SHORT_MSEC 50
#define SAMPLES	   1000000

static pthread_attr_t small;

static uint64_t now_usec(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void sleep_msec(unsigned msec)
{
	struct timespec time = { .tv_sec = msec / 1000, .tv_nsec = msec % 1000 * 1000000L };

	(void)nanosleep(&time, NULL);
}

static void begin_thread(void *(*fn)(void *arg), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, &small, fn, arg) != 0)
		abort();
	(void)pthread_detach(thread);
}

/* SIGTERM is read from the descriptor. */
static int block_sigterm(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

/* --- the server --- */

static atomic_uint open_connections;

/* Receives a request up to its empty line, which a client may send apart.  Returns false if there is none. */
static bool receive_head(int fd, char *text, size_t size)
{
	size_t n = 0;
	ssize_t part;

	do {
		part = recv(fd, text + n, size - 1 - n, 0);
		if (part <= 0)
			return false;
		n += (size_t)part;
		text[n] = '\0';
	} while (!strstr(text, "\r\n\r\n") && n < size - 1);
	return true;
}

static void *serve_connection(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char text[1024], answer[160], body[32];
	unsigned msec = 0;
	int n;

	if (receive_head(fd, text, sizeof(text))) {
		(void)sscanf(text, "GET /%u", &msec);
		/* Bytes that were not read would end the connection by a reset, and the answer might be lost. */
		if (poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, (int)msec) > 0)
			(void)!recv(fd, text, sizeof(text), MSG_DONTWAIT);
		(void)snprintf(body, sizeof(body), "%d\n", (int)getpid());
		n = snprintf(
			answer, sizeof(answer),
			"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
			strlen(body), body);
		(void)!send(fd, answer, (size_t)n, MSG_NOSIGNAL);
	}
	(void)close(fd);
	open_connections--;
	return NULL;
}

static bool has_word(const char *path, const char *word)
{
	char text[32] = "";
	FILE *file = fopen(path, "re");

	if (file) {
		(void)!fscanf(file, "%31s", text);
		(void)fclose(file);
	}
	return strcmp(text, word) == 0;
}

static int serve(const char *path)
{
	struct pollfd events[2] = { { .fd = block_sigterm(), .events = POLLIN },
				    { .fd = SD_LISTEN_FDS_START, .events = POLLIN } };

	if (has_word(path, "exit"))
		return 3;
	while (has_word(path, "later") && poll(events, 1, 10) == 0)
		continue;
	if (!has_word(path, "silent"))
		(void)sd_notify(0, "READY=1");
	while (events[0].revents == 0) {
		int fd;

		if (poll(events, 2, -1) < 0 || !(events[1].revents & POLLIN))
			continue;
		fd = accept4(SD_LISTEN_FDS_START, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			continue;
		(void)fcntl(fd, F_SETFL, 0);
		open_connections++;
		begin_thread(serve_connection, (void *)(intptr_t)fd);
	}
	(void)close(SD_LISTEN_FDS_START);
	while (open_connections > 0)
		sleep_msec(5);
	return 0;
}

/* --- the load --- */

static struct {
	uint16_t port;
	unsigned long_msec, every_msec;
	atomic_bool stop;
	atomic_uint running, n_long, failed, n_samples;
	uint32_t samples[SAMPLES];
	pthread_mutex_t lock;
	int servers[1000];
	unsigned n_servers;
} load = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void note_server(int pid)
{
	unsigned i = 0;

	(void)pthread_mutex_lock(&load.lock);
	while (i < load.n_servers && load.servers[i] != pid)
		i++;
	if (i == load.n_servers && i < 1000)
		load.servers[load.n_servers++] = pid;
	(void)pthread_mutex_unlock(&load.lock);
}

/* Returns true if the whole answer came. */
static bool ask(unsigned msec)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_port = htons(load.port),
					     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), pid = 0;
	char text[512] = "", *body = NULL;
	size_t used = 0;
	ssize_t n = -1;

	if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0) {
		int length =
			snprintf(text, sizeof(text),
				 "GET /%u HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", msec);

		n = send(fd, text, (size_t)length, MSG_NOSIGNAL);
	}
	while (n > 0 && used < sizeof(text) - 1 &&
	       (n = recv(fd, text + used, sizeof(text) - 1 - used, 0)) > 0)
		used += (size_t)n;
	text[used] = '\0';
	(void)close(fd);
	body = n == 0 ? strstr(text, "\r\n\r\n") : NULL;
	if (!body || strncmp(text, "HTTP/1.1 200", 12) != 0 || sscanf(body, " %d", &pid) != 1)
		return false;
	note_server(pid);
	return true;
}

static void *ask_long(void *arg)
{
	(void)arg;
	if (!ask(load.long_msec))
		load.failed++;
	load.n_long++;
	load.running--;
	return NULL;
}

static void *ask_again(void *arg)
{
	(void)arg;
	while (!load.stop) {
		uint64_t begun = now_usec(), took;
		unsigned i;

		if (!ask(SHORT_MSEC))
			load.failed++;
		took = now_usec() - begun;
		i = load.n_samples++;
		if (i < SAMPLES)
			load.samples[i] =
				(uint32_t)(took > SHORT_MSEC * 1000 ? took - SHORT_MSEC * 1000 : 0);
	}
	load.running--;
	return NULL;
}

static int compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int run_load(unsigned clients)
{
	struct pollfd end = { .fd = block_sigterm(), .events = POLLIN };
	unsigned n;

	for (unsigned i = 0; i < clients; i++) {
		load.running++;
		begin_thread(ask_again, NULL);
	}
	while (poll(&end, 1, (int)load.every_msec) == 0) {
		load.running++;
		begin_thread(ask_long, NULL);
	}
	load.stop = true;
	while (load.running > 0)
		sleep_msec(5);
	n = load.n_samples < SAMPLES ? load.n_samples : SAMPLES;
	qsort(load.samples, n, sizeof(*load.samples), compare);
	(void)printf("short=%u long=%u failed=%u servers=%u pause-usec=%u p99-usec=%u\n",
		     load.n_samples, load.n_long, load.failed, load.n_servers,
		     n ? load.samples[n - 1] : 0, n ? load.samples[n - 1 - n / 100] : 0);
	return 0;
}

int main(int argc, char **argv)
{
	(void)pthread_attr_init(&small);
	(void)pthread_attr_setstacksize(&small, 64 * 1024);
	if (argc == 3 && strcmp(argv[1], "serve") == 0)
		return serve(argv[2]);
	if (argc != 6 || strcmp(argv[1], "load") != 0) {
		(void)fprintf(stderr,
			      "usage: slow-server serve FILE\n"
			      "       slow-server load PORT CLIENTS LONG-MSEC EVERY-MSEC\n");
		return 2;
	}
	load.port = (uint16_t)atoi(argv[2]);
	load.long_msec = (unsigned)atoi(argv[4]);
	load.every_msec = (unsigned)atoi(argv[5]);
	return run_load((unsigned)atoi(argv[3]));
}
