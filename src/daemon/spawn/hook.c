/*
 * Commands run one after the other; the end of one is reported by on_end(), and its owner continues
 * with the next in the update turn.  The guard passes from process to process, so that the node
 * cannot complete between two commands.
 */
#include "daemon/spawn/hook.h"

#include "model/keys/keys.h"

void hook_init(struct hook *h, struct context *ctx, const struct launch *launch,
	       struct service *service, void (*on_end)(void *arg), void *arg,
	       void (*on_limit)(struct alarm *timer))
{
	*h = (struct hook){ .ctx = ctx, .launch = launch, .on_end = on_end, .arg = arg };
	process_init(&h->process, PROCESS_HOOK, service);
	alarm_init(&h->timer, on_limit);
}

void hook_clear_variables(struct hook *h)
{
	h->n_variables = 0;
	h->variables[0] = NULL;
}

void hook_add_variable(struct hook *h, char *word)
{
	if (h->n_variables == HOOK_VARIABLES_MAX)
		return;
	h->variables[h->n_variables++] = word;
	h->variables[h->n_variables] = NULL;
}

void hook_set_variable(struct hook *h, const char *format, ...)
{
	va_list ap;

	if (h->n_variables == HOOK_VARIABLES_MAX)
		return;
	va_start(ap, format);
	(void)vsnprintf(h->texts[h->n_variables], HOOK_VARIABLE_MAX, format, ap);
	va_end(ap);
	hook_add_variable(h, h->texts[h->n_variables]);
}

static const struct commands *hook_commands_of(const struct hook *h)
{
	return node_config_hook(h->launch->config, h->kind);
}

/* The chore that is step @n; or NULL: a command. */
static const struct chore *hook_chore_at(const struct hook *h, size_t n)
{
	return chores_at(h->launch->extras->chores, h->kind, n, hook_commands_of(h)->n);
}

/* The words of step @n.  Final actions undo earlier steps, so they run in reverse order. */
static char *const *hook_argv_at(const struct hook *h, size_t n)
{
	const struct commands *commands = hook_commands_of(h);
	const struct chore *chore = hook_chore_at(h, n);

	if (chore)
		return chore->condition ? chore->condition : chore->path;
	if (h->kind != HOOK_POST_STOP)
		n -= chores_count(h->launch->extras->chores, h->kind);
	return commands->argv[h->kind == HOOK_FINAL ? commands->n - 1 - n : n];
}

static void hook_note_failure(struct hook *h, const struct launch_failure *failure)
{
	h->outcome = (struct outcome){
		.kind = OUTCOME_SPAWN_FAILED,
		.value = failure->error,
		.step = failure->step,
		.subject = failure->subject,
		.hook = h->outcome.hook,
	};
	h->on_end(h->arg);
}

static void hook_run_next(struct hook *h)
{
	const struct chore *chore = hook_chore_at(h, h->next);
	struct launch_program program = {
		.argv = hook_argv_at(h, h->next++),
		.variables = h->variables,
		.ready_fd = -1,
		.input = h->open_input ? h->open_input(h->arg) : 0,
	};
	struct launch_failure failure;
	int r;

	if (chore) {
		program.work = h->kind == HOOK_POST_STOP ? &chores_removal : chore->work;
		program.mode = chore->mode;
		program.condition = chore->key == KEY_CONDITION;
	}
	h->outcome = (struct outcome){
		.kind = OUTCOME_NONE,
		.hook = chore ? keys[chore->key].name : hook_name(h->kind),
	};
	r = launch(h->launch, h->ctx, &program, &h->process, &failure);
	if (program.input > 0)
		(void)fd_close(program.input);
	if (r != 0)
		hook_note_failure(h, &failure);
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

void hook_resume(struct hook *h, struct node *node, enum hook_kind kind, size_t next)
{
	h->node = node;
	h->kind = kind;
	h->next = MIN(next, hook_commands_of(h)->n);
	h->outcome = (struct outcome){ .kind = OUTCOME_EXITED, .hook = hook_name(kind) };
}

bool hook_continue(struct hook *h)
{
	if (h->next >= hook_commands_of(h)->n + chores_count(h->launch->extras->chores, h->kind))
		return false;
	process_forget(&h->process);
	hook_run_next(h);
	return true;
}

bool hook_continue_anyway(struct hook *h, bool spent)
{
	char text[OUTCOME_TEXT_MAX];

	if (!hook_was_well(h))
		node_log(h->node, LOG_WARNING, "%s", policy_outcome_text(text, &h->outcome));
	return !spent && hook_continue(h);
}

void hook_end(struct hook *h)
{
	alarm_stop(&h->ctx->alarms, &h->timer);
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

void hook_term(struct hook *h)
{
	if (!h->process.alive || h->process.signalled_usec)
		return;
	h->process.signalled_usec = clock_now_usec();
	node_log(h->node, LOG_INFO, "SIGTERM to %s, pid %d", hook_name(h->kind),
		 (int)h->process.pid);
	process_signal_session(&h->process, SIGTERM);
	process_signal_session(&h->process, SIGCONT);
}

void hook_kill(struct hook *h)
{
	process_signal_session(&h->process, SIGKILL);
}

void hook_kill_late(struct hook *h, const char *reason, const char *forced)
{
	node_log(h->node, LOG_WARNING, "killing %s, pid %d (%s): %s", hook_name(h->kind),
		 (int)h->process.pid, h->process.name, reason);
	if (forced) {
		forced_kills_add(h->ctx->forced_kills, h->node->path, "killed %s, pid %d (%s): %s",
				 hook_name(h->kind), (int)h->process.pid, h->process.name, forced);
		node_note_forced(h->node);
	}
	hook_kill(h);
}

void hook_settle_start(struct process *process, const struct spawn_failure *why)
{
	struct hook *h = container_of(process, struct hook, process);
	struct launch_failure failure;

	h->ctx->changes++;
	if (why->step == SPAWN_STEP_NONE) {
		if (!hook_chore_at(h, h->next - 1))
			node_log(h->node, LOG_INFO, "%s: started %s, pid %d", hook_name(h->kind),
				 process->name, (int)process->pid);
		return;
	}
	failure = launch_explain(h->launch, hook_argv_at(h, h->next - 1)[0], why);
	process_forget(process);
	hook_note_failure(h, &failure);
}

void hook_died(struct process *process, const struct reap_exit *exit)
{
	struct hook *h = container_of(process, struct hook, process);
	const struct chore *chore = hook_chore_at(h, h->next - 1);

	h->ctx->changes++;
	h->outcome.kind = exit->signaled ? OUTCOME_SIGNALED : OUTCOME_EXITED;
	h->outcome.value = exit->value;
	if (chore && chore->key == KEY_CONDITION && !exit->signaled && exit->value > 0 &&
	    exit->value < 255) {
		h->outcome.kind = OUTCOME_CONDITION;
		h->outcome.subject = hook_argv_at(h, h->next - 1)[0];
	}
	/*
	 * No service ends the other processes of its session.  The pid is the session's until it is
	 * collected.
	 */
	if (!process->service)
		process_signal_session(&h->process, SIGKILL);
	process->alive = false;
	h->on_end(h->arg);
}
