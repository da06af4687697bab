/*
 * The logger gets messages about the pipe, about each stream, and to begin, as fast as its socket
 * takes them; about later streams only if the reader follows.  A view ends with the process of the
 * logger: the next one does not know the reader's position, but the reader does, and makes another
 * view.
 */
#include "daemon/logger/subscription.h"

#include "daemon/logger/wishes.h"

struct log_subscription {
	struct logging *logger;
	struct logger_view wish;
	int fd;		 /* the logger's end; -1: it was sent */
	unsigned life;	 /* of the logger that has the end; 0: none */
	uint64_t serial; /* of the last stream that was sent */
	bool begun;
	bool (*is_wanted)(const char *name, void *arg);
	void *arg;
};

int log_subscription_new(struct log_subscription **ret, struct context *ctx,
			 const struct log_subscription_wish *wish, int *ret_fd)
{
	struct log_subscription *v = calloc(1, sizeof(*v));
	int fds[2];

	if (!v)
		return -ENOMEM;
	if (pipe2(fds, O_CLOEXEC) < 0) {
		free(v);
		return -errno;
	}
	*v = (struct log_subscription){
		.logger = ctx->logger,
		.fd = fds[1],
		.is_wanted = wish->is_wanted,
		.arg = wish->arg,
		.wish = {
			.id = (uint32_t)++ctx->last_id,
			.follow = wish->follow,
			.lines = wish->lines,
			.plain = wish->plain,
			.older = wish->older,
			.bytes = UINT64_MAX,
		},
	};
	*ret = v;
	*ret_fd = fds[0];
	return 0;
}

/*
 * Sends a message about the reader, with the name and the file of @file unless it is NULL.
 *
 * Return: 0; -EAGAIN if the logger does not know all streams yet, and another update turn follows; or
 * -errno.
 */
static int log_subscription_send(const struct log_subscription *v, enum logger_type type,
				 uint32_t stream, const struct log_stream *file, int fd)
{
	struct logger_message m = { .type = type, .stream = stream, .view = v->wish };

	if (!logging_send_wishes(v->logger))
		return -EAGAIN;
	if (file)
		m.view.kind = file->kind;
	return logger_child_send(&v->logger->child, &m, file ? file->name : NULL,
				 file ? file->file : NULL, fd);
}

struct log_subscription *log_subscription_free(struct log_subscription *v)
{
	if (!v)
		return NULL;
	/*
	 * A view that does not follow ends by itself.  If the socket takes no more, the view ends
	 * when the client closes its end of the pipe.
	 */
	if (v->life && v->life == v->logger->life && (v->wish.follow || !v->begun))
		(void)log_subscription_send(v, LOGGER_LEAVE, LOGGER_ALL, NULL, -1);
	(void)fd_close(v->fd);
	return free_memory(v);
}

static int log_subscription_show(const struct log_stream *s, void *arg)
{
	const struct log_subscription *v = arg;

	if (!v->is_wanted(s->name, v->arg))
		return 0;
	if (s->number != LOGGER_ALL)
		return log_subscription_send(v, LOGGER_SHOW, s->number, NULL, -1);
	/* Before its first run a service has no pipe, but perhaps a file of earlier daemons. */
	if (!v->wish.older || v->wish.lines == 0 || s->rules.to != LOGGER_TO_FILE || !s->file)
		return 0;
	return log_subscription_send(v, LOGGER_SHOW, LOGGER_ALL, s, -1);
}

int log_subscription_update(struct log_subscription *v)
{
	int r = 0;

	if (v->life ? v->life != v->logger->life : !logging_is_usable(v->logger))
		return -ECONNRESET;
	if (!v->life) {
		r = log_subscription_send(v, LOGGER_VIEW, LOGGER_ALL, NULL, v->fd);
		if (r < 0)
			return r;
		v->fd = fd_close(v->fd);
		v->life = v->logger->life;
	}
	if (!v->begun || v->wish.follow)
		r = logging_each_new(v->logger, &v->serial, log_subscription_show, v);
	if (r == 0 && !v->begun) {
		r = log_subscription_send(v, LOGGER_BEGIN, LOGGER_ALL, NULL, -1);
		v->begun = r == 0;
		/* A stream that begins later has only new lines. */
		v->wish.lines = 0;
	}
	return r;
}
