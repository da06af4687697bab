/*
 * Each kind of readiness has its own source: a pipe, a line of the log watch, a timer for
 * settle-time, or a probe that is repeated at growing intervals.  readiness_stop() ends all of
 * them.
 */
#include "daemon/probe/readiness.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "daemon/probe/attempt.h"
#include "daemon/probe/exec.h"
#include "daemon/probe/foreign.h"
#include "daemon/probe/probe.h"
#include "sys/ipc/passed.h"

/* A connection is cheap, so the first tries come quickly; later ones are less frequent. */
#define RETRY_MIN_USEC (5 * USEC_PER_MSEC)
#define RETRY_MAX_USEC (250 * USEC_PER_MSEC)
/* A request or a command is more expensive. */
#define RETRY_COSTLY_MIN_USEC (50 * USEC_PER_MSEC)
#define RETRY_COSTLY_MAX_USEC USEC_PER_SEC

struct readiness {
	struct context *ctx;
	const struct node_config *config;
	void (*on_ready)(void *arg);
	void *arg;
	int fd; /* the pipe, or -1 */
	sd_event_source *io;
	struct probe *probe;
	struct foreign foreign;
	struct alarm timer;	 /* of the next try */
	char why[PROBE_WHY_MAX]; /* of the last try, by a command; empty: none */
	uint64_t retry_usec;
	const struct process *main; /* NULL: readiness is not awaited */
	const struct launch *launch;
};

DEFINE_CLEANUP(struct readiness *, readiness_free)

static void readiness_close_fd(struct readiness *r)
{
	r->io = sd_event_source_disable_unref(r->io);
	r->fd = passed_close(r->fd);
}

static void readiness_succeed(struct readiness *r)
{
	readiness_stop(r);
	r->on_ready(r->arg);
}

/* A newline means ready; the end of the pipe without one means that none will come. */
static int readiness_on_pipe(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct readiness *r = arg;
	char buf[256];
	ssize_t n = read(fd, buf, sizeof(buf));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		readiness_stop(r);
	else if (memchr(buf, '\n', (size_t)n))
		readiness_succeed(r);
	return 0;
}

static void readiness_on_match(void *arg)
{
	readiness_succeed(arg);
}

static bool readiness_is_costly(const struct readiness *r)
{
	return r->config->ready.kind == PROBE_HTTP || r->config->ready.kind == PROBE_EXEC;
}

static void readiness_retry_later(struct readiness *r)
{
	uint64_t max = readiness_is_costly(r) ? RETRY_COSTLY_MAX_USEC : RETRY_MAX_USEC;

	alarm_set(&r->ctx->alarms, &r->timer, clock_now_usec() + r->retry_usec);
	r->retry_usec = MIN(r->retry_usec * 2, max);
}

static void readiness_on_result(void *arg, const char *why)
{
	struct readiness *r = arg;

	if (!why && foreign_answers(&r->foreign, r->ctx, r->config, r->main))
		why = "the port is held by another process";
	if (!why) {
		readiness_succeed(r);
		return;
	}
	log_node(r->ctx->log, LOG_DEBUG, r->config->path, "not ready yet: %s", why);
	if (r->config->ready.kind == PROBE_EXEC)
		(void)snprintf(r->why, sizeof(r->why), "%s", why);
	readiness_retry_later(r);
}

static void readiness_on_retry(struct alarm *alarm)
{
	struct readiness *r = container_of(alarm, struct readiness, timer);

	probe_begin(r->probe, r->main, node_config_extras(r->config)->health_timeout_usec);
}

static void readiness_on_settled(struct alarm *alarm)
{
	readiness_succeed(container_of(alarm, struct readiness, timer));
}

/* The service is ready after a time if it still runs. */
static bool readiness_is_settling(const struct node_config *config)
{
	return config->ready.kind == PROBE_STARTED && config->type != TYPE_ONESHOT &&
	       node_config_extras(config)->settle_time_usec > 0;
}

int readiness_new(struct readiness **ret, struct context *ctx, const struct node_config *config,
		  const struct launch *launch, void (*on_ready)(void *arg), void *arg)
{
	cleanup(readiness_freep) struct readiness *r = NULL;
	int e = 0;

	*ret = NULL;
	if (config->ready.kind < PROBE_FD && !readiness_is_settling(config))
		return 0;
	r = malloc(sizeof(*r));
	if (!r)
		return -ENOMEM;
	*r = (struct readiness){
		.ctx = ctx,
		.config = config,
		.launch = launch,
		.on_ready = on_ready,
		.arg = arg,
		.fd = -1,
	};
	alarm_init(&r->timer,
		   readiness_is_settling(config) ? readiness_on_settled : readiness_on_retry);
	if (config->ready.kind > PROBE_FD && config->ready.kind != PROBE_LOG)
		e = probe_new(&r->probe, ctx, &config->ready, launch, readiness_on_result, r);
	if (e < 0)
		return e;
	*ret = take(r);
	return 0;
}

struct readiness *readiness_free(struct readiness *r)
{
	if (!r)
		return NULL;
	readiness_close_fd(r);
	probe_free(r->probe);
	alarm_stop(&r->ctx->alarms, &r->timer);
	free(r);
	return NULL;
}

void readiness_prepare(struct readiness *r)
{
	foreign_begin(&r->foreign, &r->config->ready);
}

int readiness_open_fd(struct readiness *r)
{
	int fds[2];

	readiness_stop(r);
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	r->fd = fds[0];
	(void)fd_set_nonblock(r->fd);
	return fds[1];
}

int readiness_start(struct readiness *r, const struct process *main)
{
	r->main = main;
	*r->why = '\0';
	if (r->config->ready.kind == PROBE_LOG) {
		log_watch_begin(r->launch->log_watch, readiness_on_match, r);
		return 0;
	}
	if (r->config->ready.kind == PROBE_FD)
		return sd_event_add_io(r->ctx->event, &r->io, r->fd, EPOLLIN, readiness_on_pipe, r);
	if (r->config->ready.kind == PROBE_STARTED) {
		alarm_set(&r->ctx->alarms, &r->timer,
			  clock_add(clock_now_usec(),
				    node_config_extras(r->config)->settle_time_usec));
		return 0;
	}
	r->retry_usec = readiness_is_costly(r) ? RETRY_COSTLY_MIN_USEC : RETRY_MIN_USEC;
	readiness_retry_later(r);
	return 0;
}

void readiness_explain_failure(struct readiness *r)
{
	if (!r->main)
		return;
	(void)foreign_answers(&r->foreign, r->ctx, r->config, r->main);
	if (*r->why)
		log_node(r->ctx->log, LOG_WARNING, r->config->path,
			 "was not ready, by the last check: %s", r->why);
}

void readiness_stop(struct readiness *r)
{
	r->main = NULL;
	foreign_end(&r->foreign);
	readiness_close_fd(r);
	if (r->config->ready.kind == PROBE_LOG && r->launch->log_watch)
		log_watch_end(r->launch->log_watch);
	if (r->probe)
		probe_cancel(r->probe);
	alarm_stop(&r->ctx->alarms, &r->timer);
}

const struct process *readiness_process(const struct readiness *r)
{
	return r && r->probe ? probe_process(r->probe) : NULL;
}
