/*
 * A wish is a bit of its stream, and is sent as soon as the socket takes it.  A new logger begins
 * with LOGGER_ADD of all streams, and with the flushes that have not been replied to; so no
 * message is queued.
 *
 * Each message wakes up a waiting logger, which costs more than the message itself.  So wishes are
 * collected, and sent at the end of the turn or when there are many.
 */
#include "daemon/logger/wishes.h"

#define WISH(wish)     (1u << (wish))
#define WISHES_AT_ONCE 32

/* Return: 0; -EAGAIN; or -errno. */
static int log_stream_send_wish(struct log_stream *s, enum wish wish)
{
	static const enum logger_type types[N_WISHES] = {
		[WISH_ADD] = LOGGER_ADD,       [WISH_CHANGE] = LOGGER_CHANGE,
		[WISH_REOPEN] = LOGGER_REOPEN, [WISH_FLUSH] = LOGGER_FLUSH,
		[WISH_REMOVE] = LOGGER_REMOVE, [WISH_WATCH] = LOGGER_WATCH,
	};
	struct logger_message m = { .type = types[wish], .stream = s->number, .cookie = s->asked };
	bool rules = wish == WISH_ADD || wish == WISH_CHANGE;

	if (rules) {
		m.rules = s->rules;
		m.rules.name_width = s->logger->name_width;
		m.cookie = s->rules_number;
	}
	return logger_child_send(&s->logger->child, &m, rules ? s->name : NULL,
				 rules ? s->file : NULL, wish == WISH_ADD ? s->fds[0] : -1);
}

/* Return: 0, or -EAGAIN. */
static int log_stream_send_wishes(struct log_stream *s)
{
	for (enum wish wish = 0; wish < N_WISHES; wish++) {
		int r = s->wishes & WISH(wish) ? log_stream_send_wish(s, wish) : 0;

		if (r == -EAGAIN)
			return r;
		if (r < 0)
			log_node(s->logger->ctx->log, LOG_ERR, s->name,
				 "log: cannot send a message to the logger: %s", strerror(-r));
		s->wishes &= ~WISH(wish);
	}
	list_remove(&s->in_waiting);
	return 0;
}

bool logging_send_wishes(struct logging *l)
{
	l->n_new = 0;
	while (!list_is_empty(&l->waiting) &&
	       log_stream_send_wishes(list_entry(l->waiting.next, struct log_stream, in_waiting)) ==
		       0)
		;
	return list_is_empty(&l->waiting);
}

void log_stream_wish(struct log_stream *s, enum wish wish)
{
	struct logging *l = s->logger;

	if (s->number == LOGGER_ALL || s->kept)
		return;
	if (!s->wishes)
		list_append(&l->waiting, &s->in_waiting);
	s->wishes |= WISH(wish);
	if (++l->n_new >= WISHES_AT_ONCE)
		(void)logging_send_wishes(l);
	else
		agenda_note(&l->ctx->agenda, TASK_LOGGER);
}

static void log_stream_drop_wishes(struct log_stream *s)
{
	list_remove(&s->in_waiting);
	s->wishes = 0;
}

void log_stream_renew_wishes(struct log_stream *s)
{
	log_stream_drop_wishes(s);
	log_stream_wish(s, WISH_ADD);
	if (s->asked != s->flushed)
		log_stream_wish(s, WISH_FLUSH);
	if (s->refs == 0)
		log_stream_wish(s, WISH_REMOVE);
}

void logging_renew_wishes(struct logging *l)
{
	struct log_stream *s;

	/* Renewed ones are sent when there are many of them: a stream must not be among them by an old wish. */
	list_for_each (s, &l->streams, in_logger)
		log_stream_drop_wishes(s);
	list_for_each (s, &l->streams, in_logger)
		log_stream_renew_wishes(s);
	(void)logging_send_wishes(l);
}
