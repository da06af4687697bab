/*
 * The page has the number of guards at any time and costs the program nothing; the holder of its
 * lock is the attached program.  Places of guards come by message and on request only.  Requests,
 * messages and log lines are limited in number, as nothing is known about the program.
 */
#include "daemon/guard/attach.h"

#include "base/page.h"
#include "daemon/guard/attach-report.h"
#include "daemon/loop/closer.h"
#include "sys/ipc/pagefile.h"

/* Requests for a report are at least this far apart. */
#define ASK_EVERY_USEC (250 * USEC_PER_MSEC)
/* Limits the unanswered requests, so that the socket has room for the message of the stop. */
#define UNANSWERED_MAX 4
/* Limits the messages that are read in a period; the others wait in the socket until the next one. */
#define MESSAGES_EVERY_USEC (250 * USEC_PER_MSEC)
#define MESSAGES_MAX	    32
/* Limits the programs that are logged in a run. */
#define PROGRAMS_LOGGED 10

/* The process that has the lock, and the content of its messages. */
struct program {
	pid_t pid; /* 0: none */
	char command[64];
	uint64_t since_usec;
	bool complete; /* it was stopped and holds no guards any more */
	bool reported;
	struct attach_report report;
};

struct attach {
	struct node *node;
	struct list in_attached; /* of the context, during a run */

	/* The present run. */
	int page;			   /* -1: no run */
	int socket;			   /* -1: closed at the other end */
	unsigned page_place, socket_place; /* of their rows in the roster */
	sd_event_source *source;
	uint64_t id; /* of the program's guards, for users */
	bool stopped;
	unsigned logged;
	struct program program;
	sd_event_source *gone; /* watches its end; NULL also if that is impossible */

	uint64_t counted; /* share of this program in the counts of the nodes */

	bool asked; /* a requested report has not come */
	unsigned unanswered;
	uint64_t asked_usec;
};

int attach_new(struct attach **ret, struct node *node)
{
	struct attach *a = malloc(sizeof(*a));

	if (!a)
		return -ENOMEM;
	*a = (struct attach){
		.node = node,
		.page = -1,
		.socket = -1,
	};
	list_init(&a->in_attached);
	*ret = a;
	return 0;
}

struct attach *attach_free(struct attach *a)
{
	if (!a)
		return NULL;
	attach_end(a);
	return free_memory(a);
}

/* --- the attached program --- */

static pid_t attach_check_holder(struct attach *a);

/* Children of the program may keep the socket open, so its end must be noticed by its pidfd. */
static int attach_on_gone(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct attach *a = arg;

	(void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
	(void)attach_check_holder(a);
	node_guards_changed(a->node);
	return 0;
}

/* Returns the pid that has the lock now; if it has changed, forgets all about the one before. */
static pid_t attach_check_holder(struct attach *a)
{
	pid_t pid = a->socket < 0 ? 0 : pagefile_holder(a->page);
	struct program *p = &a->program;
	struct proc_info info;

	if (pid == p->pid)
		return pid;
	*p = (struct program){ .pid = pid, .since_usec = clock_now_usec() };
	a->unanswered = 0;
	a->gone = sd_event_source_disable_unref(a->gone);
	if (a->program.pid > 0)
		(void)context_watch_owned(a->node->ctx, &a->gone, proc_open(a->program.pid),
					  EPOLLIN, attach_on_gone, a);
	if (pid == 0)
		return 0;
	if (proc_read(pid, &info) == 0)
		memcpy(p->command, info.name, sizeof(p->command));
	if (a->logged++ < PROGRAMS_LOGGED)
		node_log(a->node, LOG_INFO, "pid %d (%s) is attached", (int)pid, p->command);
	return pid;
}

uint64_t attach_guards(struct attach *a)
{
	if (attach_check_holder(a) == 0 || a->program.complete)
		return 0;
	return pagefile_guards(a->page);
}

static void attach_set_count(struct attach *a, uint64_t guards)
{
	for (struct node *n = a->node; n; n = n->parent)
		n->program_guards += guards - a->counted;
	a->counted = guards;
}

void attach_count(struct node *top)
{
	struct attach *a;

	list_for_each (a, &top->ctx->guards.programs, in_attached)
		if (node_is_within(a->node, top))
			attach_set_count(a, attach_guards(a));
}

/* --- messages to the program --- */

static bool attach_send_message(struct attach *a, const char *text)
{
	return a->socket >= 0 &&
	       send(a->socket, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

static void attach_request_report(struct attach *a, uint64_t now)
{
	if (a->unanswered >= UNANSWERED_MAX || now - a->asked_usec < ASK_EVERY_USEC)
		return;
	if (!attach_send_message(a, "REPORT"))
		return;
	a->asked = true;
	a->asked_usec = now;
	a->unanswered++;
}

void attach_ask(struct node *top, uint64_t now)
{
	struct attach *a;

	list_for_each (a, &top->ctx->guards.programs, in_attached)
		if (node_is_within(a->node, top) && attach_guards(a) > 0)
			attach_request_report(a, now);
}

bool attach_is_awaited(struct node *top, uint64_t now)
{
	const struct attach *a;

	list_for_each (a, &top->ctx->guards.programs, in_attached)
		if (a->asked && a->program.pid > 0 && now - a->asked_usec < ATTACH_ANSWER_USEC &&
		    node_is_within(a->node, top))
			return true;
	return false;
}

void attach_stop(struct attach *a)
{
	int r;

	if (a->page < 0 || a->stopped)
		return;
	a->stopped = true;
	/*
	 * The page comes first: a program that has received the message must find the stop there.
	 */
	r = pagefile_stop(a->page);
	if (!attach_send_message(a, "STOP") || r < 0)
		node_log(a->node, LOG_DEBUG, "no attached program to notify of the stop");
	a->asked_usec = 0;
	attach_request_report(a, clock_now_usec());
}

/* --- messages from the program --- */

/* Only the process that has the lock is listened to, and a report that was not requested ignored. */
static void attach_receive_message(struct attach *a, const struct ucred *sender, const char *text,
				   size_t n)
{
	static const char report[] = "REPORT\n";
	size_t skip = sizeof(report) - 1;

	if (sender->pid == 0 || sender->pid != attach_check_holder(a))
		return;
	if (n == strlen("COMPLETE") && memcmp(text, "COMPLETE", n) == 0) {
		if (!a->stopped || a->program.complete)
			return;
		a->program.complete = true;
		node_guards_changed(a->node);
	} else if (n >= skip && memcmp(text, report, skip) == 0 && a->asked) {
		a->asked = false;
		a->unanswered = 0;
		context_update_soon(a->node->ctx);
		if (attach_report_parse(text + skip, n - skip, &a->program.report) == 0)
			a->program.reported = true;
	}
	/* ATTACHED needs no action: attach_check_holder() has noticed the program. */
}

static void attach_discard_socket(struct attach *a)
{
	if (a->socket >= 0)
		closer_discard(a->node->ctx, a->node->path, &a->socket, 1);
	a->socket = -1;
}

static void attach_close_socket(struct attach *a)
{
	a->source = sd_event_source_disable_unref(a->source);
	roster_write(a->node->ctx->roster, &a->socket_place, NULL);
	attach_discard_socket(a);
	node_guards_changed(a->node);
}

/* A turn reads one message, so that all other events get theirs. */
static int attach_on_readable(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct attach *a = arg;
	struct ucred sender = { 0 };
	char text[PAGE_MESSAGE_MAX];
	ssize_t n = unix_receive(fd, text, sizeof(text), &sender);

	if (n > 0) {
		attach_receive_message(a, &sender, text, (size_t)n);
	} else if (n == -EPROTO || (n == 0 && sender.pid == 0) ||
		   (n == -EAGAIN && (events & EPOLLHUP))) {
		/* A program that uses the library sends no descriptors; an empty message has a sender. */
		attach_close_socket(a);
	}
	return 0;
}

/* --- runs --- */

static int attach_watch_socket(struct attach *a)
{
	int r = sd_event_add_io(a->node->ctx->event, &a->source, a->socket, EPOLLIN,
				attach_on_readable, a);

	return r < 0 ? r
		     : sd_event_source_set_ratelimit(a->source, MESSAGES_EVERY_USEC, MESSAGES_MAX);
}

static int attach_make_sockets(struct attach *a, int *socket)
{
	const int type = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;
	int sockets[2], r;

	a->page = pagefile_new();
	if (a->page < 0)
		return a->page;
	if (socketpair(AF_UNIX, type, 0, sockets) < 0)
		return -errno;
	a->socket = sockets[0];
	*socket = sockets[1];
	unix_refuse_descriptors(a->socket);
	r = unix_pass_credentials(a->socket);
	return r < 0 ? r : attach_watch_socket(a);
}

/* Returns the name of a row in @name. */
static const char *attach_row(const struct attach *a, const char *what,
			      char name[static ROSTER_NAME_MAX])
{
	(void)snprintf(name, ROSTER_NAME_MAX, "%s%s", what, a->node->path);
	return name;
}

void attach_enter_rows(struct attach *a)
{
	struct roster *roster = a->node->ctx->roster;
	char name[ROSTER_NAME_MAX];

	if (a->page >= 0)
		roster_enter_descriptor(roster, &a->page_place, a->page, 0,
					attach_row(a, ROSTER_PAGE, name));
	if (a->socket >= 0)
		roster_enter_descriptor(roster, &a->socket_place, a->socket, 0,
					attach_row(a, ROSTER_ATTACHED, name));
}

static void attach_enter(struct attach *a)
{
	a->id = ++a->node->ctx->last_id;
	list_append(&a->node->ctx->guards.programs, &a->in_attached);
	attach_enter_rows(a);
}

bool attach_take_former(struct attach *a)
{
	struct roster *roster = a->node->ctx->roster;
	char name[ROSTER_NAME_MAX];

	attach_end(a);
	a->page = roster_take_descriptor(roster, attach_row(a, ROSTER_PAGE, name), NULL);
	if (a->page < 0)
		return false;
	a->socket = roster_take_descriptor(roster, attach_row(a, ROSTER_ATTACHED, name), NULL);
	if (a->socket >= 0 && attach_watch_socket(a) < 0)
		attach_close_socket(a);
	attach_enter(a);
	node_guards_changed(a->node);
	return true;
}

int attach_begin(struct attach *a, struct handover handover[static ATTACH_HANDOVER], int *socket)
{
	int r;

	attach_end(a);
	r = attach_make_sockets(a, socket);
	if (r < 0) {
		attach_end(a);
		return r;
	}
	attach_enter(a);
	handover[0] = (struct handover){ .variable = PAGE_VARIABLE, .fd = a->page };
	handover[1] = (struct handover){ .variable = PAGE_VARIABLE, .fd = *socket };
	return 0;
}

void attach_end(struct attach *a)
{
	attach_set_count(a, 0);
	list_remove(&a->in_attached);
	a->source = sd_event_source_disable_unref(a->source);
	roster_write(a->node->ctx->roster, &a->socket_place, NULL);
	roster_write(a->node->ctx->roster, &a->page_place, NULL);
	attach_discard_socket(a);
	a->page = fd_close(a->page);
	a->gone = sd_event_source_disable_unref(a->gone);
	a->program = (struct program){ .pid = 0 };
	a->stopped = a->asked = false;
	a->logged = a->unanswered = 0;
	a->asked_usec = 0;
}

/* --- status --- */

bool attach_view(struct attach *a, uint64_t now, struct attach_view *ret)
{
	uint64_t guards = attach_guards(a), since;
	const struct program *p = &a->program;

	if (guards == 0)
		return false;
	/* A program that this call was the first to notice has a later time than @now. */
	since = p->reported ? p->report.oldest_usec : p->since_usec;
	*ret = (struct attach_view){
		.id = a->id,
		.pid = p->pid,
		.command = *p->command ? p->command : NULL,
		.guards = guards,
		.why = p->reported && *p->report.why ? p->report.why : NULL,
		.age_usec = now - MIN(since, now),
	};
	attach_request_report(a, now);
	return true;
}
