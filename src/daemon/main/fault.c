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

#include "sys/spawn/crash.h"

#define ROUNDS_MAX	  3000
#define ROUNDS_LOGGER_MAX 1000

static void fault_log_text(const char *text)
{
	struct pollfd log = { .fd = STDERR_FILENO, .events = POLLOUT };

	if (poll(&log, 1, 0) > 0 && (log.revents & POLLOUT))
		(void)!write(STDERR_FILENO, text, strlen(text));
}

struct fault_children {
	pid_t logger;
	bool found; /* another one */
};

static void fault_kill_child(pid_t pid, void *arg)
{
	struct fault_children *children = arg;

	if (pid == children->logger)
		return;
	children->found = true;
	(void)kill(pid, SIGKILL);
}

static bool fault_kill_children(int list, pid_t logger)
{
	struct fault_children children = { .logger = logger };

	(void)proc_read_pids(list, fault_kill_child, &children);
	return children.found;
}

static void fault_end(pid_t logger)
{
	int list;

	fault_log_text("swansongd: too many faults: killing all services at once\n");
	list = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	if (list < 0 && close(STDIN_FILENO) == 0)
		list = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	if (list < 0)
		fault_log_text("swansongd: no list of children: services may keep running\n");
	for (int i = 0; i < ROUNDS_MAX && list >= 0 && fault_kill_children(list, logger); i++) {
		while (waitpid(-1, NULL, WNOHANG | __WALL) > 0)
			;
		(void)poll(NULL, 0, 1);
	}
	/*
	 * Waits for the logger: the end of a process 1 would kill it, and a parent manager may
	 * kill all processes that remain.
	 */
	if (logger <= 0 || syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0) < 0)
		return;
	for (int i = 0; i < ROUNDS_LOGGER_MAX && waitpid(logger, NULL, WNOHANG) == 0; i++)
		(void)poll(NULL, 0, 1);
}

static void fault_log(struct log *log, const struct crash_history *history)
{
	const struct crash *crash = crash_latest(history);
	char name[SIGNAL_TEXT_MAX], age[CLOCK_TEXT_MAX], address[32] = "", place[64] = "";

	if (crash->address)
		(void)snprintf(address, sizeof(address), " at 0x%" PRIx64, crash->address);
	if (crash->place)
		(void)snprintf(place, sizeof(place), " in %sswansongd+0x%" PRIx64,
			       crash->called ? "a call from " : "", crash->place);
	log_line(log, LOG_CRIT,
		 "%s: %s%s%s, %s ago; its services go on, or are stopped in order and start again",
		 history->reason == CRASH_UNDONE ? "fault of the new program, " PACKAGE_VERSION
						   " goes on"
						 : "fault",
		 parse_signal_text(name, crash->signo), address, place,
		 clock_text(age, clock_now_usec() - crash->usec));
}

void fault_begin(struct signals *was, char *const *argv, struct log *log, int *history,
		 struct crash_history *read)
{
	struct crash_plan plan = { .argv = argv, .envp = environ, .last = fault_end };
	char age[CLOCK_TEXT_MAX];
	int r;

	r = crash_take(read);
	signals_take_over(was);
	if (read->reason == CRASH_NONE)
		r = crash_history_new(was);
	else
		*was = read->signals;
	if (read->reason == CRASH_REPLACED)
		log_line(log, LOG_NOTICE, "upgraded from %.*s to " PACKAGE_VERSION ", begun %s ago",
			 CRASH_VERSION_MAX, read->version,
			 clock_text(age, clock_now_usec() - read->replaced_usec));
	else if (read->reason == CRASH_FAULT || read->reason == CRASH_UNDONE)
		fault_log(log, read);
	plan.history = *history = r;
	plan.on_probation = read->reason == CRASH_REPLACED;
	if (r >= 0 && read->reason != CRASH_REHEARSAL)
		r = crash_arm(&plan);
	if (r < 0) {
		*history = fd_close(*history);
		log_line(log, LOG_WARNING, "a fault would end swansongd: %s", strerror(-r));
	}
}

void fault_keep(const struct crash_history *read, int history, struct log *log,
		struct keeper *keeper)
{
	int r = history < 0 ? -EPERM : read->reason == CRASH_REHEARSAL ? 0 : keeper_begin(keeper);

	if (r < 0)
		log_line(log, LOG_WARNING, "there is no keeper: SIGKILL would end the services: %s",
			 strerror(-r));
}
