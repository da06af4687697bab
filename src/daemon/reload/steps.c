/*
 * In each turn the services that are being restarted are compared with what is waited for.  When all are ready,
 * the next ones are restarted in the same turn.
 *
 * Services that restart along with another one are steps as well; a step of the client that has restarted in this
 * way is not restarted again.
 */
#include "daemon/reload/steps.h"

#include "daemon/reload/trial.h"
#include "daemon/service/health.h"
#include "daemon/succession/succession.h"
#include "daemon/tree/build.h"
#include "daemon/tree/start-order.h"

/* The time until the next attempt to go back, if one has failed. */
#define STEPS_AGAIN_USEC (10 * USEC_PER_SEC)

/* --- restarts --- */

struct steps_restart {
	struct rollout *ro;
	const char *path; /* of the service */
	bool dry_run;	  /* only notes which nodes would restart */
};

/* Notes that the services that start with @node restart: it is the one of the step, or requires it. */
static void steps_take(struct node *node, void *arg)
{
	const struct steps_restart *restart = arg;
	struct rollout *ro = restart->ro;

	/* The ends of earlier runs do not count for the run that follows. */
	if (!restart->dry_run)
		goals_forget_restarts(node);
	for (struct node *n = node; n; n = node_next(n, node)) {
		json_t *step = rollout_find_step(rollout_steps(ro), n->path);

		if (!n->service || !start_order_is_meant(n, node) ||
		    rollout_is_step(ro, step, STEP_RESTARTING))
			continue;
		/* Without memory for a step the service is not waited for. */
		if (!step) {
			step = rollout_step(ro, n->path);
			(void)json_array_append_new(rollout_steps(ro), step);
		}
		if (strcmp(n->path, restart->path) != 0)
			(void)json_object_set_new(step, "with", json_string(restart->path));
		rollout_enter_step(ro, step, STEP_RESTARTING);
	}
}

/* Restarts @node.  A dry run finds the dependents, with the services that are being restarted at the same time. */
static int steps_restart(struct rollout *ro, json_t *step, struct node *node, bool dry_run)
{
	struct steps_restart restart = { ro, rollout_path_of(step), dry_run };
	char reason[EVENT_CAUSE_MAX];
	struct goals goals;
	json_t *other;
	int r = 0;
	size_t i;

	events_cause(ro->tree->ctx->events, reason);
	goals_begin(&goals, ro->tree, CAUSE_OPERATOR);
	goals.on_dependent = steps_take;
	goals.arg = &restart;
	goals.dry_run = dry_run;
	goals.keep = message_get_number(ro->shown, "min_ready", INT64_MAX);
	steps_take(node, &restart);
	json_array_foreach (rollout_steps(ro), i, other)
		if (dry_run && rollout_is_step(ro, other, STEP_RESTARTING))
			goals_lower(&goals, tree_find(ro->tree, rollout_path_of(other)),
				    REQUEST_RESTART, reason);
	if (!dry_run)
		r = goals_restart(&goals, node, reason);
	if (r == 0)
		goals_commit(&goals);
	if (node->goal == GOAL_HANDOVER)
		(void)json_object_set_new(step, "generation", json_integer(node->generation));
	return r;
}

static void steps_fail(struct rollout *ro, json_t *step, const char *node, const char *text)
{
	cleanup(freep) char *reason = text_format(
		"%s%s: %s", ro->state == ROLLOUT_UNDOING ? "going back: " : "", node, text);

	rollout_enter_step(ro, step, STEP_FAILED);
	if (rollout_is_rehearsal(ro)) {
		(void)json_object_set_new(step, "reason", message_string(text));
		return;
	}
	ro->to_apply =
		ro->state == ROLLOUT_RUNNING && message_get_bool(ro->shown, "or_undo", false);
	/* All that it has renewed goes back, with the dependents. */
	if (ro->to_apply)
		(void)json_object_del(ro->shown, "nodes");
	rollout_enter(ro, ro->to_apply ? ROLLOUT_UNDOING : ROLLOUT_FAILED, reason);
}

/* Restarts the next services, as many as are restarted at a time.  Returns their number; 0 after a failure. */
static uint64_t steps_restart_next(struct rollout *ro, bool dry_run)
{
	uint64_t parallel = MAX(message_get_number(ro->shown, "parallel", 1), (uint64_t)1), n = 0;
	json_t *step;
	size_t i;

	ro->begun_usec = clock_now_usec();
	json_array_foreach (rollout_steps(ro), i, step) {
		struct node *node = tree_find(ro->tree, rollout_path_of(step));

		if (n == parallel || !rollout_is_step(ro, step, STEP_PENDING))
			continue;
		n++;
		/* The service may have been stopped by hand meanwhile, or have no section any more. */
		if (node && node->service && node_goal(node) >= GOAL_CYCLE &&
		    steps_restart(ro, step, node, dry_run) == 0)
			continue;
		if (ro->state == ROLLOUT_RUNNING) {
			steps_fail(ro, step, rollout_path_of(step), "stopped");
			if (!rollout_is_rehearsal(ro))
				return 0;
			continue;
		}
		rollout_enter_step(ro, step, STEP_READY);
	}
	return n;
}

/* --- the way back --- */

/* Goes back when a trial has shown that no file system of the former paths hangs; tries again if it fails. */
static void steps_go_back(const struct reload *reload)
{
	struct rollout *ro = reload->rollout;
	struct context *ctx = ro->tree->ctx;
	const struct reload_how how = {
		.config = ro->before,
		/* A reload that is not confirmed goes back as it came: all at the same time. */
		.rollout = !json_object_get(ro->shown, "confirm_usec"),
		.open = true,
	};
	cleanup(json_decrefp) json_t *changes = NULL;
	cleanup(freep) char *text = NULL;
	struct memstream m;
	int r = 0;

	if (ro->alarm.usec != USEC_INFINITY)
		return;
	/* A successor would come up with settings of the rollout afterwards. */
	for (const struct node *n = ro->tree->root; n; n = node_next(n, ro->tree->root))
		if (n->goal == GOAL_HANDOVER)
			return;
	if (reload->trial && !ro->trial)
		ro->trial = trial_begin(reload->trial, ro->before);
	if (reload->trial)
		r = trial_result(reload->trial, ro->trial);
	if (r == -EINPROGRESS)
		return;
	ro->trial = 0;
	if (r == 0)
		r = memstream_open(&m);
	if (r == 0) {
		r = reload_run(reload, &how, m.file, &changes);
		(void)memstream_close(&m, &text);
	}
	if (r == 0)
		r = rollout_choose(ro, rollout_steps(ro));
	ro->to_apply = r < 0;
	if (r == 0)
		return;
	log_line(ctx->log, LOG_ERR, "cannot go back yet: %s", text && *text ? text : strerror(-r));
	alarm_set(&ctx->alarms, &ro->alarm, clock_now_usec() + STEPS_AGAIN_USEC);
}

/* --- waits --- */

/* Looks at a service that is restarted: has it failed, and is it ready for long enough? */
static void steps_look_at(struct rollout *ro, json_t *step, uint64_t *again_usec)
{
	struct node *node = tree_find(ro->tree, rollout_path_of(step)), *culprit = node;
	const struct service *s = node ? node->service : NULL;
	const struct health *health = s ? s->setup.extras->health : NULL;
	char text[SUCCESSION_WHY_MAX] = "";
	uint64_t until;

	if (s && (node_goal(node) == GOAL_CYCLE || node->goal == GOAL_HANDOVER))
		return;
	if (s && !node_is_stopped(node))
		culprit = s->blocked ? start_order_culprit(s) : NULL;
	if (!s || (culprit && node_goal(culprit) <= GOAL_DOWN)) {
		/* The way back leaves it to the operator. */
		if (ro->state == ROLLOUT_UNDOING)
			rollout_enter_step(ro, step, STEP_READY);
		else
			steps_fail(ro, step, culprit ? node_name(culprit) : rollout_path_of(step),
				   "stopped");
		return;
	}
	until = clock_add(s->since_usec,
			  message_get_number(ro->shown, "settle_usec", USEC_PER_SEC));
	if (node->generation == message_get_number(step, "generation", 0)) {
		(void)succession_failure(node, text);
	} else if (culprit && culprit->service) {
		(void)policy_outcome_text(text, &culprit->service->run.outcome);
	} else if (s->restarts > 0 && s->main.alive) {
		(void)strcpy(text, "has ended and was started again");
	} else if (s->restarts > 0 || s->state == STATE_BACKOFF || s->state == STATE_FAILED ||
		   (s->state == STATE_DONE && s->setup.launch.config->type != TYPE_ONESHOT)) {
		(void)policy_outcome_text(text, &s->run.outcome);
	} else if (health && health->on && health->state == HEALTH_UNHEALTHY) {
		(void)snprintf(text, sizeof(text), "unhealthy: %s", health->why);
	} else if (!service_is_ready(s)) {
		return;
	} else if (s->state == STATE_UP && until > clock_now_usec()) {
		*again_usec = MIN(*again_usec, until);
		return;
	} else if (ro->state == ROLLOUT_RUNNING && node->force.any_usec >= ro->begun_usec) {
		(void)strcpy(text, "had to be killed for its stop");
	}
	if (*text)
		steps_fail(ro, step, node_name(culprit ? culprit : node), text);
	else
		rollout_enter_step(ro, step, STEP_READY);
}

/* Looks at the services that are restarted, and restarts the next ones.  Returns true if it has. */
static bool steps_look(struct rollout *ro)
{
	size_t own = message_get_number(ro->shown, "own", 0), i, n[N_STEP_STATES] = { 0 };
	enum rollout_state state = ro->state;
	uint64_t again_usec = USEC_INFINITY;
	json_t *step;

	json_array_foreach (rollout_steps(ro), i, step) {
		if (rollout_is_step(ro, step, STEP_RESTARTING))
			steps_look_at(ro, step, &again_usec);
		if (ro->state != state)
			return false;
		for (enum step_state k = 0; k < N_STEP_STATES; k++)
			n[k] += rollout_is_step(ro, step, k) && (i < own || k == STEP_RESTARTING);
	}
	alarm_set(&ro->tree->ctx->alarms, &ro->alarm, again_usec);
	if (n[STEP_RESTARTING] > 0)
		return false;
	if (n[STEP_PENDING] == 0)
		rollout_enter(ro, state == ROLLOUT_UNDOING ? ROLLOUT_UNDONE : ROLLOUT_DONE,
			      json_string_value(json_object_get(ro->shown, "reason")));
	else if (state == ROLLOUT_RUNNING &&
		 n[STEP_READY] >= message_get_number(ro->shown, "pause_after", UINT64_MAX))
		rollout_enter(ro, ROLLOUT_PAUSED, NULL);
	else
		return steps_restart_next(ro, false) > 0;
	return false;
}

void steps_update(const struct reload *reload)
{
	struct rollout *ro = reload->rollout;
	char cause[EVENT_CAUSE_MAX];

	if (rollout_is_open(ro) && node_is_stopped(ro->tree->root))
		rollout_enter(ro, ROLLOUT_FAILED, "the tree is shutting down");
	if (ro->state == ROLLOUT_UNCONFIRMED && ro->alarm.usec == USEC_INFINITY) {
		ro->to_apply = true;
		rollout_enter(ro, ROLLOUT_UNDOING, "not confirmed in time");
	}
	(void)snprintf(cause, sizeof(cause), "rollout: %s", message_get_text(ro->shown, "cause"));
	events_because(ro->tree->ctx->events, cause);
	if (ro->state == ROLLOUT_UNDOING && ro->to_apply)
		steps_go_back(reload);
	while (rollout_is_at_work(ro) && !ro->to_apply && steps_look(ro))
		;
	events_because(ro->tree->ctx->events, NULL);
	rollout_write(ro);
}

/* --- requests --- */

json_t *steps_foresee(const struct rollout *real, const json_t *parameters, json_t *changes)
{
	struct rollout dry = *real;
	json_t *step, *json = NULL;
	size_t i;

	dry.state = ROLLOUT_UNDOING; /* this state goes on after a failure */
	dry.shown = rollout_prepare(real, parameters);
	(void)json_object_set(dry.shown, "changes", changes);
	if (dry.shown && rollout_choose(&dry, NULL) == 0) {
		while (steps_restart_next(&dry, true) > 0)
			json_array_foreach (rollout_steps(&dry), i, step)
				if (rollout_is_step(&dry, step, STEP_RESTARTING))
					rollout_enter_step(&dry, step, STEP_READY);
		json_array_foreach (rollout_steps(&dry), i, step)
			rollout_enter_step(&dry, step, STEP_PENDING);
		dry.state = ROLLOUT_RUNNING;
		(void)json_object_del(dry.shown, "changes");
		json = rollout_json(&dry);
	}
	json_decref(dry.shown);
	return json;
}

int steps_begin(const struct reload *reload, const struct reload_how *how, const json_t *parameters,
		FILE *reason, json_t **changes)
{
	uint64_t confirm_usec = message_get_number(parameters, "confirm_usec", 0);
	struct rollout *ro = reload->rollout;
	struct reload_how this = *how;
	bool again = confirm_usec > 0 && ro->state == ROLLOUT_UNCONFIRMED;
	/* An attempt that has failed, and goes on with mended files, has the way back of the first as well. */
	bool unfinished = again || (confirm_usec == 0 && ro->before && ro->state == ROLLOUT_FAILED);
	cleanup(json_decrefp) json_t *shown = rollout_prepare(ro, parameters);
	cleanup(config_unrefp) struct config *former = config_ref(ro->tree->config);
	bool changed;
	int r;

	/* A second reload that is not confirmed has the way back of the first. */
	this.open = again;
	this.begins_rollout = true;
	r = shown ? reload_run(reload, &this, reason, changes) : -ENOMEM;
	if (r < 0 || how->dry_run)
		return r;
	changed = unfinished || confirm_usec > 0 || json_array_size(*changes) > 0;
	if (changed && !unfinished)
		rollout_use_before(ro, former);
	if (!changed) /* so there is nothing to go back to */
		(void)json_object_del(shown, "or_undo");
	rollout_show(ro, take(shown));
	if (confirm_usec == 0)
		r = rollout_choose(ro, NULL);
	rollout_enter(ro,
		      r < 0		 ? ROLLOUT_FAILED
		      : confirm_usec > 0 ? ROLLOUT_UNCONFIRMED
					 : ROLLOUT_RUNNING,
		      r < 0 ? strerror(-r) : message_get_string(ro->shown, "reason", NULL));
	if (confirm_usec > 0)
		alarm_set(&ro->tree->ctx->alarms, &ro->alarm,
			  clock_add(clock_now_usec(), confirm_usec));
	rollout_write(ro);
	tree_enter_config(ro->tree);
	return 0;
}

static int steps_undo(struct rollout *ro, const json_t *parameters)
{
	json_t *shown;

	if (ro->state != ROLLOUT_UNCONFIRMED) {
		shown = rollout_prepare(ro, parameters);
		/* The present steps stay until those of the way back are known. */
		if (!shown || json_object_set(shown, "steps", rollout_steps(ro)) < 0) {
			json_decref(shown);
			return -ENOMEM;
		}
		rollout_show(ro, shown);
	}
	ro->to_apply = true;
	rollout_enter(ro, ROLLOUT_UNDOING, NULL);
	return 0;
}

static int steps_continue(struct rollout *ro, const json_t *parameters)
{
	size_t own = message_get_number(ro->shown, "own", 0), i;
	json_t *step;

	/* A failed dependent was not a step of its own: it is waited for again, without a restart. */
	json_array_foreach (rollout_steps(ro), i, step)
		if (rollout_is_step(ro, step, STEP_FAILED))
			rollout_enter_step(ro, step, i < own ? STEP_PENDING : STEP_RESTARTING);
	(void)json_object_del(ro->shown, "pause_after");
	(void)json_object_set(ro->shown, "pause_after", json_object_get(parameters, "pause_after"));
	rollout_enter(ro, ROLLOUT_RUNNING, NULL);
	return 0;
}

/* A rehearsal changes no settings, so the way back of the last rollout stays. */
static int steps_rehearse(struct rollout *ro, const json_t *parameters, FILE *reason)
{
	json_t *shown = rollout_is_open(ro) ? NULL : rollout_prepare(ro, parameters);
	int r;

	if (rollout_is_open(ro))
		(void)fputs("a rollout is not over", reason);
	if (!shown)
		return rollout_is_open(ro) ? -EBUSY : -ENOMEM;
	(void)json_object_set_new(shown, "rehearse", json_true());
	rollout_show(ro, shown);
	r = rollout_choose(ro, NULL);
	rollout_enter(ro, r < 0 ? ROLLOUT_FAILED : ROLLOUT_RUNNING, r < 0 ? strerror(-r) : NULL);
	return 0;
}

int steps_act(const struct reload *reload, const json_t *parameters, FILE *reason)
{
	const char *action = message_get_text(parameters, "action");
	struct rollout *ro = reload->rollout;
	bool rests = ro->state == ROLLOUT_PAUSED || ro->state == ROLLOUT_FAILED;

	if (strcmp(action, "rehearse") == 0)
		return steps_rehearse(ro, parameters, reason);
	if (!*action && ro->state != ROLLOUT_NONE)
		return 0;
	if (strcmp(action, "undo") == 0 && ro->before)
		return ro->state == ROLLOUT_UNDOING ? 0 : steps_undo(ro, parameters);
	if (strcmp(action, "continue") == 0 && rests && ro->tree->config != ro->before)
		return steps_continue(ro, parameters);
	if (strcmp(action, "confirm") == 0 && ro->state == ROLLOUT_UNCONFIRMED) {
		rollout_use_before(ro, NULL);
		rollout_enter(ro, ROLLOUT_DONE, "confirmed");
		return 0;
	}
	(void)fprintf(reason, "no %s to %s", strcmp(action, "confirm") == 0 ? "change" : "rollout",
		      *action ? action : "wait for");
	return -ENODATA;
}
