#include "ctl/commands/cmd.h"

/*
 * A command's output as a stream that ends with the node.  This process passes it on line by line,
 * so that it can end between two lines:
 *
 *	the stop ─▶ all that the command had written by then, and the line that it was in
 *		 ─▶ the end of the stream, and SIGTERM to the command
 *
 * Later output is dropped.  A line that is not finished two seconds later is left out: its end may never come.
 * Nothing more is read until the reader has taken all that was read before.
 */

#include <sys/ioctl.h>

#include "ctl/terminal/lines.h"
#include "ctl/session/runner.h"

/* The time an unfinished line has after the stop. */
#define REST_USEC (2 * USEC_PER_SEC)

struct interrupt {
	struct ctl *ctl;
	const char *path;
	struct runner runner;
	struct lines lines;
	int in_fd;  /* the output of the command; -1: the stream is at its end, or will be */
	bool heard; /* the daemon sends no further reply */
	bool stopped;
	size_t before; /* bytes that were written before the stop, and are still to be read */
	uint64_t
		rest_usec; /* the end of the wait for the rest of a line; USEC_INFINITY: no wait */
	bool ended_by_us; /* the command has got SIGTERM */
	int fault;	  /* error of the write that failed; 0: none */
};

/* --- the daemon --- */

static void interrupt_note_daemon_gone(struct interrupt *i)
{
	i->heard = true;
	log_line(&i->ctl->log, LOG_WARNING,
		 "the daemon has gone, and a stop of %s will not be seen; the stream goes on",
		 node_name(i->path));
}

static void interrupt_receive(struct interrupt *i)
{
	cleanup(message_reply_done) struct message_reply reply = {};
	int r = client_receive(i->ctl->client, 0, &reply);

	if (r == -ETIMEDOUT)
		return;
	if (r < 0) {
		interrupt_note_daemon_gone(i);
		return;
	}
	/* A node that is gone was stopped. */
	if (reply.error && strcmp(reply.error, interface_error_name(ERROR_NO_SUCH_NODE)) != 0) {
		(void)session_refused(i->ctl, &reply);
		interrupt_note_daemon_gone(i);
	} else {
		/* The bytes in the pipe now were written before the stop. */
		int n;

		i->heard = i->stopped = true;
		if (i->in_fd >= 0 && ioctl(i->in_fd, FIONREAD, &n) == 0)
			i->before = (size_t)n;
	}
}

/* --- the stream --- */

static void interrupt_close_input(struct interrupt *i)
{
	i->in_fd = fd_close(i->in_fd);
}

/* Sends the signal before it closes the pipe, so that SIGPIPE does not end the command. */
static void interrupt_end_stream(struct interrupt *i)
{
	if (i->lines.inside)
		log_line(&i->ctl->log, LOG_WARNING, "%s: stopped inside a line of more than 16M",
			 node_name(i->path));
	else if (lines_unfinished(&i->lines) > 0)
		log_line(&i->ctl->log, LOG_WARNING,
			 "%s: stopped; an unfinished line of %zu bytes is left out",
			 node_name(i->path), lines_unfinished(&i->lines));
	i->lines.used = i->lines.whole;
	i->ended_by_us = i->runner.pid > 0;
	runner_kill(&i->runner, SIGTERM);
	interrupt_close_input(i);
}

static void interrupt_process_stop(struct interrupt *i)
{
	uint64_t now = clock_now_usec();

	if (!i->stopped || i->ended_by_us || i->before > 0)
		return;
	if (i->in_fd < 0) {
		i->ended_by_us = i->runner.pid > 0;
		runner_kill(&i->runner, SIGTERM);
	} else if (lines_at_boundary(&i->lines)) {
		interrupt_end_stream(i);
	} else if (lines_pending(&i->lines) == 0 && i->rest_usec == USEC_INFINITY) {
		i->rest_usec = now + REST_USEC;
	} else if (now >= i->rest_usec) {
		interrupt_end_stream(i);
	}
}

static void interrupt_read(struct interrupt *i)
{
	bool rest = i->stopped && i->before == 0;
	int r = lines_read(&i->lines, i->in_fd, i->before ? i->before : SIZE_MAX, rest);

	if (r == -EAGAIN)
		return;
	if (r > 0) {
		i->before -= MIN(i->before, (size_t)r);
		return;
	}
	if (r < 0)
		(void)ctl_fail(i->ctl, r);
	i->fault = r;
	i->before = 0;
	i->lines.whole = i->lines.used; /* the unfinished line is the last one */
	interrupt_close_input(i);
}

static void interrupt_write(struct interrupt *i, short revents)
{
	int r = 0;

	if (lines_pending(&i->lines) > 0)
		r = lines_write(&i->lines, STDOUT_FILENO);
	else if (i->in_fd >= 0 && revents & (POLLERR | POLLHUP))
		r = -EPIPE;
	/* The reader is gone, or its disk is full: the command gets SIGPIPE, as if it wrote there itself. */
	if (r < 0) {
		if (r != -EPIPE) {
			log_line(&i->ctl->log, LOG_ERR, "cannot write: %s", strerror(-r));
			i->fault = r;
		}
		i->before = 0;
		i->lines.begin = i->lines.whole = i->lines.used;
		interrupt_close_input(i);
	}
}

/* --- together --- */

static int interrupt_copy_stream(struct interrupt *i)
{
	bool closed = false;

	while (i->runner.pid != 0 || i->in_fd >= 0 || lines_pending(&i->lines) > 0) {
		bool pending = lines_pending(&i->lines) > 0;
		uint64_t rest_usec = i->in_fd >= 0 ? i->rest_usec : USEC_INFINITY;
		struct pollfd fds[] = {
			{ .fd = i->runner.signal_fd, .events = POLLIN },
			{ .fd = i->heard ? -1 : client_get_fd(i->ctl->client), .events = POLLIN },
			{ .fd = pending ? -1 : i->in_fd, .events = POLLIN },
			{ .fd = pending || i->in_fd >= 0 ? STDOUT_FILENO : -1,
			  .events = pending ? POLLOUT : 0 },
		};

		if (poll(fds, ARRAY_SIZE(fds), clock_left_msec(rest_usec)) < 0 && errno != EINTR)
			return ctl_fail(i->ctl, -errno);
		if (fds[0].revents)
			runner_process_signals(&i->runner);
		if (fds[1].revents)
			interrupt_receive(i);
		if (fds[2].revents)
			interrupt_read(i);
		if (fds[3].revents)
			interrupt_write(i, fds[3].revents);
		interrupt_process_stop(i);
		/* The signal was for a command that has ended, while the reader takes nothing. */
		if (i->runner.signo)
			return 128 + i->runner.signo;
		if (!closed && i->in_fd < 0 && lines_pending(&i->lines) == 0) {
			/* Closes the stream for the reader, although the command still runs. */
			int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

			if (null_fd >= 0)
				(void)dup2(null_fd, STDOUT_FILENO);
			(void)fd_close(null_fd);
			closed = true;
		}
	}
	if (i->fault < 0)
		return CTL_FAILED;
	return i->ended_by_us ? CTL_DONE : i->runner.status;
}

static int interrupt_run(struct interrupt *i, char **argv)
{
	cleanup(nodes_done) struct nodes nodes = {};
	int fds[2], r = session_open(i->ctl);

	if (r != CTL_DONE)
		return r;
	/* A signal ends this loop as long as there is no command to pass it on to. */
	client_set_interrupt(i->ctl->client, i->runner.signal_fd);
	r = nodes_fetch(i->ctl, i->path, false, &nodes);
	if (r != CTL_DONE || nodes.n == 0 || nodes.nodes[0].state != NODE_RUNNING)
		return r;
	r = session_send(i->ctl, METHOD_WAIT,
			 json_pack("{s:s, s:s}", "node", i->path, "until", "stopping"), 0);
	if (r != CTL_DONE)
		return r;
	client_set_interrupt(i->ctl->client, -1);
	if (pipe2(fds, O_CLOEXEC) < 0)
		return ctl_fail(i->ctl, -errno);
	i->in_fd = fds[0];
	r = runner_start(&i->runner, argv, fds[1]);
	(void)close(fds[1]);
	return r == 0 ? interrupt_copy_stream(i) : runner_fail(i->ctl, argv[0], r);
}

int cmd_interrupt(struct ctl *ctl, int argc, char **argv)
{
	struct interrupt i = { .ctl = ctl, .in_fd = -1, .rest_usec = USEC_INFINITY };
	cleanup(freep) char **paths = NULL;
	int r;

	r = nodes_resolve(ctl, argv, 1, &paths);
	if (r != CTL_DONE)
		return r;
	if (paths[1])
		return ctl_refuse(ctl, CTL_USAGE, "%s: several nodes match: expected one", argv[0]);
	i.path = paths[0];
	r = runner_init(&i.runner);
	r = r < 0 ? ctl_fail(ctl, r) : interrupt_run(&i, argv + 1);
	interrupt_close_input(&i);
	lines_done(&i.lines);
	runner_done(&i.runner);
	return r;
}
