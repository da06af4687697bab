/*
 * Commands run one after the other; the end of one is reported by on_end(), and its owner continues
 * with the next in the update turn.  The guard passes from process to process, so that the node
 * cannot complete between two commands.
 */
#include "daemon/spawn/hook.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"

void hook_init(struct hook *h, struct context *ctx, const struct launch *launch,
	       struct service *service, void (*on_end)(void *arg), void *arg)
{
	*h = (struct hook){ .ctx = ctx, .launch = launch, .on_end = on_end, .arg = arg };
	process_init(&h->process, PROCESS_HOOK, service);
	alarm_init(&h->timer, NULL);
}

void hook_done(struct hook *h)
{
	alarm_stop(&h->ctx->alarms, &h->timer);
	process_remove(&h->process);
	h->node = NULL;
}

void hook_clear_variables(struct hook *h)
{
	h->variables[0] = NULL;
}

void hook_add_variable(struct hook *h, char *word)
{
	size_t n = 0;

	while (h->variables[n])
		n++;
	if (n == HOOK_VARIABLES_MAX)
		return;
	h->variables[n] = word;
	h->variables[n + 1] = NULL;
}

void hook_set_variable(struct hook *h, const char *format, ...)
{
	size_t n = 0;
	va_list ap;

	while (h->variables[n])
		n++;
	if (n == HOOK_VARIABLES_MAX)
		return;
	va_start(ap, format);
	(void)vsnprintf(h->texts[n], sizeof(h->texts[n]), format, ap);
	va_end(ap);
	hook_add_variable(h, h->texts[n]);
}

static const struct commands *hook_commands_of(const struct hook *h)
{
	return node_config_hook(h->launch->config, h->kind);
}

static void hook_note_failure(struct hook *h, const struct launch_failure *failure)
{
	h->outcome = (struct outcome){
		.kind = OUTCOME_SPAWN_FAILED,
		.value = failure->error,
		.step = failure->step,
		.subject = failure->subject,
		.hook = hook_name(h->kind),
	};
	h->on_end(h->arg);
}

/* Final actions undo earlier steps, so they run in reverse order. */
static char *const *hook_next_argv(struct hook *h)
{
	const struct commands *commands = hook_commands_of(h);
	size_t n = h->next++;

	return commands->argv[h->kind == HOOK_FINAL ? commands->n - 1 - n : n];
}

static void hook_run_next(struct hook *h)
{
	const struct launch_program program = {
		.argv = hook_next_argv(h),
		.variables = h->variables,
		.ready_fd = -1,
		.input = h->open_input ? h->open_input(h->arg) : 0,
	};
	struct launch_failure failure;
	pid_t pid;
	int r;

	h->outcome = (struct outcome){ .kind = OUTCOME_NONE, .hook = hook_name(h->kind) };
	r = launch(h->launch, h->ctx, &program, &pid, &failure);
	if (program.input > 0)
		(void)fd_close(program.input);
	if (r != 0) {
		hook_note_failure(h, &failure);
		return;
	}
	process_add(h->ctx->processes, &h->process, pid, -1);
	h->process.group = pid;
	h->process.id = ++h->ctx->last_id;
	process_name(&h->process, program.argv[0]);
	log_node(h->ctx->log, LOG_INFO, node_name(h->node), "%s: started %s, pid %d",
		 hook_name(h->kind), h->process.name, (int)pid);
}

void hook_begin(struct hook *h, struct node *node, enum hook_kind kind, struct swansong_guard guard,
		unsigned generation)
{
	h->node = node;
	h->kind = kind;
	h->next = 0;
	h->process.guard = guard;
	h->process.generation = generation;
	hook_run_next(h);
}

/* Keeps the guard of an ended process for the next command or for whatever follows. */
static void hook_forget_process(struct hook *h)
{
	struct swansong_guard guard = h->process.guard;

	h->process.guard = (struct swansong_guard){ .node = NULL };
	process_remove(&h->process);
	h->process.guard = guard;
}

bool hook_continue(struct hook *h)
{
	if (h->next >= hook_commands_of(h)->n)
		return false;
	hook_forget_process(h);
	hook_run_next(h);
	return true;
}

bool hook_continue_anyway(struct hook *h, bool spent)
{
	char text[OUTCOME_TEXT_MAX];

	if (!hook_was_well(h))
		log_node(h->ctx->log, LOG_WARNING, node_name(h->node), "%s",
			 policy_outcome_text(text, &h->outcome));
	return !spent && hook_continue(h);
}

void hook_end(struct hook *h)
{
	process_remove(&h->process);
	h->node = NULL;
}

bool hook_is_running(const struct hook *h)
{
	return h->process.alive;
}

bool hook_has_ended(const struct hook *h)
{
	return h->node && !h->process.alive;
}

bool hook_was_well(const struct hook *h)
{
	return h->outcome.kind == OUTCOME_EXITED && h->outcome.value == 0;
}

static void hook_signal_session(const struct hook *h, int signo)
{
	if (h->process.alive)
		(void)kill(-h->process.pid, signo);
}

void hook_term(struct hook *h)
{
	if (!h->process.alive || h->process.signalled)
		return;
	h->process.signalled = true;
	log_node(h->ctx->log, LOG_INFO, node_name(h->node), "SIGTERM to %s, pid %d",
		 hook_name(h->kind), (int)h->process.pid);
	hook_signal_session(h, SIGTERM);
	hook_signal_session(h, SIGCONT);
}

void hook_kill(struct hook *h)
{
	hook_signal_session(h, SIGKILL);
}

void hook_died(struct process *process, const struct reap_exit *exit)
{
	struct hook *h = container_of(process, struct hook, process);

	h->ctx->changes++;
	h->outcome.kind = exit->signaled ? OUTCOME_SIGNALED : OUTCOME_EXITED;
	h->outcome.value = exit->value;
	/*
	 * No service ends the other processes of its session.  The pid is the session's until it is
	 * collected.
	 */
	if (!process->service)
		hook_signal_session(h, SIGKILL);
	process->alive = false;
	h->on_end(h->arg);
}
