/*
 * The logger gets messages about the pipe, about each stream, and to begin, as fast as its socket
 * takes them; about later streams only if the reader follows.  A view ends with the process of the
 * logger: the next one does not know the reader's position, but the reader does, and makes another
 * view.
 */
#include "daemon/logger/subscription.h"

#include "daemon/logger/state.h"

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

static int log_subscription_send(const struct log_subscription *v, enum logger_type type,
				 uint32_t stream, int fd)
{
	struct logger_message m = { .type = type, .stream = stream, .view = v->wish };

	return logging_send_view(v->logger, &m, NULL, fd);
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
		(void)log_subscription_send(v, LOGGER_LEAVE, LOGGER_ALL, -1);
	(void)fd_close(v->fd);
	return free_memory(v);
}

/* Before its first run a service has no pipe, but perhaps a file of earlier daemons. */
static int log_subscription_show_file(const struct log_subscription *v, const struct log_stream *s)
{
	struct logger_message m = { .type = LOGGER_SHOW, .stream = LOGGER_ALL, .view = v->wish };

	m.view.kind = s->kind;
	if (!v->wish.older || v->wish.lines == 0 || s->rules.to != LOGGER_TO_FILE || !s->file)
		return 0;
	return logging_send_view(v->logger, &m, s, -1);
}

static int log_subscription_show(const struct log_stream *s, void *arg)
{
	const struct log_subscription *v = arg;

	if (!v->is_wanted(s->name, v->arg))
		return 0;
	return s->number == LOGGER_ALL ? log_subscription_show_file(v, s)
				       : log_subscription_send(v, LOGGER_SHOW, s->number, -1);
}

int log_subscription_update(struct log_subscription *v)
{
	int r = 0;

	if (v->life ? v->life != v->logger->life : !logging_is_usable(v->logger))
		return -ECONNRESET;
	if (!v->life) {
		r = log_subscription_send(v, LOGGER_VIEW, LOGGER_ALL, v->fd);
		if (r < 0)
			return r;
		v->fd = fd_close(v->fd);
		v->life = v->logger->life;
	}
	if (!v->begun || v->wish.follow)
		r = logging_each_new(v->logger, &v->serial, log_subscription_show, v);
	if (r == 0 && !v->begun) {
		r = log_subscription_send(v, LOGGER_BEGIN, LOGGER_ALL, -1);
		v->begun = r == 0;
		/* A stream that begins later has only new lines. */
		v->wish.lines = 0;
	}
	return r;
}
