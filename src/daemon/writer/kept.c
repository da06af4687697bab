/*
 * The process is one of the table, like a child that closes descriptors, and is collected with these.  When
 * its call returns it may have taken a portion from the pipe, which is lost.
 */
#include "daemon/writer/kept.h"

#include "daemon/loop/closer.h"

struct kept_logger {
	struct list in_all;
	struct closer closer;
	struct kept_loggers *kept;
	uint32_t stream;
};

static void kept_logger_on_end(struct closer *closer)
{
	struct kept_logger *k = container_of(closer, struct kept_logger, closer);

	list_remove(&k->in_all);
	k->kept->on_end(k->kept, k->stream);
	free(k);
}

void kept_loggers_init(struct kept_loggers *kept, struct context *ctx,
		       void (*on_end)(struct kept_loggers *kept, uint32_t stream))
{
	*kept = (struct kept_loggers){ .ctx = ctx, .on_end = on_end };
	list_init(&kept->all);
}

void kept_loggers_done(struct kept_loggers *kept)
{
	struct kept_logger *k, *next;

	list_for_each_safe (k, next, &kept->all, in_all) {
		list_remove(&k->in_all);
		closer_done(&k->closer);
		free(k);
	}
}

void kept_loggers_add(struct kept_loggers *kept, pid_t pid, uint32_t stream)
{
	struct kept_logger *k = calloc(1, sizeof(*k));

	if (!k)
		return;
	*k = (struct kept_logger){ .kept = kept, .stream = stream };
	closer_init(&k->closer, kept->ctx, kept_logger_on_end);
	closer_take(&k->closer, pid);
	list_append(&kept->all, &k->in_all);
}
