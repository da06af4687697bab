#include "daemon/daemon.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/page.h"
#include "base/fd.h"
#include "base/parse.h"
#include "daemon/command.h"
#include "daemon/control.h"
#include "daemon/deadline.h"
#include "daemon/describe.h"
#include "daemon/failure.h"
#include "daemon/grace.h"
#include "daemon/order.h"
#include "daemon/parent.h"
#include "daemon/process.h"
#include "daemon/report.h"
#include "daemon/reload.h"
#include "daemon/service-cgroup.h"
#include "daemon/service-timeout.h"
#include "daemon/shutdown.h"
#include "daemon/starting.h"
#include "daemon/sweep.h"
#include "daemon/transient.h"
#include "model/budget.h"
#include "proto/address.h"

#define LOOP_RETRY_MSEC 10

struct daemon {
	const struct daemon_options *options;
	struct context ctx;
	struct process_table processes;
	struct signals signals;
	struct tree tree;
	struct sweep *sweep;
	struct control *control;
	struct parent *parent;
	struct reload reload;
	struct command command; /* with options.command */
	int signals_fd;
	sd_event_source *signal, *abandon;
	uint64_t abandon_usec; /* what that is armed for */
	bool reap;	       /* children have died */
	bool exit_on_signal;   /* with its number */
	int stopped_by;	       /* the signal that stopped the root, or 0 */
	bool ended_by_itself;  /* an essential service, before anybody asked */
	bool given_up;	       /* ... or one that was given up */
	bool finished;
};

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
		       s->state == STATE_UP ? "is unhealthy"
		       : d->given_up	    ? "has failed"
					    : "has ended");
	shutdown_stop(&d->tree, d->tree.root, reason);
}

static int on_abandon(sd_event_source *source, uint64_t usec, void *arg)
{
	struct daemon *d = arg;

	(void)source;
	(void)usec;
	shutdown_abandon(&d->tree);
	return 0;
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

/* The essential service, if there is one. */
static const struct service *find_essential(const struct tree *tree)
{
	for (const struct node *n = tree->root; n; n = node_next(n, tree->root))
		if (n->service && n->config->essential)
			return n->service;
	return NULL;
}

/* In the order of swansongd(8): the first that applies. */
static int exit_status(const struct daemon *d)
{
	const struct service *essential = d->ctx.ended ? d->ctx.ended : find_essential(&d->tree);
	int status;

	if (d->tree.root->forced && !d->ended_by_itself)
		return DAEMON_EXIT_FORCED;
	status = essential ? policy_exit_status(&essential->outcome) : 0;
	if (d->ctx.command)
		return command_status(&d->options->command_options, false, status);
	/* Given up, though its last run ended with 0: it ended too often. */
	if (status == 0 && d->given_up)
		return DAEMON_EXIT_FAULT;
	if (!essential && d->exit_on_signal && d->stopped_by)
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

/* All that follows from what has happened, in this order; what follows from that, in the next turn. */
static void settle(struct daemon *d)
{
	bool complete;

	d->ctx.settle = false;
	handle_posted(&d->ctx);
	service_settle_guards(&d->ctx);
	sweep_settle(d->sweep);
	failure_follow(&d->tree);
	follow_essential(d);
	order_pump(&d->ctx);
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

/* --- signals --- */

static void force_root(struct daemon *d, const char *reason)
{
	shutdown_stop(&d->tree, d->tree.root, reason);
	shutdown_force(d->tree.root);
}

static void on_stop_signal(struct daemon *d, int signo)
{
	bool again = node_is_stopped(d->tree.root);
	char name[SIGNAL_TEXT_MAX], line[DESCRIBE_LINE_MAX];

	parse_signal_text(name, signo);
	if (!again) {
		d->stopped_by = signo;
		shutdown_stop(&d->tree, d->tree.root, name);
	} else if (signo == SIGINT && isatty(STDIN_FILENO)) {
		force_root(d, name);
	} else {
		log_line(d->ctx.log, LOG_NOTICE, "%s again; %s", name,
			 describe_line(line, &d->tree));
	}
}

static struct service *find_command(const struct daemon *d)
{
	struct node *node = tree_find(&d->tree, "main");

	return node ? node->service : NULL;
}

/* In front of a command every signal is the command's; one that asks for the end is the tree's too. */
static void on_command_signal(struct daemon *d, int signo, pid_t sender)
{
	if (command_signal(&d->command, find_command(d), signo, sender) &&
	    !node_is_stopped(d->tree.root))
		on_stop_signal(d, signo);
}

static void handle_signal(struct daemon *d, const struct signalfd_siginfo *info)
{
	int signo = (int)info->ssi_signo;

	/* Our own, for a log that nobody reads any more. */
	if (signo == SIGPIPE && info->ssi_pid == (uint32_t)getpid())
		return;
	if (signo == SIGCHLD) {
		d->reap = true;
	} else if (d->options->command) {
		on_command_signal(d, signo, (pid_t)info->ssi_pid);
	} else if (signo == SIGHUP) {
		events_because(d->ctx.events, "SIGHUP");
		reload_by_signal(&d->reload);
	} else if (signo == SIGQUIT) {
		force_root(d, "SIGQUIT");
	} else if (signo == SIGUSR1) {
		describe_to_log(&d->tree);
	} else {
		on_stop_signal(d, signo);
	}
}

static int on_signal(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct signalfd_siginfo info;

	(void)source;
	(void)events;
	if (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		handle_signal(arg, &info);
	return 0;
}

static bool is_ours(const struct daemon *d, int signo)
{
	if (signo == SIGCHLD)
		return true;
	/*
	 * Those of our own faults end us whether they are blocked or not; 32 and 33 are the C library's.
	 */
	if (d->options->command)
		return signo != SIGKILL && signo != SIGSTOP && (signo < 32 || signo >= SIGRTMIN);
	return signo == SIGTERM || signo == SIGINT || signo == SIGHUP || signo == SIGQUIT ||
	       signo == SIGUSR1 || signo == SIGRTMIN + 3;
}

/*
 * By a descriptor of our own: a source of sd_event_add_signal() that has no memory at the moment of
 * a signal loses that one, and hears of none after it.
 */
static int watch_signals(struct daemon *d)
{
	sigset_t ours;

	(void)sigemptyset(&ours);
	for (int signo = 1; signo <= SIGRTMAX; signo++)
		if (is_ours(d, signo))
			(void)sigaddset(&ours, signo);
	d->signals_fd = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
	if (d->signals_fd < 0)
		return -errno;
	return sd_event_add_io(d->ctx.event, &d->signal, d->signals_fd, EPOLLIN, on_signal, d);
}

/* --- beginning and end --- */

static int load(struct daemon *d, struct config **ret)
{
	const struct daemon_options *o = d->options;

	if (o->command)
		return config_new_command(ret, o->command);
	return reload_config(ret, o->paths, o->n_paths, o->log, NULL);
}

/* The reserve for what a large tree needs; the services get what we were given. */
static void raise_descriptor_limit(struct context *ctx)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= limit.rlim_max)
		return;
	ctx->descriptors = limit;
	ctx->descriptors_raised = true;
	limit.rlim_cur = MIN(limit.rlim_max, (rlim_t)(1 << 20));
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		ctx->descriptors_raised = false;
}

static const char *given_socket(const struct daemon *d, const struct config *config)
{
	return d->options->socket ? d->options->socket : config->control_socket;
}

/* *ret is NULL if there is to be none. */
static int find_socket(const struct daemon *d, const struct config *config, char **ret)
{
	const char *given = given_socket(d, config);
	int r;

	*ret = NULL;
	if (given && strcmp(given, "none") == 0)
		return 0;
	/* A command on a host has no claim to the host's socket; the init of a container has. */
	if (!given && d->options->command && getpid() != 1)
		return 0;
	r = address_find(given, ret);
	return r < 0 && given ? r : 0;
}

static int open_control(struct daemon *d, const struct config *config, const char *path)
{
	const char *given = given_socket(d, config);
	struct log *log = d->options->log;
	int r;

	if (!path)
		return 0;

	struct control_config control = {
		.path = path,
		.mode = config->control_mode,
		.group_set = config->control_group_set,
		.group = config->control_group,
	};

	r = control_listen(d->control, &control);
	if (r == -EADDRINUSE && !(d->options->command && !given)) {
		log_line(log, LOG_ERR, "%s is served by another swansongd", path);
		return r;
	}
	if (r < 0)
		log_line(log, given ? LOG_ERR : LOG_WARNING, "no control socket at %s: %s", path,
			 strerror(-r));
	return given ? r : 0;
}

static int add_sources(struct daemon *d)
{
	sd_event *event = d->ctx.event;
	int r;

	r = sd_event_add_time(event, &d->abandon, CLOCK_MONOTONIC, USEC_INFINITY, 1, on_abandon, d);
	if (r >= 0)
		r = watch_signals(d);
	return r;
}

static int start(struct daemon *d, struct config *config, struct parent_address *address)
{
	cleanup(freep) char *socket = NULL;
	int r;

	r = find_socket(d, config, &socket);
	if (r >= 0)
		r = cgroups_new(&d->ctx.cgroups, &d->ctx, socket, &service_cgroup_news);
	if (r >= 0)
		report_use(&d->ctx, config);
	if (r >= 0)
		r = tree_init(&d->tree, &d->ctx, config);
	if (r < 0)
		return r;
	for (struct node *n = d->tree.root; r >= 0 && n; n = node_next(n, d->tree.root))
		r = deadline_watch(n, n->config);
	if (r >= 0)
		r = add_sources(d);
	if (r >= 0)
		r = sweep_new(&d->sweep, &d->tree);
	if (r >= 0)
		r = parent_new(&d->parent, &d->tree, address);
	d->reload = (struct reload){
		.tree = &d->tree,
		.parent = d->parent,
		.paths = d->options->paths,
		.n_paths = d->options->command ? 0 : d->options->n_paths,
	};
	if (r >= 0)
		r = control_new(&d->control, &d->tree, &d->reload);
	if (r >= 0)
		r = open_control(d, config, socket);
	if (r < 0)
		return r;
	d->exit_on_signal = config->exit_on_signal;
	deadline_tell(d->tree.root);
	starting_by_itself(&d->tree);
	/* Before any signal is looked at: in front of a command there is to be somebody to have it. */
	settle(d);
	if (d->ctx.command)
		command_leave_descriptors(&d->command);
	return 0;
}

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

static void reap(struct daemon *d)
{
	d->reap = sweep_reap(d->sweep);
	if (d->ctx.command)
		command_follow(&d->command, find_command(d));
}

static bool has_more_to_do(const struct daemon *d)
{
	return d->reap || d->ctx.alarms.due || d->ctx.settle;
}

/*
 * One event a turn, and then what follows from it.  Sources of sd_event_add_defer() would do for the
 * rest, but as long as one has more to do, it goes before everybody else.
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
			settle(d);
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
		r = load(d, &config);
	if (r == -EINVAL)
		return DAEMON_EXIT_CONFIG;
	if (r >= 0) {
		d->ctx.processes = &d->processes;
		d->ctx.environment = environ;
		r = init_command(d);
	}
	if (r >= 0) {
		raise_descriptor_limit(&d->ctx);
		r = start(d, config, address);
	}
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
	status = run(&d, &address);
	tear_down(&d);
	free(address.socket);
	return status;
}
