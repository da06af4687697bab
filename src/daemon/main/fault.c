/*
 * The end of the daemon is safe in a signal handler.  The list of children is read and killed until it is
 * empty: as orphans become children of the daemon, no process of any service exists then.  A
 * process that survives SIGKILL is waited for ROUNDS_MAX milliseconds at most; a log that is not
 * read, not at all.
 *
 * The logger is spared: when the descriptors of the daemon are closed, it writes what is in the
 * pipes and ends.
 */
#include "daemon/main/fault.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/macro.h"
#include "base/parse.h"
#include "sys/process/proc.h"
#include "sys/spawn/crash.h"

#define ROUNDS_MAX	  3000
#define ROUNDS_LOGGER_MAX 1000

/* A handler gets no argument.  Written by fault_begin() only. */
static const pid_t *logger;

static void fault_log_text(const char *text)
{
	struct pollfd log = { .fd = STDERR_FILENO, .events = POLLOUT };

	if (poll(&log, 1, 0) > 0 && (log.revents & POLLOUT))
		(void)!write(STDERR_FILENO, text, strlen(text));
}

static void fault_kill_child(pid_t pid, void *arg)
{
	bool *found = arg;

	if (pid == *logger)
		return;
	*found = true;
	(void)kill(pid, SIGKILL);
}

/* Returns true if there was a child. */
static bool fault_kill_children(int list)
{
	char piece[1024];
	bool found = false;
	pid_t rest = 0;
	ssize_t n;

	(void)lseek(list, 0, SEEK_SET);
	while ((n = read(list, piece, sizeof(piece))) > 0)
		proc_pids(piece, (size_t)n, &rest, fault_kill_child, &found);
	return found;
}

/*
 * Waits for the logger: the end of a process 1 would kill it, and a parent manager may kill all
 * processes that remain.
 */
static void fault_await_logger(void)
{
	pid_t pid = *logger;

	if (pid <= 0 || syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0) < 0)
		return;
	for (int i = 0; i < ROUNDS_LOGGER_MAX && waitpid(pid, NULL, WNOHANG) == 0; i++)
		(void)poll(NULL, 0, 1);
}

static void fault_end(int signo)
{
	int list;

	(void)signo;
	fault_log_text("swansongd: too many faults: killing all services at once\n");
	list = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	if (list < 0 && close(STDIN_FILENO) == 0)
		list = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	if (list < 0)
		fault_log_text("swansongd: no list of children: services may keep running\n");
	for (int i = 0; i < ROUNDS_MAX && list >= 0 && fault_kill_children(list); i++) {
		while (waitpid(-1, NULL, WNOHANG | __WALL) > 0)
			;
		(void)poll(NULL, 0, 1);
	}
	fault_await_logger();
}

static void fault_log(struct log *log, const struct crash *crash)
{
	char name[SIGNAL_TEXT_MAX], age[CLOCK_TEXT_MAX], address[32] = "", place[64] = "";

	if (crash->address)
		(void)snprintf(address, sizeof(address), " at 0x%" PRIx64, crash->address);
	if (crash->place)
		(void)snprintf(place, sizeof(place), " in %sswansongd+0x%" PRIx64,
			       crash->called ? "a call from " : "", crash->place);
	log_line(log, LOG_CRIT,
		 "fault: %s%s%s, %s ago; its services go on, or are stopped in order and start again",
		 parse_signal_text(name, crash->signo), address, place,
		 clock_text(age, clock_now_usec() - crash->usec));
}

bool fault_begin(struct signals *was, char *const *argv, const pid_t *logger_pid, struct log *log,
		 int *history)
{
	struct crash_plan plan = { .argv = argv, .envp = environ, .last = fault_end };
	struct crash_history read;
	bool again;
	int r;

	logger = logger_pid;
	r = crash_take(&read);
	again = r >= 0;
	signals_take_over(was);
	if (again) {
		*was = read.signals;
		fault_log(log, crash_latest(&read));
	} else {
		r = crash_history_new(was);
	}
	plan.history = *history = r;
	if (r >= 0)
		r = crash_arm(&plan);
	if (r < 0) {
		*history = fd_close(*history);
		log_line(log, LOG_WARNING, "a fault would end swansongd: %s", strerror(-r));
	}
	return again;
}
