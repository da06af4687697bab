/*
 * Each stream is opened by the kind of its setting.  A stream that the daemon has itself is not
 * closed afterwards, so @owned has only the others.
 */
#include "daemon/streams/streams.h"

#include "daemon/logger/rules.h"
#include "sys/file/mount.h"
#include "sys/file/path.h"
#include "sys/ipc/journal.h"

/* These return a descriptor, or -ENOTSUP if the stream is the daemon's own. */
static int streams_capture(struct streams *streams, struct capture *capture, int as)
{
	int fd = capture ? capture_open(capture, as) : -ENOTSUP;

	if (fd < 0)
		return fd;
	streams->captured |= 1U << as;
	/* No /proc of its own for the first one: the kernel needs several objects for it, up to the end of the process. */
	if (log_stream_is_shared(capture_stream(capture, as == 2 ? LOGGER_ERROR : LOGGER_OUTPUT)))
		streams->reopen |= 1U << as;
	return fd;
}

static int streams_open_journal(struct streams *streams, const struct context *ctx,
				const struct node_config *config, struct capture *capture, int as)
{
	int fd = journal_open_entries(), r = -ENOTSUP;
	bool found = fd >= 0;

	(void)fd_close(fd);
	if (found)
		r = streams_capture(streams, capture, as);
	if (r != -ENOTSUP)
		return r;
	if (found)
		fd = journal_open(config->path, LOG_INFO);
	if (found && fd >= 0)
		streams->journal = fd;
	/* A lack of descriptors or memory is no sign that there is no journal. */
	if (fd >= 0 || context_is_shortage(fd) || fd == -ENOBUFS)
		return fd;
	log_node(ctx->log, LOG_WARNING, config->path,
		 "cannot write to the journal: %s: output goes to the output of swansongd",
		 strerror(-fd));
	return -ENOTSUP;
}

/* Without a logger: the path may lead to any file system. */
static int streams_open_file(void *arg)
{
	return path_open(arg, O_WRONLY | O_APPEND | O_CREAT, 0640);
}

static int streams_open_output(struct streams *streams, const struct context *ctx,
			       const struct node_config *config, const struct output *output,
			       struct capture *capture, int as)
{
	int fd = -ENOTSUP;

	if (output->kind != OUTPUT_JOURNAL || config->ready.kind == PROBE_LOG)
		fd = streams_capture(streams, capture, as);
	if (fd != -ENOTSUP)
		return fd;
	switch (output->kind) {
	case OUTPUT_FILE:
		return mount_call(output->path, MOUNT_ANSWER_MSEC, streams_open_file, output->path,
				  0);
	case OUTPUT_NULL:
		fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	case OUTPUT_JOURNAL:
		return streams_open_journal(streams, ctx, config, capture, as);
	default:
		return -ENOTSUP;
	}
}

int streams_open(struct streams *streams, const struct context *ctx,
		 const struct node_config *config, bool terminal, struct capture *capture,
		 const char **subject)
{
	const struct output *in = &node_config_outputs(config)->stdio[0];
	const struct output *out = node_config_output(config, 1);
	const struct output *err = node_config_output(config, 2);
	int r = 0;

	if (in->kind == OUTPUT_NULL || (in->kind == OUTPUT_DEFAULT && !terminal))
		streams->fds[0] = ctx->descriptors.null;
	else if (in->kind == OUTPUT_FILE)
		streams->input = in->path;
	for (int i = 1; r >= 0 && i <= 2; i++) {
		const struct output *output = i == 1 ? out : err;

		if (output->kind == OUTPUT_STDOUT || output->kind == OUTPUT_STDERR) {
			streams->fds[i] = output->kind == OUTPUT_STDOUT ? 1 : 2;
			if (config->ready.kind != PROBE_LOG)
				continue;
		}
		if (i == 2 && !capture_stream(capture, LOGGER_ERROR) &&
		    (config->ready.kind == PROBE_LOG ||
		     (capture_stream(capture, LOGGER_OUTPUT) && log_rules_is_captured(err->kind)) ||
		     (out->kind == err->kind &&
		      (out->kind != OUTPUT_FILE || strcmp(out->path, err->path) == 0)))) {
			if (streams->fds[1] != 1)
				streams->fds[2] = streams->fds[1];
			streams->reopen |= streams->reopen << 1 | streams->reopen >> 1;
			break;
		}
		if (output->kind == OUTPUT_FILE)
			*subject = output->path;
		else
			*subject = output->kind == OUTPUT_NULL ? "/dev/null" : "the journal";
		r = streams_open_output(streams, ctx, config, output, capture, i);
		if (r >= 0)
			streams->fds[i] = r;
		if (r >= 0 && !(streams->captured & 1U << i))
			streams->owned[i] = r;
		if (r >= 0 || r == -ENOTSUP)
			r = 0;
	}
	return r;
}

void streams_close(struct streams *streams)
{
	for (int i = 0; i < 3; i++)
		streams->owned[i] = fd_close(streams->owned[i]);
}
