/*
 * The daemon reads the same files again when the child has ended: a moment ago they could be read.
 * A child that hangs is killed, and while the kernel cannot end it, no other one is made.
 */
#include "daemon/reload/trial.h"

static void trial_look_at(const char *path)
{
	struct stat st;

	if (path)
		(void)stat(path, &st);
}

/* In the child. */
static int trial_read(void *arg)
{
	const struct trial *trial = arg;
	const struct reload *reload = trial->reload;
	struct config *config = trial->config;

	fd_close_above(STDERR_FILENO);
	if (!config && reload_config(&config, reload->paths, reload->n_paths, reload->trust, NULL,
				     NULL, NULL, NULL) < 0)
		return 0; /* the daemon logs the reason */
	trial_look_at(config->state);
	for (size_t i = 0; i < config->n_nodes; i++) {
		const struct extras *extras = node_config_extras(config->nodes[i]);

		trial_look_at(extras->pid_file);
		for (size_t k = 0; k < extras->n_listen; k++)
			if (extras->listen[k].kind == LISTEN_UNIX)
				trial_look_at(extras->listen[k].address);
	}
	return 0;
}

static void trial_on_ended(struct closer *closer)
{
	struct trial *trial = container_of(closer, struct trial, closer);
	int result = closer->error == ETIMEDOUT ? -ETIMEDOUT : 0;

	trial->result = result;
	context_update_soon(trial->closer.ctx);
	if (result == -ETIMEDOUT)
		log_line(trial->closer.ctx->log, LOG_ERR, TRIAL_TIMEOUT_TEXT);
	if (trial->by_signal && result == 0) {
		events_because(trial->closer.ctx->events, "SIGHUP");
		(void)reload_logged(trial->reload, &(struct reload_how){ .config = NULL });
	}
	trial->by_signal = false;
}

void trial_init(struct trial *trial, struct context *ctx, const struct reload *reload)
{
	*trial = (struct trial){ .reload = reload };
	closer_init(&trial->closer, ctx, trial_on_ended);
}

unsigned trial_begin(struct trial *trial, struct config *config)
{
	if (trial->result == -EINPROGRESS)
		return trial->number;
	trial->config = config;
	trial->number++;
	trial->result = -EINPROGRESS;
	/* In front of a command, which has no files, the trial is over at once. */
	closer_call_until(&trial->closer, trial->reload->n_paths ? trial_read : NULL, trial,
			  clock_now_usec() + TRIAL_TIMEOUT_USEC);
	return trial->number;
}
