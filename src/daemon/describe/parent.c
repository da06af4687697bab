/*
 * Once in each turn the present phase and status line are compared with those last sent.  A changed
 * phase is sent at once and repeated until the socket takes it; a changed status waits for its
 * interval.  Extensions have a timer, which stops when a shutdown makes no progress and starts
 * again with the next progress.
 */
#include "daemon/describe/parent.h"

#include <sys/un.h>

#include "daemon/service/parts.h"
#include "daemon/describe/describe.h"
#include "daemon/tree/converge.h"
#include "daemon/tree/deadline.h"

#define STATUS_EVERY_USEC (250 * USEC_PER_MSEC)
#define EXTEND_EVERY_USEC (5 * USEC_PER_SEC)
#define EXTEND_BY_USEC	  (15 * USEC_PER_SEC)
/* The daemon cannot meet a shorter interval. */
#define WATCHDOG_MIN_USEC (2 * USEC_PER_MSEC)

enum phase { PHASE_STARTING, PHASE_READY, PHASE_STOPPING, PHASE_COMPLETE };

struct parent {
	struct tree *tree;
	int fd; /* -1: no notifications */
	struct sockaddr_un address;
	socklen_t address_length;

	enum phase phase;
	char status[DESCRIBE_LINE_MAX]; /* as last sent */
	uint64_t status_usec;		/* time of that */
	const char *unsent;		/* lines of a phase that could not be sent; never NULL */
	struct alarm status_timer, extend_timer, watchdog_timer;
	uint64_t seen_changes; /* of the context, at the last extension */
	uint64_t watchdog_usec;
	bool watchdog_due;
};

DEFINE_CLEANUP(struct parent *, parent_free)

int parent_address_take(struct parent_address *ret)
{
	const char *socket = getenv("NOTIFY_SOCKET");
	const char *usec = getenv("WATCHDOG_USEC");
	const char *pid = getenv("WATCHDOG_PID");
	struct parent_address address = { .watchdog_usec = USEC_INFINITY,
					  .extends = getenv("INVOCATION_ID") };
	uint64_t value;

	if (socket && *socket) {
		address.socket = strdup(socket);
		if (!address.socket)
			return -ENOMEM;
	}
	if (usec && parse_uint(usec, USEC_INFINITY, &value) == 0 && value > 0) {
		address.watchdog_usec = value;
		if (pid && (parse_uint(pid, INT32_MAX, &value) < 0 || (pid_t)value != getpid()))
			address.watchdog_usec = USEC_INFINITY;
	}
	(void)unsetenv("NOTIFY_SOCKET");
	(void)unsetenv("WATCHDOG_USEC");
	(void)unsetenv("WATCHDOG_PID");
	*ret = address;
	return 0;
}

int parent_grace_parse(const char *text, uint64_t *ret_usec)
{
	uint64_t usec;

	if (parse_duration(text, &usec) < 0 || usec == 0)
		return -EINVAL;
	*ret_usec = usec;
	return 0;
}

int parent_grace_take(uint64_t option_usec, struct log *log, uint64_t *ret)
{
	static const char variable[] = "SWANSONG_GRACE";
	const char *text = getenv(variable);
	uint64_t usec = USEC_INFINITY;
	int r = text ? parent_grace_parse(text, &usec) : 0;

	if (r < 0)
		log_line(log, LOG_ERR, "%s: invalid value '%s': expected %s", variable, text,
			 PARENT_GRACE_EXPECTED);
	(void)unsetenv(variable);
	if (r == 0)
		*ret = option_usec ? option_usec : usec;
	return r;
}

/* Return: 0; -EAGAIN if the message must be sent again later; -errno if there is no receiver. */
static int parent_send_text(struct parent *p, const char *text)
{
	if (p->fd < 0)
		return 0;
	if (sendto(p->fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT,
		   (const struct sockaddr *)&p->address, p->address_length) >= 0)
		return 0;
	return errno == ENOBUFS || errno == ENOMEM || errno == EINTR ? -EAGAIN : -errno;
}

static void parent_arm(struct parent *p, struct alarm *timer, uint64_t usec)
{
	alarm_set(&p->tree->ctx->alarms, timer, usec);
}

/* Returns true if the end waits for work.  All other progress is counted in context.changes. */
static bool parent_is_progress_expected(const struct tree *tree)
{
	if (deadline_is_extended(tree->root))
		return true;
	for (const struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		const struct hook *final = final_hook(n), *alert = alert_hook(n);

		if (!list_is_empty(&n->leases) || (final && hook_is_running(final)) ||
		    (alert && hook_is_running(alert)))
			return true;
		if (n->service && fsm_has_process(n->service->state) &&
		    (n->service->state == STATE_DRAINING || service_running_hook(n->service, 0) ||
		     busy_guards(n->service) > 0))
			return true;
	}
	return false;
}

static void parent_time_extension(struct parent *p)
{
	p->seen_changes = p->tree->ctx->changes;
	parent_arm(p, &p->extend_timer, clock_now_usec() + EXTEND_EVERY_USEC);
}

static void parent_extend(struct parent *p)
{
	char text[64];

	/* A start always makes progress, or it would be over. */
	if (p->phase != PHASE_STARTING &&
	    (p->phase != PHASE_STOPPING ||
	     (!p->tree->ctx->held_usec && clock_now_usec() >= p->tree->root->deadline_usec) ||
	     (p->tree->ctx->changes == p->seen_changes && !parent_is_progress_expected(p->tree))))
		return;
	(void)snprintf(text, sizeof(text), "EXTEND_TIMEOUT_USEC=%" PRIu64,
		       (uint64_t)EXTEND_BY_USEC);
	(void)parent_send_text(p, text);
	parent_time_extension(p);
}

static void parent_on_extend(struct alarm *alarm)
{
	parent_extend(container_of(alarm, struct parent, extend_timer));
}

static void parent_on_watchdog(struct alarm *alarm)
{
	struct parent *p = container_of(alarm, struct parent, watchdog_timer);

	p->watchdog_due = true;
	context_update_soon(p->tree->ctx);
	parent_arm(p, &p->watchdog_timer, clock_now_usec() + p->watchdog_usec / 2);
}

static int parent_connect_address(struct parent *p, const char *socket_name)
{
	size_t length = strlen(socket_name);

	if ((socket_name[0] != '/' && socket_name[0] != '@') ||
	    length >= sizeof(p->address.sun_path))
		return -EINVAL;
	p->address.sun_family = AF_UNIX;
	memcpy(p->address.sun_path, socket_name, length + 1);
	p->address_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
	if (socket_name[0] == '@') {
		p->address.sun_path[0] = '\0';
		p->address_length--; /* an abstract name has no terminator */
	}
	p->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return p->fd < 0 ? -errno : 0;
}

int parent_new(struct parent **ret, struct tree *tree, struct parent_address *address)
{
	cleanup(parent_freep) struct parent *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	p->tree = tree;
	p->fd = -1;
	p->unsent = "";
	alarm_init(&p->status_timer, NULL);
	alarm_init(&p->extend_timer, parent_on_extend);
	alarm_init(&p->watchdog_timer, parent_on_watchdog);
	p->watchdog_usec = address->watchdog_usec;
	if (p->watchdog_usec < WATCHDOG_MIN_USEC)
		p->watchdog_usec = WATCHDOG_MIN_USEC;
	if (address->socket) {
		r = parent_connect_address(p, address->socket);
		if (r == -EINVAL)
			log_line(tree->ctx->log, LOG_WARNING,
				 "NOTIFY_SOCKET ignored: not a socket address: '%s'",
				 address->socket);
		if (r >= 0) {
			parent_time_extension(p);
			if (p->watchdog_usec != USEC_INFINITY)
				parent_arm(p, &p->watchdog_timer, 0);
			tree->ctx->parent_waits = address->extends;
		}
		if (r < 0 && r != -EINVAL)
			return r;
	}
	*ret = take(p);
	return 0;
}

struct parent *parent_free(struct parent *p)
{
	if (!p)
		return NULL;
	parent_arm(p, &p->status_timer, USEC_INFINITY);
	parent_arm(p, &p->extend_timer, USEC_INFINITY);
	parent_arm(p, &p->watchdog_timer, USEC_INFINITY);
	(void)fd_close(p->fd);
	return free_memory(p);
}

static void parent_send_with_status(struct parent *p, const char *state)
{
	char text[DESCRIBE_LINE_MAX + 256];
	int r;

	(void)snprintf(text, sizeof(text), "%sSTATUS=%s", state, p->status);
	p->status_usec = clock_now_usec();
	r = parent_send_text(p, text);
	p->unsent = r < 0 ? state : "";
	if (r == 0)
		return;
	p->status[0] = '\0';
	/*
	 * The socket is full: the timer sends again, the status of that time and the phase, which
	 * must not be lost.
	 */
	if (r == -EAGAIN)
		parent_arm(p, &p->status_timer, p->status_usec + STATUS_EVERY_USEC);
}

static enum phase parent_present_phase(const struct parent *p)
{
	const struct node *root = p->tree->root;

	if (root->complete)
		return PHASE_COMPLETE;
	if (node_is_stopped(root))
		return PHASE_STOPPING;
	if (p->phase == PHASE_STARTING && converge_is_starting(p->tree))
		return PHASE_STARTING;
	return PHASE_READY;
}

static const char *const phase_texts[] = {
	[PHASE_STARTING] = "",
	[PHASE_READY] = "READY=1\n",
	[PHASE_STOPPING] =
		"STOPPING=1\nX_SWANSONG_STATE=ShuttingDown\nEXTEND_TIMEOUT_USEC=15000000\n",
	/* A tree without work is Complete in the turn of its stop. */
	[PHASE_COMPLETE] = "STOPPING=1\nX_SWANSONG_STATE=Complete\n",
};

void parent_update(struct parent *p)
{
	char status[DESCRIBE_LINE_MAX];
	uint64_t now = clock_now_usec();
	enum phase phase;

	if (p->fd < 0)
		return;
	/* The keep-alive is sent at the end of a turn, which a daemon that hangs does not reach. */
	if (p->watchdog_due && parent_send_text(p, "WATCHDOG=1") == 0)
		p->watchdog_due = false;
	phase = parent_present_phase(p);
	describe_line(status, p->tree);
	if (phase != p->phase) {
		p->phase = phase;
		memcpy(p->status, status, sizeof(status));
		parent_send_with_status(p, phase_texts[phase]);
		if (phase == PHASE_STOPPING)
			parent_time_extension(p);
		return;
	}
	/* The shutdown makes progress again. */
	if (phase == PHASE_STOPPING && p->extend_timer.usec == USEC_INFINITY &&
	    p->tree->ctx->changes != p->seen_changes)
		parent_extend(p);
	if (strcmp(status, p->status) == 0)
		return;
	if (now - p->status_usec < STATUS_EVERY_USEC) {
		parent_arm(p, &p->status_timer, p->status_usec + STATUS_EVERY_USEC);
		return;
	}
	memcpy(p->status, status, sizeof(status));
	parent_send_with_status(p, p->unsent);
}

void parent_reloading(struct parent *p)
{
	char text[128];

	if (p->phase != PHASE_READY)
		return;
	(void)snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
		       clock_now_usec());
	(void)parent_send_text(p, text);
}

void parent_reloaded(struct parent *p, const char *status)
{
	if (p->phase != PHASE_READY)
		return;
	(void)snprintf(p->status, sizeof(p->status), "%s", status);
	parent_send_with_status(p, "READY=1\n");
}
