/*
 * hungry: two services that need memory.
 *
 * usage: hungry store MEGABYTES
 *        hungry batch WORKERS MEGABYTES COUNTS GO
 *
 * store: serves HTTP at the socket that it is given (descriptor 3).  For each request it reads a page of its MEGABYTES.
 *
 * batch: has WORKERS, which begin when the file GO exists, and are replaced when they die.  Each does one job after the
 * other, of a second, and frees nothing: all together take MEGABYTES a second, and write to an eighth of what they have.
 * The file COUNTS gets a "b" for each job that is begun, and a "d" for each that is done.  At SIGTERM the jobs are done,
 * then it ends.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MEGABYTE    ((size_t)1 << 20)
#define PAGE	    4096
#define STEPS	    10 /* of a job */
#define PARTS_MAX   4096
#define LINKS_MAX   256
#define WORKERS_MAX 64

static volatile sig_atomic_t stopping;

static void on_term(int signal)
{
	(void)signal;
	stopping = 1;
}

static void pause_step(void)
{
	struct timespec time = { .tv_nsec = 1000000000L / STEPS };

	(void)nanosleep(&time, NULL);
}

static char *take_memory(size_t size)
{
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	memset(memory, 'x', size);
	return memory;
}

/* ---- the store ---- */

/* A request arrives as a whole.  Returns false at the end of the connection. */
static bool answer(int fd, const char *memory, size_t pages)
{
	char request[1024], text[256], body[64];
	ssize_t n = recv(fd, request, sizeof(request) - 1, 0);
	int length;

	if (n <= 0)
		return false;
	request[n] = '\0';
	(void)snprintf(body, sizeof(body), "served by %d with %c\n", getpid(),
		       memory[(size_t)random() % pages * PAGE]);
	length = snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
			  strlen(body), body);
	return send(fd, text, (size_t)length, MSG_NOSIGNAL) == length &&
	       !strstr(request, "Connection: close");
}

static int serve(size_t size)
{
	struct pollfd links[LINKS_MAX] = { { .fd = 3, .events = POLLIN } };
	const char *memory = take_memory(size);
	nfds_t n = 1;

	while (poll(links, n, -1) > 0) {
		for (nfds_t i = n; i-- > 1;)
			if (links[i].revents && !answer(links[i].fd, memory, size / PAGE)) {
				(void)close(links[i].fd);
				links[i] = links[--n];
			}
		if (links[0].revents && n < LINKS_MAX)
			links[n++] =
				(struct pollfd){ .fd = accept(3, NULL, NULL), .events = POLLIN };
	}
	return 1;
}

/* ---- the batch ---- */

static void count(int counts, const char *letter)
{
	if (write(counts, letter, 1) != 1)
		abort();
}

static void work(int counts, size_t size)
{
	static char *parts[PARTS_MAX];
	size_t n = 0;

	while (!stopping) {
		count(counts, "b");
		for (int step = 0; step < STEPS; step++) {
			if (n < PARTS_MAX)
				parts[n++] = take_memory(size);
			for (size_t i = 0; i < (n + 7) / 8; i++) {
				char *part = parts[(size_t)random() % n];

				for (size_t at = 0; at < size; at += PAGE)
					part[at] = 'y';
			}
			pause_step();
		}
		count(counts, "d");
	}
	_exit(0);
}

static pid_t begin_worker(int counts, size_t size)
{
	pid_t pid = fork();

	if (pid == 0) {
		srandom((unsigned)getpid());
		work(counts, size);
	}
	return pid;
}

static int lead(int workers, size_t size, const char *path, const char *go)
{
	int counts = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644), running = 0;
	pid_t pids[WORKERS_MAX] = { 0 }, pid;

	if (counts < 0 || workers < 1 || workers > WORKERS_MAX)
		return 1;
	while (access(go, F_OK) < 0 && !stopping)
		pause_step();
	for (bool told = false; running > 0 || !stopping; pause_step()) {
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			for (int i = 0; i < workers; i++)
				if (pids[i] == pid) {
					pids[i] = 0;
					running--;
				}
		for (int i = 0; i < workers; i++)
			if (stopping && !told && pids[i] > 0) {
				(void)kill(pids[i], SIGTERM);
			} else if (!stopping && pids[i] <= 0) {
				pids[i] = begin_worker(counts, size);
				running += pids[i] > 0;
			}
		told = stopping;
	}
	return 0;
}

int main(int argc, char *argv[])
{
	const struct sigaction term = { .sa_handler = on_term };

	if (argc == 3 && strcmp(argv[1], "store") == 0)
		return serve((size_t)atoi(argv[2]) * MEGABYTE);
	if (argc != 6 || strcmp(argv[1], "batch") != 0) {
		fprintf(stderr,
			"usage: hungry store MEGABYTES | hungry batch WORKERS MEGABYTES COUNTS GO\n");
		return 2;
	}
	(void)sigaction(SIGTERM, &term, NULL);
	return lead(atoi(argv[2]),
		    (size_t)atoi(argv[3]) * MEGABYTE / STEPS / (size_t)atoi(argv[2]) / PAGE * PAGE,
		    argv[4], argv[5]);
}
