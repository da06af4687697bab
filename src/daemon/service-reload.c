#include "daemon/service-reload.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/parse.h"

/*
 * A reload changes no state: the service is up, before and after.  So its command is beside those
 * of the states, with a timeout of its own, and is ended with the service's other processes.
 */

static void on_end(void *arg)
{
	service_look_after(arg);
}

static int on_timeout(sd_event_source *source, uint64_t usec, void *arg)
{
	struct service *s = arg;

	(void)source;
	(void)usec;
	if (!s->reload || !hook_is_running(s->reload))
		return 0;
	log_line(
		s->ctx->log, LOG_WARNING,
		"%s: killing reload-command, pid %d (%s): it was not done within the start-timeout",
		s->config->path, (int)s->reload->process.pid, s->reload->process.name);
	hook_kill(s->reload);
	return 0;
}

int service_reload_new(struct service *s, const struct node_config *config, struct hook **ret)
{
	struct hook *hook;
	int r = 0;

	if (node_config_hook(config, HOOK_RELOAD_COMMAND)->n == 0)
		return 0;
	if (!s->reload_timer)
		r = sd_event_add_time(s->ctx->event, &s->reload_timer, CLOCK_MONOTONIC,
				      USEC_INFINITY, 1, on_timeout, s);
	if (r < 0)
		return r;
	hook = malloc(sizeof(*hook));
	if (!hook)
		return -ENOMEM;
	hook_init(hook, s->ctx, &s->launch, s, on_end, s);
	*ret = hook;
	return 0;
}

static int send_signal(struct service *s)
{
	char name[SIGNAL_TEXT_MAX];

	log_line(s->ctx->log, LOG_INFO, "%s: reload: %s to pid %d", s->config->path,
		 parse_signal_text(name, node_config_extras(s->config)->reload_signal),
		 (int)s->main.pid);
	return process_signal(&s->main, node_config_extras(s->config)->reload_signal);
}

int service_reload(struct service *s)
{
	if (s->state != STATE_UP || !s->main.alive)
		return -ESRCH;
	if (!s->reload)
		return send_signal(s);
	if (s->reload->node)
		return -EBUSY;
	hook_clear_variables(s->reload);
	hook_set_variable(s->reload, "MAINPID=%d", (int)s->main.pid);
	context_arm(s->ctx, s->reload_timer,
		    clock_add(clock_now_usec(), s->config->start_timeout_usec));
	hook_begin(s->reload, s->node, HOOK_RELOAD_COMMAND, swansong_guard_clone(&s->main.guard),
		   s->main.generation);
	return 0;
}

void service_settle_reload(struct service *s)
{
	char text[OUTCOME_TEXT_MAX];

	while (s->reload && hook_has_ended(s->reload)) {
		bool well = hook_was_well(s->reload);

		if (well && s->state == STATE_UP && hook_continue(s->reload))
			continue;
		log_line(s->ctx->log, well ? LOG_INFO : LOG_WARNING, "%s: %s", s->config->path,
			 well ? "reloaded" : policy_outcome_text(text, &s->reload->outcome));
		(void)sd_event_source_set_enabled(s->reload_timer, SD_EVENT_OFF);
		hook_end(s->reload);
	}
}
