/*
 * The command is suspended and resumed by the terminal or by a shell; this program sees that by
 * waitid(WSTOPPED) and by its own signals.  It suspends itself by the same stop signal, which is
 * unblocked for a moment.
 */
#include "sys/process/job.h"

void job_init(struct job *job)
{
	*job = (struct job){ .terminal = -1 };
	for (int fd = 0; fd <= 2 && job->terminal < 0; fd++)
		if (tcgetpgrp(fd) >= 0)
			job->terminal = fd;
}

/* Both numbers are 0 for groups outside of the pid namespace. */
static bool job_has_foreground(const struct job *job)
{
	return job->terminal >= 0 && tcgetpgrp(job->terminal) == getpgrp();
}

int job_foreground(const struct job *job)
{
	return job_has_foreground(job) ? job->terminal : -1;
}

bool job_is_stop(int signo)
{
	return signo == SIGTSTP || signo == SIGTTIN || signo == SIGTTOU || signo == SIGSTOP;
}

int job_stopped_by(pid_t pid, bool *stopped)
{
	siginfo_t info = { 0 };

	if (waitid(P_PID, (id_t)pid, &info, WSTOPPED | WCONTINUED | WNOHANG) < 0 ||
	    info.si_pid != pid)
		return 0;
	*stopped = info.si_code == CLD_STOPPED;
	return *stopped ? info.si_status : 0;
}

static bool job_is_pending(int signo)
{
	sigset_t pending;

	return sigpending(&pending) == 0 && sigismember(&pending, signo) == 1;
}

/*
 * Lets a pending stop signal take effect.  The kernel does not stop PID 1 and, except for SIGSTOP,
 * no orphaned process group.  Returns true if the process was stopped: the SIGCONT that resumed it
 * is pending then, while an earlier SIGCONT was discarded by the stop signal.
 */
static bool job_stop_here(int signo)
{
	sigset_t one;

	(void)sigemptyset(&one);
	(void)sigaddset(&one, signo);
	(void)sigprocmask(SIG_UNBLOCK, &one, NULL);
	(void)sigprocmask(SIG_BLOCK, &one, NULL);
	return job_is_pending(SIGCONT);
}

static bool job_hand_over(const struct job *job)
{
	return job_has_foreground(job) && tcsetpgrp(job->terminal, job->group) == 0;
}

void job_process_stop(const struct job *job, int signo)
{
	bool resumable = false;

	/* A SIGCONT has ended this stop already. */
	if (job->terminal < 0 || job_is_pending(SIGCONT))
		return;
	/* A shell may move a running job to the foreground without a signal. */
	if ((signo == SIGTTIN || signo == SIGTTOU) && job_hand_over(job)) {
		(void)kill(-job->group, SIGCONT);
		return;
	}
	/* A session leader has no parent that controls jobs. */
	if (getsid(0) != getpid()) {
		(void)kill(0, signo);
		resumable = job_stop_here(signo) || getpid() == 1;
	}
	/* Not after SIGTTIN and SIGTTOU: the command would repeat the access, and stop again. */
	if (!resumable && signo == SIGTSTP)
		(void)kill(-job->group, SIGCONT);
}

void job_suspend(int signo)
{
	if (getpid() == 1)
		return;
	(void)kill(getpid(), signo);
	if (!job_stop_here(signo) && signo != SIGSTOP)
		(void)kill(getpid(), SIGSTOP);
}

void job_resume(const struct job *job)
{
	(void)job_hand_over(job);
}

void job_end(const struct job *job)
{
	pid_t foreground = job->terminal >= 0 ? tcgetpgrp(job->terminal) : -1;

	if (foreground <= 0 || getpgrp() <= 0 || foreground == getpgrp())
		return;
	if (foreground == job->group || (kill(-foreground, 0) < 0 && errno == ESRCH))
		(void)tcsetpgrp(job->terminal, getpgrp());
}
