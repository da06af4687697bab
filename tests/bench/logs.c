/*
 * The costs of the logger: a writer of lines of 100 bytes, one by one and in blocks of 64 KiB, into a
 * pipe; the logger takes them from there to a file, plain and with times, beside a bare loop of
 * read(2) and write(2), and beside the peers that are installed.  The bytes that arrive are counted.
 * Then lines of 1,000 services at once, into a file each (logs-crowd.c).
 *
 * And the time from a line of a service to the same line of "swansongctl logs -f", through a daemon of
 * its own, beside a process that copies lines from pipe to pipe.  Programs are of the present folder.
 *
 *	logs [--logger PROGRAM] [--directory DIRECTORY] [--mbytes N]
 *
 * With --write PORTION it is the writer, on standard output.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
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
#include "proto/logger-message.h"
#include "tests/bench/logs.h"

#define LINE  100
#define BLOCK 65536

void fail(const char *what)
{
	(void)fprintf(stderr, "logs: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

void write_lines(int fd, size_t size, size_t portion)
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

pid_t start_writer(int fd, size_t size, size_t portion)
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

/*
 * Seconds.  Linux makes each write to a pipe that was ever polled dearer, and a program that reads many
 * pipes has to poll them.
 */
static double bare(const struct bench *b, size_t portion, bool polls)
{
	struct pollfd p = { .events = POLLIN };
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
	p.fd = fds[0];
	while ((!polls || poll(&p, 1, -1) > 0) && (n = read(fds[0], buf, BLOCK)) > 0)
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

pid_t start_logger(const struct bench *b, int control, int store)
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

void wait_for(int control, uint32_t type)
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

void send_message(int control, struct logger_message *m, const char *name, const char *path, int fd)
{
	struct pollfd p = { .fd = control, .events = POLLOUT };
	int r;

	while ((r = logger_send(control, m, name, path, fd)) == -EAGAIN)
		(void)poll(&p, 1, -1);
	if (r < 0)
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

double processor_seconds(int who)
{
	struct rusage usage;

	if (getrusage(who, &usage) < 0)
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
	double mbytes = (double)b->size / 1e6, best[ARRAY_SIZE(kinds)] = { 0 };
	double floor = 0, polling = 0;

	for (int round = 0; round < ROUNDS; round++) {
		floor = fmax(floor, mbytes / bare(b, portion, false));
		polling = fmax(polling, mbytes / bare(b, portion, true));
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
					   .floor = floor,
				   });
	report_add(report, (struct figure){ .name = "a bare loop with poll(2)",
					    .unit = "MB/s",
					    .measured = polling,
					    .floor = floor });
	measure_peers(b, report, portion);
}

static void measure_processor(const struct bench *b, struct report *report)
{
	double before = processor_seconds(RUSAGE_CHILDREN), plain, floor;

	(void)bare(b, BLOCK, false);
	floor = processor_seconds(RUSAGE_CHILDREN) - before;
	before = processor_seconds(RUSAGE_CHILDREN);
	(void)logged(b, BLOCK, LOGGER_STAMP_ISO_USEC);
	plain = processor_seconds(RUSAGE_CHILDREN) - before;
	report_begin(report, "processor time of all but the bare loop itself, in blocks");
	report_add(report, (struct figure){ .name = "writer and logger, with times",
					    .unit = "s/GB",
					    .measured = plain / (double)b->size * 1e9,
					    .floor = floor / (double)b->size * 1e9 });
}

/* --- the latency --- */

#define LINES 1000

/* Milliseconds from each line into @in to the same one out of @out, one after the other. */
static void time_lines(int in, int out, double *values)
{
	for (int i = 0; i < LINES; i++) {
		struct pollfd p = { .fd = out, .events = POLLIN };
		char text[64], got[64];
		size_t length = (size_t)snprintf(text, sizeof(text), "line %d\n", i), n = 0;
		uint64_t begin;

		/* The logger is not to be at work for the last one. */
		(void)poll(NULL, 0, 1);
		begin = now_nsec();
		if (write(in, text, length) != (ssize_t)length)
			fail("write");
		while (n < length) {
			ssize_t r = poll(&p, 1, 10000) == 1 ? read(out, got + n, length - n) : 0;

			if (r <= 0)
				fail("a line is missing");
			n += (size_t)r;
		}
		values[i] = (double)(now_nsec() - begin) / 1e6;
	}
}

static pid_t start_program(int out, char *const *argv)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (pid > 0)
		return pid;
	if (out >= 0)
		(void)dup2(out, STDOUT_FILENO);
	(void)execvp(argv[0], argv);
	fail(argv[0]);
	return -1;
}

static void end_program(pid_t pid)
{
	(void)kill(pid, SIGTERM);
	(void)waitpid(pid, NULL, 0);
}

/* The floor: cat(1) between two pipes. */
static void time_copy(double *values)
{
	char *const argv[] = { (char *)"cat", NULL };
	int in[2], out[2];
	pid_t pid;

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		fail("pipe");
	pid = fork();
	if (pid == 0) {
		(void)dup2(in[0], STDIN_FILENO);
		(void)dup2(out[1], STDOUT_FILENO);
		(void)execvp(argv[0], argv);
		_exit(1);
	}
	time_lines(in[1], out[0], values);
	end_program(pid);
	for (size_t i = 0; i < 2; i++) {
		(void)close(in[i]);
		(void)close(out[i]);
	}
}

/* The service is a cat(1) as well. */
static void time_follow(const struct bench *b, double *values)
{
	char ini[600], fifo[600], socket[600], byte;
	char *const daemon[] = { (char *)"./swansongd", (char *)"-q", (char *)"-c", ini,
				 (char *)"-s",		socket,	      NULL };
	char *const follow[] = {
		(char *)"./swansongctl", (char *)"-s", socket, (char *)"logs", (char *)"-f",
		(char *)"cat",		 NULL
	};
	char *const wait[] = { (char *)"./swansongctl",
			       (char *)"-s",
			       socket,
			       (char *)"wait",
			       (char *)"-q",
			       (char *)"--timeout",
			       (char *)"10s",
			       (char *)"--for",
			       (char *)"ready",
			       NULL };
	int in, out[2];
	pid_t daemon_pid, follow_pid;
	FILE *file;

	(void)snprintf(ini, sizeof(ini), "%s.ini", b->path);
	(void)snprintf(fifo, sizeof(fifo), "%s.fifo", b->path);
	(void)snprintf(socket, sizeof(socket), "%s.sock", b->path);
	(void)setenv("SWANSONG_LOGGER", b->logger, 1);
	file = fopen(ini, "we");
	if (!file || mkfifo(fifo, 0600) < 0 || pipe2(out, O_CLOEXEC) < 0)
		fail(ini);
	(void)fprintf(file, "[cat]\ncommand = sh -c 'echo; exec cat <>%s'\nlog = file:%s.log\n",
		      fifo, b->path);
	(void)fclose(file);
	daemon_pid = start_program(-1, daemon);
	(void)waitpid(start_program(-1, wait), NULL, 0);
	follow_pid = start_program(out[1], follow);
	in = open(fifo, O_RDWR | O_CLOEXEC);
	/* Its first line is empty: the reader is there. */
	if (in < 0 || read(out[0], &byte, 1) != 1)
		fail("swansongctl logs -f");
	time_lines(in, out[0], values);
	end_program(follow_pid);
	end_program(daemon_pid);
	(void)snprintf(socket, sizeof(socket), "%s.log", b->path);
	(void)unlink(socket);
	(void)unlink(ini);
	(void)unlink(fifo);
	(void)close(in);
	(void)close(out[0]);
	(void)close(out[1]);
}

static void measure_latency(const struct bench *b, struct report *report)
{
	static const struct {
		const char *name;
		double fraction;
	} rows[] = { { "median", 0.5 }, { "99 of 100", 0.99 }, { "the latest", 1 } };
	double values[LINES], floor[LINES];

	time_copy(floor);
	time_follow(b, values);
	report_begin(report,
		     "swansongctl logs -f: from the service's write to the line, 1,000 lines; "
		     "floor: one cat(1)");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		report_add(report,
			   (struct figure){ .name = rows[i].name,
					    .unit = "ms",
					    .measured = percentile(values, LINES, rows[i].fraction),
					    .floor = percentile(floor, LINES, rows[i].fraction),
					    .kind = TARGET_MEASURED,
					    .target = 5 });
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "logger", required_argument, NULL, 'l' },
		{ "directory", required_argument, NULL, 'd' },
		{ "mbytes", required_argument, NULL, 'm' },
		{ "write", required_argument, NULL, 'w' },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	struct bench b = { .logger = "./swansong-logger",
			   .directory = "/dev/shm",
			   .size = 200000000 };
	struct report report;
	size_t portion = 0;
	bool json = false;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (option == 'l')
			b.logger = optarg;
		else if (option == 'd')
			b.directory = optarg;
		else if (option == 'm')
			b.size = (size_t)atol(optarg) * 1000000;
		else if (option == 'w')
			portion = (size_t)atol(optarg);
		else if (option == 'j')
			json = true;
		else
			return EXIT_FAILURE;
	}
	/* Whole lines. */
	b.size = b.size / LINE * LINE;
	if (portion > 0) {
		write_lines(STDOUT_FILENO, b.size, portion);
		return EXIT_SUCCESS;
	}
	(void)snprintf(b.path, sizeof(b.path), "%s/swansong-bench-%d", b.directory, (int)getpid());
	report_init(&report, json);
	measure(&b, &report, LINE);
	measure(&b, &report, BLOCK / LINE * LINE);
	measure_processor(&b, &report);
	measure_crowd(&b, &report);
	measure_latency(&b, &report);
	(void)unlink(b.path);
	return report_end(&report);
}
