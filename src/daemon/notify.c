#include "daemon/notify.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/fd.h"

/* A flooder gets this much of a turn; then it is everybody else's. */
#define MESSAGES_PER_TURN 16
/*
 * What a dead process may have left in the queue: the kernel keeps about ten.  A flooder whose
 * processes die all the time gets no more than that of a turn, either.
 */
#define MESSAGES_AT_EXIT 1024

struct notify {
	int fd;
	char address[UNIX_NAME_MAX];
	sd_event_source *source;
	unsigned drained; /* messages, since the loop came here or found none */
	struct notify_listener listener;
};

/*
 * The descriptors of a message are closed when it has been followed: also those that nobody asked
 * for, and that of BARRIER=1, whose sender waits for just that.
 *
 * Returns false when there is nothing more to read.
 */
static bool read_one(struct notify *notify)
{
	const struct notify_listener *listener = &notify->listener;
	char text[NOTIFY_MESSAGE_MAX + 1];
	struct unix_peer sender = { 0 };
	struct notify_message message;
	struct unix_passed passed;
	ssize_t n;

	n = unix_receive_passed(notify->fd, text, sizeof(text), &sender, &passed);
	if (n < 0)
		return n == -EBADMSG;
	if (sender.pid > 0 && listener->accepts(&sender, listener->arg) &&
	    notify_parse(text, (size_t)n, &message) == 0)
		listener->each(&message, &sender, &passed, listener->arg);
	unix_passed_close(&passed);
	return true;
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct notify *notify = arg;

	(void)source;
	(void)fd;
	(void)events;
	notify->drained = 0;
	for (int i = 0; i < MESSAGES_PER_TURN; i++)
		if (!read_one(notify))
			break;
	return 0;
}

DEFINE_CLEANUP(struct notify *, notify_free)

int notify_new(struct notify **ret, struct context *ctx, const struct notify_listener *listener)
{
	cleanup(notify_freep) struct notify *notify = malloc(sizeof(*notify));
	int r;

	if (!notify)
		return -ENOMEM;
	*notify = (struct notify){ .fd = -1, .listener = *listener };
	notify->fd = unix_datagram_new(notify->address);
	if (notify->fd < 0)
		return notify->fd;
	r = sd_event_add_io(ctx->event, &notify->source, notify->fd, EPOLLIN, on_readable, notify);
	if (r < 0)
		return r;
	*ret = take(notify);
	return 0;
}

struct notify *notify_free(struct notify *notify)
{
	if (!notify)
		return NULL;
	sd_event_source_disable_unref(notify->source);
	(void)fd_close(notify->fd);
	free(notify);
	return NULL;
}

const char *notify_address(const struct notify *notify)
{
	return notify->address;
}

void notify_drain(struct notify *notify)
{
	for (; notify->drained < MESSAGES_AT_EXIT; notify->drained++) {
		if (read_one(notify))
			continue;
		notify->drained = 0;
		break;
	}
}
