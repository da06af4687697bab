/*
 * The process of the keeper has all signals blocked and waits for them, one after the other: it has
 * no handler, no heap and no descriptor of its own.  What it needs to know of the program is in the
 * history of faults.
 *
 * An exit fits into the value of a signal: Linux has at most 2^22 processes.
 */
#include "sys/spawn/keeper.h"

#include <sched.h>

#include "sys/spawn/crash.h"

#define VALUE_BITS 8
#define SIGNALED   (1U << 8)
#define DUMPED	   (1U << 9)
#define PID_SHIFT  10
#define AGAIN_NSEC (10 * 1000 * 1000)

/* The keeper's own view of the program. */
struct kept {
	pid_t program;
	bool reported; /* an exit was reported and has no reply yet */
	bool owed;     /* a report after a reply: a process group may be empty only now */
	bool refused;  /* the kernel had no room for the signal */
};

/* --- the program's side --- */

bool keeper_take(struct keeper *k, const struct signalfd_siginfo *info)
{
	uint32_t value = (uint32_t)info->ssi_int;

	if (!keeper_is_apart(k) || info->ssi_signo != (uint32_t)KEEPER_SIGNAL ||
	    info->ssi_pid != (uint32_t)k->reaper || info->ssi_code != SI_QUEUE)
		return false;
	k->reported = (struct reap_exit){
		.pid = (pid_t)(value >> PID_SHIFT),
		.signaled = value & SIGNALED,
		.dumped = value & DUMPED,
		.value = value & ((1U << VALUE_BITS) - 1),
	};
	(void)proc_uid(k->reported.pid, &k->reported.uid);
	return true;
}

unsigned keeper_reap(struct keeper *k, void (*report)(const struct reap_exit *exit, void *arg),
		     void *arg)
{
	const union sigval reply = { .sival_int = k->reported.pid };

	if (k->reported.pid == 0)
		return 0;
	report(&k->reported, arg);
	k->reported.pid = 0;
	/* There is always room for a reply: that of the signal which it answers. */
	(void)sigqueue(k->reaper, KEEPER_SIGNAL, reply);
	return 1;
}

bool keeper_is_apart(const struct keeper *k)
{
	return k->reaper != getpid();
}

/* --- the keeper's side --- */

static void keeper_report(struct kept *k)
{
	siginfo_t info = { .si_pid = 0 };
	union sigval value = { .sival_int = 0 };

	k->refused = false;
	if (k->reported)
		return;
	(void)waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL);
	if (info.si_pid > 0 && info.si_pid != k->program)
		value.sival_int =
			(int)((uint32_t)info.si_pid << PID_SHIFT | (uint32_t)info.si_status |
			      (info.si_code != CLD_EXITED ? SIGNALED : 0) |
			      (info.si_code == CLD_DUMPED ? DUMPED : 0));
	else if (!k->owed)
		return;
	k->refused = sigqueue(k->program, KEEPER_SIGNAL, value) < 0;
	k->reported = !k->refused && value.sival_int != 0;
	k->owed = k->refused && k->owed;
}

/* Ends as the program has ended, or goes on with the next image of it. */
static void keeper_look(struct kept *k)
{
	siginfo_t info = { .si_pid = 0 };

	if (waitid(P_PID, (id_t)k->program, &info, WEXITED | WNOHANG) < 0 || info.si_pid == 0) {
		keeper_report(k);
		return;
	}
	crash_go_on_after(info.si_code == CLD_EXITED ? 0 : info.si_status);
	_exit(info.si_status);
}

static _Noreturn void keeper_work(struct kept *k)
{
	static const struct timespec again = { .tv_nsec = AGAIN_NSEC };
	sigset_t all;

	(void)sigfillset(&all);
	for (;;) {
		siginfo_t info;
		int signo;

		/* Also before the first signal: the one of an exit may have come to the image before. */
		keeper_look(k);
		signo = sigtimedwait(&all, &info, k->refused ? &again : NULL);
		if (signo == KEEPER_SIGNAL && info.si_pid == k->program) {
			siginfo_t gone;

			(void)waitid(P_PID, (id_t)info.si_value.sival_int, &gone,
				     WEXITED | WNOHANG | __WALL);
			k->reported = false;
			k->owed = true;
		} else if (signo > 0 && signo != SIGCHLD) {
			(void)kill(k->program, signo);
		}
	}
}

int keeper_begin(struct keeper *ret)
{
	struct kept kept = { .reported = false };
	pid_t reaper = getpid();
	sigset_t all;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return -errno;
	/* As fork(), but with one table of descriptors. */
	kept.program = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
	if (kept.program < 0)
		return -errno;
	if (kept.program > 0) {
		memset(&all, 0xff, sizeof(all));
		(void)sigprocmask(SIG_SETMASK, &all, NULL);
		(void)prctl(PR_SET_NAME, PROC_KEEPER);
		keeper_work(&kept);
	}
	*ret = (struct keeper){ .reaper = reaper };
	crash_leave_to_keeper();
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != reaper)
		(void)raise(SIGKILL);
	return 0;
}
