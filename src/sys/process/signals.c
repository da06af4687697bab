/*
 * The kernel is called directly where the C library protects its reserved signals: for their
 * dispositions, and for the mask of all 64 signals.
 */
#include "sys/process/signals.h"

void signals_take_over(struct signals *was)
{
	static const unsigned long zeros[8];
	sigset_t all;

	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &was->mask);
	(void)sigemptyset(&was->ignored);
	for (int signo = 1; signo <= SIGRTMAX; signo++) {
		struct sigaction old, reset = { .sa_handler = SIG_DFL };

		if (sigaction(signo, NULL, &old) < 0 || old.sa_handler == SIG_DFL)
			continue;
		if (old.sa_handler == SIG_IGN)
			(void)sigaddset(&was->ignored, signo);
		(void)sigaction(signo, &reset, NULL);
	}
	/*
	 * The C library reserves the first real-time signals and refuses to change them.  A
	 * handler there belongs to the library, for threads that a sanitizer may have started.
	 * But if this process was started with these signals ignored, every child would inherit
	 * that.  So the system call is used: the kernel's struct sigaction begins with the
	 * handler, and zeros mean SIG_DFL without flags.
	 */
	for (int signo = 32; signo < SIGRTMIN; signo++) {
		unsigned long old[8] = { 0 };

		(void)syscall(SYS_rt_sigaction, signo, NULL, old, (size_t)8);
		if (old[0] == (unsigned long)SIG_IGN)
			(void)syscall(SYS_rt_sigaction, signo, zeros, NULL, (size_t)8);
	}
}

void signals_hold(struct signals *was)
{
	struct sigaction old, reset = { .sa_handler = SIG_DFL };
	sigset_t all;

	/* sigfillset() leaves out signals that the C library reserves. */
	memset(&all, 0xff, sizeof(all));
	(void)sigprocmask(SIG_SETMASK, &all, &was->mask);
	(void)sigemptyset(&was->ignored);
	/* If SIGCHLD is ignored, the kernel reaps children, and their exit statuses are lost. */
	if (sigaction(SIGCHLD, &reset, &old) == 0 && old.sa_handler == SIG_IGN)
		(void)sigaddset(&was->ignored, SIGCHLD);
}
