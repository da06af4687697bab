/*
 * The pipe of the stream never blocks the daemon.  A line of at most PIPE_BUF bytes enters it as a
 * whole or not at all.
 */
#include "daemon/logger/history-log.h"

#include "daemon/logger/log-stream.h"

/* Allowed for each user.  A pipe of 1 MB is shrunk by the logger, as one that an earlier logger has enlarged. */
#define PIPE_SIZE (512 * 1024)

struct history_log {
	struct context *ctx;
	struct log_stream *stream;
	int fd;	       /* -1: no line was written yet */
	unsigned lost; /* lines since the last written one */
};
DEFINE_CLEANUP(struct history_log *, history_log_free)

int history_log_new(struct history_log **ret, struct context *ctx, const char *path)
{
	cleanup(history_log_freep) struct history_log *history = calloc(1, sizeof(*history));
	int r;

	if (!history)
		return -ENOMEM;
	*history = (struct history_log){ .ctx = ctx, .fd = -1 };
	/* LOGGER_OUTPUT of the root is the log of the daemon. */
	r = log_stream_get(&history->stream, ctx->logger, CONFIG_ROOT_NAME, LOGGER_ERROR);
	if (r >= 0)
		r = history_log_use(history, path);
	if (r < 0)
		return r;
	*ret = take(history);
	return 0;
}

struct history_log *history_log_free(struct history_log *history)
{
	if (!history)
		return NULL;
	log_stream_put(history->stream);
	fd_close(history->fd);
	return free_memory(history);
}

int history_log_use(struct history_log *history, const char *path)
{
	static const struct logger_rules rules = {
		.to = LOGGER_TO_FILE,
		.format = LOGGER_PLAIN,
		.stamp = LOGGER_STAMP_NONE,
		.kind = LOGGER_ERROR,
		.flags = LOGGER_BRIEF, /* at its end the daemon does not wait for a full disk */
		.keep = 1,
		.mode = 0644,
		.size = HISTORY_LOG_MAX / 2,
	};

	return log_stream_use(history->stream, &rules, path);
}

static int history_log_open(struct history_log *history)
{
	int fd = log_stream_dup(history->stream);

	if (fd < 0)
		return fd;
	history->fd = fd;
	/* All services of a large tree may end in one turn. */
	(void)fcntl(fd, F_SETPIPE_SZ, PIPE_SIZE);
	return fd_set_nonblock(fd);
}

void history_log_add(struct history_log *history, const char *line, size_t size)
{
	struct log *log = history->ctx->log;
	int r = history->fd < 0 ? history_log_open(history) : 0;

	if (r == 0 && write(history->fd, line, size) < 0)
		r = -errno;
	if (r < 0 && history->lost++ == 0)
		log_line(log, LOG_WARNING, "history: lines are missing in %s: %s",
			 log_stream_destination(history->stream),
			 r == -ENOTSUP ? "swansong-logger does not run" : strerror(-r));
	if (r < 0 || history->lost == 0)
		return;
	log_line(log, LOG_NOTICE, "history: %s is written again: %u lines are missing",
		 log_stream_destination(history->stream), history->lost);
	history->lost = 0;
}
