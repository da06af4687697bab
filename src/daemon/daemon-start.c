/* From a configuration to a tree that runs, with all that is around it. */
#include "daemon/daemon-private.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/deadline.h"
#include "daemon/grace.h"
#include "daemon/report.h"
#include "daemon/service-cgroup.h"
#include "daemon/shutdown.h"
#include "daemon/starting.h"
#include "proto/address.h"

/* Whom the signals reach that are passed on, our own is to reach, too. */
static enum signal_scope scope_of(const struct daemon_options *o)
{
	static const enum signal_scope scopes[] = {
		[FORWARD_GROUP] = SIGNAL_SCOPE_GROUP,
		[FORWARD_MAIN] = SIGNAL_SCOPE_MAIN,
		[FORWARD_ALL] = SIGNAL_SCOPE_ALL,
	};

	return scopes[o->command_options.forward.scope];
}

int daemon_load(struct daemon *d, struct config **ret)
{
	const struct daemon_options *o = d->options;

	if (o->command)
		return config_new_command(ret, o->command,
					  o->notify_ready    ? COMMAND_NOTIFY_READY
					  : d->is_supervised ? COMMAND_NOTIFY_ANY
							     : COMMAND_NOTIFY_NONE,
					  scope_of(o));
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

static int on_abandon(sd_event_source *source, uint64_t usec, void *arg)
{
	struct daemon *d = arg;

	(void)source;
	(void)usec;
	shutdown_abandon(&d->tree);
	return 0;
}

static int add_sources(struct daemon *d)
{
	sd_event *event = d->ctx.event;
	int r;

	r = sd_event_add_time(event, &d->abandon, CLOCK_MONOTONIC, USEC_INFINITY, 1, on_abandon, d);
	if (r >= 0)
		r = daemon_watch_signals(d);
	return r;
}

int daemon_start(struct daemon *d, struct config *config, struct parent_address *address)
{
	cleanup(freep) char *socket = NULL;
	int r;

	raise_descriptor_limit(&d->ctx);
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
	d->ctx.exit_when = config->exit_when;
	d->exit_on_signal = config->exit_on_signal;
	deadline_tell(d->tree.root);
	starting_by_itself(&d->tree);
	/*
	 * Before any signal is looked at: in front of a command there is to be somebody to have it.
	 */
	daemon_settle(d);
	if (d->ctx.command)
		command_leave_descriptors(&d->command);
	return 0;
}
