#include "daemon/setup.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/health.h"
#include "daemon/service-cgroup.h"
#include "daemon/service-hook.h"
#include "daemon/service-notify.h"
#include "daemon/service-reload.h"
#include "model/diff.h"

DEFINE_CLEANUP(struct setup *, setup_free)

static void on_ready(void *arg)
{
	service_handle(arg, EVENT_READY);
}

/* Sockets that stay open lose no connection, and what was left in the store is there again. */
static bool can_keep_activation(const struct service *s, const struct node_config *config)
{
	struct key_set set;

	if (!s->launch.config)
		return false;
	(void)node_config_diff(s->launch.config, config, &set);
	return !key_set_has(&set, KEY_LISTEN) && !key_set_has(&set, KEY_FD_STORE_MAX) &&
	       !key_set_has(&set, KEY_NOTIFY);
}

static int make_activation(struct setup *setup, struct service *s)
{
	setup->keeps_activation = can_keep_activation(s, setup->config);
	return setup->keeps_activation ? 0
				       : activation_new(&setup->activation, s->ctx, setup->config);
}

struct setup *setup_free(struct setup *setup)
{
	if (!setup)
		return NULL;
	service_hook_free(setup->hook);
	service_hook_free(setup->reload);
	readiness_free(setup->readiness);
	health_free(setup->health);
	attach_free(setup->attach);
	notify_free(setup->notify);
	free(setup->words);
	launch_done(&setup->launch);
	activation_free(setup->activation);
	node_config_unref(setup->config);
	free(setup);
	return NULL;
}

int setup_new(struct setup **ret, struct service *s, const struct node_config *config)
{
	cleanup(setup_freep) struct setup *setup = calloc(1, sizeof(*setup));
	int r;

	if (!setup)
		return -ENOMEM;
	setup->config = node_config_ref(config);
	r = service_notify_new(s, config, &setup->notify, &setup->words);
	if (r >= 0)
		r = readiness_new(&setup->readiness, s->ctx, config, &s->launch, on_ready, s);
	if (r >= 0)
		r = health_new(&setup->health, s, config);
	if (r >= 0 && config->attach)
		r = attach_new(&setup->attach, s->node);
	if (r >= 0)
		r = make_activation(setup, s);
	if (r >= 0)
		r = launch_init(&setup->launch, s->ctx, config,
				setup->notify ? notify_address(setup->notify) : NULL,
				setup->keeps_activation ? s->launch.activation : setup->activation);
	setup->launch.service = s;
	if (r >= 0)
		r = service_hook_new(s, config, &setup->hook);
	if (r >= 0)
		r = service_reload_new(s, config, &setup->reload);
	if (r < 0)
		return r;
	*ret = take(setup);
	return 0;
}

/* Its sockets are others, but what it has left in the store is meant for its next run. */
static void inherit(struct service *s, struct activation *activation)
{
	struct activation *present = s->launch.activation;

	if (activation && present && activation_inherit(activation, present) < 0)
		log_line(s->ctx->log, LOG_ERR, "%s: no memory for what it has stored",
			 s->config->path);
}

/*
 * Where @next is given no control connection, whoever has that of an earlier run is not to keep it.
 */
static void withdraw_control(const struct service *s, const struct node_config *next)
{
	const struct control_offer *control = &s->ctx->control;
	const struct node_config *present = s->launch.config;

	if (present && present->control && !(next && next->control) && control->withdraw)
		control->withdraw(present->path, control->arg);
}

/* The service's own members are the present setup, taken apart. */
static void exchange(struct service *s, struct setup *setup)
{
	struct setup present = {
		.config = s->launch.config,
		.notify = s->notify,
		.words = s->words,
		.readiness = s->readiness,
		.health = s->health,
		.attach = s->attach,
		.hook = s->hook,
		.reload = s->reload,
		.launch = s->launch,
	};

	withdraw_control(s, setup->config);
	if (!setup->keeps_activation) {
		inherit(s, setup->activation);
		present.activation = s->launch.activation;
	}
	s->notify = setup->notify;
	s->words = setup->words;
	s->readiness = setup->readiness;
	s->health = setup->health;
	s->attach = setup->attach;
	s->hook = setup->hook;
	s->reload = setup->reload;
	s->launch = setup->launch;
	*setup = present;
}

void service_use_next_setup(struct service *s)
{
	struct setup *next = s->next_setup;

	if (!next)
		return;
	s->next_setup = NULL;
	exchange(s, next);
	setup_free(next);
}

void service_unlisten_next(struct service *s)
{
	if (s->next_setup && s->next_setup->activation)
		activation_unlisten(s->next_setup->activation);
}

const struct node_config *service_next_config(const struct service *s)
{
	return s->next_setup ? s->next_setup->config : s->launch.config;
}

int service_setup_init(struct service *s)
{
	int r = setup_new(&s->next_setup, s, s->config);

	if (r >= 0)
		service_use_next_setup(s);
	return r;
}

void service_setup_done(struct service *s)
{
	struct setup none = { .config = NULL };

	s->next_setup = setup_free(s->next_setup);
	exchange(s, &none);
	service_hook_free(none.hook);
	service_hook_free(none.reload);
	readiness_free(none.readiness);
	health_free(none.health);
	attach_free(none.attach);
	notify_free(none.notify);
	free(none.words);
	launch_done(&none.launch);
	activation_free(none.activation);
	node_config_unref(none.config);
}

/* What it waits for now is waited for as long as it says now; an ending goes on as it began. */
static void rearm(struct service *s, uint64_t before_usec)
{
	uint64_t usec = s->config->start_timeout_usec;

	if (!fsm_is_coming_up(s->state) || usec == before_usec)
		return;
	s->start_limit_usec = s->timeout_usec = clock_add(s->started_usec, usec);
	alarm_set(&s->ctx->alarms, &s->timer, s->timeout_usec);
}

void service_reconfigure(struct service *s, const struct node_config *config, struct setup *setup,
			 struct policy *policy)
{
	struct service_tally tally = service_tally(s);
	const struct node_config *before = s->config;

	s->config = node_config_ref(config);
	if (policy) {
		policy_inherit(policy, s->policy);
		policy_free(s->policy);
		s->policy = policy;
	} else {
		policy_use(s->policy, config);
	}
	if (setup) {
		setup_free(s->next_setup);
		s->next_setup = setup;
		s->stop_signal = config->stop_signal;
		rearm(s, before->start_timeout_usec);
		service_cgroup_check(s);
	}
	node_config_unref(before);
	service_retally(s, tally);
}
