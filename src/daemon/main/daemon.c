/*
 * A turn of the loop handles one event, then dead children, expired alarms and the agenda, in this
 * order.  The tree decides when the daemon ends; errors of the loop do not.  At the end all objects
 * are freed, each before those that it uses.
 */

#include "daemon/logger/history-log.h"
#include "daemon/logger/own-log.h"
#include "daemon/logger/logging.h"
#include "daemon/main/fault.h"
#include "daemon/main/signals.h"
#include "daemon/main/start.h"
#include "daemon/main/update.h"
#include "daemon/notify/directory.h"
#include "daemon/tree/build.h"
#include "daemon/tree/exit.h"
#include "daemon/describe/report.h"
#include "model/life/budget.h"
#include "sys/spawn/child-attributes.h"

#define LOOP_RETRY_MSEC 10
#define REAP_LATER_USEC (1 * USEC_PER_MSEC)

/* --- one turn --- */

/*
 * In front of a command, which may have succeeded, the exit status reports any process that was
 * killed.
 */
static bool daemon_is_forced(const struct daemon *d, const struct service *cause)
{
	if (!d->tree.root->forced || d->tree.ends.by_itself)
		return false;
	if (!d->ctx.command || !cause)
		return true;
	return cause->run.outcome.kind != OUTCOME_EXITED &&
	       !(cause->run.outcome.kind == OUTCOME_SIGNALED &&
		 cause->run.outcome.value != SIGKILL);
}

/* The cases are in the order of swansongd(8); the first one that applies wins. */
static int daemon_exit_status(const struct daemon *d)
{
	int status = exit_status_of_cause(&d->tree);

	if (daemon_is_forced(d, exit_service(&d->tree)))
		return DAEMON_EXIT_FORCED;
	if (d->ctx.command)
		return command_status(&d->options->command_options, false, MAX(status, 0));
	/* Given up with status 0: the service has ended too often. */
	if (status == 0 && d->tree.ends.given_up)
		return DAEMON_EXIT_FAULT;
	if (d->exit_on_signal && d->stopped_by && !exit_has_essential(&d->tree))
		return 128 + d->stopped_by;
	return MAX(status, 0);
}

static void daemon_on_complete(void *arg)
{
	struct daemon *d = arg;
	const struct report_end end = { .signal = d->stopped_by, .status = daemon_exit_status(d) };

	d->finished = true;
	report_write(&d->tree, &end);
}

static void daemon_update(struct daemon *d)
{
	struct update update = {
		.tree = &d->tree,
		.orphans = d->orphans,
		.control = d->control,
		.parent = d->parent,
		.reload = &d->reload,
		.complete = daemon_on_complete,
		.arg = d,
	};

	update_turn(&update);
	exit_enter(&d->tree, d->stopped_by);
	/* Set in each turn, as the deadline of the root may change. */
	alarm_set(&d->ctx.alarms, &d->abandon,
		  d->ctx.held_usec ? USEC_INFINITY
				   : clock_add(d->tree.root->deadline_usec, BUDGET_ABANDON_USEC));
}

/* --- start and end --- */

/* The limit of the logger's time if the budget of the tree is long. */
#define LOGGER_MOST_USEC (10 * USEC_PER_SEC)

/*
 * Processes that remain when the root is Complete belong to no service; with PID 1 they end anyway.
 */
static void daemon_end_unowned(struct daemon *d)
{
	unsigned n;

	while (orphans_reap(d->orphans))
		;
	if (getpid() == 1)
		return;
	n = orphans_kill_unowned(d->orphans);
	if (n > 0)
		log_line(d->ctx.log, LOG_WARNING, "killed %u unowned process%s", n,
			 n == 1 ? "" : "es");
	(void)orphans_reap(d->orphans);
}

static void daemon_tear_down(struct daemon *d)
{
	/* The roster goes first, so that the others write no rows: there is no next image to read them. */
	d->ctx.roster = roster_free(d->ctx.roster);
	d->control = control_free(d->control);
	d->parent = parent_free(d->parent);
	d->orphans = orphans_free(d->orphans);
	closer_done(&d->trial.closer);
	closer_done(&d->programs.closer);
	rollout_done(&d->rollout);
	survivors_done(&d->survivors);
	changes_done(&d->changes);
	upgrade_done(&d->upgrade);
	enable_done(&d->ctx);
	if (d->tree.root)
		tree_done(&d->tree);
	closer_discards_done(&d->ctx);
	d->ctx.own_log = own_log_free(d->ctx.own_log);
	d->ctx.history_log = history_log_free(d->ctx.history_log);
	d->ctx.logger = logging_free(d->ctx.logger);
	d->ctx.notify_directory = notify_directory_free(d->ctx.notify_directory);
	d->ctx.cgroups = cgroups_free(d->ctx.cgroups);
	process_table_done(&d->processes);
	sd_event_source_disable_unref(d->signal);
	command_done(&d->command);
	context_done(&d->ctx);
	free(d->environment);
}

/*
 * The kernel looks at each child to collect one of any pid, and meanwhile no process can make a
 * session.  So a process that has just been made again gets a moment for its exec.
 */
static uint64_t daemon_wait_usec(const struct daemon *d)
{
	if (!d->reap && !d->ctx.alarms.due && !agenda_is_due(&d->ctx.agenda))
		return UINT64_MAX;
	if (d->first == FIRST_FOLLOWED && d->launched != d->ctx.launched && !d->ctx.alarms.due &&
	    !agenda_is_due(&d->ctx.agenda))
		return REAP_LATER_USEC;
	return 0;
}

/*
 * A turn handles one event, then its effects.  sd_event_add_defer() could do the same, but a
 * deferred source with more work would come before all other events.
 */
static void daemon_run_loop(struct daemon *d)
{
	int r = 0;

	/*
	 * First, before any signal: in front of a command there must be a process that receives it.
	 */
	daemon_update(d);
	if (d->ctx.reason == CRASH_REPLACED)
		upgrade_settle(&d->upgrade);
	if (d->ctx.command)
		command_leave_descriptors(&d->command);
	while (!d->finished) {
		int before = r;

		r = sd_event_run(d->ctx.event, daemon_wait_usec(d));
		if (r < 0) {
			/*
			 * Errors of the loop do not end the daemon.  An error may lose events, so
			 * children are reaped in any case; it may also persist, so a pause spares
			 * the log and the processor.
			 */
			if (r != before)
				log_line(d->ctx.log, LOG_ERR, "event loop: %s", strerror(-r));
			d->reap = true;
			(void)poll(NULL, 0, LOOP_RETRY_MSEC);
		}
		if (d->reap) {
			/*
			 * A single death while the daemon is idle is processed before any search
			 * for others, which makes Linux walk all children: its service starts
			 * again sooner.  The others wait for two turns at most.
			 */
			enum first_death first = d->first;

			d->first = FIRST_NONE;
			if (first == FIRST_DIED && !node_is_stopped(d->tree.root)) {
				orphans_reap_child(d->orphans, d->died);
				d->first = FIRST_FOLLOWED;
				d->launched = d->ctx.launched;
			} else if (first != FIRST_FOLLOWED || !d->ctx.alarms.due) {
				d->reap = orphans_reap(d->orphans);
			}
			if (d->ctx.command)
				command_update(&d->command, daemon_command(d));
		}
		if (d->ctx.alarms.due)
			alarms_run(&d->ctx.alarms);
		if (agenda_is_due(&d->ctx.agenda))
			daemon_update(d);
	}
}

/* Addresses, descriptors and directories that were meant for the daemon only. */
static bool daemon_is_own_variable(const char *variable)
{
	static const char *const prefixes[] = {
		"CREDENTIALS_DIRECTORY=", "FDSTORE=",  "LISTEN_",   "MEMORY_PRESSURE_",
		"NOTIFY_SOCKET=",	  "SWANSONG_", "WATCHDOG_",
	};
	static const char socket[] = "SWANSONG_SOCKET="; /* clients read it, too */

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (strncmp(variable, prefixes[i], strlen(prefixes[i])) == 0)
			return strncmp(variable, socket, strlen(socket)) != 0;
	return false;
}

static int daemon_init_environment(struct daemon *d)
{
	size_t n = 0;

	while (environ[n])
		n++;
	d->environment = calloc(n + 1, sizeof(*d->environment));
	if (!d->environment)
		return -ENOMEM;
	n = 0;
	for (char **v = environ; *v; v++)
		if (!daemon_is_own_variable(*v))
			d->environment[n++] = *v;
	d->ctx.environment.given = d->environment;
	return 0;
}

static int daemon_init_command(struct daemon *d)
{
	d->ctx.environment.given = environ;
	d->ctx.command = &d->command;
	d->ctx.leftover_timeout_usec = d->options->command_options.leftover_timeout_usec;
	return command_init(&d->command, &d->options->command_options, environ);
}

static int daemon_run_tree(struct daemon *d, struct parent_address *address)
{
	cleanup(config_unrefp) struct config *config = NULL;
	struct rlimit before = { 0 };
	bool raised = daemon_raise_descriptor_limit(&before);
	int r = context_init(&d->ctx, d->options->log, &d->signals);
	uint64_t now, until;

	d->ctx.reason = (enum crash_reason)d->former.reason;
	d->ctx.keeper = d->keeper;
	d->reap = d->ctx.reason != CRASH_NONE;
	if (r >= 0 && d->history >= 0)
		r = roster_new(&d->ctx.roster, d->history);
	if (d->ctx.reason)
		roster_close_strays(d->ctx.roster);
	d->ctx.descriptors.limit = before;
	d->ctx.descriptors.raised = raised;
	if (r >= 0)
		r = parent_grace_take(d->options->grace_usec, d->options->log, &d->ctx.grace_usec);
	if (r >= 0)
		r = daemon_load(d, &config);
	if (r == -EINVAL)
		return DAEMON_EXIT_CONFIG;
	if (r >= 0 && d->ctx.reason == CRASH_REHEARSAL)
		return upgrade_rehearse(d->ctx.roster);
	if (r >= 0) {
		d->ctx.processes = &d->processes;
		r = d->options->command ? daemon_init_command(d) : daemon_init_environment(d);
	}
	if (r >= 0)
		r = daemon_start(d, config, address);
	if (r >= 0 && d->ctx.command)
		d->command.directory = command_leave_directory();
	if (r < 0) {
		if (r != -EADDRINUSE)
			log_line(d->options->log, LOG_ERR, "cannot start: %s", strerror(-r));
		return DAEMON_EXIT_FAULT;
	}
	daemon_run_loop(d);
	if (d->control)
		control_finish(d->control);
	now = clock_now_usec();
	until = MIN(d->tree.root->deadline_usec, now + LOGGER_MOST_USEC);
	d->ctx.own_log = own_log_free(d->ctx.own_log);
	d->ctx.history_log = history_log_free(d->ctx.history_log);
	if (d->ctx.logger)
		logging_stop(d->ctx.logger, until);
	daemon_end_unowned(d);
	return daemon_exit_status(d);
}

static bool daemon_has_own_pid(const char *variable)
{
	const char *value = getenv(variable);
	uint64_t pid;

	return value && parse_uint(value, INT32_MAX, &pid) == 0 && (pid_t)pid == getpid();
}

int daemon_run(const struct daemon_options *options)
{
	struct daemon d = {
		.options = options,
		.history = -1,
		.keeper = { .reaper = getpid() },
	};
	struct parent_address address = { 0 };
	int status;

	/* In front of a command every signal is passed on. */
	if (options->command)
		signals_take_over(&d.signals);
	else
		fault_begin(&d.signals, options->argv, options->log, &d.history, &d.former);
	command_watch_parent(&options->command_options, options->parent);
	process_table_init(&d.processes);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (parent_address_take(&address) < 0)
		return DAEMON_EXIT_FAULT;
	/* The command gets the descriptors of the daemon. */
	if (!daemon_has_own_pid("LISTEN_PID")) {
		(void)unsetenv("LISTEN_FDS");
		(void)unsetenv("LISTEN_PID");
		(void)unsetenv("LISTEN_FDNAMES");
	}
	(void)unsetenv("FDSTORE");
	if (options->keeper)
		fault_keep(&d.former, d.history, options->log, &d.keeper);
	if (!options->command)
		attributes_drop_inheritable();
	d.is_supervised = address.socket;
	status = daemon_run_tree(&d, &address);
	daemon_tear_down(&d);
	free(address.socket);
	return status;
}
