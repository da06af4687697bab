/*
 * A setup is made completely, or not at all, when a configuration is loaded; the present run keeps
 * its own.  The next run exchanges the two.  Listening sockets and stored descriptors go on from
 * one setup to the next, so that a reload loses no connection.
 */
#include "daemon/service/setup.h"

#include "daemon/service/health.h"
#include "daemon/service/notify.h"
#include "daemon/service/reload.h"
#include "daemon/service/timeout.h"
#include "model/keys/diff.h"
#include "sys/spawn/adjust.h"

DEFINE_CLEANUP(struct setup *, setup_free)

static void setup_on_ready(void *arg)
{
	service_post(arg, EVENT_READY);
}

/* Sockets that stay open lose no connection, and stored descriptors are kept. */
static bool setup_can_keep_activation(const struct service *s, const struct node_config *config)
{
	struct key_set set;

	if (!s->setup.launch.config)
		return false;
	(void)node_config_diff(s->setup.launch.config, config, &set);
	return !key_set_has(&set, KEY_LISTEN) && !key_set_has(&set, KEY_FD_STORE_MAX) &&
	       !key_set_has(&set, KEY_NOTIFY);
}

static void setup_on_pid_file(void *arg)
{
	service_check_exits(arg);
}

const struct setup_extras setup_no_extras;

static void setup_done(struct setup *setup)
{
	const struct node_config *config = setup->launch.config;
	struct setup_extras *extras = setup->extras;

	service_hook_free(extras->hook);
	service_hook_free(extras->reload);
	pid_watch_free(extras->pid_watch);
	readiness_free(extras->readiness);
	health_free(extras->health);
	attach_free(extras->attach);
	notify_free(extras->notify);
	free(extras->messages);
	if (extras != &setup_no_extras)
		free(extras);
	if (!setup->keeps_activation)
		activation_free(setup->launch.activation);
	launch_done(&setup->launch);
	node_config_unref(config);
}

struct setup *setup_free(struct setup *setup)
{
	if (setup)
		setup_done(setup);
	return free_memory(setup);
}

int setup_new(struct setup **ret, struct service *s, const struct node_config *config)
{
	cleanup(setup_freep) struct setup *setup = calloc(1, sizeof(*setup));
	const char *pid_file = node_config_extras(config)->pid_file;
	struct setup_extras *extras;
	int r;

	if (!setup)
		return -ENOMEM;
	setup->extras = (struct setup_extras *)&setup_no_extras;
	extras = calloc(1, sizeof(*extras));
	if (!extras)
		return -ENOMEM;
	setup->extras = extras;
	setup->launch.config = node_config_ref(config);
	r = service_notify_new(s, config, &extras->notify, &extras->messages);
	if (r >= 0)
		r = readiness_new(&extras->readiness, s->ctx, config, &s->setup.launch,
				  setup_on_ready, s);
	if (r >= 0)
		r = health_new(&extras->health, s, config);
	if (r >= 0 && config->attach)
		r = attach_new(&extras->attach, s->node);
	if (r >= 0 && pid_file)
		r = pid_watch_new(&extras->pid_watch, s->ctx, pid_file, setup_on_pid_file, s);
	if (r >= 0 && !s->calls &&
	    (config->autostart == AUTOSTART_ON_DEMAND ||
	     node_config_extras(config)->drain_quiet_usec))
		r = calls_new(&s->calls, s->node);
	if (r >= 0)
		setup->keeps_activation = setup_can_keep_activation(s, config);
	if (setup->keeps_activation)
		setup->launch.activation = s->setup.launch.activation;
	else if (r >= 0)
		r = activation_new(&setup->launch.activation, s->ctx, config);
	if (r >= 0)
		r = launch_init(&setup->launch, s->ctx, config,
				extras->notify ? notify_address(extras->notify) : NULL,
				setup->launch.activation);
	setup->launch.group = &s->group;
	if (r >= 0)
		r = service_hook_new(s, config, &extras->hook);
	if (r >= 0)
		r = service_reload_new(s, config, &extras->reload);
	if (r < 0)
		return r;
	if (memcmp(extras, &setup_no_extras, sizeof(*extras)) == 0) {
		setup->extras = (struct setup_extras *)&setup_no_extras;
		free(extras);
	}
	*ret = take(setup);
	return 0;
}

/* Closes the control connection of an earlier run if @next has none. */
static void setup_withdraw_control(const struct service *s, const struct node_config *next)
{
	const struct control_offer *control = &s->ctx->control;
	const struct node_config *present = s->setup.launch.config;

	if (present && present->control && !(next && next->control) && control->withdraw)
		control->withdraw(present->path, control->arg);
}

void service_use_next_setup(struct service *s)
{
	struct setup *next = s->next_setup;
	struct setup present;

	if (!next)
		return;
	s->next_setup = NULL;
	setup_withdraw_control(s, next->launch.config);
	if (next->keeps_activation) {
		next->keeps_activation = false;
		s->setup.keeps_activation = true;
	} else {
		/* The sockets are new, but the stored descriptors are meant for the next run. */
		struct activation *former = s->setup.launch.activation;

		if (next->launch.activation && former &&
		    activation_inherit(next->launch.activation, former) < 0)
			service_log(s, LOG_ERR, "stored descriptors lost: out of memory");
	}
	present = s->setup;
	s->setup = *next;
	*next = present;
	s->run.outcome.subject = NULL; /* of the former configuration */
	setup_free(next);
}

void service_setup_done(struct service *s)
{
	s->next_setup = setup_free(s->next_setup);
	setup_withdraw_control(s, NULL);
	setup_done(&s->setup);
}

struct adjusting {
	const struct service *service;
	const struct attributes *from, *to;
};

/* Changes the attributes of processes that the kernel can change from outside. */
static void service_adjust_process(pid_t pid, void *arg)
{
	const struct adjusting *a = arg;
	const struct hook *h;
	const char *key;
	int r;

	/* A process without its program may have the memory, and so the OOM score, of the daemon. */
	for (unsigned i = 0; (h = service_running_hook(a->service, i)); i++)
		if (h->process.pid == pid)
			return;
	r = adjust_process(pid, a->from, a->to, &key);
	if (r < 0 && r != -ESRCH)
		service_log(a->service, LOG_WARNING, "cannot change %s of pid %d: %s", key,
			    (int)pid, strerror(-r));
}

static void service_adjust(const struct service *s, const struct node_config *before)
{
	struct adjusting a = { s, node_config_part(before, PART_ATTRIBUTES),
			       node_config_part(s->config, PART_ATTRIBUTES) };

	if (!s->main.alive || spawn_step_of(&s->main.spawning) != SPAWN_STEP_NONE)
		return;
	if (s->group.exists)
		control_group_each(&s->group, service_adjust_process, &a);
	else
		service_adjust_process(s->main.pid, &a);
}

void service_reconfigure(struct service *s, const struct node_config *config, struct setup *setup,
			 struct policy *policy)
{
	const struct node_config *before = s->config;

	s->config = node_config_ref(config);
	capture_reload(s->setup.launch.capture, config);
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
		if (config->start_timeout_usec != before->start_timeout_usec)
			service_extend_start(
				s, clock_add(s->run.started_usec, config->start_timeout_usec));
		control_group_use(&s->group, config);
		service_adjust(s, before);
	}
	s->group.config = config;
	node_config_unref(before);
	service_recount(s);
	node_add_task(s->node, TASK_RECYCLES);
}
