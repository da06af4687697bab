#include "ctl/commands/cmd.h"

/*
 * Holds guards while a command runs.  Each guard has a connection of its own, on which the daemon reports its
 * loss.  The guards are released when this process ends, so it must outlive the command.
 */

#include "ctl/session/runner.h"

struct held {
	struct client *client; /* NULL: it is lost */
	const char *path;
};

struct holder {
	struct ctl *ctl;
	struct runner runner;
	const char *command;
	struct held *held;
	struct pollfd *fds; /* of the signals, and of each guard */
	size_t n;
	bool stopping; /* the command has had its signal */
	bool gone;     /* the daemon has gone, and that was logged */
};

static int guard_acquire(struct holder *h, const char *path)
{
	struct ctl *ctl = h->ctl;
	const struct options *o = &ctl->options;
	struct message_reply reply;
	int r = session_open(ctl);

	if (r != CTL_DONE)
		return r;
	/* A signal ends this loop as long as there is no command to pass it on to. */
	client_set_interrupt(ctl->client, h->runner.signal_fd);
	r = session_send(ctl, METHOD_TAKE_GUARD,
			 json_pack("{s:s, s:b, s:o*, s:o*, s:o*}", "node", path, "late", o->late,
				   "why", o->why ? message_string(o->why) : NULL, "ttl_usec",
				   message_number(o->ttl_usec), "using",
				   o->using ? json_true() : NULL),
			 MESSAGE_MORE);
	if (r == CTL_DONE)
		r = session_receive(ctl, &reply);
	if (r != CTL_DONE)
		return r;
	message_reply_done(&reply);
	h->held[h->n++] = (struct held){ .client = take(ctl->client), .path = path };
	return CTL_DONE;
}

static void guard_process_reply(struct holder *h, struct held *held,
				const struct message_reply *reply)
{
	const char *lost = message_get_string(reply->parameters, "lost", NULL);

	if (message_get_bool(reply->parameters, "stopping", false)) {
		/* The first stop of the guarded nodes sends the signal. */
		if (!h->stopping && h->ctl->options.on_shutdown)
			runner_kill(&h->runner, h->ctl->options.on_shutdown);
		h->stopping = true;
	}
	if (lost) {
		log_line(&h->ctl->log, LOG_WARNING, "%s: the guard %s; %s goes on",
			 node_name(held->path),
			 strcmp(lost, "expired") == 0
				 ? "has expired"
				 : "was revoked, as the time to shut down is spent",
			 h->command);
		held->client = client_free(held->client);
	}
}

/* Reads the replies that have come. */
static void guard_receive(struct holder *h, struct held *held)
{
	struct message_reply reply;
	int r = -ETIMEDOUT;

	while (held->client && (r = client_receive(held->client, 0, &reply)) == 0) {
		guard_process_reply(h, held, &reply);
		message_reply_done(&reply);
	}
	if (held->client && r != -ETIMEDOUT) {
		/* All guards are lost with the daemon. */
		if (!h->gone)
			log_line(&h->ctl->log, LOG_WARNING,
				 "the daemon has gone, and the guard with it; %s goes on",
				 h->command);
		h->gone = true;
		held->client = client_free(held->client);
	}
}

static int guard_hold_all(struct holder *h)
{
	for (size_t i = 0; i < h->n; i++)
		client_set_interrupt(h->held[i].client, -1);
	while (h->runner.pid > 0) {
		h->fds[0] = (struct pollfd){ .fd = h->runner.signal_fd, .events = POLLIN };
		for (size_t i = 0; i < h->n; i++) {
			struct held *held = &h->held[i];

			guard_receive(h, held);
			h->fds[i + 1] = (struct pollfd){
				.fd = held->client ? client_get_fd(held->client) : -1,
				.events = POLLIN,
			};
		}
		if (poll(h->fds, h->n + 1, -1) < 0 && errno != EINTR)
			return ctl_fail(h->ctl, -errno);
		runner_process_signals(&h->runner);
	}
	return h->runner.status;
}

static int guard_command(struct holder *h, char **paths, char **argv)
{
	int r;

	for (size_t i = 0; paths[i]; i++) {
		r = guard_acquire(h, paths[i]);
		if (r != CTL_DONE)
			return r;
	}
	r = runner_start(&h->runner, argv, -1);
	return r == 0 ? guard_hold_all(h) : runner_fail(h->ctl, argv[0], r);
}

int cmd_guard(struct ctl *ctl, int argc, char **argv)
{
	cleanup(freep) char **paths = NULL;
	struct holder h;
	size_t n = 0;
	int r;

	r = nodes_resolve(ctl, argv, 1, &paths);
	if (r != CTL_DONE)
		return r;
	while (paths[n])
		n++;
	h = (struct holder){ .ctl = ctl, .runner = { .signal_fd = -1 }, .command = argv[1] };
	h.held = calloc(n, sizeof(*h.held));
	h.fds = calloc(n + 1, sizeof(*h.fds));
	r = h.held && h.fds ? runner_init(&h.runner) : -ENOMEM;
	r = r < 0 ? ctl_fail(ctl, r) : guard_command(&h, paths, argv + 1);
	for (size_t i = 0; i < h.n; i++)
		client_free(h.held[i].client);
	free(h.held);
	free(h.fds);
	runner_done(&h.runner);
	return r;
}
