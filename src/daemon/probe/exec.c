/*
 * A command with the attributes of the service, in a session of its own, which is killed with it.
 * It holds a guard from before it runs until it is collected.  There is never a second one at a
 * time.
 */
#include "daemon/probe/exec.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/parse.h"

static void probe_begin_exec(struct probe *probe, const struct process *main)
{
	const struct launch_program program = { .argv = probe->config->argv, .ready_fd = -1 };
	struct process *p = &probe->process;
	struct launch_failure failure;
	pid_t pid;

	if (p->alive) {
		probe_fail(probe, "pid %d of the one before has not ended yet", (int)p->pid);
		return;
	}
	p->guard = swansong_guard_clone(&main->guard);
	p->generation = main->generation;
	if (launch(probe->launch, probe->ctx, &program, &pid, &failure) != 0) {
		process_remove(p);
		probe_fail(probe, "cannot %s: %s", failure.step, strerror(failure.error));
		return;
	}
	process_add(probe->ctx->processes, p, pid, -1);
	p->group = pid;
	p->id = ++probe->ctx->last_id;
	process_name(p, program.argv[0]);
}

/* Kills the whole session; until the command is collected, its pid is that of the session. */
static void probe_end_exec(struct probe *probe)
{
	if (probe->process.alive)
		(void)kill(-probe->process.pid, SIGKILL);
}

static void probe_report_end(struct probe *probe, const struct reap_exit *exit)
{
	char name[SIGNAL_TEXT_MAX];

	if (exit->signaled)
		probe_fail(probe, "killed by %s", parse_signal_text(name, exit->value));
	else if (exit->value)
		probe_fail(probe, "exit status %d", exit->value);
	else
		probe_succeed(probe);
}

const struct process *probe_process(const struct probe *probe)
{
	return probe->process.alive ? &probe->process : NULL;
}

void probe_died(struct process *process, const struct reap_exit *exit)
{
	struct probe *probe = container_of(process, struct probe, process);

	if (probe->running && !probe->ended)
		probe_report_end(probe, exit);
	else
		probe_end_exec(probe);
	process_remove(process);
}

const struct probe_kind_ops probe_exec_ops = { .begin = probe_begin_exec, .end = probe_end_exec };
