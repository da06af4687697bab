#include "sys/process/reap.h"

/*
 * ECHILD: there is no child.  Any other error would hide a dead child, which no further signal
 * announces: the call is repeated, but not without end.
 */
#define TRIES 16

static bool reap_next_exit(idtype_t which, pid_t pid, siginfo_t *info, int options)
{
	int r, tries = TRIES;

	/* __WALL: a fault may leave a child that sends no signal at its end (sys/spawn/environment.c). */
	do {
		info->si_pid = 0;
		r = waitid(which, (id_t)pid, info, WEXITED | WNOHANG | __WALL | options);
	} while (r < 0 && errno != ECHILD && --tries > 0);
	return r == 0 && info->si_pid > 0;
}

static bool reap_one(idtype_t which, pid_t pid,
		     void (*report)(const struct reap_exit *exit, void *arg), void *arg)
{
	struct reap_exit exit;
	siginfo_t info;

	if (!reap_next_exit(which, pid, &info, WNOWAIT))
		return false;
	exit = (struct reap_exit){
		.pid = info.si_pid,
		.signaled = info.si_code != CLD_EXITED,
		.dumped = info.si_code == CLD_DUMPED,
		.value = info.si_status,
		.uid = info.si_uid,
	};
	report(&exit, arg);
	(void)reap_next_exit(P_PID, exit.pid, &info, 0);
	return true;
}

unsigned reap_children(unsigned max, void (*report)(const struct reap_exit *exit, void *arg),
		       void *arg)
{
	unsigned n = 0;

	while (n < max && reap_one(P_ALL, 0, report, arg))
		n++;
	return n;
}

bool reap_child(pid_t pid, void (*report)(const struct reap_exit *exit, void *arg), void *arg)
{
	return reap_one(P_PID, pid, report, arg);
}

/* By waitpid(), which reports less and is faster. */
static pid_t reap_collect_status(int *status)
{
	int tries = TRIES;
	pid_t pid;

	do
		pid = waitpid(-1, status, WNOHANG);
	while (pid < 0 && errno != ECHILD && --tries > 0);
	return pid;
}

unsigned reap_collected(unsigned max, void (*report)(const struct reap_exit *exit, void *arg),
			void *arg)
{
	unsigned n = 0;
	int status;
	pid_t pid;

	for (; n < max && (pid = reap_collect_status(&status)) > 0; n++) {
		struct reap_exit exit = {
			.pid = pid,
			.signaled = WIFSIGNALED(status),
			.dumped = WIFSIGNALED(status) && WCOREDUMP(status),
			.value = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
		};

		report(&exit, arg);
	}
	return n;
}
