#include "sys/reap.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

/* Any error but EINTR says that there is nothing to wait for. */
static int next(siginfo_t *info, int options)
{
	int r;

	do {
		info->si_pid = 0;
		r = waitid(P_ALL, 0, info, WEXITED | WNOHANG | options);
	} while (r < 0 && errno == EINTR);
	return r == 0 && info->si_pid > 0;
}

static struct reap_exit exit_of(const siginfo_t *info)
{
	return (struct reap_exit){
		.pid = info->si_pid,
		.signaled = info->si_code != CLD_EXITED,
		.dumped = info->si_code == CLD_DUMPED,
		.value = info->si_status,
	};
}

unsigned reap_children(unsigned max, void (*tell)(const struct reap_exit *exit, void *arg),
		       void *arg)
{
	unsigned n = 0;
	siginfo_t info;

	while (n < max && next(&info, WNOWAIT)) {
		struct reap_exit exit = exit_of(&info);

		tell(&exit, arg);
		while (waitid(P_PID, (id_t)exit.pid, &info, WEXITED | WNOHANG) < 0 &&
		       errno == EINTR)
			;
		n++;
	}
	return n;
}

unsigned reap_collected(unsigned max, void (*tell)(const struct reap_exit *exit, void *arg),
			void *arg)
{
	unsigned n = 0;
	siginfo_t info;

	for (; n < max && next(&info, 0); n++) {
		struct reap_exit exit = exit_of(&info);

		tell(&exit, arg);
	}
	return n;
}
