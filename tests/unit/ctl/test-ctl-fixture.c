#include "tests/unit/ctl/test-ctl.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "ctl/program/program.h"
#include "proto/frame.h"
#include "tests/unit/fixtures/nomem.h"

char out[OUTPUT_MAX], err[OUTPUT_MAX], asked[OUTPUT_MAX];
char directory[64], socket_path[100];
struct surroundings around;
static int asked_fd;
static pid_t server;

const char tree[] = "{\"parameters\":{\"nodes\":[" NODE("", "running", "4", "") "," NODE("edge", "running", "1", "") "," NODE(
	"edge/nginx", "running", "1",
	",\"service\":" SERVICE(
		"up",
		",\"pid\":812")) "," NODE("app", "shutting_down", "2",
					  ",\"deadline_usec\":18000000") "," NODE("store",
										  "shutting_down",
										  "1",
										  "") "," NODE("store/redis",
											       "shutting_down",
											       "1",
											       ",\"service\":{\"state\":\"waiting\",\"since_usec\":12000000,"
											       "\"pid\":805,\"command\":\"redis\",\"ready\":true,\"restarts\":2,\"waiting\":[\"app\",\"edge\"]}") "]}}";

const char guards[] = "{\"parameters\":{\"guards\":[" GUARD(
	"3", "web/nginx", "process",
	",\"pid\":812,\"uid\":0,\"command\":\"nginx\",\"kill_usec\":8000000") "," GUARD("7", "app",
											"lease",
											",\"pid\":9911,\"command\":\"pg_dump\",\"why\":\"nightly\"") "]}}";

static void setup(void)
{
	strcpy(directory, "/tmp/test-ctl-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(socket_path, sizeof(socket_path), "%s/sock", directory);
	asked_fd = memfd_create("asked", MFD_CLOEXEC);
	ck_assert_int_ge(asked_fd, 0);
	setenv("SWANSONG_SOCKET", socket_path, 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	around = (struct surroundings){ .allocations = -1 };
}

static void teardown(void)
{
	if (server > 0) {
		kill(server, SIGKILL);
		waitpid(server, NULL, 0);
	}
	unlink(socket_path);
	rmdir(directory);
	close(asked_fd);
}

/* Reads one request.  Return: false at the end of the connection. */
static bool hear(int fd)
{
	char c;

	while (read(fd, &c, 1) == 1) {
		if (write(asked_fd, c ? &c : "\n", 1) != 1)
			_exit(1);
		if (!c)
			return true;
	}
	return false;
}

/* Waits until a writer has opened and closed the FIFO. */
static void await_fifo(const char *name)
{
	char path[128], c;
	int fd;

	snprintf(path, sizeof(path), "%s.%s", socket_path, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (read(fd, &c, 1) > 0)
		;
	close(fd);
}

static void say(int fd, const struct answer *a)
{
	size_t size = a->size ? a->size : strlen(a->text) + 1, done = 0;

	if (a->after)
		await_fifo(a->after);
	if (a->passed) {
		struct frame_writer writer;

		frame_writer_init(&writer, size);
		frame_writer_pass(&writer, a->passed);
		ck_assert_int_eq(frame_writer_add(&writer, a->text), 0);
		ck_assert_int_eq(frame_writer_send(&writer, fd), 1);
		frame_writer_done(&writer);
		done = size;
	}
	while (done < size) {
		ssize_t n = send(fd, a->text + done, size - done, MSG_NOSIGNAL);

		if (n < 0)
			return;
		done += (size_t)n;
	}
}

static _Noreturn void serve(int listener, const struct answer *answers, size_t n)
{
	int fd = -1;

	for (size_t i = 0; i < n; i++) {
		while (fd < 0 || ((i == 0 || answers[i - 1].then != THEN_MORE) && !hear(fd))) {
			if (fd >= 0)
				close(fd);
			fd = accept(listener, NULL, NULL);
		}
		if (answers[i].text)
			say(fd, &answers[i]);
		if (answers[i].then == THEN_CLOSE) {
			close(fd);
			fd = -1;
		}
	}
	/* The connection stays until the other side has enough of it. */
	while (fd >= 0 && hear(fd))
		;
	_exit(0);
}

void start_server(const struct answer *answers, size_t n)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", socket_path);
	unlink(socket_path);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(listener, 8), 0);
	ck_assert_int_eq(ftruncate(asked_fd, 0), 0);
	ck_assert_int_eq(lseek(asked_fd, 0, SEEK_SET), 0);
	server = fork();
	if (server == 0)
		serve(listener, answers, n);
	close(listener);
}

void read_back(int fd, char *text)
{
	ssize_t n = pread(fd, text, OUTPUT_MAX - 1, 0);

	ck_assert_int_ge(n, 0);
	text[n] = '\0';
}

bool server_is_running(void)
{
	return waitpid(server, NULL, WNOHANG) == 0;
}

void await_server(void)
{
	ck_assert_int_eq(waitpid(server, NULL, 0), server);
	server = 0;
}

void end_server(void)
{
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	server = 0;
	read_back(asked_fd, asked);
}

/* --- the program --- */

int __real_poll(struct pollfd *fds, nfds_t n, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	return around.on_poll ? around.on_poll(fds, n, timeout) : __real_poll(fds, n, timeout);
}

int real_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	return __real_poll(fds, n, timeout);
}

uint64_t __real_clock_now_usec(void);
uint64_t __wrap_clock_now_usec(void);
uint64_t __wrap_clock_now_usec(void)
{
	return __real_clock_now_usec() + around.skipped_usec;
}

pid_t start_program(char **argv, int out_fd, int err_fd)
{
	pid_t pid = fork();
	int argc = 0;

	if (pid)
		return pid;
	while (argv[argc])
		argc++;
	dup2(out_fd, STDOUT_FILENO);
	dup2(err_fd, STDERR_FILENO);
	/* A shell cannot trap a signal that was ignored when the test was started. */
	for (int signo = 1; signo < NSIG; signo++)
		(void)signal(signo, SIG_DFL);
	/* No descriptor of the test, in particular no other end of its pipes. */
	close_range(STDERR_FILENO + 1, UINT_MAX, 0);
	allocations_left = around.allocations;
	allocation_fails_once = around.fails_once;
	exit(program_run(argc, argv));
}

int end_program(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

int run_argv(char **argv)
{
	int out_fd = memfd_create("out", MFD_CLOEXEC), err_fd = memfd_create("err", MFD_CLOEXEC);
	int status = end_program(start_program(argv, out_fd, err_fd));

	read_back(out_fd, out);
	read_back(err_fd, err);
	close(out_fd);
	close(err_fd);
	return status;
}

/* The words of @line, and @script, if it is not NULL, as a shell's. */
static int run_words(const char *line, const char *script, const struct answer *answers, size_t n)
{
	char *argv[32] = { (char[]){ "swansongctl" } }, *copy = strdup(line), *rest = copy;
	char shell[] = "sh", option[] = "-c", *last = script ? strdup(script) : NULL;
	int argc = 1, status;

	while ((argv[argc] = strtok_r(rest, " ", &rest)))
		argc++;
	if (script) {
		argv[argc++] = shell;
		argv[argc++] = option;
		argv[argc++] = last;
		argv[argc] = NULL;
	}
	if (n)
		start_server(answers, n);
	status = run_argv(argv);
	if (n)
		end_server();
	free(copy);
	free(last);
	return status;
}

int run(const char *line, const struct answer *answers, size_t n)
{
	return run_words(line, NULL, answers, n);
}

int run_shell(const char *line, const char *script, const struct answer *answers, size_t n)
{
	return run_words(line, script, answers, n);
}

bool spawn_reports_failures(void)
{
	char root[] = "/", *argv[] = { root, NULL };
	pid_t pid;

	if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) != 0)
		return true;
	(void)waitpid(pid, NULL, 0);
	return false;
}

bool read_until(int fd, const char *part)
{
	size_t n = strlen(out);

	while (!strstr(out, part)) {
		ssize_t got = read(fd, out + n, sizeof(out) - 1 - n);

		if (got <= 0)
			return false;
		n += (size_t)got;
		out[n] = '\0';
	}
	return true;
}

unsigned next_random(unsigned *state)
{
	*state = *state * 1103515245 + 12345;
	return *state >> 16;
}

void ctl_fixture(TCase *tc)
{
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
}
