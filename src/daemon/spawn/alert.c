/*
 * Like those of final, these commands belong to no service: they are killed by session, and stay out
 * of the control group of the next run.  A reload meanwhile prepares the next alert, which takes the
 * place of this one when the last command has ended.  The last lines of the service go from the
 * logger to the command, not through the daemon.
 */
#include "daemon/spawn/alert.h"

#include "daemon/logger/subscription.h"
#include "model/keys/keys.h"

#define ALERT_LINES 10 /* of each output of the service */

static const char exit_name[] = "SWANSONG_EXIT=";

/* An event, or the use of on-failure-command: pending or running. */
struct alert_job {
	uint64_t began_usec; /* the last time; 0: never */
	const char *result;  /* it waits; else NULL */
	char exit[sizeof(exit_name) + OUTCOME_TEXT_MAX];
};
#define ALERT_ON_FAILURE N_ALERTS

struct alert {
	struct node *node;
	const struct node_config *config; /* counted */
	struct launch launch;
	struct hook hook;
	struct alert_job jobs[N_ALERTS + 1];
	size_t job;	     /* the index of the job with running commands */
	uint64_t limit_usec; /* end of their time */
	bool spent;	     /* their time or a budget has expired */
	bool replaced;	     /* next takes the place of this one when the last command has ended */
	struct alert *next;  /* or NULL: none any more */
};

DEFINE_CLEANUP(struct alert *, alert_free)

static void alert_on_end(void *arg)
{
	node_update_soon(((struct alert *)arg)->node);
}

static void alert_on_limit(struct alarm *alarm)
{
	struct alert *a = container_of(alarm, struct alert, hook.timer);

	/* Also between two commands: the next one would have no limit. */
	a->spent = true;
	if (hook_is_running(&a->hook))
		hook_kill_late(&a->hook, "its on-failure-timeout is spent", NULL);
}

/* --- the last lines --- */

static bool alert_is_of_node(const char *name, void *arg)
{
	const struct alert *a = arg;

	return strcmp(name, a->config->path) == 0;
}

/* Returns a pipe that the logger writes the last lines to and closes; 0 if there is none. */
static int alert_open_lines(void *arg)
{
	struct alert *a = arg;
	struct context *ctx = a->node->ctx;
	const struct log_subscription_wish wish = {
		.lines = ALERT_LINES,
		.plain = true,
		.is_wanted = alert_is_of_node,
		.arg = a,
	};
	struct log_subscription *view;
	int fd;

	if (!ctx->logger || !logging_is_usable(ctx->logger) ||
	    log_subscription_new(&view, ctx, &wish, &fd) < 0)
		return 0;
	/* If the logger does not take it now, the command finds an end of file. */
	(void)log_subscription_update(view);
	log_subscription_free(view);
	return fd;
}

/* --- making --- */

int alert_new(struct alert **ret, struct node *node, const struct node_config *config)
{
	cleanup(alert_freep) struct alert *a = NULL;
	int r;

	if (!config->argv || (node_config_hook(config, HOOK_ON_FAILURE)->n == 0 &&
			      node_config_hook(config, HOOK_ON_EVENT)->n == 0))
		return 0;
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	a->node = node;
	a->config = node_config_ref(config);
	hook_init(&a->hook, node->ctx, &a->launch, NULL, alert_on_end, a, alert_on_limit);
	a->hook.open_input = alert_open_lines;
	r = launch_init(&a->launch, node->ctx, config, NULL, NULL);
	if (r < 0)
		return r;
	*ret = take(a);
	return 0;
}

struct alert *alert_free(struct alert *a)
{
	if (!a)
		return NULL;
	alert_free(a->next);
	hook_end(&a->hook);
	launch_done(&a->launch);
	node_config_unref(a->config);
	return free_memory(a);
}

void alert_use(struct node *node, struct alert *alert)
{
	struct alert *before = node->alert;

	if (before && alert)
		memcpy(alert->jobs, before->jobs, sizeof(alert->jobs));
	if (before && before->hook.node) {
		alert_free(before->next);
		before->next = alert;
		before->replaced = true;
		return;
	}
	node->alert = alert;
	alert_free(before);
}

/* --- beginning and end --- */

static void alert_begin(struct alert *a, size_t job, uint64_t now)
{
	struct alert_job *j = &a->jobs[job];
	struct node *node = a->node;

	a->job = job;
	a->spent = false;
	a->limit_usec = clock_add(now, node_config_extras(a->config)->on_failure_timeout_usec);
	alarm_set(&node->ctx->alarms, &a->hook.timer, a->limit_usec);
	hook_clear_variables(&a->hook);
	hook_set_variable(&a->hook, "SWANSONG_REASON=%s", j->result);
	if (job < N_ALERTS)
		hook_set_variable(&a->hook, "SWANSONG_EVENT=%s", alert_names[job]);
	hook_add_variable(&a->hook, j->exit);
	j->began_usec = now;
	j->result = NULL;
	hook_begin(&a->hook, node, job < N_ALERTS ? HOOK_ON_EVENT : HOOK_ON_FAILURE,
		   swansong_guard(node->work), node->generation);
}

static void alert_add_job(struct alert *a, size_t job, const char *result, const char *text)
{
	enum hook_kind kind = job < N_ALERTS ? HOOK_ON_EVENT : HOOK_ON_FAILURE;
	uint64_t interval = node_config_extras(a->config)->on_failure_interval_usec;
	struct alert_job *j = &a->jobs[job];
	const char *reason = NULL;

	if (node_config_hook(a->config, kind)->n == 0)
		return;
	if (a->hook.node && a->job == job)
		reason = "the last one is not over";
	else if (j->began_usec && clock_now_usec() < clock_add(j->began_usec, interval))
		reason = "it ran within its on-failure-interval";
	if (reason) {
		node_log(a->node, LOG_NOTICE, "%s left out: %s", hook_name(kind), reason);
		return;
	}
	j->result = result;
	(void)snprintf(j->exit, sizeof(j->exit), "%s%s", exit_name, text);
}

static void alert_begin_next(struct alert *a)
{
	for (size_t job = 0; job <= ALERT_ON_FAILURE && !a->hook.node; job++)
		if (a->jobs[job].result)
			alert_begin(a, job, clock_now_usec());
}

void alert_raise(struct node *node, enum alert_event event, const char *result, const char *text)
{
	node_add_event(node, "alert", "", alert_names[event], text);
	if (!node->alert)
		return;
	if (event == ALERT_GIVEN_UP)
		alert_add_job(node->alert, ALERT_ON_FAILURE, result, text);
	alert_add_job(node->alert, event, result ? result : alert_names[event], text);
	/* The result of a probe comes outside of a turn. */
	if (event == ALERT_UNHEALTHY || event == ALERT_RECOVERED)
		node_update_soon(node);
	else
		alert_begin_next(node->alert);
}

static void alert_finish(struct alert *a)
{
	struct node *node = a->node;

	capture_end(a->launch.capture, &a->hook.process.guard, a->hook.process.generation,
		    a->limit_usec);
	hook_end(&a->hook);
	if (!a->replaced)
		return;
	if (a->next)
		memcpy(a->next->jobs, a->jobs, sizeof(a->jobs));
	node->alert = take(a->next);
	alert_free(a);
}

void alert_update(struct node *node)
{
	struct alert *a;

	while ((a = node->alert) && hook_has_ended(&a->hook))
		if (!hook_continue_anyway(&a->hook, a->spent))
			alert_finish(a);
	if (a)
		alert_begin_next(a);
}

void alert_force(struct node *node)
{
	struct alert *a = node->alert;

	if (!a || !hook_is_running(&a->hook) || a->spent)
		return;
	a->spent = true;
	hook_kill_late(&a->hook, "the budget is spent", "the budget was spent");
}

const struct hook *alert_hook(const struct node *node)
{
	return node->alert && node->alert->hook.node ? &node->alert->hook : NULL;
}

void alert_abandon(struct node *node)
{
	struct alert *a = node->alert;

	if (!a || !a->hook.node)
		return;
	node_log(node, LOG_ERR, "its %s is not waited for any more", hook_name(a->hook.kind));
	hook_kill(&a->hook);
	swansong_guard_drop(&a->hook.process.guard);
}
