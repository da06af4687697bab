/*
 * A reply is sent at once, or waits in a list while the socket of the daemon is full; the loop
 * then watches the socket, and flushes the list in order.
 */
#include "logger/loop/reply.h"

#include <sys/epoll.h>

struct reply {
	struct list in_replies;
	struct logger_message message;
	char text[];
};

static void reply_watch(struct logger *l)
{
	uint32_t out = list_is_empty(&l->replies) ? 0 : EPOLLOUT;

	if (l->control >= 0)
		logger_rewatch(l, l->control, EPOLLIN | out, WATCH_CONTROL, 0);
}

/* Without memory the reply is lost; the daemon has a deadline for it. */
static void reply_keep(struct logger *l, const struct logger_message *message, const char *text)
{
	size_t length = strlen(text);
	struct reply *reply = malloc(sizeof(*reply) + length + 1);

	if (!reply)
		return;
	reply->message = *message;
	memcpy(reply->text, text, length + 1);
	list_append(&l->replies, &reply->in_replies);
	reply_watch(l);
}

void reply_send(struct logger *l, struct logger_message *message, const char *text)
{
	int r = -EAGAIN;

	if (l->control < 0)
		return;
	if (list_is_empty(&l->replies))
		r = logger_send(l->control, message, text, NULL, -1);
	if (r == -EAGAIN || r == -ENOBUFS)
		reply_keep(l, message, text ? text : "");
}

void reply_flush(struct logger *l)
{
	if (list_is_empty(&l->replies))
		return;
	while (!list_is_empty(&l->replies)) {
		struct reply *reply = list_entry(l->replies.next, struct reply, in_replies);

		if (logger_send(l->control, &reply->message, reply->text, NULL, -1) == -EAGAIN)
			return;
		list_remove(&reply->in_replies);
		free(reply);
	}
	reply_watch(l);
}

void reply_done(struct logger *l)
{
	struct reply *reply;

	list_for_each_taken (reply, &l->replies, in_replies)
		free(reply);
}
