/*
 * kill-at: sends a signal to a daemon at one of its system calls.
 *
 * usage: kill-at SIGNAL NUMBER DAEMON [KEEPER]
 *
 * The system calls of the process DAEMON count from the time of "traced", and so do those of each next
 * daemon, a child that KEEPER makes.  The one that begins the call of that number gets the signal; SIGKILL ends
 * it before the call does anything, another signal comes after it.  Then, or at SIGTERM, it prints the number of calls
 * that it has seen, and ends, as does the trace.
 */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>

#define CALL_STOP (SIGTRAP | 0x80)

static volatile sig_atomic_t over;

static void on_term(int signo)
{
	(void)signo;
	over = 1;
}

static void trace(pid_t pid, long options)
{
	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)options) < 0 ||
	    ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0)
		err(2, "%d", (int)pid);
}

/* Each system call has two stops. */
static bool begins_call(pid_t pid, int status)
{
	struct __ptrace_syscall_info info;

	return WSTOPSIG(status) == CALL_STOP &&
	       ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info) > 0 &&
	       info.op == PTRACE_SYSCALL_INFO_ENTRY;
}

static void go_on(pid_t pid, int status, bool is_keeper)
{
	int event = status >> 16, signo = WSTOPSIG(status);

	if (event == PTRACE_EVENT_STOP && signo != SIGTRAP) {
		(void)ptrace(PTRACE_LISTEN, pid, NULL, NULL);
		return;
	}
	/* A child begins with the options of its keeper; its own children are services. */
	if (event == PTRACE_EVENT_STOP && !is_keeper)
		(void)ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_TRACESYSGOOD);
	if (event || signo == CALL_STOP)
		signo = 0;
	(void)ptrace(is_keeper ? PTRACE_CONT : PTRACE_SYSCALL, pid, NULL, (void *)(long)signo);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_term };
	long number, n = 0;
	pid_t keeper, pid;
	int signo, status;

	signo = argc < 4 ? 0 : atoi(argv[1]);
	if (signo <= 0)
		errx(2, "expected SIGNAL NUMBER DAEMON [KEEPER], as 9 100 1234");
	number = atol(argv[2]);
	keeper = argc > 4 ? (pid_t)atol(argv[4]) : 0;
	(void)sigaction(SIGTERM, &action, NULL);
	trace((pid_t)atol(argv[3]), PTRACE_O_TRACESYSGOOD);
	if (keeper)
		trace(keeper, PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE);
	(void)puts("traced");
	(void)fflush(stdout);
	while (!over && n < number) {
		pid = waitpid(-1, &status, __WALL);
		if (pid < 0 && errno != EINTR)
			break;
		if (pid < 0 || !WIFSTOPPED(status))
			continue;
		if (pid != keeper && begins_call(pid, status) && ++n == number)
			(void)kill(pid, signo);
		go_on(pid, status, pid == keeper);
	}
	(void)printf("%ld\n", n);
	return 0;
}
