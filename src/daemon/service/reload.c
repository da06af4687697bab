/*
 * A reload changes no state: the service is up, before and after.  So its command runs beside those
 * of the states, with a timeout of its own, and ends with the other processes of the service.
 */
#include "daemon/service/reload.h"

static void service_reload_on_timeout(struct alarm *alarm)
{
	struct hook *hook = container_of(alarm, struct hook, timer);

	if (hook_is_running(hook))
		hook_kill_late(hook, "the start-timeout has expired", NULL);
}

int service_reload_new(struct service *s, const struct node_config *config, struct hook **ret)
{
	return node_config_has_hook(config, HOOK_RELOAD_COMMAND)
		       ? service_make_hook(s, service_reload_on_timeout, ret)
		       : 0;
}

static bool service_reloads_by_signal(const struct service *s)
{
	return node_config_hook(s->setup.launch.config, HOOK_RELOAD_COMMAND)->n == 0;
}

static int service_signal_reload(struct service *s)
{
	int signo = node_config_extras(s->config)->reload_signal;
	char name[SIGNAL_TEXT_MAX];

	if (proc_would_end(s->main.pid, signo))
		return -EPROTO;
	service_log(s, LOG_INFO, "reload: %s to pid %d", parse_signal_text(name, signo),
		    (int)s->main.pid);
	return process_signal(&s->main, signo);
}

int service_reload(struct service *s)
{
	if (s->state != STATE_UP || !s->main.alive)
		return -ESRCH;
	if (!s->setup.extras->reload)
		return service_signal_reload(s);
	if (service_reloads_by_signal(s) &&
	    proc_would_end(s->main.pid, node_config_extras(s->config)->reload_signal))
		return -EPROTO;
	if (s->setup.extras->reload->node)
		return -EBUSY;
	hook_clear_variables(s->setup.extras->reload);
	hook_set_variable(s->setup.extras->reload, "MAINPID=%d", (int)s->main.pid);
	alarm_set(&s->ctx->alarms, &s->setup.extras->reload->timer,
		  clock_add(clock_now_usec(), s->config->start_timeout_usec));
	hook_begin(s->setup.extras->reload, s->node, HOOK_RELOAD_COMMAND,
		   swansong_guard_clone(&s->main.guard), s->main.generation);
	return 0;
}

void service_update_reload(struct service *s)
{
	char text[OUTCOME_TEXT_MAX];

	while (s->setup.extras->reload && hook_has_ended(s->setup.extras->reload)) {
		bool well = hook_was_well(s->setup.extras->reload);

		if (well && s->state == STATE_UP && hook_continue(s->setup.extras->reload))
			continue;
		if (well && service_reloads_by_signal(s) && s->state == STATE_UP && s->main.alive)
			(void)service_signal_reload(s);
		else
			service_log(s, well ? LOG_INFO : LOG_WARNING, "%s",
				    well ? "reloaded"
					 : policy_outcome_text(text,
							       &s->setup.extras->reload->outcome));
		hook_end(s->setup.extras->reload);
	}
}
