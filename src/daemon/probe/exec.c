/*
 * A command with the attributes of the service, in a session of its own, which is killed with it.
 * It holds a guard from before it runs until it is collected.  There is never a second one at a
 * time.
 *
 * Its output goes to a file in memory: the last line is a part of the reason of a failure.  A pipe would have
 * to be read meanwhile, and a writer could keep it locked (sys/ipc/passed.h).  A writer could also lock the
 * offset of the file, so that is not used.
 */
#include "daemon/probe/attempt.h"

#include "sys/file/tail.h"

/* A command that writes more to a file, this one included, is killed. */
#define OUTPUT_MAX (64U << 20)

static void probe_explain_failure(struct probe *probe, const struct launch_failure *failure)
{
	process_remove(&probe->process);
	probe_fail(probe, "cannot %s%s%s: %s", failure->step, failure->subject ? " " : "",
		   failure->subject ? failure->subject : "", strerror(failure->error));
}

static void probe_begin_exec(struct probe *probe, const struct process *main)
{
	struct launch_program program = { .argv = probe->config->argv, .ready_fd = -1 };
	struct process *p = &probe->process;
	struct rlimit limit = { .rlim_cur = 0 };
	struct launch_failure failure;

	if (p->alive) {
		probe_fail(probe, "pid %d of the one before has not ended yet", (int)p->pid);
		return;
	}
	*probe->line = '\0';
	probe->fd = memfd_create("output", MFD_CLOEXEC);
	/* A process that opens it by /proc appends as well. */
	if (probe->fd < 0 || fcntl(probe->fd, F_SETFL, O_APPEND) < 0) {
		probe_fail(probe, "cannot keep its output: %s", strerror(errno));
		return;
	}
	(void)getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = MIN(limit.rlim_cur, (rlim_t)OUTPUT_MAX);
	program.output = probe->fd;
	program.output_limit = &limit;
	p->guard = swansong_guard_clone(&main->guard);
	p->generation = main->generation;
	if (launch(probe->launch, probe->ctx, &program, p, &failure) != 0)
		probe_explain_failure(probe, &failure);
}

/* Kills the whole session; until the command is collected, its pid is that of the session. */
static void probe_end_exec(struct probe *probe)
{
	process_signal_session(&probe->process, SIGKILL);
	if (probe->fd >= 0)
		tail_read_line(probe->fd, probe->line, sizeof(probe->line));
	probe->fd = fd_close(probe->fd);
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

		tail_read_line(probe->fd, probe->line, sizeof(probe->line));
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
