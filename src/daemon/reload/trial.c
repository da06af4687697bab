/*
 * The daemon reads the same files again when the child has ended: a moment ago they could be read.
 * A child that hangs is killed, and while the kernel cannot end it, no other one is made.
 */
#include "daemon/reload/trial.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"

static void trial_look_at(const char *path)
{
	struct stat st;

	if (path)
		(void)stat(path, &st);
}

/* In the child. */
static int trial_read(void *arg)
{
	const struct reload *reload = arg;
	struct config *config;

	fd_close_above(STDERR_FILENO);
	if (reload_config(&config, reload->paths, reload->n_paths, reload->trust, NULL, NULL, NULL) < 0)
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

static void trial_end(struct trial *trial, int result)
{
	trial->result = result;
	context_update_soon(trial->closer.ctx);
	if (result == -ETIMEDOUT)
		log_line(trial->closer.ctx->log, LOG_ERR,
			 "the configuration cannot be read: a file system does not answer");
	if (trial->by_signal && result == 0) {
		events_because(trial->closer.ctx->events, "SIGHUP");
		reload_by_signal(trial->reload);
	}
	trial->by_signal = false;
}

/* An alarm and not the end of the child, which is noticed inside other functions. */
static void trial_on_alarm(struct alarm *alarm)
{
	struct trial *trial = container_of(alarm, struct trial, alarm);

	if (trial->result != -EINPROGRESS)
		return;
	if (trial->closer.process.alive)
		(void)process_signal(&trial->closer.process, SIGKILL);
	trial_end(trial, trial->closer.process.alive ? -ETIMEDOUT : 0);
}

static void trial_on_ended(struct closer *closer)
{
	struct trial *trial = container_of(closer, struct trial, closer);

	alarm_set(&closer->ctx->alarms, &trial->alarm, clock_now_usec());
}

void trial_init(struct trial *trial, struct context *ctx, const struct reload *reload)
{
	*trial = (struct trial){ .reload = reload };
	closer_init(&trial->closer, ctx, trial_on_ended);
	alarm_init(&trial->alarm, trial_on_alarm);
}

void trial_done(struct trial *trial)
{
	if (!trial->reload)
		return;
	alarm_stop(&trial->closer.ctx->alarms, &trial->alarm);
	closer_done(&trial->closer);
}

unsigned trial_begin(struct trial *trial)
{
	uint64_t until = clock_add(clock_now_usec(), TRIAL_TIMEOUT_USEC);

	if (trial->result == -EINPROGRESS)
		return trial->number;
	trial->number++;
	trial->result = -EINPROGRESS;
	/* Without a process to spare, and for a command, which has no files, it is over at once. */
	if (trial->closer.process.alive)
		trial->result = -ETIMEDOUT;
	else if (trial->reload->n_paths == 0 ||
		 closer_call(&trial->closer, trial_read, (void *)trial->reload) < 0)
		until = clock_now_usec();
	alarm_set(&trial->closer.ctx->alarms, &trial->alarm, until);
	return trial->number;
}
