#include "daemon/service-hook.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "daemon/service-reload.h"
#include "daemon/setup.h"
#include "model/result.h"

/*
 * A part of a service's life that has commands is a state in model/fsm.c and a key in the
 * configuration.  The state is left by an event when all its commands have ended well, or one has
 * not; but for post-stop: all of that run, and what it comes to was decided before.
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

static void on_end(void *arg)
{
	service_look_after(arg);
}

static unsigned hook_parts(const struct node_config *config)
{
	unsigned parts = 0;

	for (size_t i = 0; i < ARRAY_SIZE(hooks_of_parts); i++)
		if (node_config_hook(config, hooks_of_parts[i].kind)->n > 0)
			parts |= hooks_of_parts[i].part;
	return parts;
}

int service_hook_new(struct service *s, const struct node_config *config, struct hook **ret)
{
	struct hook *hook;

	if (!hook_parts(config))
		return 0;
	hook = malloc(sizeof(*hook));
	if (!hook)
		return -ENOMEM;
	/* The launch of the present setup, which this one is of when it runs anything. */
	hook_init(hook, s->ctx, &s->launch, s, on_end, s);
	*ret = hook;
	return 0;
}

void service_hook_free(struct hook *hook)
{
	if (hook)
		hook_done(hook);
	free(hook);
}

unsigned service_configured_parts(const struct service *s)
{
	bool runs = fsm_has_process(s->state);

	/*
	 * The commands are those of the run, or of the one that may begin now; the delay is the
	 * latest.
	 */
	return hook_parts(runs ? s->launch.config : service_next_config(s)) |
	       (node_config_extras(s->config)->drain_delay_usec > 0 ? PART_DRAIN_DELAY : 0);
}

unsigned service_parts(const struct service *s)
{
	unsigned parts = (s->parts | PART_DRAIN_DELAY) & service_configured_parts(s);

	/* Who was never up is not asked, and needs no time to be forgotten by others. */
	if (!s->was_up)
		parts &= ~(unsigned)(PART_STOP_COMMAND | PART_DRAIN_DELAY);
	if (!s->main.alive)
		parts &= ~(unsigned)PART_DRAIN_DELAY;
	if (!s->main.alive && !s->worked)
		parts &= ~(unsigned)PART_STOP_COMMAND;
	return parts;
}

static unsigned part_of(enum hook_kind kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(hooks_of_parts); i++)
		if (hooks_of_parts[i].kind == kind)
			return hooks_of_parts[i].part;
	return 0;
}

static void set_variables(struct service *s, enum hook_kind kind)
{
	struct hook *h = s->hook;
	char status[RESULT_STATUS_MAX];
	struct result_of result = {
		.config = s->config,
		.outcome = &s->outcome,
		.stopped = fsm_is_going_down(s->state),
		.late = s->late,
	};

	hook_clear_variables(h);
	if (s->main.alive)
		hook_set_variable(h, "MAINPID=%d", (int)s->main.pid);
	if (kind != HOOK_POST_STOP && kind != HOOK_STOP_COMMAND)
		return;
	hook_set_variable(h, "SERVICE_RESULT=%s", result_name(&result));
	if (!result_exit_code(&s->outcome))
		return;
	hook_set_variable(h, "EXIT_CODE=%s", result_exit_code(&s->outcome));
	hook_set_variable(h, "EXIT_STATUS=%s", result_exit_status(status, &s->outcome));
}

static void begin(struct service *s, struct hook *h, enum hook_kind kind)
{
	/* What follows from a run is of its generation, which need not be the present one. */
	if (s->main.guard.node)
		hook_begin(h, s->node, kind, swansong_guard_clone(&s->main.guard),
			   s->main.generation);
	else
		hook_begin(h, s->node, kind, swansong_guard(s->node->work), s->node->generation);
}

void service_run_hook(struct service *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(hooks_of_parts); i++) {
		if (hooks_of_parts[i].part != fsm_part(s->state))
			continue;
		/* The time that the ending had is spent, or not needed. */
		if (hooks_of_parts[i].kind == HOOK_POST_STOP)
			s->ending = (struct ending){ 0 };
		set_variables(s, hooks_of_parts[i].kind);
		begin(s, s->hook, hooks_of_parts[i].kind);
	}
}

/* What a start came to because of one of its commands; an earlier trouble goes before. */
static void blame(struct service *s)
{
	const struct outcome *of_hook = &s->hook->outcome;

	if (s->outcome.hook || s->outcome.kind == OUTCOME_START_TIMEOUT ||
	    s->outcome.kind == OUTCOME_WATCHDOG || s->outcome.kind == OUTCOME_UNHEALTHY)
		return;
	s->outcome.kind = of_hook->kind;
	s->outcome.value = of_hook->value;
	s->outcome.step = of_hook->step;
	s->outcome.subject = of_hook->subject;
	s->outcome.hook = of_hook->hook;
}

/* That a start failed is said with what follows from it. */
static void log_trouble(const struct hook *h)
{
	char text[OUTCOME_TEXT_MAX];

	if (h->kind != HOOK_START_COMMAND && h->kind != HOOK_POST_START)
		log_line(h->ctx->log, LOG_WARNING, "%s: %s", node_name(h->node),
			 policy_outcome_text(text, &h->outcome));
}

/* All of it is over, and its state has nothing else to wait for. */
static void pass(struct service *s, enum hook_kind kind, bool well)
{
	if (kind == HOOK_POST_STOP)
		return;
	if (!well && kind != HOOK_STOP_COMMAND)
		blame(s);
	service_handle(s, well ? EVENT_PASSED : EVENT_BROKEN);
}

/* Where there is no main process, its guard stands for what may follow in this turn. */
static void stand_in(struct service *s)
{
	struct process *of_hook = &s->hook->process;

	if (s->main.guard.node)
		return;
	s->main.guard = of_hook->guard;
	s->main.generation = of_hook->generation;
	of_hook->guard = (struct swansong_guard){ .node = NULL };
}

static void settle_hook(struct service *s)
{
	struct hook *h = s->hook;
	enum hook_kind kind = h->kind;
	bool awaited = part_of(kind) == fsm_part(s->state);
	bool well = hook_was_well(h);

	if (awaited && !well)
		log_trouble(h);
	if (awaited && (well || kind == HOOK_POST_STOP) && hook_continue(h))
		return;
	s->parts &= ~part_of(kind);
	if (awaited)
		pass(s, kind, well);
	stand_in(s);
	hook_end(h);
}

void service_settle_hooks(struct service *s)
{
	while (s->hook && hook_has_ended(s->hook))
		settle_hook(s);
	service_settle_reload(s);
}

bool service_awaits_hook(const struct service *s)
{
	if (!s->hook || !hook_is_running(s->hook))
		return false;
	switch (s->state) {
	case STATE_PREPARING:
	case STATE_ASKING:
	case STATE_CLOSING:
	case STATE_FINISHING:
		return true;
	case STATE_READYING:
		return s->worked;
	default:
		return false;
	}
}

struct hook *service_running_hook(const struct service *s, unsigned n)
{
	struct hook *const hooks[] = { s->hook, s->reload };

	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++)
		if (hooks[i] && hook_is_running(hooks[i]) && n-- == 0)
			return hooks[i];
	return NULL;
}
