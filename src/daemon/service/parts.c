/*
 * Commands around the main process: this file selects the commands of a state, with their
 * variables, and knows which parts of a run are still to come.  daemon/spawn/hook.c runs them.
 */
#include "daemon/service/parts.h"

/*
 * A part of a service's life that has commands is a state in model/life/fsm.c and a key of the
 * configuration.  The state ends by an event when all its commands have succeeded or one has
 * failed. post-stop is different: all of its commands run, as the result of the run is known
 * already.
 */
static const struct {
	unsigned part;
	enum hook_kind kind;
} hooks_of_parts[] = {
	{ PART_START_COMMAND, HOOK_START_COMMAND },
	{ PART_POST_START, HOOK_POST_START },
	{ PART_STOP_COMMAND, HOOK_STOP_COMMAND },
	{ PART_POST_STOP, HOOK_POST_STOP },
};

static unsigned parts_of_hooks(const struct node_config *config)
{
	unsigned parts = 0;

	for (size_t i = 0; i < ARRAY_SIZE(hooks_of_parts); i++)
		if (node_config_has_hook(config, hooks_of_parts[i].kind))
			parts |= hooks_of_parts[i].part;
	return parts;
}

int service_hook_new(struct service *s, const struct node_config *config, struct hook **ret)
{
	return parts_of_hooks(config) ? service_make_hook(s, NULL, ret) : 0;
}

void service_hook_free(struct hook *hook)
{
	if (hook)
		hook_end(hook);
	free(hook);
}

unsigned service_configured_parts(const struct service *s)
{
	bool runs = fsm_has_process(s->state);

	/*
	 * The commands are those of the present run, or of the run that may begin now; the delay is
	 * that of the latest configuration.
	 */
	return parts_of_hooks(runs ? s->setup.launch.config : service_next_config(s)) |
	       (node_config_extras(s->config)->drain_delay_usec > 0 ? PART_DRAIN_DELAY : 0);
}

unsigned service_parts(const struct service *s)
{
	unsigned parts = (s->run.parts | PART_DRAIN_DELAY) & service_configured_parts(s);

	/* A service that never was up needs neither a stop-command nor a drain delay. */
	if (!s->run.was_up)
		parts &= ~(unsigned)(PART_STOP_COMMAND | PART_DRAIN_DELAY);
	if (!s->main.alive)
		parts &= ~(unsigned)PART_DRAIN_DELAY;
	if (!s->main.alive && !s->run.worked)
		parts &= ~(unsigned)PART_STOP_COMMAND;
	return parts;
}

unsigned service_hook_part(enum hook_kind kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(hooks_of_parts); i++)
		if (hooks_of_parts[i].kind == kind)
			return hooks_of_parts[i].part;
	return 0;
}

static void service_set_hook_variables(struct service *s, enum hook_kind kind)
{
	struct hook *h = s->setup.extras->hook;
	char status[RESULT_STATUS_MAX];
	struct result_of result = {
		.config = s->config,
		.outcome = &s->run.outcome,
		.stopped = fsm_is_going_down(s->state),
		.late = s->run.late,
	};

	hook_clear_variables(h);
	if (s->main.alive)
		hook_set_variable(h, "MAINPID=%d", (int)s->main.pid);
	if (kind != HOOK_POST_STOP && kind != HOOK_STOP_COMMAND)
		return;
	hook_set_variable(h, "SERVICE_RESULT=%s", result_name(&result));
	if (!result_exit_code(&s->run.outcome))
		return;
	hook_set_variable(h, "EXIT_CODE=%s", result_exit_code(&s->run.outcome));
	hook_set_variable(h, "EXIT_STATUS=%s", result_exit_status(status, &s->run.outcome));
}

void service_run_hook(struct service *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(hooks_of_parts); i++) {
		if (hooks_of_parts[i].part != fsm_part(s->state))
			continue;
		/* The limit of the ending has expired, or is not needed any more. */
		if (hooks_of_parts[i].kind == HOOK_POST_STOP)
			s->ending = (struct ending){ 0 };
		service_set_hook_variables(s, hooks_of_parts[i].kind);
		/* Commands belong to the generation of their run, which may be an earlier one. */
		if (s->main.guard.node)
			hook_begin(s->setup.extras->hook, s->node, hooks_of_parts[i].kind,
				   swansong_guard_clone(&s->main.guard), s->main.generation);
		else
			hook_begin(s->setup.extras->hook, s->node, hooks_of_parts[i].kind,
				   swansong_guard(s->node->work), s->node->generation);
	}
}

bool service_awaits_hook(const struct service *s)
{
	if (!s->setup.extras->hook || !hook_is_running(s->setup.extras->hook))
		return false;
	switch (s->state) {
	case STATE_PREPARING:
	case STATE_ASKING:
	case STATE_CLOSING:
	case STATE_FINISHING:
		return true;
	case STATE_READYING:
		return s->run.worked;
	default:
		return false;
	}
}

struct hook *service_running_hook(const struct service *s, unsigned n)
{
	struct hook *const hooks[] = { s->setup.extras->hook, s->setup.extras->reload };

	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++)
		if (hooks[i] && hook_is_running(hooks[i]) && n-- == 0)
			return hooks[i];
	return NULL;
}
