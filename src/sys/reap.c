#include "sys/reap.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

/* Any error but EINTR says that there is nothing to wait for. */
static bool next(siginfo_t *info)
{
	int r;

	do {
		info->si_pid = 0;
		r = waitid(P_ALL, 0, info, WEXITED | WNOHANG | WNOWAIT);
	} while (r < 0 && errno == EINTR);
	return r == 0 && info->si_pid > 0;
}

unsigned reap_children(unsigned max, void (*tell)(const struct reap_exit *exit, void *arg),
		       void *arg)
{
	unsigned n = 0;
	siginfo_t info;

	while (n < max && next(&info)) {
		struct reap_exit exit = {
			.pid = info.si_pid,
			.signaled = info.si_code != CLD_EXITED,
			.dumped = info.si_code == CLD_DUMPED,
			.value = info.si_status,
		};

		tell(&exit, arg);
		while (waitid(P_PID, (id_t)exit.pid, &info, WEXITED | WNOHANG) < 0 &&
		       errno == EINTR)
			;
		n++;
	}
	return n;
}

/* By the older call, which has less to tell, and takes less time for it. */
static pid_t collect(int *status)
{
	pid_t pid;

	do
		pid = waitpid(-1, status, WNOHANG);
	while (pid < 0 && errno == EINTR);
	return pid;
}

unsigned reap_collected(unsigned max, void (*tell)(const struct reap_exit *exit, void *arg),
			void *arg)
{
	unsigned n = 0;
	int status;
	pid_t pid;

	for (; n < max && (pid = collect(&status)) > 0; n++) {
		struct reap_exit exit = {
			.pid = pid,
			.signaled = WIFSIGNALED(status),
			.dumped = WIFSIGNALED(status) && WCOREDUMP(status),
			.value = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
		};

		tell(&exit, arg);
	}
	return n;
}
