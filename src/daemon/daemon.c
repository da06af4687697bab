#include "daemon/daemon-private.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/page.h"
#include "base/parse.h"
#include "daemon/exit.h"
#include "daemon/failure.h"
#include "daemon/grace.h"
#include "daemon/order.h"
#include "daemon/report.h"
#include "daemon/service-timeout.h"
#include "daemon/shutdown.h"
#include "daemon/transient.h"
#include "model/budget.h"

#define LOOP_RETRY_MSEC 10

/* --- one turn --- */

static void follow_essential(struct daemon *d)
{
	struct service *s = d->ctx.ended;
	char reason[CONFIG_NAME_MAX + 20];

	if (!s || node_is_stopped(d->tree.root))
		return;
	d->ended_by_itself = true;
	d->given_up = s->state == STATE_FAILED;
	(void)snprintf(reason, sizeof(reason), "%s %s", s->config->path,
		       d->given_up	       ? "has failed"
		       : service_is_at_work(s) ? "is unhealthy"
					       : "has ended");
	shutdown_stop(&d->tree, d->tree.root, reason);
}

/* With exit-when = all: after what was to be started was. */
static void follow_last(struct daemon *d)
{
	struct node *root = d->tree.root;

	if (d->ctx.exit_when != EXIT_WHEN_ALL || !d->ctx.rested || node_is_stopped(root) ||
	    !exit_is_due(&d->tree))
		return;
	d->ended_by_itself = true;
	d->ctx.ended = exit_cause(&d->tree);
	d->given_up = d->ctx.ended && d->ctx.ended->state == STATE_FAILED;
	shutdown_stop(&d->tree, root,
		      exit_has_essential(&d->tree) ? "all essential services have ended"
						   : "all services have ended");
}

/* However the root's stop came about, and whenever it was made shorter. */
static void watch_deadline(struct daemon *d)
{
	uint64_t usec = clock_add(d->tree.root->deadline_usec, BUDGET_ABANDON_USEC);

	if (usec == d->abandon_usec)
		return;
	d->abandon_usec = usec;
	context_arm(&d->ctx, d->abandon, usec);
}

/*
 * In front of a command, which may have ended well: whatever it left, that is what there is to
 * tell.
 */
static bool is_forced(const struct daemon *d, const struct service *cause)
{
	if (!d->tree.root->forced || d->ended_by_itself)
		return false;
	if (!d->ctx.command || !cause)
		return true;
	return cause->outcome.kind != OUTCOME_EXITED &&
	       !(cause->outcome.kind == OUTCOME_SIGNALED && cause->outcome.value != SIGKILL);
}

/* In the order of swansongd(8): the first that applies. */
static int exit_status(const struct daemon *d)
{
	const struct service *cause = d->ctx.ended ? d->ctx.ended : d->ctx.first;
	int status;

	if (is_forced(d, cause))
		return DAEMON_EXIT_FORCED;
	status = cause ? policy_end_status(cause->config, &cause->outcome) : 0;
	if (d->ctx.command)
		return command_status(&d->options->command_options, false, status);
	/* Given up, though its last run ended with 0: it ended too often. */
	if (status == 0 && d->given_up)
		return DAEMON_EXIT_FAULT;
	if (!cause && d->exit_on_signal && d->stopped_by && !exit_has_essential(&d->tree))
		return 128 + d->stopped_by;
	return status;
}

static void finish(struct daemon *d)
{
	const struct report_end end = { .signal = d->stopped_by, .status = exit_status(d) };

	d->finished = true;
	report_write(&d->tree, &end);
}

static void handle_posted(struct context *ctx)
{
	while (!list_is_empty(&ctx->posted)) {
		struct service *s = list_entry(ctx->posted.next, struct service, in_posted);

		list_remove(&s->in_posted);
		service_handle(s, s->posted);
	}
}

void daemon_settle(struct daemon *d)
{
	bool complete;

	d->ctx.settle = false;
	handle_posted(&d->ctx);
	service_settle_guards(&d->ctx);
	sweep_settle(d->sweep);
	failure_follow(&d->tree);
	follow_essential(d);
	order_pump(&d->ctx);
	follow_last(d);
	complete = shutdown_follow(&d->tree);
	report_follow(&d->tree);
	if (complete)
		finish(d);
	watch_deadline(d);
	control_settle(d->control);
	parent_settle(d->parent);
	transient_settle(&d->tree);
	events_because(d->ctx.events, NULL);
}

/* --- beginning and end --- */

/* Who is left when the root is Complete is nobody's any more; a PID 1 takes them along anyway. */
static void end_strangers(struct daemon *d)
{
	unsigned n;

	while (sweep_reap(d->sweep))
		;
	if (getpid() == 1)
		return;
	n = sweep_kill_strangers(d->sweep);
	if (n > 0)
		log_line(d->ctx.log, LOG_WARNING, "killed %u processes of no service", n);
	(void)sweep_reap(d->sweep);
}

static void tear_down(struct daemon *d)
{
	d->control = control_free(d->control);
	d->parent = parent_free(d->parent);
	d->sweep = sweep_free(d->sweep);
	if (d->tree.root)
		tree_done(&d->tree);
	d->ctx.cgroups = cgroups_free(d->ctx.cgroups);
	process_table_done(&d->processes);
	sd_event_source_disable_unref(d->signal);
	d->signals_fd = fd_close(d->signals_fd);
	sd_event_source_disable_unref(d->abandon);
	command_done(&d->command);
	context_done(&d->ctx);
}

/*
 * Errors of the loop itself are not its end: only the tree's is.  They may take an event with them,
 * and may last; so the children are looked after anyway, and the log and the processor are spared.
 */
static void loop_failed(struct daemon *d, int error, int before)
{
	if (error != before)
		log_line(d->ctx.log, LOG_ERR, "the event loop: %s", strerror(-error));
	d->reap = true;
	(void)poll(NULL, 0, LOOP_RETRY_MSEC);
}

/*
 * One who dies while all is quiet is started again before anybody looks for others, for which Linux
 * goes through all children.  They wait for two turns at most.
 */
static void reap(struct daemon *d)
{
	enum first_death first = d->first;

	d->first = FIRST_NONE;
	if (first == FIRST_DIED && !node_is_stopped(d->tree.root)) {
		sweep_reap_child(d->sweep, d->died);
		d->first = FIRST_FOLLOWED;
	} else if (first != FIRST_FOLLOWED || !d->ctx.alarms.due) {
		d->reap = sweep_reap(d->sweep);
	}
	if (d->ctx.command)
		command_follow(&d->command, daemon_command(d));
}

static bool has_more_to_do(const struct daemon *d)
{
	return d->reap || d->ctx.alarms.due || d->ctx.settle;
}

/*
 * One event a turn, and then what follows from it.  Sources of sd_event_add_defer() would do for
 * the rest, but as long as one has more to do, it goes before everybody else.
 */
static void run_loop(struct daemon *d)
{
	int r = 0;

	while (!d->finished) {
		int before = r;

		r = sd_event_run(d->ctx.event, has_more_to_do(d) ? 0 : UINT64_MAX);
		if (r < 0)
			loop_failed(d, r, before);
		if (d->reap)
			reap(d);
		if (d->ctx.alarms.due)
			alarms_run(&d->ctx.alarms);
		if (d->ctx.settle)
			daemon_settle(d);
	}
}

static int init_command(struct daemon *d)
{
	if (!d->options->command)
		return 0;
	d->ctx.command = &d->command;
	d->ctx.leftover_timeout_usec = d->options->command_options.leftover_timeout_usec;
	return command_init(&d->command, &d->options->command_options, d->options->command,
			    environ);
}

static int run(struct daemon *d, struct parent_address *address)
{
	cleanup(config_unrefp) struct config *config = NULL;
	int r;

	r = context_init(&d->ctx, d->options->log, &d->signals);
	if (r >= 0)
		r = grace_take(d->options->grace_usec, d->options->log, &d->ctx.grace_usec);
	if (r >= 0)
		r = daemon_load(d, &config);
	if (r == -EINVAL)
		return DAEMON_EXIT_CONFIG;
	if (r >= 0) {
		d->ctx.processes = &d->processes;
		d->ctx.environment = environ;
		r = init_command(d);
	}
	if (r >= 0)
		r = daemon_start(d, config, address);
	if (r < 0) {
		if (r != -EADDRINUSE)
			log_line(d->options->log, LOG_ERR, "cannot start: %s", strerror(-r));
		return DAEMON_EXIT_FAULT;
	}
	run_loop(d);
	end_strangers(d);
	return exit_status(d);
}

static bool is_for_us(const char *variable)
{
	const char *value = getenv(variable);
	uint64_t pid;

	return value && parse_uint(value, INT32_MAX, &pid) == 0 && (pid_t)pid == getpid();
}

int daemon_run(const struct daemon_options *options)
{
	struct daemon d = { .options = options, .signals_fd = -1 };
	struct parent_address address = { 0 };
	int status;

	signals_take_over(&d.signals);
	command_watch_parent(&options->command_options, options->parent);
	process_table_init(&d.processes);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (parent_address_take(&address) < 0)
		return DAEMON_EXIT_FAULT;
	if (!options->command || !is_for_us("LISTEN_PID")) {
		(void)unsetenv("LISTEN_FDS");
		(void)unsetenv("LISTEN_PID");
		(void)unsetenv("LISTEN_FDNAMES");
	}
	if (!options->command)
		(void)unsetenv(PAGE_VARIABLE);
	(void)unsetenv("FDSTORE");
	/* One command has our descriptors; services would have the number of none. */
	if (!options->command)
		(void)unsetenv("SWANSONG_CONTROL");
	d.is_supervised = address.socket;
	status = run(&d, &address);
	tear_down(&d);
	free(address.socket);
	return status;
}
