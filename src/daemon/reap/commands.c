/*
 * The end of a command begins the next one of its part, or ends the part: then the state machine
 * gets the event.  The guard of a command passes to the run, so that no generation completes
 * between two of them.
 */
#include "daemon/reap/commands.h"

#include "daemon/service/parts.h"
#include "daemon/service/machine.h"
#include "daemon/service/reload.h"

/* Sets the outcome of a start that a command has ended, unless an earlier problem has done so. */
static void service_copy_hook_outcome(struct service *s)
{
	const struct outcome *of_hook = &s->setup.hook->outcome;

	if (s->run.outcome.hook || s->run.outcome.kind == OUTCOME_START_TIMEOUT ||
	    s->run.outcome.kind == OUTCOME_WATCHDOG || s->run.outcome.kind == OUTCOME_UNHEALTHY)
		return;
	s->run.outcome.kind = of_hook->kind;
	s->run.outcome.value = of_hook->value;
	s->run.outcome.step = of_hook->step;
	s->run.outcome.subject = of_hook->subject;
	s->run.outcome.hook = of_hook->hook;
}

static void service_conclude_hook(struct service *s)
{
	struct hook *h = s->setup.hook;
	enum hook_kind kind = h->kind;
	bool awaited = service_hook_part(kind) == fsm_part(s->state);
	bool well = hook_was_well(h);
	struct process *of_hook;

	if (awaited && !well) {
		/* A failed start is logged with its consequences. */
		char text[OUTCOME_TEXT_MAX];

		if (h->kind != HOOK_START_COMMAND && h->kind != HOOK_POST_START)
			node_log(h->node, LOG_WARNING, "%s",
				 policy_outcome_text(text, &h->outcome));
	}
	if (awaited && (well || kind == HOOK_POST_STOP) && hook_continue(h))
		return;
	s->run.parts &= ~service_hook_part(kind);
	/* Ends the part: all its commands are over, and its state waits for nothing else. */
	if (awaited && kind != HOOK_POST_STOP) {
		if (!well && kind != HOOK_STOP_COMMAND)
			service_copy_hook_outcome(s);
		service_handle(s, well ? EVENT_PASSED : EVENT_BROKEN);
	}
	/* Without a main process its guard is held until the end of this turn. */
	of_hook = &s->setup.hook->process;
	if (!s->main.guard.node) {
		s->main.guard = of_hook->guard;
		s->main.kept = false;
		s->main.generation = of_hook->generation;
		of_hook->guard = (struct swansong_guard){ .node = NULL };
	}
	hook_end(h);
}

void service_update_hooks(struct service *s)
{
	while (s->setup.hook && hook_has_ended(s->setup.hook))
		service_conclude_hook(s);
	service_update_reload(s);
}
