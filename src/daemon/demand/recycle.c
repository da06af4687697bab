/*
 * A service is looked at rarely.  Its control group has the sum of its memory; without one, a child of the daemon
 * adds up that of the processes, as the kernel may wait for one of them.
 */
#include "daemon/demand/recycle.h"

#include "daemon/tree/goals.h"
#include "sys/process/usage.h"

#define RECYCLE_EVERY_USEC (30 * USEC_PER_SEC)
#define RECYCLE_AGAIN_USEC USEC_PER_SEC /* while another instance is awaited */
/*
 * A run ends early by a random time of up to 1/RECYCLE_SPREAD of recycle-age, so that runs that began together
 * end apart.
 */
#define RECYCLE_SPREAD 10

static void recycle_on_alarm(struct alarm *alarm)
{
	node_add_task(container_of(alarm, struct recycle, alarm)->service->node, TASK_RECYCLES);
}

static void recycle_on_weighed(struct closer *closer)
{
	struct recycle *r = container_of(closer, struct recycle, closer);

	r->large = closer->error == EFBIG;
	if (r->large)
		node_add_task(r->service->node, TASK_RECYCLES);
}

static int recycle_weigh(void *arg)
{
	const struct service *s = arg;
	char name[CGROUP_NAME_MAX], claim[CONFIG_NAME_MAX + 1];
	uint64_t memory = 0;

	fd_close_above(STDERR_FILENO);
	cgroups_name(name, control_group_claim(&s->group, claim));
	(void)usage_proportional(s->main.pid, name, &memory);
	return memory > node_config_extras(s->config)->recycle_memory ? -EFBIG : 0;
}

static bool recycle_is_large(struct recycle *r, struct service *s)
{
	uint64_t memory;

	if (control_group_memory(&s->group, &memory) == 0)
		return memory > node_config_extras(s->config)->recycle_memory;
	if (!r->large && !r->closer.process.alive)
		(void)closer_call(&r->closer, recycle_weigh, s);
	return r->large;
}

static bool recycle_is_possible(const struct service *s)
{
	const struct extras *extras = node_config_extras(s->config);

	return (extras->recycle_age_usec || extras->recycle_memory) && service_is_at_work(s) &&
	       s->node->goal == GOAL_UP && service_is_wanted(s) && !node_is_aside(s->node);
}

static uint64_t recycle_due_usec(const struct service *s)
{
	uint64_t age = node_config_extras(s->config)->recycle_age_usec, begun = s->run.started_usec;

	return age ? clock_add(begun, age - begun % (age / RECYCLE_SPREAD + 1)) : USEC_INFINITY;
}

/* Returns true if another instance of its template is stopped to start again, comes up, or has waited for longer. */
static bool recycle_must_wait(const struct node *node, uint64_t now)
{
	uint64_t due = MIN(recycle_due_usec(node->service), now);
	const char *path = node->config->path, *at = strrchr(path, '@');
	const struct node *n;

	if (!at || strchr(at, '/'))
		return false;
	list_for_each (n, &node->parent->children, sibling)
		if (n != node && n->service &&
		    strncmp(n->config->path, path, (size_t)(at + 1 - path)) == 0 &&
		    service_is_meant_to_run(n->service) &&
		    (node_is_stopped(n) || n->goal == GOAL_HANDOVER ||
		     !service_is_resolved(n->service) ||
		     (recycle_is_possible(n->service) && recycle_due_usec(n->service) < due)))
			return true;
	return false;
}

void recycle_process(struct tree *tree, struct node *node)
{
	struct service *s = node->service;
	uint64_t now = clock_now_usec(), next;
	const char *why = NULL;
	struct recycle *r;

	if (!s || !recycle_is_possible(s))
		return;
	r = s->recycle ? s->recycle : calloc(1, sizeof(*r));
	if (!r)
		return;
	if (!s->recycle) {
		r->service = s;
		alarm_init(&r->alarm, recycle_on_alarm);
		closer_init(&r->closer, s->ctx, recycle_on_weighed);
		s->recycle = r;
	}
	next = recycle_due_usec(s);
	if (next <= now) {
		why = "recycle-age is reached";
	} else if (node_config_extras(s->config)->recycle_memory) {
		next = MIN(next, now + RECYCLE_EVERY_USEC);
		if (recycle_is_large(r, s))
			why = "recycle-memory is exceeded";
	}
	if (why && !recycle_must_wait(node, now)) {
		r->large = false;
		goals_lower_one(tree, node, CAUSE_CONFIGURATION, REQUEST_RESTART, why);
		return;
	}
	alarm_set(&s->ctx->alarms, &r->alarm, why ? now + RECYCLE_AGAIN_USEC : next);
}
