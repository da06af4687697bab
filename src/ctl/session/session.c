/*
 * A run has one connection, which its first call opens.  Each fault becomes one message on
 * standard error and an exit status; a refusal of the daemon becomes a message by the table of
 * errors.  After a timeout the request goes on, and the command prints
 * the command to wait for it again.
 */
#include "ctl/session/session.h"

#include <sys/signalfd.h>

#include "proto/address.h"

/* A daemon that needs longer for a simple request hangs. */
#define ANSWER_USEC (25 * USEC_PER_SEC)

/* The time between two attempts to connect to a daemon that starts. */
#define CONNECT_AGAIN_MSEC 50

void ctl_init(struct ctl *ctl, const char *command, const struct options *options, bool waits)
{
	uint64_t patience = waits ? USEC_INFINITY : ANSWER_USEC;

	*ctl = (struct ctl){ .command = command,
			     .options = *options,
			     .start_usec = clock_now_usec(),
			     .interrupt_fd = -1 };
	if (options->timeout_usec != USEC_INFINITY) {
		patience = options->timeout_usec;
		/* The daemon may have been started just now.  Without a limit it may never come. */
		ctl->awaits_daemon = options->until && (strcmp(options->until, "ready") == 0 ||
							strcmp(options->until, "running") == 0);
	}
	ctl->deadline_usec = clock_add(ctl->start_usec, patience);
	screen_init(&ctl->out, stdout);
	log_init(&ctl->log, "swansongctl", LOG_INFO);
	if (waits) {
		sigset_t mask;

		sigemptyset(&mask);
		sigaddset(&mask, SIGINT);
		(void)sigprocmask(SIG_BLOCK, &mask, NULL);
		ctl->interrupt_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	}
}

void ctl_done(struct ctl *ctl)
{
	ctl->client = client_free(ctl->client);
	ctl->interrupt_fd = fd_close(ctl->interrupt_fd);
	ctl->path = free_memory(ctl->path);
}

static void session_print_escaped(FILE *file, const char *text)
{
	size_t size = strlen(text) * 4 + 1;
	cleanup(freep) char *line = malloc(size);

	fprintf(file, "%s\n", line ? text_escape(line, size, text) : strerror(ENOMEM));
	(void)fflush(file);
}

void ctl_print(struct ctl *ctl, const char *format, ...)
{
	cleanup(freep) char *text = NULL;
	va_list ap;

	if (ctl->options.quiet || ctl->options.json)
		return;
	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	session_print_escaped(ctl->out.file, text ? text : strerror(ENOMEM));
}

void ctl_print_error(const char *text)
{
	session_print_escaped(stderr, text);
}

char *ctl_json_text(const struct ctl *ctl, const json_t *value)
{
	return json_dumps(value, JSON_COMPACT | (ctl->out.tty ? JSON_ENSURE_ASCII : 0));
}

int ctl_print_json(struct ctl *ctl, const json_t *value)
{
	cleanup(freep) char *text = ctl_json_text(ctl, value);

	if (!text)
		return ctl_fail(ctl, -ENOMEM);
	fprintf(ctl->out.file, "%s\n", text);
	(void)fflush(ctl->out.file);
	return CTL_DONE;
}

int ctl_print_table(struct ctl *ctl, struct table *table)
{
	int r = ctl->options.quiet || ctl->options.json ? 0 : table_print(table, &ctl->out);

	return r < 0 ? ctl_fail(ctl, r) : CTL_DONE;
}

const char *node_name(const char *path)
{
	return *path ? path : "root";
}

/* Prints how to wait for the work again. */
static void session_print_ongoing(struct ctl *ctl, const char *why)
{
	const struct ongoing *o = &ctl->ongoing;

	if (o->what && !o->until)
		log_line(&ctl->log, LOG_NOTICE, "%s: the %s continues; see: swansongctl %s", why,
			 o->what, o->what);
	else if (o->what)
		log_line(&ctl->log, LOG_NOTICE,
			 "%s: %s of %s continues; see: swansongctl wait --for %s %s", why, o->what,
			 node_name(o->node), o->until, *o->node ? o->node : "/");
	else
		log_line(&ctl->log, LOG_ERR, "%s", why);
}

int ctl_fail(struct ctl *ctl, int r)
{
	char elapsed[CLOCK_TEXT_MAX], why[CLOCK_TEXT_MAX + 16];

	switch (r) {
	case -ETIMEDOUT:
		(void)snprintf(why, sizeof(why), "timed out after %s",
			       clock_text(elapsed, clock_now_usec() - ctl->start_usec));
		session_print_ongoing(ctl, why);
		return CTL_TIMED_OUT;
	case -EINTR:
		session_print_ongoing(ctl, "interrupted");
		return CTL_INTERRUPTED;
	case -ENOBUFS:
		return ctl_refuse(ctl, CTL_FAILED,
				  "the request is too long: the daemon takes %d bytes in all",
				  MESSAGE_CALL_MAX);
	case -EPIPE:
		/* Ends the program as a write to the closed pipe would. */
		(void)raise(SIGPIPE);
		return CTL_FAILED;
	case -ECONNRESET:
		return ctl_refuse(ctl, CTL_FAILED, "the daemon has closed the connection");
	case -EBADMSG:
	case -EMSGSIZE:
		return ctl_refuse(ctl, CTL_FAILED, "%s: not the protocol of a Swansong daemon",
				  ctl->path);
	}
	return ctl_refuse(ctl, CTL_FAILED, "%s", strerror(-r));
}

static int session_fail_connect(struct ctl *ctl, int r)
{
	const char *root = address_of_root(ctl->options.socket);

	switch (r) {
	case -EACCES:
	case -EPERM:
		return ctl_refuse(ctl, CTL_DENIED, "%s: not permitted to talk to the daemon",
				  ctl->path);
	case -ETIMEDOUT:
	case -EINTR:
	case -ENOMEM:
		return ctl_fail(ctl, r);
	}
	return ctl_refuse(ctl, CTL_NO_DAEMON, "the daemon is not running: %s: %s%s%s", ctl->path,
			  strerror(-r), root ? "; nor that of root: " : "", root ? root : "");
}

static bool session_is_absent(int r)
{
	return r == -ENOENT || r == -ECONNREFUSED;
}

/*
 * Connects to the daemon at @path, or else to that of root, of which the path is then in *path.
 * Return: as client_connect().
 */
static int session_connect(struct ctl *ctl, struct client **client, char **path)
{
	const char *root = address_of_root(ctl->options.socket);
	int r = client_connect(client, *path, ctl->deadline_usec), other;
	char *copy;

	if (!root || !session_is_absent(r))
		return r;
	other = client_connect(client, root, ctl->deadline_usec);
	if (session_is_absent(other))
		return r;
	copy = strdup(root);
	if (!copy)
		return -ENOMEM;
	free(*path);
	*path = copy;
	return other;
}

/* Return: as client_connect(). */
static int session_await_daemon(struct ctl *ctl, int r)
{
	struct pollfd interrupt = { .fd = ctl->interrupt_fd, .events = POLLIN };
	int again;

	while (session_is_absent(r) && clock_now_usec() < ctl->deadline_usec) {
		if (poll(&interrupt, 1, CONNECT_AGAIN_MSEC) > 0)
			return -EINTR;
		again = session_connect(ctl, &ctl->client, &ctl->path);
		/* A missing daemon is a better message than a timeout. */
		if (again == -ETIMEDOUT)
			return r;
		r = again;
	}
	return r;
}

bool session_has_daemon(struct ctl *ctl)
{
	cleanup(client_freep) struct client *client = NULL;
	cleanup(freep) char *path = NULL;

	if (ctl->client)
		return true;
	if (address_find(ctl->options.socket, &path) < 0)
		return false;
	/* Any other error is logged by session_open(). */
	return !session_is_absent(session_connect(ctl, &client, &path));
}

int session_open(struct ctl *ctl)
{
	int r;

	if (ctl->client)
		return CTL_DONE;
	/* The path of an earlier connection, which another owner, such as a guard, has now. */
	ctl->path = free_memory(ctl->path);
	r = address_find(ctl->options.socket, &ctl->path);
	if (r < 0)
		return ctl_fail(ctl, r);
	if (address_check(ctl->path) == -EPERM)
		return ctl_refuse(
			ctl, CTL_DENIED,
			"%s: socket ignored: its directory must belong to this user alone",
			ctl->path);
	r = session_connect(ctl, &ctl->client, &ctl->path);
	if (session_is_absent(r) && ctl->awaits_daemon)
		r = session_await_daemon(ctl, r);
	if (r < 0)
		return session_fail_connect(ctl, r);
	client_set_interrupt(ctl->client, ctl->interrupt_fd);
	return CTL_DONE;
}

int session_send(struct ctl *ctl, enum interface_method method, json_t *parameters, unsigned flags)
{
	int r = session_open(ctl);

	if (r != CTL_DONE) {
		json_decref(parameters);
		return r;
	}
	r = client_call(ctl->client, interface_method_name(method), parameters, flags,
			ctl->deadline_usec);
	return r < 0 ? ctl_fail(ctl, r) : CTL_DONE;
}

/* The reason of a refused reload is a line for each error in the files. */
static void session_print_failed(struct ctl *ctl, const char *node, const char *reason)
{
	cleanup(freep) char *copy = strdup(reason);
	char *rest = copy, *line;

	if (!copy || !strchr(reason, '\n')) {
		log_line(&ctl->log, LOG_ERR, "%s: %s", node_name(node), reason);
		return;
	}
	log_line(&ctl->log, LOG_ERR, "%s: refused, nothing has changed:", node_name(node));
	while ((line = strtok_r(rest, "\n", &rest)))
		ctl_print_error(line);
}

/* The message of each error: "SUBJECT: REASON". */
static const struct {
	int status;
	const char *what; /* NULL: the node */
	const char *why;  /* NULL: the reason */
} refusals[N_ERRORS] = {
	[ERROR_NO_SUCH_NODE] = { CTL_NO_NODE, NULL, "no such node" },
	[ERROR_NODE_STOPPED] = { CTL_STOPPED, NULL,
				 "stopped: nothing is started or guarded on it" },
	[ERROR_NOT_PERMITTED] = { CTL_DENIED, "not permitted", NULL },
	[ERROR_FAILED] = { CTL_FAILED, NULL, NULL },
	[ERROR_TOO_MANY] = { CTL_FAILED, "too many", NULL },
};

/* "ngin: no such node; did you mean web/nginx?" */
static void session_print_unknown(struct ctl *ctl, const char *node, const json_t *similar)
{
	cleanup(freep) char *text = NULL;
	struct memstream m;
	const json_t *path;
	size_t i;

	if (memstream_open(&m) < 0)
		return;
	json_array_foreach (similar, i, path)
		(void)fprintf(m.file, "%s%s", i == 0 ? "; did you mean " : ", or ",
			      json_string_value(path) ? json_string_value(path) : "-");
	if (json_array_size(similar) > 0)
		(void)fputc('?', m.file);
	if (memstream_close(&m, &text) == 0)
		log_line(&ctl->log, LOG_ERR, "%s: no such node%s", node_name(node), text);
}

int session_refused(struct ctl *ctl, const struct message_reply *reply)
{
	const char *node = message_get_text(reply->parameters, "node");
	const char *reason = message_get_string(reply->parameters, "reason", "no reason was given");
	enum interface_error error;

	if (ctl->options.json)
		(void)ctl_print_json(ctl, reply->root);
	/* An error of varlink itself: program and daemon are of different versions. */
	if (interface_error_find(reply->error, &error) < 0)
		return ctl_refuse(
			ctl, CTL_FAILED,
			"the daemon refused the call: %s: swansongctl and swansongd may have different versions",
			reply->error);
	if (error == ERROR_FAILED)
		session_print_failed(ctl, node, reason);
	else if (error == ERROR_NO_SUCH_NODE)
		session_print_unknown(ctl, node, json_object_get(reply->parameters, "similar"));
	else
		log_line(&ctl->log, LOG_ERR, "%s: %s",
			 refusals[error].what ? refusals[error].what : node_name(node),
			 refusals[error].why ? refusals[error].why : reason);
	return refusals[error].status;
}

static int session_receive_reply(struct ctl *ctl, struct message_reply *ret)
{
	int r = client_receive(ctl->client, ctl->deadline_usec, ret);

	return r < 0 ? ctl_fail(ctl, r) : CTL_DONE;
}

static int session_refuse_error(struct ctl *ctl, int r, struct message_reply *reply)
{
	if (r != CTL_DONE || !reply->error)
		return r;
	r = session_refused(ctl, reply);
	message_reply_done(reply);
	return r;
}

int session_receive(struct ctl *ctl, struct message_reply *ret)
{
	return session_refuse_error(ctl, session_receive_reply(ctl, ret), ret);
}

int session_ask(struct ctl *ctl, enum interface_method method, json_t *parameters,
		struct message_reply *ret)
{
	int r = session_send(ctl, method, parameters, 0);

	return r == CTL_DONE ? session_receive_reply(ctl, ret) : r;
}

int session_call(struct ctl *ctl, enum interface_method method, json_t *parameters,
		 struct message_reply *ret)
{
	return session_refuse_error(ctl, session_ask(ctl, method, parameters, ret), ret);
}

int session_show(struct ctl *ctl, enum interface_method method, json_t *parameters,
		 struct message_reply *ret)
{
	int r = session_call(ctl, method, parameters, ret);

	return r == CTL_DONE && ctl->options.json ? ctl_print_json(ctl, ret->parameters) : r;
}

int session_do(struct ctl *ctl, enum interface_method method, json_t *parameters)
{
	cleanup(message_reply_done) struct message_reply reply = {};

	return session_call(ctl, method, parameters, &reply);
}

int session_do_nodes(struct ctl *ctl, enum interface_method method, char **paths, json_t *more,
		     const char *done)
{
	int r = CTL_DONE;

	for (; r == CTL_DONE && *paths; paths++) {
		json_t *parameters = json_pack("{s:s}", "node", *paths);

		(void)json_object_update(parameters, more);
		r = session_do(ctl, method, parameters);
		if (r == CTL_DONE && done)
			ctl_print(ctl, "%s: %s", node_name(*paths), done);
	}
	json_decref(more);
	return session_finish(ctl, r);
}

int session_finish(struct ctl *ctl, int r)
{
	cleanup(json_decrefp) json_t *nothing = json_object();

	return r == CTL_DONE && ctl->options.json ? ctl_print_json(ctl, nothing) : r;
}
