#include "init/init.h"

#include "sys/process/job.h"
#include "sys/process/reap.h"
#include "sys/spawn/spawn.h"

/*
 * A loop takes one signal at a time.  All signals are blocked from the first instruction on, so
 * that none is lost.  The command runs first; with --pause there is none, and init waits for
 * SIGTERM or SIGINT.  After that the remaining processes get SIGTERM and --leftover-timeout for their end, and
 * then SIGKILL.
 */

#define REAP_PER_TURN 256
/* The time until SIGKILL is repeated: a process may have been forked during the last round. */
#define KILL_AGAIN_USEC USEC_PER_SEC
/* A process that survives as many cannot be killed: most often it waits for a device. */
#define KILLS_MAX 5

enum phase { PHASE_RUNNING, PHASE_PAUSED, PHASE_ENDING, PHASE_KILLING, PHASE_OVER };

struct init {
	const struct init_options *options;
	struct log *log;
	/* All signals, and the last one.  On the stack of a turn, hardened builds would clear them each time. */
	sigset_t all;
	siginfo_t info;
	struct descendants inherited;
	struct job job;
	enum phase phase;
	pid_t command; /* 0: it has ended */
	int status;    /* of the command, when it has ended */
	bool stopped;  /* the command has been suspended */
	bool reap;     /* there may be dead children */
	uint64_t deadline_usec;
	unsigned kills;
	char listen_pid[COMMAND_LISTEN_PID_MAX]; /* in the environment */
};

/* --- the beginning --- */

/* Leaves no descriptor open here: a reader or writer of the command's streams sees their end. */
static void init_leave_descriptors(const struct init *i)
{
	for (int fd = STDIN_FILENO; fd < STDERR_FILENO; fd++)
		if (fd != i->job.terminal)
			(void)close(fd);
	fd_close_above(STDERR_FILENO);
	/* Leaves the working directory, so that init keeps no file system busy. */
	if (chdir("/") < 0)
		log_line(i->log, LOG_DEBUG, "cannot leave the directory: %s", strerror(errno));
}

/* Return: 0, or the exit status. */
static int init_start_command(struct init *i)
{
	const struct init_options *o = i->options;
	int directory = command_leave_directory();
	struct spawn_failure failure;
	int r;

	struct spawn_spec spec = {
		.argv = o->argv,
		.script = true,
		.envp = environ,
		.directory_fd = directory,
		.umask = -1,
		.keep_descriptors = true,
		.keep_session = true,
		.terminal = job_foreground(&i->job),
		.death_signal = o->command.death_signal,
		.parent = getpid(),
		.pid_places = { command_listen_pid(environ, i->listen_pid) },
		.mask = &o->signals->mask,
		.ignored = &o->signals->ignored,
	};

	r = spawn(&spec, &i->command, &failure);
	(void)fd_close(directory);
	if (r == SPAWN_E_CHILD) {
		bool execute = failure.step == SPAWN_STEP_EXEC;

		log_line(i->log, LOG_ERR, "cannot %s%s%s: %s", spawn_step_text(failure.step),
			 execute ? " " : "", execute ? o->argv[0] : "", strerror(failure.error));
		if (!execute)
			return INIT_EXIT_FAULT;
		return failure.error == ENOENT ? 127 : 126;
	}
	if (r < 0) {
		log_line(i->log, LOG_ERR, "cannot create a process: %s", strerror(-r));
		return INIT_EXIT_FAULT;
	}
	i->job.group = i->command;
	log_line(i->log, LOG_INFO, "%s: started, pid %d", o->argv[0], (int)i->command);
	return 0;
}

static bool init_has_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static int init_prepare(struct init *i)
{
	memset(&i->all, 0xff, sizeof(i->all));
	job_init(&i->job);
	/* PID 1 ends every process, inherited or not. */
	if (getpid() == 1)
		return 0;
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		log_line(i->log, LOG_WARNING, "cannot become a subreaper: %s", strerror(errno));
	return init_has_children() ? descendants_inherit(&i->inherited) : 0;
}

/* --- the end --- */

static void init_count_process(pid_t pid, const char *name, void *arg)
{
	unsigned *n = arg;

	(*n)++;
}

static bool init_has_remaining(const struct init *i)
{
	unsigned n = 0;

	if (!init_has_children())
		return false;
	/* Without /proc, inherited processes cannot be distinguished from others. */
	return i->inherited.n == 0 || descendants_each(&i->inherited, init_count_process, &n) < 0 ||
	       n > 0;
}

static void init_log_killed(pid_t pid, const char *name, void *arg)
{
	const struct init *i = arg;

	log_line(i->log, LOG_WARNING, "killing remaining process: pid %d (%s)", (int)pid, name);
}

static void init_begin_end(struct init *i)
{
	/* As in dumb-init, other processes are spared, except by PID 1, after which the kernel kills them. */
	bool spare = i->options->command.single && getpid() != 1 && !i->options->pause;

	job_end(&i->job);
	if (spare || !init_has_remaining(i)) {
		i->phase = PHASE_OVER;
		return;
	}
	if (i->options->pause)
		log_line(i->log, LOG_INFO, "SIGTERM to the remaining processes");
	else
		log_line(i->log, LOG_INFO, "SIGTERM to the remaining processes of %s",
			 i->options->argv[0]);
	i->phase = PHASE_ENDING;
	i->deadline_usec = clock_add(clock_now_usec(), i->options->command.leftover_timeout_usec);
	descendants_signal(i->job.group, SIGTERM, &i->inherited);
	/* A stopped process needs SIGCONT to act on SIGTERM; a running one would see SIGCONT first. */
	descendants_resume(&i->inherited);
}

static void init_kill_remaining(struct init *i)
{
	if (i->phase == PHASE_ENDING)
		(void)descendants_each(&i->inherited, init_log_killed, i);
	if (i->kills++ == KILLS_MAX) {
		log_line(i->log, LOG_ERR, "remaining processes survive SIGKILL: giving up");
		i->phase = PHASE_OVER;
		return;
	}
	i->phase = PHASE_KILLING;
	descendants_signal(i->job.group, SIGKILL, &i->inherited);
	i->deadline_usec = clock_add(clock_now_usec(), KILL_AGAIN_USEC);
}

/* --- the signals --- */

static void init_on_death(const struct reap_exit *exit, void *arg)
{
	struct init *i = arg;

	if (exit->pid == i->command) {
		i->command = 0;
		i->status = command_status(&i->options->command, exit->signaled, exit->value);
	}
	if (exit->pid == i->job.group)
		log_line(i->log, LOG_INFO, "pid %d has ended: %s %d", (int)exit->pid,
			 exit->signaled ? "signal" : "exit status", exit->value);
	else if (i->options->command.log_reaped)
		log_line(i->log, LOG_WARNING, "Reaped zombie process with pid=%d", (int)exit->pid);
}

static void init_reap_children(struct init *i)
{
	int signo;

	i->reap = reap_collected(REAP_PER_TURN, init_on_death, i) == REAP_PER_TURN;
	if (i->command) {
		signo = job_stopped_by(i->command, &i->stopped);
		if (signo)
			job_process_stop(&i->job, signo);
		return;
	}
	if (i->phase == PHASE_RUNNING)
		init_begin_end(i);
	else if (i->phase != PHASE_PAUSED && !init_has_remaining(i))
		i->phase = PHASE_OVER;
}

static void init_forward_signal(struct init *i, int signo, pid_t sender)
{
	const struct forward *f = &i->options->command.forward;
	int as = forward_as(f, signo, sender);
	char from[SIGNAL_TEXT_MAX], to[SIGNAL_TEXT_MAX];

	if (signo == SIGCONT)
		job_resume(&i->job);
	if (!as)
		return;
	if (i->log->level >= LOG_DEBUG)
		log_line(i->log, LOG_DEBUG, "%s from pid %d: passed on as %s",
			 parse_signal_text(from, signo), (int)sender, parse_signal_text(to, as));
	forward_send(f->scope, i->command, as, &i->inherited);
	if (as == SIGCONT)
		i->stopped = false;
	/* A suspended command cannot act on the signal. */
	if (i->stopped && (signo == SIGTERM || signo == SIGHUP))
		forward_send(f->scope, i->command, SIGCONT, &i->inherited);
	if (job_is_stop(signo))
		job_suspend(signo);
}

static void init_on_signal(struct init *i)
{
	int signo = i->info.si_signo;

	if (signo == SIGCHLD) {
		i->reap = true;
	} else if (i->command) {
		init_forward_signal(i, signo, i->info.si_pid);
	} else if (i->phase == PHASE_PAUSED) {
		if (signo == SIGTERM || signo == SIGINT)
			init_begin_end(i);
	} else if (signo == SIGQUIT || (signo == SIGINT && i->job.terminal >= 0)) {
		/* The remaining processes have SIGTERM already; this signal skips their timeout. */
		i->deadline_usec = 0;
	}
}

int init_run(const struct init_options *options)
{
	struct init i = {
		.options = options,
		.log = options->log,
		.deadline_usec = USEC_INFINITY,
	};
	int status = INIT_EXIT_FAULT;

	if (init_prepare(&i) == 0)
		status = options->pause ? 0 : init_start_command(&i);
	if (options->pause)
		i.phase = PHASE_PAUSED;
	if (status == 0) {
		init_leave_descriptors(&i);
		while (i.phase != PHASE_OVER) {
			bool endless = i.deadline_usec == USEC_INFINITY && !i.reap;
			struct timespec wait = { 0 };

			/* Waits until the deadline, or not at all while there are dead children to reap. */
			if (!endless && !i.reap) {
				uint64_t now = clock_now_usec();
				uint64_t left = i.deadline_usec > now ? i.deadline_usec - now : 0;

				wait.tv_sec = (time_t)(left / USEC_PER_SEC);
				wait.tv_nsec = (long)(left % USEC_PER_SEC * 1000);
			}
			if (sigtimedwait(&i.all, &i.info, endless ? NULL : &wait) > 0)
				init_on_signal(&i);
			if (i.reap)
				init_reap_children(&i);
			if (i.deadline_usec != USEC_INFINITY && clock_now_usec() >= i.deadline_usec)
				init_kill_remaining(&i);
		}
		status = i.status;
	}
	job_end(&i.job);
	descendants_done(&i.inherited);
	return status;
}
