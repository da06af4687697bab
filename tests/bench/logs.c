/*
 * What the logger costs: a writer of lines of 100 bytes, one by one and in blocks of 64 KiB, into a
 * pipe; the logger takes them from there to a file, plain and with times, beside a bare loop of
 * read(2) and write(2).  The bytes that arrive are counted.
 *
 *	logs [--logger PROGRAM] [--directory DIRECTORY] [--mbytes N]
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
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

#include "base/fd.h"
#include "base/macro.h"
#include "proto/logger-store.h"
#include "proto/logger.h"
#include "tests/bench/report.h"

#define LINE  100
#define BLOCK 65536

struct bench {
	const char *logger, *directory;
	size_t size;
	char path[512];
};

static void fail(const char *what)
{
	(void)fprintf(stderr, "logs: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

/* @size bytes in lines, @portion of them at once. */
static void write_lines(int fd, size_t size, size_t portion)
{
	char block[BLOCK];

	for (size_t i = 0; i < sizeof(block); i++)
		block[i] = i % LINE == LINE - 1 ? '\n' : 'x';
	while (size > 0) {
		ssize_t n = write(fd, block, MIN(size, portion));

		if (n <= 0)
			_exit(1);
		size -= (size_t)n;
	}
}

static pid_t start_writer(int fd, size_t size, size_t portion)
{
	pid_t pid = fork();

	if (pid == 0) {
		write_lines(fd, size, portion);
		_exit(0);
	}
	if (pid < 0)
		fail("fork");
	return pid;
}

static int open_log(const struct bench *b)
{
	int fd;

	(void)unlink(b->path);
	fd = open(b->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		fail(b->path);
	return fd;
}

static size_t log_size(const struct bench *b)
{
	struct stat st;

	return stat(b->path, &st) < 0 ? 0 : (size_t)st.st_size;
}

/* Seconds. */
static double bare(const struct bench *b, size_t portion)
{
	int fds[2], log = open_log(b);
	char *buf = malloc(BLOCK);
	uint64_t begin;
	pid_t writer;
	ssize_t n;

	if (!buf || pipe2(fds, O_CLOEXEC) < 0)
		fail("pipe");
	begin = now_nsec();
	writer = start_writer(fds[1], b->size, portion);
	(void)close(fds[1]);
	while ((n = read(fds[0], buf, BLOCK)) > 0)
		if (write(log, buf, (size_t)n) != n)
			fail("write");
	begin = now_nsec() - begin;
	(void)waitpid(writer, NULL, 0);
	(void)close(fds[0]);
	(void)close(log);
	free(buf);
	return (double)begin / 1e9;
}

/* --- the logger --- */

static pid_t start_logger(const struct bench *b, int control, int store)
{
	pid_t pid = fork();

	if (pid == 0) {
		char numbers[2][16];

		(void)snprintf(numbers[0], sizeof(numbers[0]), "%d", control);
		(void)snprintf(numbers[1], sizeof(numbers[1]), "%d", store);
		(void)fcntl(control, F_SETFD, 0);
		(void)fcntl(store, F_SETFD, 0);
		(void)execl(b->logger, b->logger, numbers[0], numbers[1], (char *)NULL);
		fail(b->logger);
	}
	if (pid < 0)
		fail("fork");
	return pid;
}

static void wait_for(int control, uint32_t type)
{
	static struct logger_packet packet;
	struct pollfd p = { .fd = control, .events = POLLIN };

	do {
		if (poll(&p, 1, 60000) != 1 || logger_receive(control, &packet) != 1)
			fail("no reply of the logger");
		if (packet.message.type == LOGGER_REFUSED)
			fail(packet.texts[0]);
	} while (packet.message.type != type);
}

static void send_message(int control, struct logger_message *m, const char *name, const char *path,
			 int fd)
{
	if (logger_send(control, m, name, path, fd) < 0)
		fail("send");
}

static double logged(const struct bench *b, size_t portion, enum logger_stamp stamp)
{
	struct logger_message add = { .type = LOGGER_ADD };
	struct logger_message stop = { .type = LOGGER_STOP, .stream = LOGGER_ALL };
	int control[2], fds[2], store = store_new();
	uint64_t begin;
	pid_t logger, writer;

	if (store < 0 || pipe2(fds, O_CLOEXEC) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) < 0)
		fail("pipe");
	(void)unlink(b->path);
	add.rules = (struct logger_rules){ .to = LOGGER_TO_FILE, .mode = 0600, .stamp = stamp };
	add.rules.flags = LOGGER_BLOCK;
	logger = start_logger(b, control[1], store);
	(void)close(control[1]);
	wait_for(control[0], LOGGER_READY);
	send_message(control[0], &add, "bench", b->path, fds[0]);
	begin = now_nsec();
	writer = start_writer(fds[1], b->size, portion);
	(void)waitpid(writer, NULL, 0);
	send_message(control[0], &stop, NULL, NULL, -1);
	wait_for(control[0], LOGGER_FLUSHED);
	begin = now_nsec() - begin;
	(void)waitpid(logger, NULL, 0);
	(void)close(control[0]);
	(void)close(fds[0]);
	(void)close(fds[1]);
	(void)close(store);
	return (double)begin / 1e9;
}

static double processor_seconds(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_CHILDREN, &usage) < 0)
		fail("getrusage");
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

#define ROUNDS 3

static void measure(const struct bench *b, struct report *report, size_t portion)
{
	static const struct {
		const char *name;
		enum logger_stamp stamp;
		size_t line;
	} kinds[] = {
		{ "plain", LOGGER_STAMP_NONE, LINE },
		{ "with times", LOGGER_STAMP_ISO_USEC, LINE + 28 },
	};
	double mbytes = (double)b->size / 1e6, best[ARRAY_SIZE(kinds) + 1] = { 0 };

	for (int round = 0; round < ROUNDS; round++) {
		best[ARRAY_SIZE(kinds)] = fmax(best[ARRAY_SIZE(kinds)], mbytes / bare(b, portion));
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
			best[i] = fmax(best[i], mbytes / logged(b, portion, kinds[i].stamp));
			if (log_size(b) != b->size / LINE * kinds[i].line)
				fail("bytes are missing");
		}
	}
	report_begin(report, portion == LINE ? "lines, one by one: MB/s, best of 3"
					     : "lines in blocks of 64 KiB: MB/s, best of 3");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		report_add(report, (struct figure){
					   .name = kinds[i].name,
					   .unit = "MB/s",
					   .measured = best[i],
					   .floor = best[ARRAY_SIZE(kinds)],
				   });
}

static void measure_processor(const struct bench *b, struct report *report)
{
	double before = processor_seconds(), plain, floor;

	(void)bare(b, BLOCK);
	floor = processor_seconds() - before;
	before = processor_seconds();
	(void)logged(b, BLOCK, LOGGER_STAMP_ISO_USEC);
	plain = processor_seconds() - before;
	report_begin(report, "processor time of all but the bare loop itself, in blocks");
	report_add(report, (struct figure){ .name = "writer and logger, with times",
					    .unit = "s/GB",
					    .measured = plain / (double)b->size * 1e9,
					    .floor = floor / (double)b->size * 1e9 });
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "logger", required_argument, NULL, 'l' },
		{ "directory", required_argument, NULL, 'd' },
		{ "mbytes", required_argument, NULL, 'm' },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	struct bench b = { .logger = "./swansong-logger",
			   .directory = "/dev/shm",
			   .size = 200000000 };
	struct report report;
	bool json = false;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (option == 'l')
			b.logger = optarg;
		else if (option == 'd')
			b.directory = optarg;
		else if (option == 'm')
			b.size = (size_t)atol(optarg) * 1000000;
		else if (option == 'j')
			json = true;
		else
			return EXIT_FAILURE;
	}
	/* Whole lines. */
	b.size = b.size / LINE * LINE;
	(void)snprintf(b.path, sizeof(b.path), "%s/swansong-bench-%d", b.directory, (int)getpid());
	report_init(&report, json);
	measure(&b, &report, LINE);
	measure(&b, &report, BLOCK / LINE * LINE);
	measure_processor(&b, &report);
	(void)unlink(b.path);
	return report_end(&report);
}
