/*
 * The end of a run waits for its last lines.  While the output may still be on its way to the
 * pipes, a timer looks again; then the logger is asked to write all of it, and its reply ends the
 * wait.  With log-full = drop, this wait and the hold on the node that follows it take AWAIT_USEC
 * together.
 */
#include "daemon/logger/capture.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/logger/state.h"

/* The longest wait for the last lines of a run, and the interval at which the pipes are checked. */
#define AWAIT_USEC (1 * USEC_PER_SEC)
#define LOOK_USEC  (10 * USEC_PER_MSEC)

struct capture {
	struct context *ctx;
	const struct node_config *config;
	struct log_stream *streams[LOGGER_KINDS]; /* standard output, or both; standard error */
	struct alarm timer;
	uint64_t until_usec; /* the end of the wait; 0: there is none */
	bool asked;	     /* the logger was asked to write all output */
	void (*fn)(void *arg);
	void *arg;
};
DEFINE_CLEANUP(struct capture *, capture_free)

static void capture_on_timer(struct alarm *alarm)
{
	struct capture *c = container_of(alarm, struct capture, timer);

	c->fn(c->arg);
}

/* A new stream gets its rules at once, so the width of all names is known before the first line. */
static int capture_get(struct capture *c, enum logger_kind kind)
{
	struct logger_rules rules;
	const char *file;
	int r;

	if (!log_rules(&rules, &file, c->config, kind, &c->ctx->logger->sinks))
		return 0;
	r = log_stream_get(&c->streams[kind], c->ctx->logger, c->config->path, kind);
	if (r == 0 && !c->streams[kind]->file)
		r = log_stream_use(c->streams[kind], &rules, file);
	return r;
}

int capture_new(struct capture **ret, struct context *ctx, const struct node_config *config)
{
	cleanup(capture_freep) struct capture *c = NULL;
	int r = 0;

	if (!ctx->logger)
		return 0;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->ctx = ctx;
	c->config = config;
	alarm_init(&c->timer, capture_on_timer);
	for (enum logger_kind kind = 0; r == 0 && kind < LOGGER_KINDS; kind++)
		r = capture_get(c, kind);
	if (r == 0 && (c->streams[LOGGER_OUTPUT] || c->streams[LOGGER_ERROR]))
		*ret = take(c);
	return r;
}

static void capture_end_wait(struct capture *c)
{
	alarm_stop(&c->ctx->alarms, &c->timer);
	for (size_t i = 0; c->until_usec && i < LOGGER_KINDS; i++)
		if (c->streams[i])
			log_stream_notify(c->streams[i], NULL, NULL);
	c->until_usec = 0;
	c->asked = false;
}

struct capture *capture_free(struct capture *c)
{
	if (!c)
		return NULL;
	capture_end_wait(c);
	for (size_t i = 0; i < LOGGER_KINDS; i++)
		log_stream_put(c->streams[i]);
	free(c);
	return NULL;
}

void capture_reload(struct capture *c, const struct node_config *config)
{
	struct logger_rules rules;
	const char *file;

	for (enum logger_kind kind = 0; c && kind < LOGGER_KINDS; kind++) {
		if (!c->streams[kind])
			continue;
		(void)log_rules(&rules, &file, c->config, kind, &c->ctx->logger->sinks);
		log_rules_reload(&rules, config);
		(void)log_stream_use(c->streams[kind], &rules, file);
	}
}

int capture_open(struct capture *c, int fd)
{
	enum logger_kind kind = fd == 2 ? LOGGER_ERROR : LOGGER_OUTPUT;
	const struct credentials *user = &node_config_extras(c->config)->credentials;
	struct logger_rules rules;
	const char *file;
	int r;

	if (!c->streams[kind])
		return -ENOTSUP;
	(void)log_rules(&rules, &file, c->config, kind, &c->ctx->logger->sinks);
	r = log_stream_use(c->streams[kind], &rules, file);
	return r < 0 ? r : log_stream_open(c->streams[kind], user->set ? user->uid : (uid_t)-1);
}

void capture_run(struct capture *c, pid_t pid, uint64_t generation)
{
	for (size_t i = 0; c && i < LOGGER_KINDS; i++)
		if (c->streams[i])
			log_stream_run(c->streams[i], pid, generation);
}

static void capture_ask(struct capture *c)
{
	for (size_t i = 0; i < LOGGER_KINDS; i++)
		if (c->streams[i])
			log_stream_flush(c->streams[i]);
	c->asked = true;
}

/* Returns true if all output is written, or some cannot be. */
static bool capture_is_over(const struct capture *c)
{
	bool flushed = c->asked;

	for (size_t i = 0; i < LOGGER_KINDS; i++) {
		if (c->streams[i] && c->streams[i]->failing)
			return true;
		flushed &= !c->streams[i] || log_stream_is_flushed(c->streams[i]);
	}
	return flushed;
}

bool capture_awaits(struct capture *c, bool drained, void (*fn)(void *arg), void *arg)
{
	uint64_t now = clock_now_usec();

	if (!c->until_usec) {
		c->until_usec = now + AWAIT_USEC;
		c->fn = fn;
		c->arg = arg;
		for (size_t i = 0; i < LOGGER_KINDS; i++)
			if (c->streams[i])
				log_stream_notify(c->streams[i], fn, arg);
	}
	if (drained && !c->asked)
		capture_ask(c);
	if (now >= c->until_usec || capture_is_over(c))
		return false;
	alarm_set(&c->ctx->alarms, &c->timer, c->asked ? c->until_usec : now + LOOK_USEC);
	return true;
}

void capture_end(struct capture *c, const struct swansong_guard *guard, unsigned generation,
		 uint64_t until_usec)
{
	uint64_t brief;

	if (!c)
		return;
	brief = c->until_usec ? c->until_usec : clock_now_usec() + AWAIT_USEC;
	if (!c->asked)
		capture_ask(c);
	if (node_config_outputs(c->config)->log_full == LOG_FULL_DROP)
		until_usec = MIN(until_usec, brief);
	for (size_t i = 0; i < LOGGER_KINDS; i++)
		if (c->streams[i])
			log_stream_hold(c->streams[i], guard, generation, until_usec);
	capture_end_wait(c);
}

void capture_release(struct capture *c)
{
	for (size_t i = 0; c && i < LOGGER_KINDS; i++)
		if (c->streams[i])
			log_stream_release(c->streams[i]);
}

const struct log_stream *capture_stream(const struct capture *c, enum logger_kind kind)
{
	return c ? c->streams[kind] : NULL;
}
