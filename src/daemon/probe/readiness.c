/*
 * Each kind of readiness has its own source: a socket, a line of the capture, a timer for
 * settle-time, or a probe that is repeated at growing intervals.  readiness_stop() ends all of
 * them.
 *
 * A process that listened at the address of a probe before the service was started, and does not belong to the
 * service, does not make it ready by its replies.  A listener that comes later is taken for the service's, whichever
 * process holds it: a container runtime, for one, opens the ports of its containers itself.
 *
 * Most often nothing listens when a service starts, and then nothing is looked at later.  Else the
 * sockets are compared when a probe succeeds; only if there is no new one are the processes searched
 * that hold them, once for the same sockets.
 */
#include "daemon/probe/readiness.h"

#include "daemon/node/user.h"
#include "daemon/probe/attempt.h"
#include "daemon/probe/probe.h"
#include "sys/ipc/listeners.h"
#include "sys/ipc/passed.h"

/* A connection is cheap, so the first tries come quickly; later ones are less frequent. */
#define RETRY_MIN_USEC (5 * USEC_PER_MSEC)
#define RETRY_MAX_USEC (250 * USEC_PER_MSEC)
/* A request or a command is more expensive. */
#define RETRY_COSTLY_MIN_USEC (50 * USEC_PER_MSEC)
#define RETRY_COSTLY_MAX_USEC USEC_PER_SEC
/* Number of descriptors that are looked at, once in a run; that takes some 20 ms. */
#define SEARCH_MAX 5000

struct readiness {
	struct context *ctx;
	const struct node_config *config;
	void (*on_ready)(void *arg);
	void *arg;
	int fd; /* the socket, or -1 */
	sd_event_source *io;
	struct probe *probe;
	struct listeners before;  /* at the beginning of the run */
	struct listeners refused; /* members of @before that are foreign */
	pid_t holder;		  /* the first foreign one that a search has seen; or 0 */
	struct alarm timer;	  /* of the next try */
	char why[PROBE_WHY_MAX];  /* of the last try, by a command; empty: none */
	uint64_t retry_usec;
	const struct process *main; /* NULL: readiness is not awaited */
	const struct launch *launch;
};

DEFINE_CLEANUP(struct readiness *, readiness_free)

static void readiness_close_fd(struct readiness *r)
{
	r->io = sd_event_source_disable_unref(r->io);
	r->fd = passed_close_now(r->fd);
}

static void readiness_succeed(void *arg)
{
	struct readiness *r = arg;

	readiness_stop(r);
	r->on_ready(r->arg);
}

/*
 * A newline means ready; the end without one means that none will come.  Nothing is taken from the queue: a
 * descriptor that a message there has is closed with it, and the close may wait (sys/ipc/passed.h).
 */
static int readiness_on_text(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct readiness *r = arg;
	char text[4096];
	ssize_t n = recv(fd, text, sizeof(text), MSG_PEEK | MSG_DONTWAIT);

	if (n > 0 && memchr(text, '\n', (size_t)n))
		readiness_succeed(r);
	else if (n == 0 || events & (EPOLLHUP | EPOLLRDHUP))
		readiness_stop(r);
	return 0;
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

static bool readiness_contains_all(const struct listeners *some, const struct listeners *all)
{
	for (unsigned i = 0; i < some->n; i++)
		if (!listeners_have(all, some->inodes[i]))
			return false;
	return true;
}

static bool readiness_is_own(const struct readiness *r, pid_t pid)
{
	const struct process *process = process_find(r->ctx->processes, pid);
	char path[CONFIG_NAME_MAX + 1];
	struct proc_info info;
	uid_t uid;

	if (process && process->service)
		return process->service == r->main->service;
	/* The daemon holds the sockets of `listen`. */
	if (pid == getpid())
		return node_config_extras(r->config)->n_listen > 0;
	if (r->ctx->cgroups && cgroups_node_of(r->ctx->cgroups, pid, path) == 0 &&
	    strcmp(path, r->config->path) == 0)
		return true;
	if (proc_read(pid, &info) == 0 && info.session == r->main->pid)
		return true;
	return proc_uid(pid, &uid) == 0 && user_may_claim(r->config, r->main, uid) &&
	       user_read_claim(r->ctx, pid, uid, path) == 0 && strcmp(path, r->config->path) == 0;
}

static bool readiness_on_holder(pid_t pid, void *arg)
{
	struct readiness *r = arg;

	if (readiness_is_own(r, pid))
		return true;
	if (!r->holder)
		r->holder = pid;
	return false;
}

static void readiness_log_holder(const struct readiness *r, uid_t uid)
{
	unsigned port = ntohs(values_inet_port(r->config->ready.address));
	struct proc_info info;
	char holder[96];

	if (!r->holder)
		(void)snprintf(holder, sizeof(holder), "a process of uid %u", uid);
	else if (proc_read(r->holder, &info) < 0)
		(void)snprintf(holder, sizeof(holder), "pid %d", (int)r->holder);
	else
		(void)snprintf(holder, sizeof(holder), "pid %d (%s)", (int)r->holder, info.name);
	log_node(r->ctx->log, LOG_WARNING, r->config->path,
		 "not ready: port %u is held by %s, which is not of this service", port, holder);
}

/* Returns true if all present listeners are foreign, and logs this once in a run. */
static bool readiness_is_foreign(struct readiness *r)
{
	unsigned budget = SEARCH_MAX;
	struct listeners now;
	int e;

	if (r->before.n == 0 || listeners_find(&r->config->ready.address->any, &now) < 0 ||
	    now.n == 0 || !readiness_contains_all(&now, &r->before))
		return false;
	if (r->refused.n > 0 && readiness_contains_all(&now, &r->refused))
		return true;
	r->holder = 0;
	e = listeners_each_holder(&now, &budget, readiness_on_holder, r);
	/* A socket without a known holder may be that of the service. */
	if (e == 1 || (e < 0 && !r->holder))
		return false;
	if (r->refused.n == 0)
		readiness_log_holder(r, now.uid);
	r->refused = now;
	return true;
}

static void readiness_on_result(void *arg, const char *why)
{
	struct readiness *r = arg;

	if (!why && readiness_is_foreign(r))
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
	return free_memory(r);
}

void readiness_prepare(struct readiness *r)
{
	r->before.n = r->refused.n = 0;
	if (r->config->ready.kind == PROBE_TCP || r->config->ready.kind == PROBE_HTTP)
		(void)listeners_find(&r->config->ready.address->any, &r->before);
}

int readiness_open_fd(struct readiness *r)
{
	int fds[2];

	readiness_stop(r);
	/* A writer could keep a pipe locked. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	r->fd = fds[0];
	return fds[1];
}

int readiness_start(struct readiness *r, const struct process *main)
{
	r->main = main;
	*r->why = '\0';
	if (r->config->ready.kind == PROBE_LOG) {
		capture_watch(r->launch->capture, readiness_succeed, r);
		return 0;
	}
	if (r->config->ready.kind == PROBE_FD)
		return sd_event_add_io(r->ctx->event, &r->io, r->fd, EPOLLIN | EPOLLRDHUP | EPOLLET,
				       readiness_on_text, r);
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
	(void)readiness_is_foreign(r);
	if (*r->why)
		log_node(r->ctx->log, LOG_WARNING, r->config->path,
			 "was not ready, by the last check: %s", r->why);
}

void readiness_stop(struct readiness *r)
{
	r->main = NULL;
	r->before.n = r->refused.n = 0;
	readiness_close_fd(r);
	if (r->config->ready.kind == PROBE_LOG)
		capture_watch(r->launch->capture, NULL, NULL);
	if (r->probe)
		probe_cancel(r->probe);
	alarm_stop(&r->ctx->alarms, &r->timer);
}

const struct process *readiness_process(const struct readiness *r)
{
	return r && r->probe ? probe_process(r->probe) : NULL;
}
