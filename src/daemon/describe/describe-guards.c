/*
 * A guard of the daemon has no object of its own: this file derives a list from all that holds one.
 * In order: the main process, its commands and checks, remaining processes, output that is not
 * written, the attached program, the final action, leases.
 */
#include "daemon/describe/describe.h"

#include "daemon/service/health.h"
#include "daemon/node/user.h"
#include "daemon/service/parts.h"
#include "model/keys/keys.h"

/* Returns the time at which the guards of @node end by force. */
static uint64_t describe_kill_time(const struct node *node)
{
	uint64_t usec = node->stop_usec && !node->complete ? node->kill_usec : USEC_INFINITY;
	const struct service *s = node->service;

	if (s && s->state == STATE_KILLING)
		return 0;
	if (s && fsm_is_going_down(s->state))
		usec = MIN(usec, service_kill_usec(s));
	if (s && fsm_step(s->state, EVENT_TIMEOUT, 0).actions & ACT_KILL)
		usec = MIN(usec, s->timeout_usec);
	return usec;
}

/* Returns the user of process @pid, or the one that it was started as, if that has ended. */
static uid_t describe_uid_of(const struct node *node, pid_t pid)
{
	uid_t uid;

	if (proc_uid(pid, &uid) == 0)
		return uid;
	return user_of_config(node->service ? node->service->setup.launch.config : node->config);
}

struct walk {
	struct node *node;
	uint64_t now;
	describe_guard *each;
	void *arg;
};

/* Completes @view with the members that all guards have; kill_usec is that of its process, or 0: as the node. */
static void describe_visit_guard(const struct walk *w, struct guard_view view)
{
	bool lease = strcmp(view.kind, "lease") == 0;

	view.node = w->node->path;
	if (!lease)
		view.kill_usec = MIN(describe_kill_time(w->node),
				     view.kill_usec ? view.kill_usec : USEC_INFINITY);
	view.kill_usec = clock_until(view.kill_usec, w->now);
	if (!lease) {
		view.uid = view.pid == FIELD_NONE ? FIELD_NONE
						  : describe_uid_of(w->node, (pid_t)view.pid);
		view.ttl_usec = FIELD_NONE;
	}
	w->each(w->node, &view, w->arg);
}

static struct guard_view describe_view_process(const struct walk *w, const struct process *process,
					       const char *kind)
{
	return (struct guard_view){
		.id = process->id,
		.generation = process->generation,
		.kind = kind,
		.pid = (uint64_t)process->pid,
		.command = process->name,
		.age_usec = w->now - process->since_usec,
		.count = FIELD_NONE,
	};
}

/*
 * Without a control group, the guard of a dead process is held until the next scan, which finds the remaining
 * processes; the dead process is not listed among these.
 */
static void describe_visit_main(const struct walk *w, const struct service *s)
{
	bool remains = !s->main.alive && s->group.exists;
	struct guard_view view =
		describe_view_process(w, &s->main, remains ? "leftover" : "process");

	if (!s->main.guard.node || (s->main.pid == 0 && !s->run.worked) ||
	    (!remains && s->main.id == 0))
		return;
	view.command = s->config->command;
	if (s->main.pid == 0) {
		view.kind = "action";
		view.pid = FIELD_NONE;
		view.why = "to be undone";
		view.age_usec = w->now - s->since_usec;
	}
	describe_visit_guard(w, view);
}

/* @process may be NULL. */
static void describe_visit_command(const struct walk *w, const struct process *process,
				   const char *why)
{
	struct guard_view view;

	if (!process)
		return;
	view = describe_view_process(w, process, "action");
	view.why = why;
	describe_visit_guard(w, view);
}

static void describe_visit_commands(const struct walk *w, const struct service *s)
{
	const struct hook *h;

	for (unsigned n = 0; (h = service_running_hook(s, n)); n++)
		describe_visit_command(w, &h->process, hook_name(h->kind));
	describe_visit_command(w, readiness_process(s->setup.extras->readiness), "ready");
	if (s->setup.extras->health)
		describe_visit_command(w, probe_process(s->setup.extras->health->probe), "health");
}

static void describe_visit_remaining(const struct walk *w, const struct service *s)
{
	const struct process *p;

	list_for_each (p, &s->remaining, by_service) {
		struct guard_view view = describe_view_process(w, p, "leftover");

		view.kept = p->kept;
		view.kill_usec = p->until_usec;
		describe_visit_guard(w, view);
	}
}

/* Reports output of the service that is not written yet. */
static void describe_visit_logs(const struct walk *w, const struct service *s)
{
	for (enum logger_kind kind = 0; kind < LOGGER_KINDS; kind++) {
		const struct log_stream *stream = capture_stream(s->setup.launch.capture, kind);
		const struct log_hold *hold;

		if (!stream)
			continue;
		list_for_each (hold, log_stream_holds(stream), in_stream)
			describe_visit_guard(w, (struct guard_view){
							.id = hold->id,
							.generation = hold->generation,
							.kind = "log",
							.pid = FIELD_NONE,
							.why = log_stream_destination(stream),
							.age_usec = w->now - hold->since_usec,
							.kill_usec = hold->limit.usec,
							.count = FIELD_NONE,
						});
	}
}

static void describe_visit_program(const struct walk *w, const struct service *s)
{
	struct attach_view program;

	if (!s->setup.extras->attach || !attach_view(s->setup.extras->attach, w->now, &program))
		return;
	describe_visit_guard(w, (struct guard_view){
					.id = program.id,
					.generation = s->main.generation,
					.kind = "program",
					.pid = (uint64_t)program.pid,
					.command = program.command,
					.why = program.why,
					.age_usec = program.age_usec,
					.count = program.guards,
				});
}

static void describe_visit_final(const struct walk *w)
{
	const struct hook *final = final_hook(w->node);
	struct guard_view view;

	if (!final)
		return;
	view = describe_view_process(w, &final->process, "action");
	view.why = hook_name(HOOK_FINAL);
	if (!hook_is_running(final)) {
		view.pid = FIELD_NONE;
		view.command = NULL;
		view.age_usec = w->now - w->node->since_usec;
	}
	describe_visit_guard(w, view);
}

static void describe_visit_leases(const struct walk *w)
{
	const struct lease *lease;

	list_for_each (lease, &w->node->leases, of_node) {
		struct guard_view view = {
			.id = lease->id,
			.generation = lease->generation,
			.kind = "lease",
			.pid = lease->peer.pid > 0 ? (uint64_t)lease->peer.pid : FIELD_NONE,
			.uid = lease->peer.uid,
			.command = *lease->command ? lease->command : NULL,
			.why = *lease->why ? lease->why : NULL,
			.age_usec = w->now - lease->since_usec,
			.kill_usec = lease_kill_time(lease),
			.ttl_usec = clock_until(lease->until_usec, w->now),
			.count = FIELD_NONE,
		};

		describe_visit_guard(w, view);
	}
}

void describe_each_guard(struct node *node, uint64_t now, describe_guard *each, void *arg)
{
	const struct walk w = { .node = node, .now = now, .each = each, .arg = arg };
	const struct hook *alert = alert_hook(node);

	if (node->service) {
		describe_visit_main(&w, node->service);
		describe_visit_commands(&w, node->service);
		describe_visit_remaining(&w, node->service);
		describe_visit_logs(&w, node->service);
		describe_visit_program(&w, node->service);
	}
	describe_visit_final(&w);
	if (alert && hook_is_running(alert))
		describe_visit_command(&w, &alert->process, hook_name(alert->kind));
	describe_visit_leases(&w);
}

bool describe_is_blocking(const struct node *node, const struct guard_view *guard)
{
	if (guard->kept)
		return node_is_tree_stopped(node);
	return node_is_stopped(node) || guard->generation != node->generation;
}

struct collector {
	json_t *array; /* NULL after a lack of memory */
	bool blocking;
};

static void describe_collect_guard(struct node *node, const struct guard_view *guard, void *arg)
{
	struct collector *c = arg;

	if ((c->blocking && !describe_is_blocking(node, guard)) ||
	    json_array_append_new(c->array, guard_view_build(guard)) == 0)
		return;
	json_decref(c->array);
	c->array = NULL;
}

json_t *describe_guards(struct node *top, bool blocking)
{
	struct collector c = { .array = json_array(), .blocking = blocking };
	uint64_t now = clock_now_usec();

	for (struct node *n = top; c.array && n; n = node_next(n, top))
		describe_each_guard(n, now, describe_collect_guard, &c);
	return c.array;
}
