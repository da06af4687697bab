/*
 * supervisord starts the writer itself, and is measured from the first byte in the log to the last one;
 * s6-log reads a pipe and ends with it.
 */
#include "tests/bench/logs.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"

#define WAIT_MSEC 60000

static size_t file_size(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 ? 0 : (size_t)st.st_size;
}

/* Waits until the file has @size bytes.  Returns the time. */
static uint64_t await_size(const char *path, size_t size)
{
	for (int i = 0; file_size(path) < size; i++) {
		if (i == WAIT_MSEC) {
			errno = ETIMEDOUT;
			fail(path);
		}
		(void)poll(NULL, 0, 1);
	}
	return now_nsec();
}

static pid_t start(char *const *argv, int in)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (pid > 0)
		return pid;
	if (in >= 0)
		(void)dup2(in, STDIN_FILENO);
	(void)execvp(argv[0], argv);
	_exit(127);
}

/* --- supervisord --- */

static void write_supervisord(const struct bench *b, const char *path, size_t portion)
{
	char self[512];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	FILE *f = fopen(path, "we");

	if (n < 0 || !f)
		fail(path);
	self[n] = '\0';
	(void)fprintf(f,
		      "[supervisord]\nlogfile=/dev/null\nlogfile_maxbytes=0\npidfile=%s.pid\n"
		      "[program:writer]\ncommand=%s --write %zu --mbytes %zu\nautorestart=false\n"
		      "startsecs=0\nstdout_logfile=%s\nstdout_logfile_maxbytes=0\n",
		      b->path, self, portion, b->size / 1000000, b->path);
	(void)fclose(f);
}

/* Seconds. */
static double by_supervisord(const struct bench *b, size_t portion)
{
	char path[600], pid_file[600];
	char *const argv[] = { (char *)"supervisord", (char *)"-n", (char *)"-s",
			       (char *)"-c",	      path,	    NULL };
	uint64_t begin, end;
	pid_t pid;

	(void)snprintf(path, sizeof(path), "%s.conf", b->path);
	(void)snprintf(pid_file, sizeof(pid_file), "%s.pid", b->path);
	(void)unlink(b->path);
	write_supervisord(b, path, portion);
	pid = start(argv, -1);
	begin = await_size(b->path, 1);
	end = await_size(b->path, b->size);
	(void)kill(pid, SIGTERM);
	(void)waitpid(pid, NULL, 0);
	(void)unlink(path);
	(void)unlink(pid_file);
	return (double)(end - begin) / 1e9;
}

/* --- s6-log --- */

static double by_s6_log(const struct bench *b, size_t portion)
{
	char *const argv[] = { (char *)"s6-log", (char *)"n1",	  (char *)"s268435455",
			       (char *)"T",	 (char *)b->path, NULL };
	char path[600];
	uint64_t begin;
	pid_t writer, pid;
	int fds[2];

	(void)unlink(b->path);
	if (pipe(fds) < 0)
		fail("pipe");
	begin = now_nsec();
	writer = start_writer(fds[1], b->size, portion);
	(void)close(fds[1]);
	pid = start(argv, fds[0]);
	(void)close(fds[0]);
	(void)waitpid(writer, NULL, 0);
	(void)waitpid(pid, NULL, 0);
	begin = now_nsec() - begin;
	for (size_t i = 0; i < 3; i++) {
		static const char *const names[] = { "current", "state", "lock" };

		(void)snprintf(path, sizeof(path), "%s/%s", b->path, names[i]);
		(void)unlink(path);
	}
	(void)rmdir(b->path);
	return (double)begin / 1e9;
}

/* --- rows --- */

static bool is_installed(const char *program)
{
	char command[64];

	(void)snprintf(command, sizeof(command), "command -v %s >/dev/null", program);
	return system(command) == 0;
}

void measure_peers(const struct bench *b, struct report *report, size_t portion)
{
	static const struct {
		const char *program, *speed, *processor;
		double (*run)(const struct bench *b, size_t portion);
	} peers[] = {
		{ "supervisord", "supervisord, plain", "supervisord and the writer",
		  by_supervisord },
		{ "s6-log", "s6-log, with times", "s6-log and the writer", by_s6_log },
	};

	for (size_t i = 0; i < ARRAY_SIZE(peers); i++) {
		double before = processor_seconds(RUSAGE_CHILDREN), seconds;

		if (!is_installed(peers[i].program))
			continue;
		seconds = peers[i].run(b, portion);
		report_add(report, (struct figure){ .name = peers[i].speed,
						    .unit = "MB/s",
						    .measured = (double)b->size / 1e6 / seconds,
						    .floor = NAN });
		report_add(report, (struct figure){ .name = peers[i].processor,
						    .unit = "s/GB",
						    .measured = (processor_seconds(RUSAGE_CHILDREN) - before) /
								(double)b->size * 1e9,
						    .floor = NAN });
	}
}
