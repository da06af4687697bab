/*
 * The end of the socket comes before the death of the process, after which it is started again.  A
 * process that dies several times in a row before it is ready counts as one that cannot be
 * executed.
 *
 * The kernel keeps a logger in a call after SIGKILL if a service keeps its pipe locked (sys/ipc/passed.h).
 * Another one takes its place, and leaves the stream of the call alone until it has ended.  When the call
 * returns it may have taken a portion from the pipe, which is lost.
 */
#include "daemon/writer/child.h"

#include <sys/timerfd.h>

#include "daemon/loop/closer.h"
#include "proto/logger-store.h"

#define AGAIN_MIN_USEC	 (10 * USEC_PER_MSEC)
#define AGAIN_MAX_USEC	 (1 * USEC_PER_SEC)
#define STEADY_USEC	 (200 * USEC_PER_MSEC)
#define READY_USEC	 (10 * USEC_PER_SEC)
#define FAILED_MAX	 3
#define MESSAGES_AT_ONCE 64

#define CHILD_SOCKET  3
#define CHILD_STORE   4
#define CHILD_PROGRAM 5

/* It is one of the table, like a child that closes descriptors, and is collected with these. */
struct kept_logger {
	struct list in_child;
	struct closer closer;
	struct logger_child *child;
	uint32_t stream;
};

static void child_on_again(struct alarm *alarm)
{
	logger_child_start(container_of(alarm, struct logger_child, again));
}

static void child_on_silence(struct alarm *alarm);
static void child_leave(struct logger_child *c);

static void child_note_pid(struct logger_child *c)
{
	roster_spare(c->ctx->roster, c->process.pid);
	if (c->store >= 0)
		roster_enter_descriptor(c->ctx->roster, &c->place_store, c->store,
					(uint64_t)c->process.pid, "logger store");
}

static void child_kill(struct logger_child *c)
{
	if (c->process.pid <= 0)
		return;
	(void)kill(c->process.pid, SIGKILL);
	alarm_set(&c->ctx->alarms, &c->silence, clock_add(clock_now_usec(), LOGGER_ANSWER_USEC));
}

void logger_child_init(struct logger_child *c, struct context *ctx)
{
	uint64_t former = 0;
	pid_t pid;
	struct proc_info info;

	*c = (struct logger_child){
		.ctx = ctx,
		.store = roster_take_descriptor(ctx->roster, "logger store", &former),
		.socket = -1,
		.delay_usec = AGAIN_MIN_USEC,
	};
	process_init(&c->process, PROCESS_LOGGER, NULL);
	alarm_init(&c->again, child_on_again);
	alarm_init(&c->silence, child_on_silence);
	list_init(&c->kept);
	c->pool.siblings = keeper_is_apart(&ctx->keeper);
	helper_program_init(&c->program, ctx, HELPER_LOGGER);
	if (c->store >= 0)
		(void)store_map(c->store, PROT_READ, &c->mapped);
	/* A process that dies loses nothing. */
	pid = (pid_t)former;
	if (pid > 0 && proc_read(pid, &info) >= 0 && info.parent == c->ctx->keeper.reaper) {
		process_add(c->ctx->processes, &c->process, pid, -1);
		child_kill(c);
	}
	child_note_pid(c);
}

static void child_disconnect(struct logger_child *c)
{
	c->source = sd_event_source_disable_unref(c->source);
	c->socket = fd_close(c->socket);
	c->ready = c->asked = false;
	alarm_stop(&c->ctx->alarms, &c->silence);
}

/* A logger that cannot be understood is killed, which loses nothing, and another one follows. */
static void child_fail(struct logger_child *c)
{
	child_disconnect(c);
	child_kill(c);
}

void logger_child_done(struct logger_child *c)
{
	struct kept_logger *kept;

	alarm_stop(&c->ctx->alarms, &c->again);
	/* Before it is ready it may not notice the end of its socket, and has nothing to write. */
	if (c->process.pid > 0 && !c->was_ready)
		(void)kill(c->process.pid, SIGKILL);
	child_disconnect(c);
	c->timer = sd_event_source_disable_unref(c->timer);
	list_for_each_taken (kept, &c->kept, in_child) {
		closer_done(&kept->closer);
		free(kept);
	}
	c->mapped = store_unmap(c->mapped);
	c->store = fd_close(c->store);
	helper_program_done(&c->program);
	process_remove(&c->process);
	spawn_abandon(&c->starting);
	spawn_pool_done(&c->pool);
	free(c->user.groups);
}

int logger_child_set_user(struct logger_child *c, const struct credentials *user)
{
	if (!user->set)
		return 0;
	c->user.set = true;
	c->user.uid = user->uid;
	c->user.gid = user->user_gid;
	return credentials_groups(user, user->user_gid, &c->user.groups, &c->user.n_groups);
}

/* --- messages --- */

static int child_on_event(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct logger_child *c = arg;
	struct logger_packet packet;

	c->asked = false;
	for (int i = 0; i < MESSAGES_AT_ONCE; i++) {
		int r = logger_receive(fd, &packet);

		if (r == -EAGAIN)
			break;
		if (r <= 0 && r != -EBADMSG) {
			child_fail(c);
			return 0;
		}
		if (r > 0) {
			const struct logger_message *m = &packet.message;
			struct spawn_failure why;
			int refused;

			packet.fd = fd_close(packet.fd);
			if (m->type == LOGGER_READY) {
				(void)spawn_check(&c->starting, &c->pool, &why, &refused);
				c->ready = c->was_ready = true;
				c->warned = false;
				c->n_failed = 0;
				c->on_ready(c);
			} else if (m->type == LOGGER_REFUSED) {
				log_line(c->ctx->log, LOG_ERR,
					 "logger: message refused: stream %u: %s", m->stream,
					 packet.texts[0]);
			} else if (m->type != LOGGER_HELLO) {
				c->on_message(c, &packet);
			}
		}
	}
	if (events & EPOLLOUT) {
		(void)sd_event_source_set_io_events(source, EPOLLIN);
		c->on_writable(c);
	}
	return 0;
}

int logger_child_send(struct logger_child *c, struct logger_message *message, const char *first,
		      const char *second, int passed)
{
	int r = c->ready ? logger_send(c->socket, message, first, second, passed) : -EAGAIN;

	/* The kernel also limits descriptors that the process has not received yet. */
	if (r == -ETOOMANYREFS || r == -ENOBUFS || r == -ENOMEM || r == -EINTR)
		r = -EAGAIN;
	/* Before the process is ready, its socket has room and would wake up the loop at once. */
	if (r == -EAGAIN && c->ready)
		(void)sd_event_source_set_io_events(c->source, EPOLLIN | EPOLLOUT);
	return r == -EPIPE || r == -ECONNRESET ? -EAGAIN : r;
}

void logger_child_ask(struct logger_child *c)
{
	struct logger_message hello = { .type = LOGGER_HELLO, .stream = LOGGER_ALL };

	if (!c->ready || c->asked)
		return;
	c->asked = true;
	/* A full socket answers as well when it has room again. */
	(void)logger_child_send(c, &hello, NULL, NULL, -1);
	alarm_set(&c->ctx->alarms, &c->silence, clock_add(clock_now_usec(), LOGGER_ANSWER_USEC));
}

static void child_on_silence(struct alarm *alarm)
{
	struct logger_child *c = container_of(alarm, struct logger_child, silence);
	struct pollfd p = { .fd = c->socket, .events = POLLIN };

	if (c->socket < 0) {
		child_leave(c);
		return;
	}
	/* The answer may have arrived while the daemon was late. */
	if (!c->asked || poll(&p, 1, 0) > 0)
		return;
	log_line(c->ctx->log, LOG_WARNING, "logger: does not answer: killed");
	child_fail(c);
}

/* --- the process --- */

static void child_start_later(struct logger_child *c)
{
	alarm_set(&c->ctx->alarms, &c->again, clock_add(clock_now_usec(), c->delay_usec));
	c->delay_usec = MIN(c->delay_usec * 2, AGAIN_MAX_USEC);
}

/* Its program may not run yet: a process of its user can stop it before. */
static int child_spawn(struct logger_child *c, int socket)
{
	char *argv[] = { (char *)c->program.path, (char *)"3", (char *)"4", NULL };
	char *time_zone = getenv("TZ");
	char variable[64] = "TZ=";
	char *envp[] = { variable, NULL };
	const struct spawn_file files[] = {
		{ .from = socket, .to = CHILD_SOCKET },
		{ .from = c->store, .to = CHILD_STORE },
		{ .from = c->program.fd, .to = CHILD_PROGRAM },
	};
	sigset_t none;
	int refused;

	if (!time_zone ||
	    snprintf(variable, sizeof(variable), "TZ=%s", time_zone) >= (int)sizeof(variable))
		envp[0] = NULL;
	(void)sigemptyset(&none);
	return spawn_begin(
		&(struct spawn_spec){
			.argv = argv,
			.program = CHILD_PROGRAM,
			.envp = envp,
			.umask = -1,
			.set_user = c->user.set,
			.uid = c->user.uid,
			.gid = c->user.gid,
			.groups = c->user.groups,
			.n_groups = c->user.n_groups,
			.stdio = { c->ctx->descriptors.null, STDOUT_FILENO, STDERR_FILENO },
			.files = files,
			.n_files = ARRAY_SIZE(files),
			.terminal = -1,
			.mask = &none,
		},
		&c->pool, &c->starting, &refused);
}

static int child_on_timer(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	uint64_t n;

	(void)!read(fd, &n, sizeof(n));
	logger_child_ask(arg);
	return 0;
}

static int child_watch_timer(struct logger_child *c)
{
	int fd;

	if (c->timer)
		return 0;
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	return context_watch_owned(c->ctx, &c->timer, fd < 0 ? -errno : fd, EPOLLIN, child_on_timer,
				   c);
}

static int child_connect(struct logger_child *c, int socket)
{
	struct logger_message hello = { .type = LOGGER_HELLO, .stream = LOGGER_ALL };
	struct logger_message timer = { .type = LOGGER_TIMER, .stream = LOGGER_ALL };
	int r;

	c->socket = socket;
	c->was_ready = false;
	process_add(c->ctx->processes, &c->process, c->starting.pid, -1);
	child_note_pid(c);
	process_name(&c->process, c->program.path);
	c->ctx->launched++;
	r = sd_event_add_io(c->ctx->event, &c->source, socket, EPOLLIN, child_on_event, c);
	if (r >= 0)
		r = logger_send(socket, &hello, NULL, NULL, -1);
	if (r >= 0)
		r = child_watch_timer(c);
	if (r >= 0)
		r = logger_send(socket, &timer, NULL, NULL, sd_event_source_get_io_fd(c->timer));
	c->asked = true;
	alarm_set(&c->ctx->alarms, &c->silence, clock_add(clock_now_usec(), READY_USEC));
	return r;
}

bool logger_child_is_usable(const struct logger_child *c)
{
	return c->n_failed < FAILED_MAX && c->mapped;
}

static void child_warn(struct logger_child *c, const char *why)
{
	if (!logger_child_is_usable(c))
		c->on_unusable(c);
	if (!c->warned)
		log_line(c->ctx->log, LOG_WARNING,
			 "logger: cannot run %s: %s: services write their output themselves",
			 c->program.path, why);
	c->warned = true;
	helper_program_forget(&c->program);
}

static int child_open_store(struct logger_child *c)
{
	if (c->store < 0)
		c->store = store_new();
	return c->store < 0 ? c->store : c->mapped ? 0 : store_map(c->store, PROT_READ, &c->mapped);
}

static int child_prepare(struct logger_child *c, int sockets[static 2])
{
	int r = child_open_store(c);

	if (r < 0)
		return r;
	r = helper_program_open(&c->program);
	if (r < 0) {
		c->n_failed = FAILED_MAX;
		return r;
	}
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, sockets) < 0
		       ? -errno
		       : 0;
}

void logger_child_start(struct logger_child *c)
{
	int sockets[2] = { -1, -1 };
	int r = child_prepare(c, sockets);

	if (r == 0)
		r = child_spawn(c, sockets[1]);
	(void)fd_close(sockets[1]);
	if (r == 0) {
		if (child_connect(c, sockets[0]) < 0)
			child_fail(c);
		return;
	}
	(void)fd_close(sockets[0]);
	child_warn(c, strerror(-r));
	child_start_later(c);
}

/* Handles the end of the process, which is collected. */
static void child_end(struct logger_child *c)
{
	struct spawn_failure why;
	int refused, r = spawn_check(&c->starting, &c->pool, &why, &refused);

	process_remove(&c->process);
	child_note_pid(c);
	child_disconnect(c);
	if (r == SPAWN_E_CHILD)
		c->n_failed = FAILED_MAX;
	else if (!c->was_ready)
		c->n_failed++;
	if (!c->was_ready && c->n_failed >= FAILED_MAX)
		child_warn(c, r == SPAWN_E_CHILD ? strerror(why.error) : "it ends at once");
}

/* The offset of its file is shared with the process, which may change it. */
static void child_separate_store(struct logger_child *c)
{
	int fd = store_reopen(c->store);

	if (fd < 0)
		return;
	(void)fd_close(c->store);
	c->store = fd;
}

static void child_on_kept_end(struct closer *closer)
{
	struct kept_logger *kept = container_of(closer, struct kept_logger, closer);

	list_remove(&kept->in_child);
	kept->child->on_kept(kept->child, kept->stream, false);
	free(kept);
}

/*
 * Its helpers, which have their files locked, would wait for the end of its sockets.  Without memory the end of the
 * call is not awaited.
 */
static void child_leave_process(struct logger_child *c)
{
	struct kept_logger *kept = calloc(1, sizeof(*kept));
	uint32_t stream = c->mapped ? store_taking(c->mapped) : LOGGER_ALL;
	pid_t pid = c->process.pid;

	(void)kill(-pid, SIGKILL);
	process_remove(&c->process);
	child_separate_store(c);
	c->on_kept(c, stream, true);
	if (!kept)
		return;
	kept->child = c;
	kept->stream = stream;
	closer_init(&kept->closer, c->ctx, child_on_kept_end);
	closer_take(&kept->closer, pid);
	list_append(&c->kept, &kept->in_child);
}

/* The kernel keeps the process although it was killed. */
static void child_leave(struct logger_child *c)
{
	child_leave_process(c);
	child_end(c);
	child_start_later(c);
}

void logger_child_want(struct logger_child *c)
{
	if (c->process.pid == 0 && c->again.usec == USEC_INFINITY)
		logger_child_start(c);
}

void logger_child_died(struct process *process)
{
	struct logger_child *c = container_of(process, struct logger_child, process);
	uint64_t age_usec = clock_now_usec() - process->since_usec;

	child_end(c);
	if (age_usec >= STEADY_USEC)
		c->delay_usec = AGAIN_MIN_USEC;
	if (c->was_ready)
		log_line(c->ctx->log, LOG_WARNING, "logger: has died; started again");
	child_start_later(c);
}

void logger_child_collect(struct logger_child *c)
{
	struct pollfd p = { .fd = proc_open(c->process.pid), .events = POLLIN };

	if (p.fd < 0 || poll(&p, 1, LOGGER_ANSWER_USEC / USEC_PER_MSEC) > 0)
		(void)waitpid(c->process.pid, NULL, 0);
	else
		child_leave_process(c);
	(void)fd_close(p.fd);
	child_end(c);
}
