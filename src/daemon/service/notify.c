/*
 * Each line of a message is a flag of struct notify_message and a row in the table of effects,
 * which apply in the order of the table.  Messages with descriptors (FDSTORE=, guards) come before
 * it, as the descriptors are theirs.  A message changes data of the service and posts events; all
 * else follows in the update turn.
 */
#include "daemon/service/notify.h"

#include "daemon/guard/lease-fd.h"
#include "daemon/node/user.h"
#include "daemon/service/main-process.h"
#include "daemon/service/timeout.h"

/* Each message extends the timeout anew, up to this many timeouts in total. */
#define EXTENSIONS_MAX 10
/* Refusals beyond this number are not logged in a run. */
#define REFUSALS_LOGGED 10

static void service_refuse_message(const char *what, const char *why, void *arg)
{
	struct service *s = arg;

	if (++s->setup.extras->messages->refused > REFUSALS_LOGGED)
		return;
	service_log(s, LOG_WARNING, "%s is refused: %s%s", what, why,
		    s->setup.extras->messages->refused == REFUSALS_LOGGED
			    ? "; further refusals are not logged"
			    : "");
}

static void service_apply_main(struct service *s, const struct notify_message *m)
{
	char what[32];
	const char *why;

	if (m->main_pid == s->main.pid)
		return;
	if (service_set_main(s, m->main_pid, &why) == 0) {
		service_log(s, LOG_INFO, "main process is now pid %d (%s)", (int)s->main.pid,
			    s->main.name);
		return;
	}
	(void)snprintf(what, sizeof(what), "MAINPID=%d", (int)m->main_pid);
	service_refuse_message(what, why, s);
}

/* Keeps the messages for the next image, as programs send some of them only once. */
static void service_enter_messages(struct service *s)
{
	const struct service_messages *m = s->setup.extras->messages;
	struct roster_row row = roster_row(ROSTER_MESSAGES, m->error, s->node->path, m->status);

	row.detail[0] = m->reloading_usec;
	roster_write(s->ctx->roster, &s->messages_place, &row);
	s->ctx->remarks++;
}

void service_take_messages(struct service *s, const struct roster_row *row)
{
	struct service_messages *m = s->setup.extras->messages;

	if (!m || !s->main.alive)
		return;
	(void)snprintf(m->status, sizeof(m->status), "%s", row->name);
	m->error = row->number;
	m->reloading_usec = MIN(row->detail[0], clock_now_usec());
	service_enter_messages(s);
}

/* READY=1 ends the reload; until then the service is as ready as before. */
static void service_apply_reloading(struct service *s, const struct notify_message *m)
{
	uint64_t now = clock_now_usec();

	/* MONOTONIC_USEC= is preferred: the reload began before its message. */
	s->setup.extras->messages->reloading_usec = m->flags & NOTIFY_MONOTONIC && m->monotonic_usec
							    ? MIN(m->monotonic_usec, now)
							    : now;
	service_enter_messages(s);
}

static void service_apply_ready(struct service *s, const struct notify_message *m)
{
	s->setup.extras->messages->reloading_usec = 0;
	service_enter_messages(s);
	if (s->setup.launch.config->ready.kind == PROBE_NOTIFY)
		service_post(s, EVENT_READY);
}

/* The service ends by itself: its stop-timeout begins, and it counts as not ready. */
static void service_apply_stopping(struct service *s, const struct notify_message *m)
{
	if (!s->setup.extras->messages->stopping)
		service_log(s, LOG_INFO, "stopping by itself");
	s->setup.extras->messages->stopping = true;
	s->setup.extras->messages->reloading_usec = 0;
	service_post(s, EVENT_ENDING);
}

static void service_apply_status(struct service *s, const struct notify_message *m)
{
	memcpy(s->setup.extras->messages->status, m->status,
	       sizeof(s->setup.extras->messages->status));
	service_enter_messages(s);
}

static void service_apply_error(struct service *s, const struct notify_message *m)
{
	s->setup.extras->messages->error = m->error;
	service_enter_messages(s);
}

/* Returns the time up to which the present timeout may be extended; 0 if it may not be. */
static uint64_t service_extension_limit(const struct service *s)
{
	bool starts = fsm_is_coming_up(s->state);
	uint64_t timeout = starts ? s->config->start_timeout_usec : s->config->stop_timeout_usec;

	if (!starts && s->state != STATE_ASKING && s->state != STATE_STOPPING &&
	    s->state != STATE_CLEANING)
		return 0;
	/* service_extend() observes the budget of a stop. */
	if (!starts && s->node->kill_usec != USEC_INFINITY)
		return USEC_INFINITY;
	if (timeout >= USEC_INFINITY / EXTENSIONS_MAX)
		return USEC_INFINITY;
	return clock_add(starts ? s->run.started_usec : s->ending.began_usec,
			 timeout * EXTENSIONS_MAX);
}

/* Extends the timeout; never shortens it. */
static void service_apply_extend(struct service *s, const struct notify_message *m)
{
	uint64_t end = MIN(clock_add(clock_now_usec(), m->extend_usec), service_extension_limit(s));

	if (!fsm_is_coming_up(s->state)) {
		service_extend(s, end);
		return;
	}
	if (s->timeout_usec == USEC_INFINITY || end <= s->timeout_usec)
		return;
	service_extend_start(s, end);
	service_update_roster(s);
}

static void service_apply_watchdog_usec(struct service *s, const struct notify_message *m)
{
	watchdog_set(s->watchdog, m->watchdog_usec);
	service_update_roster(s);
}

static void service_apply_watchdog(struct service *s, const struct notify_message *m)
{
	watchdog_ping(s->watchdog);
}

/* --- the store --- */

/* Returns true if a next run is to be expected. */
static bool service_comes_back(const struct service *s)
{
	if (s->state == STATE_DONE || s->state == STATE_FAILED)
		return node_goal(s->node) == GOAL_CYCLE;
	return s->state != STATE_DOWN || service_is_meant_to_run(s);
}

static void service_apply_store(struct service *s, const struct notify_message *m,
				struct unix_passed *passed)
{
	const char *name = m->flags & NOTIFY_FDNAME ? m->fdname : "stored";
	bool poll = !(m->flags & NOTIFY_FDPOLL_OFF);
	int r = s->setup.launch.activation ? 0 : -ENOBUFS;

	if (!service_comes_back(s)) {
		service_refuse_message("FDSTORE=1", "the service is stopped", s);
		return;
	}
	for (size_t i = 0; r >= 0 && i < passed->n; i++) {
		r = activation_store(s->setup.launch.activation, passed->fds[i], name, poll);
		if (r == 0)
			passed->fds[i] = -1;
	}
	if (r < 0)
		service_refuse_message("FDSTORE=1",
				       r == -ENOBUFS ? "fd-store-max is reached" : strerror(-r), s);
}

static void service_apply_remove(struct service *s, const struct notify_message *m)
{
	if (s->setup.launch.activation && (m->flags & NOTIFY_FDNAME))
		(void)fdstore_remove(activation_fdstore(s->setup.launch.activation), m->fdname);
}

/* --- guards --- */

_Static_assert(NOTIFY_GUARD_MAX <= LEASE_WHY_MAX, "a name is a reason");

/* The guard is held until all copies of the other end are closed, also beyond this run. */
static void service_apply_guard(struct service *s, const struct notify_message *m,
				const struct ucred *sender, struct unix_passed *passed)
{
	const struct lease_wish wish = {
		.peer = sender,
		.why = m->guard,
		.ttl_usec = USEC_INFINITY,
	};
	int r;

	if (!*m->guard) {
		service_refuse_message(
			"X_SWANSONG_GUARD",
			"invalid name: expected 1 to 200 bytes without control characters", s);
		return;
	}
	if (passed->n != 1 || (m->flags & NOTIFY_FDSTORE)) {
		service_refuse_message("X_SWANSONG_GUARD",
				       "expected exactly one descriptor, for the guard only", s);
		return;
	}
	r = lease_fd_new(s->node, &wish, passed->fds[0]);
	if (r == 0)
		passed->n = 0;
	else
		service_refuse_message("X_SWANSONG_GUARD", lease_fd_refusal(r), s);
}

/* --- the watchdog --- */

static void service_fail_by_watchdog(struct service *s)
{
	s->run.outcome.kind = OUTCOME_WATCHDOG;
	service_post(s, EVENT_UNWELL);
}

static void service_on_watchdog(void *arg)
{
	struct service *s = arg;
	uint64_t last_usec = s->watchdog->last_usec;
	char interval[CLOCK_TEXT_MAX];

	/* If the daemon itself is late, a keep-alive message is waiting in the socket. */
	if (s->setup.extras->notify)
		notify_drain(s->setup.extras->notify);
	if (s->state != STATE_UP)
		return;
	if (s->watchdog->last_usec != last_usec) {
		watchdog_start(s->watchdog);
		return;
	}
	service_log(s, LOG_WARNING, "watchdog: no keep-alive message within %s",
		    clock_text(interval, s->watchdog->interval_usec));
	service_fail_by_watchdog(s);
}

static void service_apply_trigger(struct service *s, const struct notify_message *m)
{
	if (s->state != STATE_STARTING && s->state != STATE_READYING && s->state != STATE_UP)
		return;
	service_log(s, LOG_WARNING, "watchdog: the service has reported its own failure");
	service_fail_by_watchdog(s);
}

/* --- the messages --- */

/* The order in which the lines of a message apply; that of the message has no effect. */
static const struct {
	enum notify_flag flag;
	void (*apply)(struct service *s, const struct notify_message *m);
} effects[] = {
	{ NOTIFY_MAINPID, service_apply_main },
	{ NOTIFY_STATUS, service_apply_status },
	{ NOTIFY_ERRNO, service_apply_error },
	{ NOTIFY_RELOADING, service_apply_reloading },
	{ NOTIFY_READY, service_apply_ready },
	{ NOTIFY_STOPPING, service_apply_stopping },
	{ NOTIFY_EXTEND, service_apply_extend },
	{ NOTIFY_WATCHDOG_USEC, service_apply_watchdog_usec },
	{ NOTIFY_WATCHDOG, service_apply_watchdog },
	{ NOTIFY_FDSTORE_REMOVE, service_apply_remove },
	{ NOTIFY_WATCHDOG_TRIGGER, service_apply_trigger },
};

static bool service_accepts_sender(const struct ucred *sender, void *arg)
{
	const struct service *s = arg;

	if (node_config_extras(s->setup.launch.config)->notify_access == NOTIFY_ACCESS_MAIN)
		return s->main.alive && sender->pid == s->main.pid;
	return service_has_member(s, sender->pid, sender->uid);
}

static void service_on_message(const struct notify_message *message, const struct ucred *sender,
			       struct unix_passed *passed, void *arg)
{
	struct service *s = arg;

	/* A barrier is a message of its own with one descriptor; closing that is the reply. */
	if (message->flags == NOTIFY_BARRIER && passed->n == 1)
		return;
	if (message->flags & NOTIFY_FDSTORE)
		service_apply_store(s, message, passed);
	if (message->flags & NOTIFY_GUARD)
		service_apply_guard(s, message, sender, passed);
	for (size_t i = 0; i < ARRAY_SIZE(effects); i++)
		if (message->flags & effects[i].flag)
			effects[i].apply(s, message);
	context_update_soon(s->ctx);
}

int service_notify_new(struct service *s, const struct node_config *config, struct notify **ret,
		       struct service_messages **ret_messages)
{
	const struct extras *extras = node_config_extras(config);
	uid_t owner = extras->notify_uid != (uid_t)-1 ? extras->notify_uid : user_of_config(config);
	const struct notify_listener listener = {
		.accepts = service_accepts_sender,
		.each = service_on_message,
		.refused = service_refuse_message,
		/* Only root can change its user. */
		.every_user = extras->notify_access != NOTIFY_ACCESS_USER && owner == 0,
		.node = s->node->path,
		.arg = s,
	};
	cleanup(freep) struct service_messages *messages = NULL;
	int r;

	if (!config->notify)
		return 0;
	messages = calloc(1, sizeof(*messages));
	if (!messages)
		return -ENOMEM;
	if (!s->watchdog) {
		s->watchdog = malloc(sizeof(*s->watchdog));
		if (!s->watchdog)
			return -ENOMEM;
		watchdog_init(s->watchdog, s->ctx, service_on_watchdog, s);
	}
	r = notify_new(ret, s->ctx, owner, &listener);
	if (r >= 0)
		*ret_messages = take(messages);
	return r;
}

void service_notify_begin(struct service *s)
{
	if (!s->setup.extras->messages)
		return;
	*s->setup.extras->messages = (struct service_messages){ .error = 0 };
	roster_write(s->ctx->roster, &s->messages_place, NULL);
	/* The interval is the configured one again, after a run that has set another one. */
	watchdog_set(s->watchdog, node_config_extras(s->config)->watchdog_usec);
}

void service_notify_update(struct service *s)
{
	if (s->watchdog && s->state == STATE_UP)
		watchdog_start(s->watchdog);
	else if (s->watchdog && s->watchdog->on)
		watchdog_stop(s->watchdog);
	service_notify_held(s);
}

void service_notify_held(struct service *s)
{
	bool is_end = node_root(s->node)->stop_usec;

	if (s->setup.launch.activation && !service_comes_back(s))
		fdstore_clear(activation_fdstore(s->setup.launch.activation));
	/* When nothing starts any more, clients are to be refused rather than to wait. */
	if (s->setup.launch.activation && is_end)
		activation_unlisten(s->setup.launch.activation);
	if (s->next_setup && s->next_setup->launch.activation && is_end)
		activation_unlisten(s->next_setup->launch.activation);
}
