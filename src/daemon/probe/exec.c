/*
 * A command with the attributes of the service, in a session of its own, which is killed with it.
 * It holds a guard from before it runs until it is collected.  There is never a second one at a
 * time.
 *
 * Its output comes by a pipe, which is read until the command ends: the last line is a part of the
 * reason of a failure, and all else is discarded.
 */
#include "daemon/probe/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/parse.h"
#include "sys/ipc/passed.h"

#define READS_MAX 16 /* after the end of a command: others may have its output */

static void probe_add_output(struct probe *probe, const char *text, size_t n)
{
	size_t length = strlen(probe->line);

	for (size_t i = 0; i < n; i++) {
		if (text[i] == '\n') {
			probe->line_ended = true;
			continue;
		}
		if (probe->line_ended)
			length = 0;
		probe->line_ended = false;
		if (length + 1 < sizeof(probe->line))
			probe->line[length++] = text[i] ? text[i] : '?';
		probe->line[length] = '\0';
	}
}

static ssize_t probe_read_output(struct probe *probe)
{
	char text[4096];
	ssize_t n = read(probe->fd, text, sizeof(text));

	if (n > 0)
		probe_add_output(probe, text, (size_t)n);
	return n;
}

static void probe_close_output(struct probe *probe)
{
	probe->io = sd_event_source_disable_unref(probe->io);
	probe->fd = passed_close(probe->fd);
}

static int probe_on_output(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	ssize_t n = probe_read_output(arg);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		probe_close_output(arg);
	return 0;
}

/* Return: the end of the pipe for the command, or -errno. */
static int probe_open_output(struct probe *probe)
{
	int fds[2], r;

	*probe->line = '\0';
	probe->line_ended = false;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	probe->fd = fds[0];
	r = fd_set_nonblock(probe->fd);
	if (r == 0)
		r = sd_event_add_io(probe->ctx->event, &probe->io, probe->fd, EPOLLIN,
				    probe_on_output, probe);
	if (r >= 0)
		return fds[1];
	(void)close(fds[1]);
	return r;
}

static void probe_explain_failure(struct probe *probe, const struct launch_failure *failure)
{
	process_remove(&probe->process);
	probe_fail(probe, "cannot %s: %s", failure->step, strerror(failure->error));
}

static void probe_begin_exec(struct probe *probe, const struct process *main)
{
	struct launch_program program = { .argv = probe->config->argv, .ready_fd = -1 };
	struct process *p = &probe->process;
	struct launch_failure failure;
	int r;

	if (p->alive) {
		probe_fail(probe, "pid %d of the one before has not ended yet", (int)p->pid);
		return;
	}
	program.output = probe_open_output(probe);
	if (program.output < 0) {
		probe_fail(probe, "cannot read its output: %s", strerror(-program.output));
		return;
	}
	p->guard = swansong_guard_clone(&main->guard);
	p->generation = main->generation;
	r = launch(probe->launch, probe->ctx, &program, p, &failure);
	(void)close(program.output);
	if (r != 0)
		probe_explain_failure(probe, &failure);
}

/* Kills the whole session; until the command is collected, its pid is that of the session. */
static void probe_end_exec(struct probe *probe)
{
	process_signal_session(&probe->process, SIGKILL);
	probe_close_output(probe);
}

const struct process *probe_process(const struct probe *probe)
{
	return probe->process.alive ? &probe->process : NULL;
}

void probe_failed(struct process *process, const struct spawn_failure *why)
{
	struct probe *probe = container_of(process, struct probe, process);
	const char *program = probe->config->argv[0];
	const struct launch_failure failure = launch_explain(probe->launch, program, why);

	if (probe->running && !probe->ended)
		probe_explain_failure(probe, &failure);
	else
		process_remove(process);
}

void probe_died(struct process *process, const struct reap_exit *exit)
{
	struct probe *probe = container_of(process, struct probe, process);

	if (probe->running && !probe->ended) {
		char name[SIGNAL_TEXT_MAX];
		const char *colon;

		for (int i = 0; i < READS_MAX && probe->fd >= 0 && probe_read_output(probe) > 0;
		     i++)
			continue;
		colon = *probe->line ? ": " : "";
		if (exit->signaled)
			probe_fail(probe, "killed by %s%s%s", parse_signal_text(name, exit->value),
				   colon, probe->line);
		else if (exit->value)
			probe_fail(probe, "exit status %d%s%s", exit->value, colon, probe->line);
		else
			probe_succeed(probe);
	} else {
		probe_end_exec(probe);
	}
	process_remove(process);
}

const struct probe_kind_ops probe_exec_ops = { .begin = probe_begin_exec, .end = probe_end_exec };
