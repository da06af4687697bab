/*
 * Lines of 1,000 services at once: one writer has the pipes of all, and writes a line into each in turn.
 * The logger takes them to a file for each, beside a bare loop of poll(2), read(2) and write(2).  With 1,000
 * writers the processors would be measured.
 */
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/logger-message.h"
#include "proto/logger-store.h"
#include "tests/bench/logs.h"

#define SERVICES    1000
#define TURNS	    300 /* lines of each */
#define LINE	    100
#define ROUNDS	    3
#define DESCRIPTORS (4 * SERVICES)
#define PATH_SIZE   544

struct crowd {
	char directory[520];
	struct pollfd pipes[SERVICES]; /* their reading ends */
	int writing[SERVICES];
	pid_t writer;
};

/* Microseconds of a line. */
struct cost {
	double time, processor;
};

static const char *crowd_path(const struct crowd *c, size_t i, char path[static PATH_SIZE])
{
	(void)snprintf(path, PATH_SIZE, "%s/%zu", c->directory, i);
	return path;
}

static void crowd_open(struct crowd *c, const struct bench *b)
{
	(void)snprintf(c->directory, sizeof(c->directory), "%s.crowd", b->path);
	if (mkdir(c->directory, 0700) < 0)
		fail(c->directory);
	for (size_t i = 0; i < SERVICES; i++) {
		int fds[2];

		if (pipe2(fds, O_CLOEXEC) < 0)
			fail("pipe");
		c->pipes[i] = (struct pollfd){ .fd = fds[0], .events = POLLIN };
		c->writing[i] = fds[1];
	}
}

static void crowd_start_writer(struct crowd *c)
{
	char line[LINE];

	memset(line, 'x', sizeof(line) - 1);
	line[LINE - 1] = '\n';
	c->writer = fork();
	if (c->writer < 0)
		fail("fork");
	if (c->writer > 0)
		return;
	for (size_t i = 0; i < (size_t)TURNS * SERVICES; i++)
		if (write(c->writing[i % SERVICES], line, LINE) != LINE)
			_exit(1);
	_exit(0);
}

/* Removes the files, each of which has all lines of its service. */
static void crowd_close(struct crowd *c)
{
	char path[PATH_SIZE];
	struct stat st;

	for (size_t i = 0; i < SERVICES; i++) {
		if (stat(crowd_path(c, i, path), &st) < 0 || st.st_size != (off_t)TURNS * LINE)
			fail("bytes are missing");
		(void)unlink(path);
		(void)close(c->pipes[i].fd);
		(void)close(c->writing[i]);
	}
	(void)rmdir(c->directory);
}

static void crowd_bare(struct crowd *c)
{
	int files[SERVICES];
	size_t left = (size_t)TURNS * SERVICES * LINE;
	static char buf[65536];
	char path[PATH_SIZE];

	for (size_t i = 0; i < SERVICES; i++) {
		files[i] = open(crowd_path(c, i, path), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
				0600);
		if (files[i] < 0)
			fail(path);
	}
	crowd_start_writer(c);
	while (left > 0 && poll(c->pipes, SERVICES, -1) > 0)
		for (size_t i = 0; i < SERVICES; i++) {
			ssize_t n = c->pipes[i].revents & POLLIN
					    ? read(c->pipes[i].fd, buf, sizeof(buf))
					    : 0;

			if (n < 0 || write(files[i], buf, (size_t)n) != n)
				fail("write");
			left -= (size_t)n;
		}
	(void)waitpid(c->writer, NULL, 0);
	for (size_t i = 0; i < SERVICES; i++)
		(void)close(files[i]);
}

static void crowd_logged(struct crowd *c, const struct bench *b)
{
	struct logger_message stop = { .type = LOGGER_STOP, .stream = LOGGER_ALL };
	int control[2], store = store_new();
	char path[PATH_SIZE], name[16];
	pid_t logger;

	if (store < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) < 0)
		fail("socketpair");
	logger = start_logger(b, control[1], store);
	(void)close(control[1]);
	wait_for(control[0], LOGGER_READY);
	for (size_t i = 0; i < SERVICES; i++) {
		struct logger_message add = { .type = LOGGER_ADD, .stream = (uint32_t)i };

		add.rules = (struct logger_rules){ .to = LOGGER_TO_FILE, .mode = 0600 };
		add.rules.flags = LOGGER_BLOCK;
		(void)snprintf(name, sizeof(name), "s%zu", i);
		send_message(control[0], &add, name, crowd_path(c, i, path), c->pipes[i].fd);
	}
	crowd_start_writer(c);
	(void)waitpid(c->writer, NULL, 0);
	send_message(control[0], &stop, NULL, NULL, -1);
	wait_for(control[0], LOGGER_FLUSHED);
	(void)waitpid(logger, NULL, 0);
	(void)close(control[0]);
	(void)close(store);
}

static double all_seconds(void)
{
	return processor_seconds(RUSAGE_SELF) + processor_seconds(RUSAGE_CHILDREN);
}

static struct cost crowd_measure(const struct bench *b, bool logged)
{
	static struct crowd c;
	double before, lines = (double)SERVICES * TURNS;
	uint64_t begin;

	crowd_open(&c, b);
	before = all_seconds();
	begin = now_nsec();
	if (logged)
		crowd_logged(&c, b);
	else
		crowd_bare(&c);
	begin = now_nsec() - begin;
	before = all_seconds() - before;
	crowd_close(&c);
	return (struct cost){ .time = (double)begin / 1e3 / lines,
			      .processor = before * 1e6 / lines };
}

void measure_crowd(const struct bench *b, struct report *report)
{
	struct cost floor = { INFINITY, INFINITY }, best = { INFINITY, INFINITY };
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		fail("getrlimit");
	files.rlim_cur = DESCRIPTORS;
	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		fail("setrlimit");
	for (int round = 0; round < ROUNDS; round++) {
		struct cost bare = crowd_measure(b, false), logged = crowd_measure(b, true);

		floor.time = fmin(floor.time, bare.time);
		floor.processor = fmin(floor.processor, bare.processor);
		best.time = fmin(best.time, logged.time);
		best.processor = fmin(best.processor, logged.processor);
	}
	report_begin(report, "lines of 1,000 services at once, a file each, best of 3; "
			     "floor: a loop of poll(2), read(2), write(2)");
	report_add(report, (struct figure){ .name = "time of a line",
					    .unit = "us",
					    .measured = best.time,
					    .floor = floor.time,
					    .bound = 4 });
	report_add(report, (struct figure){ .name = "processor time of a line",
					    .unit = "us",
					    .measured = best.processor,
					    .floor = floor.processor,
					    .bound = 2.6 });
}
