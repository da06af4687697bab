/*
 * The log has one descriptor at a time: the pipe of the stream while the logger can be run and the file
 * can be written, else standard error.  A logger that has died leaves its lines in the pipe for the next.
 */
#include "daemon/logger/own-log.h"

#include "daemon/logger/logging.h"
#include "daemon/logger/state.h"
#include "daemon/logger/log-stream.h"

struct own_log {
	struct context *ctx;
	struct log_stream *stream;
	char *path;
	int fd; /* -1: the logger has not run yet */
};
DEFINE_CLEANUP(struct own_log *, own_log_free)

static void own_log_on_state(void *arg)
{
	struct own_log *own = arg;
	bool usable = logging_is_usable(own->ctx->logger) && !own->stream->failing;

	if (usable && own->fd < 0) {
		own->fd = log_stream_dup(own->stream);
		if (own->fd >= 0)
			log_line(own->ctx->log, LOG_INFO, "the log continues in %s", own->path);
		else
			log_line(own->ctx->log, LOG_ERR, "cannot log to %s: %s", own->path,
				 strerror(-own->fd));
	}
	log_use(own->ctx->log, usable && own->fd >= 0 ? own->fd : STDERR_FILENO);
}

int own_log_reload(struct own_log *own, const struct node_config *root)
{
	struct logger_rules rules = { .to = LOGGER_TO_FILE, .kind = LOGGER_OUTPUT };

	log_rules_reload(&rules, root);
	rules.format = LOGGER_PLAIN;
	rules.stamp = LOGGER_STAMP_NONE;
	rules.flags &= LOGGER_COMPRESS;
	return log_stream_use(own->stream, &rules, own->path);
}

int own_log_new(struct own_log **ret, struct context *ctx, const struct node_config *root,
		const char *path)
{
	cleanup(own_log_freep) struct own_log *own = calloc(1, sizeof(*own));
	int r;

	if (!own)
		return -ENOMEM;
	*own = (struct own_log){ .ctx = ctx, .path = strdup(path), .fd = -1 };
	if (!own->path)
		return -ENOMEM;
	r = log_stream_get(&own->stream, ctx->logger, CONFIG_ROOT_NAME, LOGGER_OUTPUT);
	if (r >= 0)
		r = own_log_reload(own, root);
	if (r < 0)
		return r;
	logging_notify(ctx->logger, own_log_on_state, own);
	*ret = take(own);
	return 0;
}

struct own_log *own_log_free(struct own_log *own)
{
	if (!own)
		return NULL;
	logging_notify(own->ctx->logger, NULL, NULL);
	log_use(own->ctx->log, STDERR_FILENO);
	log_stream_put(own->stream);
	fd_close(own->fd);
	free(own->path);
	return free_memory(own);
}
