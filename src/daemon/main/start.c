/*
 * Objects are made in the order in which they need each other.  A failure leaves those that exist
 * in struct daemon, and its owner frees them.  The socket fails the start only if it was requested.
 */
#include "daemon/main/start.h"

#include "daemon/logger/history-line.h"
#include "daemon/logger/own-log.h"
#include "daemon/logger/logging.h"
#include "daemon/loop/mark.h"
#include "daemon/main/signals.h"
#include "daemon/notify/directory.h"
#include "daemon/reap/former-goals.h"
#include "daemon/tree/deadline.h"
#include "daemon/tree/exit.h"
#include "daemon/describe/report.h"
#include "daemon/tree/build.h"
#include "daemon/tree/stop.h"
#include "proto/address.h"

/* The daemon's own signals reach the same processes as those that are passed on. */
static enum signal_scope daemon_scope_of(const struct daemon_options *o)
{
	static const enum signal_scope scopes[] = {
		[FORWARD_GROUP] = SIGNAL_SCOPE_GROUP,
		[FORWARD_MAIN] = SIGNAL_SCOPE_MAIN,
		[FORWARD_ALL] = SIGNAL_SCOPE_ALL,
	};

	return scopes[o->command_options.forward.scope];
}

static void daemon_read_disabled(struct daemon *d, const char *path)
{
	struct log *log = d->options->log;
	int r = disabled_take(&d->ctx.disabled, d->ctx.roster);

	if (r == -ENOENT)
		r = disabled_read(&d->ctx.disabled, path, log);
	disabled_enter(&d->ctx.disabled, d->ctx.roster, &d->ctx.disabled_copy);
	if (r == -EBADMSG)
		disabled_keep_aside(path, log);
	else if (r < 0)
		log_line(log, LOG_ERR, "%s: cannot be read: no service is disabled", path);
}

static int daemon_load_files(struct daemon *d, struct config **ret)
{
	const struct daemon_options *o = d->options;

	return reload_config(ret, o->paths, o->n_paths, o->trust, &d->ctx.disabled, o->log, NULL,
			     d->ctx.roster);
}

int daemon_load(struct daemon *d, struct config **ret)
{
	const struct daemon_options *o = d->options;
	struct config *scaled;
	int r;

	if (o->command)
		return config_new_command(ret, o->command,
					  o->notify_ready    ? COMMAND_NOTIFY_READY
					  : d->is_supervised ? COMMAND_NOTIFY_ANY
							     : COMMAND_NOTIFY_NONE,
					  daemon_scope_of(o));
	r = daemon_load_files(d, ret);
	if (r < 0)
		return r;
	daemon_read_disabled(d, (*ret)->state);
	if (r > 0 || !disabled_has_scaled(&d->ctx.disabled, ""))
		return 0;
	/*
	 * The state file is known now: reads again with its numbers of instances; after mistakes those of the
	 * files stay.
	 */
	if (daemon_load_files(d, &scaled) == 0) {
		config_unref(*ret);
		*ret = scaled;
	}
	return 0;
}

/*
 * The limit is raised before the first event, as a large tree needs many descriptors; services get
 * the former limit.
 */
bool daemon_raise_descriptor_limit(struct rlimit *before)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= limit.rlim_max)
		return false;
	*before = limit;
	limit.rlim_cur = MIN(limit.rlim_max, (rlim_t)(1 << 20));
	return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

static const char *daemon_given_socket(const struct daemon *d, const struct config *config)
{
	return d->options->socket ? d->options->socket : config->control_socket;
}

/* Makes the path absolute, as the daemon's directory may change, unless that has no name. */
static int daemon_make_absolute(char **path)
{
	cleanup(freep) char *directory = getcwd(NULL, 0);
	char *absolute;

	if (**path == '/' || **path == '@' || !directory)
		return 0;
	if (asprintf(&absolute, "%s/%s", directory, *path) < 0)
		return -ENOMEM;
	free(*path);
	*path = absolute;
	return 0;
}

/* *ret is NULL if no socket is wanted. */
static int daemon_find_socket(const struct daemon *d, const struct config *config, char **ret)
{
	const char *given = daemon_given_socket(d, config);
	int r;

	*ret = NULL;
	if (given && strcmp(given, "none") == 0)
		return 0;
	/*
	 * A command on a host has no claim to the socket of the host; the init of a container has.
	 */
	if (!given && d->options->command && getpid() != 1)
		return 0;
	r = address_find(given, ret);
	return r < 0 ? r : daemon_make_absolute(ret);
}

/* After a fault services run, and a file system that hangs must not hold them up. */
static void daemon_use_stamps(struct daemon *d, const char *state)
{
	struct log *log = d->options->log;

	if (state && d->ctx.reason && !mount_answers(state))
		log_line(log, LOG_ERR, "%s: no times of scheduled runs are kept until a reload: %s",
			 state, path_error_text(ETIMEDOUT));
	else
		stamps_use(&d->ctx.stamps, state, log);
}

static int daemon_open_control(struct daemon *d, const struct config *config, const char *path)
{
	const char *given = daemon_given_socket(d, config);
	struct log *log = d->options->log;
	int r;

	if (!path)
		return 0;

	struct control_config control = {
		.path = path,
		.mode = config->control_mode,
		.group = config->control_group,
		.run_group = config->control_run_group,
	};

	r = control_listen(d->control, &control);
	if (r == -EADDRINUSE && !(d->options->command && !given)) {
		log_line(log, LOG_ERR, "%s is served by another swansongd", path);
		return r;
	}
	if (r == -EPERM)
		log_line(log, given ? LOG_ERR : LOG_WARNING,
			 "no control socket at %s: the directory must belong to this user alone",
			 path);
	else if (r < 0)
		log_line(log, given ? LOG_ERR : LOG_WARNING, "no control socket at %s: %s", path,
			 path_error_text(-r));
	if (r < 0)
		(void)mark_set(&d->ctx, NULL);
	return given ? r : 0;
}

/* Without a directory the names of the sockets are abstract. */
static void daemon_open_notify_directory(struct daemon *d)
{
	int r = notify_directory_new(&d->ctx.notify_directory, d->ctx.reason != CRASH_NONE);

	if (r < 0)
		log_line(d->options->log, LOG_INFO, "no directory for notification sockets: %s",
			 strerror(-r));
}

static void daemon_on_abandon(struct alarm *alarm)
{
	stop_abandon(&container_of(alarm, struct daemon, abandon)->tree);
}

static void daemon_take_rollout(struct daemon *d)
{
	int tape = roster_take_descriptor(d->ctx.roster, ROSTER_BEFORE, NULL);
	cleanup(config_unrefp) struct config *before = NULL;

	if (tape >= 0)
		(void)reload_config_of_tape(&before, &d->reload, tape, NULL);
	(void)fd_close(tape);
	rollout_take_former(&d->rollout, before);
}

/*
 * After a fault each service is where it was, so the line repeats what the history has.  A daemon that
 * was killed has written nothing: the reader of the history knows that by the line of the root.
 */
static void daemon_begin_outages(struct daemon *d)
{
	struct history_line line = {
		.node = "",
		.generation = d->tree.root->generation,
		.outage = OUTAGE_UNKNOWN,
		.total_usec = FIELD_NONE,
	};

	if (d->ctx.reason == CRASH_NONE)
		history_write_line(&d->ctx, &line);
	d->ctx.outages_on = true;
	for (struct node *n = d->tree.root; n; n = node_next(n, d->tree.root))
		if (n->service)
			service_record_outage(n->service);
}

int daemon_start(struct daemon *d, struct config *config, struct parent_address *address)
{
	cleanup(freep) char *socket = NULL;
	int r;

	r = daemon_find_socket(d, config, &socket);
	if (r >= 0)
		r = mark_set(&d->ctx, socket);
	/* Control groups are ended with the daemon. */
	if (r >= 0 && !command_spares_remaining(d->ctx.command))
		r = cgroups_new(&d->ctx.cgroups, &d->ctx, socket);
	daemon_open_notify_directory(d);
	if (r >= 0 && !d->options->command)
		r = logging_new(&d->ctx.logger, &d->ctx, &config->log_user);
	if (r >= 0 && d->options->log_file)
		r = own_log_new(&d->ctx.own_log, &d->ctx, config->nodes[0], d->options->log_file);
	if (r >= 0)
		report_use(&d->ctx, config);
	daemon_use_stamps(d, config->state);
	if (r >= 0)
		r = tree_init(&d->tree, &d->ctx, config);
	if (r < 0)
		return r;
	alarm_init(&d->abandon, daemon_on_abandon);
	r = daemon_watch_signals(d);
	if (r >= 0)
		r = orphans_new(&d->orphans, &d->tree);
	if (r >= 0 && d->ctx.logger)
		logging_begin(d->ctx.logger);
	if (r >= 0)
		r = parent_new(&d->parent, &d->tree, address);
	d->reload = (struct reload){
		.tree = &d->tree,
		.parent = d->parent,
		.paths = d->options->paths,
		.n_paths = d->options->command ? 0 : d->options->n_paths,
		.trust = d->options->trust,
		.trial = &d->trial,
		.programs = &d->programs,
		.upgrade = &d->upgrade,
		.scaling = { reload_scale, &d->reload },
		.rollout = &d->rollout,
		.changes = &d->changes,
		.survivors = &d->survivors,
	};
	if (r >= 0)
		r = rollout_init(&d->rollout, &d->tree);
	changes_init(&d->changes, &d->tree, d->reload.n_paths);
	trial_init(&d->trial, &d->ctx, &d->reload);
	programs_init(&d->programs, &d->tree);
	upgrade_init(&d->upgrade, &d->tree, &d->former);
	if (r >= 0)
		r = control_new(&d->control, &d->tree, &d->reload);
	if (r >= 0)
		r = daemon_open_control(d, config, socket);
	if (r < 0)
		return r;
	r = context_rehearse_events(&d->ctx);
	if (r < 0)
		return r;
	d->exit_on_signal = config->exit_on_signal;
	lease_keep_ids(&d->ctx);
	requests_take_former_runs(&d->tree);
	survivors_begin(&d->survivors, &d->tree);
	control_take_former(d->control);
	former_goals_take(&d->tree);
	d->stopped_by = exit_take_former(&d->tree);
	daemon_take_rollout(d);
	roster_settle(d->ctx.roster);
	if (d->ctx.reason)
		d->ctx.resumed_usec = clock_now_usec();
	daemon_begin_outages(d);
	deadline_log_limit(d->tree.root);
	return 0;
}
