/*
 * All of this is safe in a signal handler.  The list of children is read and killed until it is
 * empty: as orphans become children of the daemon, no process of any service exists then.  A
 * process that survives SIGKILL is waited for ROUNDS_MAX milliseconds at most; a log that is not
 * read, not at all.
 *
 * The logger is spared: when the descriptors of the daemon are closed, it writes what is in the
 * pipes and ends.
 */
#include "daemon/main/abort.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"
#include "sys/process/proc.h"

#define ROUNDS_MAX	  3000
#define ROUNDS_LOGGER_MAX 1000

/* A handler gets no argument.  Written by daemon_catch_abort() only. */
static const pid_t *logger;

static pid_t abort_spared_pid(void)
{
	return logger ? *logger : 0;
}

static void abort_log_text(const char *text)
{
	struct pollfd log = { .fd = STDERR_FILENO, .events = POLLOUT };

	if (poll(&log, 1, 0) > 0 && (log.revents & POLLOUT))
		(void)!write(STDERR_FILENO, text, strlen(text));
}

static void abort_kill_child(pid_t pid, void *arg)
{
	bool *found = arg;

	if (pid == abort_spared_pid())
		return;
	*found = true;
	(void)kill(pid, SIGKILL);
}

/* Returns true if there was a child. */
static bool abort_kill_children(int list)
{
	char piece[1024];
	bool found = false;
	pid_t rest = 0;
	ssize_t n;

	(void)lseek(list, 0, SEEK_SET);
	while ((n = read(list, piece, sizeof(piece))) > 0)
		proc_pids(piece, (size_t)n, &rest, abort_kill_child, &found);
	return found;
}

/*
 * Waits for the logger: the end of a process 1 would kill it, and a parent manager may kill all
 * processes that remain.
 */
static void abort_await_logger(void)
{
	pid_t pid = abort_spared_pid();

	if (pid <= 0 || syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0) < 0)
		return;
	for (int i = 0; i < ROUNDS_LOGGER_MAX && waitpid(pid, NULL, WNOHANG) == 0; i++)
		(void)poll(NULL, 0, 1);
}

static void abort_on_signal(int signo)
{
	struct sigaction end = { .sa_handler = SIG_DFL };
	sigset_t only;
	int list;

	abort_log_text("swansongd: SIGABRT: killing all services at once\n");
	list = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	if (list < 0 && close(STDIN_FILENO) == 0)
		list = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	if (list < 0)
		abort_log_text("swansongd: no list of children: services may keep running\n");
	for (int i = 0; i < ROUNDS_MAX && list >= 0 && abort_kill_children(list); i++) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		(void)poll(NULL, 0, 1);
	}
	abort_await_logger();
	(void)sigaction(signo, &end, NULL);
	(void)sigemptyset(&only);
	(void)sigaddset(&only, signo);
	(void)kill(getpid(), signo);
	(void)sigprocmask(SIG_UNBLOCK, &only, NULL);
	_exit(128 + signo); /* process 1 does not die of its own signals */
}

void daemon_catch_abort(const pid_t *logger_pid)
{
	struct sigaction action = { .sa_handler = abort_on_signal };
	sigset_t only;

	logger = logger_pid;
	(void)sigfillset(&action.sa_mask);
	(void)sigaction(SIGABRT, &action, NULL);
	(void)sigemptyset(&only);
	(void)sigaddset(&only, SIGABRT);
	(void)sigprocmask(SIG_UNBLOCK, &only, NULL);
}
