/*
 * A new process gets messages about all streams.  Its replies change one stream each; a change of
 * the whole logger calls one function (logger_notify()).
 */
#include "daemon/logger/logger.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/text.h"
#include "daemon/logger/pipe.h"
#include "daemon/logger/stream.h"
#include "daemon/logger/wishes.h"
#include "sys/file/path.h"

#define DRAIN_ATTEMPTS 3
/* At the end of the daemon: the least time, and that of output that no service has waited for. */
#define LEAST_USEC (USEC_PER_SEC / 2)
#define LAST_USEC  USEC_PER_SEC

static const char *logger_stream_name(const void *stream)
{
	return ((const struct log_stream *)stream)->name;
}

/* A service with a full pipe would wait without end for a logger that cannot be run. */
static void logger_drain_pipes(struct logger *l, bool on)
{
	struct log_stream *s;

	list_for_each (s, &l->streams, in_logger)
		log_stream_drain(s, on);
}

static void logger_report_state(struct logger_child *child)
{
	struct logger *l = container_of(child, struct logger, child);

	if (l->on_state)
		l->on_state(l->arg);
}

static void logger_on_unusable(struct logger_child *child)
{
	logger_drain_pipes(container_of(child, struct logger, child), true);
	logger_report_state(child);
}

static void logger_on_writable(struct logger_child *child)
{
	struct logger *l = container_of(child, struct logger, child);

	(void)logger_send_wishes(l);
	/* Readers may have waited for the process. */
	context_update_soon(l->ctx);
}

static void logger_on_ready(struct logger_child *child)
{
	struct logger *l = container_of(child, struct logger, child);

	l->life++;
	logger_drain_pipes(l, false);
	logger_renew_wishes(l);
	context_update_soon(l->ctx);
	logger_report_state(child);
}

/* --- messages of the logger --- */

static void logger_note_trouble(struct log_stream *s, const struct logger_trouble *trouble)
{
	struct log *log = s->logger->ctx->log;
	const char *to = log_stream_destination(s);

	log_stream_set_failing(s, trouble->error);
	logger_report_state(&s->logger->child);
	if (trouble->error)
		log_node(log, LOG_WARNING, s->name, "log: cannot write %s: %s", to,
			 path_error_text(trouble->error));
	else
		log_node(log, LOG_NOTICE, s->name,
			 "log: %s is written again: %" PRIu64 " lines (%" PRIu64
			 " bytes) were dropped",
			 to, trouble->dropped_lines, trouble->dropped_bytes);
}

static void logger_on_message(struct logger_child *child, const struct logger_packet *packet)
{
	struct logger *l = container_of(child, struct logger, child);
	const struct logger_message *m = &packet->message;
	struct log_stream *s = m->stream < LOGGER_STREAMS ? l->by_number[m->stream] : NULL;

	if (!s)
		return;
	if (m->type == LOGGER_FLUSHED)
		log_stream_flushed(s, m->cookie);
	else if (m->type == LOGGER_TROUBLE)
		logger_note_trouble(s, &m->trouble);
	else if (m->type == LOGGER_ENDED && s->refs == 0)
		log_stream_free(s);
}

/* --- the whole --- */

int logger_new(struct logger **ret, struct context *ctx, const struct credentials *user)
{
	struct logger *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	l->ctx = ctx;
	log_sinks_init(&l->sinks, ctx->log);
	list_init(&l->streams);
	list_init(&l->waiting);
	for (size_t i = 0; i < LOGGER_KINDS; i++)
		dict_init(&l->by_name[i], logger_stream_name);
	logger_child_init(&l->child, ctx);
	l->child.on_ready = logger_on_ready;
	l->child.on_writable = logger_on_writable;
	l->child.on_message = logger_on_message;
	l->child.on_unusable = logger_on_unusable;
	r = logger_child_set_user(&l->child, user);
	if (r < 0) {
		logger_free(l);
		return r;
	}
	*ret = l;
	return 0;
}

struct logger *logger_free(struct logger *l)
{
	if (!l)
		return NULL;
	while (!list_is_empty(&l->streams))
		log_stream_free(list_entry(l->streams.next, struct log_stream, in_logger));
	for (size_t i = 0; i < LOGGER_KINDS; i++)
		dict_done(&l->by_name[i]);
	logger_child_done(&l->child);
	free(l);
	return NULL;
}

const struct log_sinks *logger_sinks(const struct logger *l)
{
	return &l->sinks;
}

void logger_begin(struct logger *l)
{
	l->begun = true;
	l->pipes_from = log_pipe_first();
	if (!list_is_empty(&l->streams))
		logger_child_want(&l->child);
}

void logger_notify(struct logger *l, void (*fn)(void *arg), void *arg)
{
	l->on_state = fn;
	l->arg = arg;
}

void logger_reopen(struct logger *l, const char *path)
{
	struct log_stream *s;

	list_for_each (s, &l->streams, in_logger)
		if (text_is_within(s->name, path))
			log_stream_wish(s, WISH_REOPEN);
}

/* --- readers --- */

bool logger_is_usable(const struct logger *l)
{
	return logger_child_is_usable(&l->child);
}

unsigned logger_life(const struct logger *l)
{
	return l->life;
}

int logger_send_view(struct logger *l, struct logger_message *message, int fd)
{
	if (!logger_send_wishes(l))
		return -EAGAIN;
	return logger_child_send(&l->child, message, NULL, NULL, fd);
}

int logger_each_new(const struct logger *l, uint64_t *serial,
		    int (*fn)(const char *name, uint32_t number, void *arg), void *arg)
{
	const struct log_stream *s;
	int r = 0;

	if (*serial == l->serial)
		return 0;
	list_for_each (s, &l->streams, in_logger) {
		if (s->number == LOGGER_ALL || s->refs == 0 || s->serial <= *serial ||
		    s->rules.memory == 0)
			continue;
		r = fn(s->name, s->number, arg);
		if (r < 0)
			return r;
		*serial = s->serial;
	}
	*serial = l->serial;
	return 0;
}

void logger_update(struct logger *l)
{
	(void)logger_send_wishes(l);
}

static bool logger_is_missing(const struct logger *l)
{
	const struct log_stream *s;

	list_for_each (s, &l->streams, in_logger)
		if (log_stream_missing(s) > 0)
			return true;
	return false;
}

/* Return: more than 0 if all streams are flushed; 0 if the process has ended; or -errno. */
static int logger_drain(struct logger *l, uint64_t until_usec)
{
	int r = logger_child_begin(&l->child, until_usec);

	if (r < 0)
		return r;
	if (r > 0)
		logger_renew_wishes(l);
	while (!logger_send_wishes(l) && logger_child_await_room(&l->child, until_usec))
		;
	return logger_child_stop(&l->child, until_usec);
}

/* Output that may be dropped, and has held its node, has had its time. */
static uint64_t logger_stop_usec(const struct logger *l, uint64_t until_usec)
{
	uint64_t now = clock_now_usec(), last = now + LEAST_USEC;
	const struct log_stream *s;

	until_usec = MAX(until_usec, last);
	list_for_each (s, &l->streams, in_logger) {
		if (log_stream_missing(s) == 0)
			continue;
		if (s->rules.flags & LOGGER_BLOCK)
			return until_usec;
		last = MAX(last, s->until_usec ? s->until_usec : now + LAST_USEC);
	}
	return MIN(last, until_usec);
}

void logger_stop(struct logger *l, uint64_t until_usec)
{
	struct log_stream *s;
	int r = 0;

	until_usec = logger_stop_usec(l, until_usec);
	/* A process that dies meanwhile is started again. */
	for (int i = 0; r == 0 && i < DRAIN_ATTEMPTS && (l->child.ready || logger_is_missing(l));
	     i++)
		r = logger_drain(l, until_usec);
	/* The process closes its ends meanwhile. */
	list_for_each (s, &l->streams, in_logger)
		log_stream_close(s);
	if (r > 0)
		logger_child_await_end(&l->child, until_usec);
}
