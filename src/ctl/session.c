#include "ctl/session.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/signalfd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"
#include "proto/address.h"

/* For what takes the daemon no time: that long without an answer, it hangs. */
#define ANSWER_USEC (25 * USEC_PER_SEC)

/* How long until a daemon that is to come is looked for again. */
#define CONNECT_AGAIN_MSEC 50

static int open_interrupt(void)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &mask, NULL);
	return signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
}

void ctl_init(struct ctl *ctl, const struct options *options, bool waits)
{
	uint64_t patience = waits ? USEC_INFINITY : ANSWER_USEC;

	*ctl = (struct ctl){ .options = *options,
			     .start_usec = clock_now_usec(),
			     .interrupt_fd = -1 };
	if (options->timeout_usec != USEC_INFINITY)
		patience = options->timeout_usec;
	ctl->deadline_usec = clock_add(ctl->start_usec, patience);
	screen_init(&ctl->out, stdout);
	log_init(&ctl->log, "swansongctl", LOG_INFO);
	if (waits)
		ctl->interrupt_fd = open_interrupt();
}

void ctl_done(struct ctl *ctl)
{
	ctl->client = client_free(ctl->client);
	ctl->interrupt_fd = fd_close(ctl->interrupt_fd);
	free(ctl->path);
	ctl->path = NULL;
}

void ctl_say(struct ctl *ctl, const char *format, ...)
{
	va_list ap;

	if (ctl->options.quiet || ctl->options.json)
		return;
	va_start(ap, format);
	(void)vfprintf(ctl->out.file, format, ap);
	va_end(ap);
	(void)fflush(ctl->out.file);
}

void ctl_complain(const char *text)
{
	size_t size = strlen(text) * 4 + 1;
	cleanup(freep) char *line = malloc(size);

	fprintf(stderr, "%s\n", line ? text_escape(line, size, text) : strerror(ENOMEM));
}

int ctl_print_json(struct ctl *ctl, const json_t *value)
{
	cleanup(freep) char *text = json_dumps(value, JSON_COMPACT);

	if (!text)
		return ctl_fail(ctl, -ENOMEM);
	fprintf(ctl->out.file, "%s\n", text);
	(void)fflush(ctl->out.file);
	return CTL_DONE;
}

const char *node_name(const char *path)
{
	return *path ? path : "root";
}

/* How to come back to what goes on. */
static void say_ongoing(struct ctl *ctl, const char *why)
{
	const struct ongoing *o = &ctl->ongoing;

	if (o->what)
		log_line(&ctl->log, LOG_NOTICE,
			 "%s: %s of %s continues; see: swansongctl wait --for %s %s", why, o->what,
			 node_name(o->node), o->until, *o->node ? o->node : "/");
	else
		log_line(&ctl->log, LOG_ERR, "%s", why);
}

static int fail_timed_out(struct ctl *ctl)
{
	char elapsed[CLOCK_TEXT_MAX], why[CLOCK_TEXT_MAX + 16];

	(void)snprintf(why, sizeof(why), "timed out after %s",
		       clock_text(elapsed, clock_now_usec() - ctl->start_usec));
	say_ongoing(ctl, why);
	return CTL_TIMED_OUT;
}

int ctl_fail(struct ctl *ctl, int r)
{
	switch (r) {
	case -ETIMEDOUT:
		return fail_timed_out(ctl);
	case -EINTR:
		say_ongoing(ctl, "interrupted");
		return CTL_INTERRUPTED;
	case -ENOBUFS:
		log_line(&ctl->log, LOG_ERR,
			 "that is too long for the daemon, allowed are %d bytes in all",
			 MESSAGE_CALL_MAX);
		return CTL_FAILED;
	case -ECONNRESET:
	case -EPIPE:
		log_line(&ctl->log, LOG_ERR, "the daemon has closed the connection");
		return CTL_FAILED;
	case -EBADMSG:
	case -EMSGSIZE:
		log_line(&ctl->log, LOG_ERR,
			 "what %s says is not the protocol of a Swansong daemon", ctl->path);
		return CTL_FAILED;
	}
	log_line(&ctl->log, LOG_ERR, "%s", strerror(-r));
	return CTL_FAILED;
}

static int fail_connect(struct ctl *ctl, int r)
{
	switch (r) {
	case -EACCES:
	case -EPERM:
		log_line(&ctl->log, LOG_ERR, "%s: not permitted to talk to the daemon", ctl->path);
		return CTL_DENIED;
	case -ETIMEDOUT:
	case -EINTR:
		return ctl_fail(ctl, r);
	}
	log_line(&ctl->log, LOG_ERR, "the daemon is not running: %s: %s", ctl->path, strerror(-r));
	return CTL_NO_DAEMON;
}

static bool is_absent(int r)
{
	return r == -ENOENT || r == -ECONNREFUSED;
}

/* Return: as client_connect(). */
static int await_daemon(struct ctl *ctl, int r)
{
	struct pollfd interrupt = { .fd = ctl->interrupt_fd, .events = POLLIN };
	int again;

	while (is_absent(r) && clock_now_usec() < ctl->deadline_usec) {
		if (poll(&interrupt, 1, CONNECT_AGAIN_MSEC) > 0)
			return -EINTR;
		again = client_connect(&ctl->client, ctl->path, ctl->deadline_usec);
		/* That it is not there says more than that there was no more time. */
		if (again == -ETIMEDOUT)
			return r;
		r = again;
	}
	return r;
}

int session_open(struct ctl *ctl)
{
	int r;

	if (ctl->client)
		return CTL_DONE;
	r = address_find(ctl->options.socket, &ctl->path);
	if (r == -ENXIO) {
		log_line(
			&ctl->log, LOG_ERR,
			"where is the daemon? neither --socket, $SWANSONG_SOCKET nor $XDG_RUNTIME_DIR is there");
		return CTL_NO_DAEMON;
	}
	if (r < 0)
		return ctl_fail(ctl, r);
	r = client_connect(&ctl->client, ctl->path, ctl->deadline_usec);
	if (is_absent(r) && ctl->awaits_daemon)
		r = await_daemon(ctl, r);
	if (r < 0)
		return fail_connect(ctl, r);
	client_set_interrupt(ctl->client, ctl->interrupt_fd);
	return CTL_DONE;
}

int session_send(struct ctl *ctl, enum interface_method method, json_t *parameters, unsigned flags)
{
	int r = client_call(ctl->client, interface_method_name(method), parameters, flags,
			    ctl->deadline_usec);

	return r < 0 ? ctl_fail(ctl, r) : CTL_DONE;
}

/* Not of io.swansong: of varlink itself, so that one of us is older than the other. */
static int refused_by_varlink(struct ctl *ctl, const struct message_reply *reply)
{
	log_line(&ctl->log, LOG_ERR, "the daemon does not understand this: %s", reply->error);
	return CTL_FAILED;
}

/* A reload's reason is all that is wrong with the files, a line each. */
static void say_failed(struct ctl *ctl, const char *node, const char *reason)
{
	cleanup(freep) char *copy = strdup(reason);
	char *rest = copy, *line;

	if (!copy || !strchr(reason, '\n')) {
		log_line(&ctl->log, LOG_ERR, "%s: %s", node_name(node), reason);
		return;
	}
	log_line(&ctl->log, LOG_ERR, "%s: refused, nothing has changed:", node_name(node));
	while ((line = strtok_r(rest, "\n", &rest)))
		ctl_complain(line);
}

int session_refused(struct ctl *ctl, const struct message_reply *reply)
{
	const char *node = message_get_string(reply->parameters, "node", "");
	const char *reason = message_get_string(reply->parameters, "reason", "no reason was given");
	enum interface_error error;

	if (ctl->options.json)
		(void)ctl_print_json(ctl, reply->root);
	if (interface_error_find(reply->error, &error) < 0)
		return refused_by_varlink(ctl, reply);
	switch (error) {
	case ERROR_NO_SUCH_NODE:
		log_line(&ctl->log, LOG_ERR, "%s: no such node", node_name(node));
		return CTL_NO_NODE;
	case ERROR_NODE_STOPPED:
		log_line(&ctl->log, LOG_ERR, "%s: stopped: nothing is started or guarded on it",
			 node_name(node));
		return CTL_STOPPED;
	case ERROR_NOT_PERMITTED:
		log_line(&ctl->log, LOG_ERR, "not permitted: %s", reason);
		return CTL_DENIED;
	case ERROR_FAILED:
		say_failed(ctl, node, reason);
		return CTL_FAILED;
	case ERROR_TOO_MANY:
		log_line(&ctl->log, LOG_ERR, "too many: %s", reason);
		return CTL_FAILED;
	case N_ERRORS:
		break;
	}
	return CTL_FAILED;
}

static int receive(struct ctl *ctl, struct message_reply *ret)
{
	int r = client_receive(ctl->client, ctl->deadline_usec, ret);

	return r < 0 ? ctl_fail(ctl, r) : CTL_DONE;
}

static int refuse_error(struct ctl *ctl, struct message_reply *reply)
{
	int r;

	if (!reply->error)
		return CTL_DONE;
	r = session_refused(ctl, reply);
	message_reply_done(reply);
	return r;
}

int session_receive(struct ctl *ctl, struct message_reply *ret)
{
	int r = receive(ctl, ret);

	return r == CTL_DONE ? refuse_error(ctl, ret) : r;
}

int session_ask(struct ctl *ctl, enum interface_method method, json_t *parameters,
		struct message_reply *ret)
{
	int r = session_open(ctl);

	if (r != CTL_DONE) {
		json_decref(parameters);
		return r;
	}
	r = session_send(ctl, method, parameters, 0);
	return r == CTL_DONE ? receive(ctl, ret) : r;
}

int session_call(struct ctl *ctl, enum interface_method method, json_t *parameters,
		 struct message_reply *ret)
{
	int r = session_ask(ctl, method, parameters, ret);

	return r == CTL_DONE ? refuse_error(ctl, ret) : r;
}

int session_do(struct ctl *ctl, enum interface_method method, json_t *parameters)
{
	struct message_reply reply;
	int r = session_call(ctl, method, parameters, &reply);

	if (r == CTL_DONE)
		message_reply_done(&reply);
	return r;
}

int session_finish(struct ctl *ctl, int r)
{
	cleanup(json_decrefp) json_t *nothing = json_object();

	return r == CTL_DONE && ctl->options.json ? ctl_print_json(ctl, nothing) : r;
}
