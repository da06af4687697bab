/*
 * A new process gets messages about all streams.  Its replies change one stream each; a change of
 * the whole logger calls one function (logging_notify()).
 */
#include "daemon/logger/logging.h"

#include "daemon/logger/capture.h"
#include "daemon/logger/pipe.h"
#include "daemon/logger/wishes.h"
#include "daemon/writer/ending.h"
#include "sys/file/path.h"

#define DRAIN_ATTEMPTS 3
/*
 * How long the daemon waits at its end for the last output to be written: at least, and for output that no
 * service has waited for.
 */
#define LEAST_USEC (USEC_PER_SEC / 2)
#define LAST_USEC  USEC_PER_SEC

DEFINE_DICT_NAME(logging_stream_name, struct log_stream, name)

/* A service with a full pipe would wait without end for a logger that cannot be run. */
static void logging_drain_pipes(struct logging *l, bool on)
{
	struct log_stream *s;

	list_for_each (s, &l->streams, in_logger)
		if (on && s->number != LOGGER_ALL)
			log_pipe_begin_drain(s->fds, l->ctx->event, &s->drain);
		else
			log_pipe_end_drain(&s->drain);
}

static void logging_report_state(struct logger_child *child)
{
	struct logging *l = container_of(child, struct logging, child);

	if (l->on_state)
		l->on_state(l->arg);
}

static void logging_on_unusable(struct logger_child *child)
{
	logging_drain_pipes(container_of(child, struct logging, child), true);
	logging_report_state(child);
}

static void logging_on_writable(struct logger_child *child)
{
	struct logging *l = container_of(child, struct logging, child);

	(void)logging_send_wishes(l);
	/* Requests of readers may have waited for the process. */
	context_update_soon(l->ctx);
}

static void logging_on_ready(struct logger_child *child)
{
	struct logging *l = container_of(child, struct logging, child);

	l->life++;
	logging_drain_pipes(l, false);
	logging_renew_wishes(l);
	context_update_soon(l->ctx);
	logging_report_state(child);
}

/* --- messages of the logger --- */

static void logging_note_trouble(struct log_stream *s, const struct logger_trouble *trouble)
{
	struct log *log = s->logger->ctx->log;
	const char *to = log_stream_destination(s);

	s->failing = trouble->error;
	if (s->failing && s->wait)
		s->wait->fn(s->wait->arg);
	logging_report_state(&s->logger->child);
	if (trouble->error)
		log_node(log, LOG_WARNING, s->name, "log: cannot write %s: %s", to,
			 path_error_text(trouble->error));
	else
		log_node(log, LOG_NOTICE, s->name,
			 "log: %s is written again: %" PRIu64 " lines (%" PRIu64
			 " bytes) were dropped",
			 to, trouble->dropped_lines, trouble->dropped_bytes);
}

static void logging_on_kept(struct logger_child *child, uint32_t stream, bool kept)
{
	struct logging *l = container_of(child, struct logging, child);
	struct log_stream *s = stream < LOGGER_STREAMS ? l->by_number[stream] : NULL;

	if (!s)
		return;
	s->kept = kept;
	log_stream_renew_wishes(s);
	log_node(l->ctx->log, kept ? LOG_WARNING : LOG_NOTICE, s->name,
		 kept ? "log: a process keeps the pipe locked: its output is not read"
		      : "log: the output is read again");
	if (kept && s->wait)
		s->wait->fn(s->wait->arg);
}

static void logging_on_message(struct logger_child *child, const struct logger_packet *packet)
{
	struct logging *l = container_of(child, struct logging, child);
	const struct logger_message *m = &packet->message;
	struct log_stream *s = m->stream < LOGGER_STREAMS ? l->by_number[m->stream] : NULL;

	if (!s)
		return;
	if (m->type == LOGGER_FLUSHED)
		log_stream_flushed(s, m->cookie);
	else if (m->type == LOGGER_WATCH && s->reader)
		capture_read(s);
	else if (m->type == LOGGER_TROUBLE)
		logging_note_trouble(s, &m->trouble);
	else if (m->type == LOGGER_ENDED && s->refs == 0)
		log_stream_remove(s);
}

/* --- the whole --- */

int logging_new(struct logging **ret, struct context *ctx, const struct credentials *user)
{
	struct logging *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	l->ctx = ctx;
	log_sinks_init(&l->sinks, ctx->log);
	list_init(&l->streams);
	list_init(&l->waiting);
	for (size_t i = 0; i < LOGGER_KINDS; i++)
		dict_init(&l->by_name[i], logging_stream_name);
	logger_child_init(&l->child, ctx);
	l->child.on_ready = logging_on_ready;
	l->child.on_writable = logging_on_writable;
	l->child.on_kept = logging_on_kept;
	l->child.on_message = logging_on_message;
	l->child.on_unusable = logging_on_unusable;
	r = logger_child_set_user(&l->child, user);
	if (r < 0) {
		logging_free(l);
		return r;
	}
	*ret = l;
	return 0;
}

struct logging *logging_free(struct logging *l)
{
	if (!l)
		return NULL;
	while (!list_is_empty(&l->streams))
		log_stream_free(list_entry(l->streams.next, struct log_stream, in_logger));
	for (size_t i = 0; i < LOGGER_KINDS; i++)
		dict_done(&l->by_name[i]);
	logger_child_done(&l->child);
	return free_memory(l);
}

void logging_begin(struct logging *l)
{
	l->begun = true;
	if (!list_is_empty(&l->streams))
		logger_child_want(&l->child);
}

void logging_notify(struct logging *l, void (*fn)(void *arg), void *arg)
{
	l->on_state = fn;
	l->arg = arg;
}

void logging_reopen(struct logging *l, const char *path)
{
	struct log_stream *s;

	list_for_each (s, &l->streams, in_logger)
		if (text_is_within(s->name, path))
			log_stream_wish(s, WISH_REOPEN);
}

/* --- readers --- */

bool logging_is_usable(const struct logging *l)
{
	return logger_child_is_usable(&l->child);
}

int logging_each_new(const struct logging *l, uint64_t *serial,
		     int (*fn)(const struct log_stream *stream, void *arg), void *arg)
{
	const struct log_stream *s;
	int r = 0;

	if (*serial == l->serial)
		return 0;
	list_for_each (s, &l->streams, in_logger) {
		if (s->refs == 0 || s->serial <= *serial || s->rules.memory == 0)
			continue;
		r = fn(s, arg);
		if (r < 0)
			return r;
		*serial = s->serial;
	}
	*serial = l->serial;
	return 0;
}

void logging_update(struct context *ctx)
{
	if (ctx->logger)
		(void)logging_send_wishes(ctx->logger);
}

static bool logging_is_missing(const struct logging *l)
{
	const struct log_stream *s;

	list_for_each (s, &l->streams, in_logger)
		if (log_stream_is_missing(s))
			return true;
	return false;
}

/* Output with log-full = drop that has already held up its node gets no further time. */
static uint64_t logging_stop_usec(const struct logging *l, uint64_t until_usec)
{
	uint64_t now = clock_now_usec(), last = now + LEAST_USEC;
	const struct log_stream *s;

	until_usec = MAX(until_usec, last);
	list_for_each (s, &l->streams, in_logger) {
		if (!log_stream_is_missing(s))
			continue;
		if (s->rules.flags & LOGGER_BLOCK)
			return until_usec;
		last = MAX(last, s->until_usec ? s->until_usec : now + LAST_USEC);
	}
	return MIN(last, until_usec);
}

void logging_stop(struct logging *l, uint64_t until_usec)
{
	struct log_stream *s;
	int r = 0;

	until_usec = logging_stop_usec(l, until_usec);
	/* A process that dies meanwhile is started again. */
	for (int i = 0; r == 0 && i < DRAIN_ATTEMPTS && (l->child.ready || logging_is_missing(l));
	     i++) {
		r = logger_child_begin(&l->child, until_usec);
		if (r < 0)
			break;
		if (r > 0)
			logging_renew_wishes(l);
		while (!logging_send_wishes(l) && logger_child_await_room(&l->child, until_usec))
			;
		/* Above 0 if all streams are flushed; 0 if the process has ended. */
		r = logger_child_stop(&l->child, until_usec);
	}
	list_for_each (s, &l->streams, in_logger)
		log_stream_end(s);
	if (r > 0)
		logger_child_await_end(&l->child, until_usec);
}
