/*
 * The rollout is kept as it is shown.  For the next image of the daemon it is in a memory file, with the times that
 * clients do not see: another file for each version, so that a row never has a part of one.
 *
 * The services of a rollout are those that run, in the order of the nodes; of a rehearsal they are in the order that the
 * client has given; and on the way back they are the ones of the rollout that is undone.
 */
#include "daemon/reload/rollout.h"

#define ROSTER_ROLLOUT "rollout"

static const char *const state_names[N_ROLLOUT_STATES] = {
	"none", "running", "paused", "undoing", "unconfirmed", "done", "failed", "undone",
};
static const char *const step_names[N_STEP_STATES] = { "pending", "restarting", "ready", "failed" };

int rollout_init(struct rollout *ro, struct tree *tree)
{
	int r = 0;

	*ro = (struct rollout){ .tree = tree, .before_tape = -1, .row = -1 };
	alarm_init(&ro->alarm, NULL);
	for (enum step_state i = 0; i < N_STEP_STATES; i++) {
		ro->words[i] = json_string(step_names[i]);
		r = ro->words[i] ? r : -ENOMEM;
	}
	return r;
}

void rollout_clear(struct rollout *ro)
{
	rollout_use_before(ro, NULL);
	rollout_show(ro, NULL);
	ro->state = ROLLOUT_NONE;
	ro->version++;
	alarm_stop(&ro->tree->ctx->alarms, &ro->alarm);
	roster_write(ro->tree->ctx->roster, &ro->place, NULL);
	ro->row = fd_close(ro->row);
}

void rollout_done(struct rollout *ro)
{
	if (!ro->tree)
		return;
	rollout_clear(ro);
	for (enum step_state i = 0; i < N_STEP_STATES; i++)
		json_decref(ro->words[i]);
}

void rollout_enter(struct rollout *ro, enum rollout_state state, const char *reason)
{
	struct context *ctx = ro->tree->ctx;
	json_t *copy = reason ? message_string(reason) : NULL;

	log_line(ctx->log, state == ROLLOUT_FAILED ? LOG_ERR : LOG_NOTICE, "%s: %s%s%s",
		 json_object_get(ro->shown, "confirm_usec") ? "reload" : "rollout",
		 state_names[state], reason ? ": " : "", reason ? reason : "");
	events_add(ctx->events, &(struct event){ .kind = "rollout",
						 .node = "",
						 .from = state_names[ro->state],
						 .to = state_names[state],
						 .reason = reason ? reason : "" });
	(void)json_object_del(ro->shown, "reason"); /* it may be @reason */
	if (copy)
		(void)json_object_set_new(ro->shown, "reason", copy);
	ro->state = state;
	ro->since_usec = clock_now_usec();
	ro->version++;
	ctx->remarks++;
	alarm_stop(&ctx->alarms, &ro->alarm);
	context_update_soon(ctx);
}

/* --- steps --- */

json_t *rollout_prepare(const struct rollout *ro, const json_t *parameters)
{
	static const char *const of_call[] = { "action", "dry_run", "to", "wait" };
	json_t *shown = json_copy((json_t *)(uintptr_t)parameters);
	char cause[EVENT_CAUSE_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(of_call); i++)
		(void)json_object_del(shown, of_call[i]);
	events_cause(ro->tree->ctx->events, cause);
	(void)json_object_set_new(shown, "cause", message_string(cause));
	if (json_object_set_new(shown, "steps", json_array()) == 0 &&
	    json_object_set_new(shown, "own", json_integer(0)) == 0)
		return shown;
	json_decref(shown);
	return NULL;
}

void rollout_show(struct rollout *ro, json_t *shown)
{
	json_decref(ro->shown);
	ro->shown = shown;
}

json_t *rollout_steps(const struct rollout *ro)
{
	return json_object_get(ro->shown, "steps");
}

const char *rollout_path_of(const json_t *step)
{
	return message_get_text(step, "node");
}

json_t *rollout_find_step(const json_t *steps, const char *path)
{
	json_t *step;
	size_t i;

	json_array_foreach (steps, i, step)
		if (strcmp(rollout_path_of(step), path) == 0)
			return step;
	return NULL;
}

bool rollout_is_step(const struct rollout *ro, const json_t *step, enum step_state state)
{
	return json_object_get(step, "state") == ro->words[state];
}

void rollout_enter_step(struct rollout *ro, json_t *step, enum step_state state)
{
	(void)json_object_set(step, "state", ro->words[state]);
	ro->version++;
	ro->tree->ctx->remarks++;
}

json_t *rollout_step(const struct rollout *ro, const char *path)
{
	return json_pack("{s:s, s:O}", "node", path, "state", ro->words[STEP_PENDING]);
}

/* --- the configuration before it --- */

void rollout_use_before(struct rollout *ro, struct config *config)
{
	struct config *former = ro->before;

	ro->before = config ? config_ref(config) : NULL;
	config_unref(former);
	roster_write(ro->tree->ctx->roster, &ro->before_place, NULL);
	ro->before_tape = fd_close(ro->before_tape);
	ro->before_usec = clock_now_usec();
	if (config && config->tape > 0)
		ro->before_tape = fcntl(config->tape, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (ro->before_tape >= 0)
		roster_enter_descriptor(ro->tree->ctx->roster, &ro->before_place, ro->before_tape,
					0, ROSTER_BEFORE);
}

bool rollout_is_rehearsal(const struct rollout *ro)
{
	return message_get_bool(ro->shown, "rehearse", false);
}

/* --- the choice of services --- */

bool rollout_has_renewed(const struct rollout *ro, const struct service *s)
{
	return service_is_outdated(s) && !fsm_is_going_down(s->state) &&
	       (fsm_is_coming_up(s->state) || s->run.started_usec >= ro->before_usec);
}

/* Returns true if the service has former settings, or executes files that were replaced, or would have with a change. */
static bool rollout_is_outdated(const struct rollout *ro, const struct service *s)
{
	const json_t *change =
		rollout_find_step(json_object_get(ro->shown, "changes"), s->node->path);
	const char *file, *program = service_program(s, &file);

	if (program && strcmp(program, "unknown") == 0)
		(void)json_object_set_new(
			ro->shown, "reason",
			json_sprintf("%s: its files cannot be looked at", s->node->path));
	return file || service_is_outdated(s) || message_get_bool(change, "outdated", false);
}

/*
 * Returns true if the service is restarted: it runs, and does not wait for a connection; or on the way back,
 * it runs with settings of the rollout, or was restarted by it and is not ready.
 */
static bool rollout_is_chosen(const struct rollout *ro, const struct service *s,
			      const json_t *former)
{
	const json_t *step = rollout_find_step(former, s->node->path);

	if (node_is_aside(s->node))
		return false;
	if (!former)
		return s->state != STATE_DOWN && s->state != STATE_DONE &&
		       !service_awaits_connection(s) && node_goal(s->node) >= GOAL_CYCLE &&
		       (!message_get_bool(ro->shown, "outdated", false) ||
			rollout_is_outdated(ro, s));
	return service_is_wanted(s) &&
	       (rollout_has_renewed(ro, s) ||
		(step && !rollout_is_step(ro, step, STEP_PENDING) && !service_is_ready(s)));
}

int rollout_choose(struct rollout *ro, const json_t *former)
{
	const json_t *tops = json_object_get(ro->shown, "nodes"), *path;
	const json_t *nodes = rollout_is_rehearsal(ro) ? tops : NULL;
	json_t *steps = json_array();
	size_t i;
	int r = 0;

	json_array_foreach (nodes, i, path) {
		const struct node *n = tree_find(ro->tree, json_string_value(path));

		if (r == 0 && n && n->service && rollout_is_chosen(ro, n->service, NULL) &&
		    !rollout_find_step(steps, n->path))
			r = json_array_append_new(steps, rollout_step(ro, n->path));
	}
	for (int ready = 0; !nodes && ready <= 1; ready++) {
		size_t first = json_array_size(steps);

		for (const struct node *n = ro->tree->root; n; n = node_next(n, ro->tree->root))
			if (r == 0 && n->service && service_is_ready(n->service) == ready &&
			    (!tops || message_has_within(tops, n->path)) &&
			    rollout_is_chosen(ro, n->service, former))
				r = json_array_insert_new(steps,
							  former ? first : json_array_size(steps),
							  rollout_step(ro, n->path));
	}
	if (r == 0)
		r = json_object_set(ro->shown, "steps", steps);
	if (r == 0)
		(void)json_integer_set(json_object_get(ro->shown, "own"),
				       (json_int_t)json_array_size(steps));
	json_decref(steps);
	ro->version++;
	return r < 0 ? -ENOMEM : 0;
}

/* --- for clients, and for the next image --- */

json_t *rollout_json(const struct rollout *ro)
{
	json_t *json = ro->state == ROLLOUT_NONE ? NULL : json_copy(ro->shown);
	uint64_t now = clock_now_usec();

	if (!json)
		return NULL;
	(void)json_object_set_new(json, "state", json_string(state_names[ro->state]));
	(void)json_object_set_new(json, "since_usec",
				  json_integer((json_int_t)(now - ro->since_usec)));
	if (ro->state == ROLLOUT_UNCONFIRMED)
		(void)json_object_set_new(
			json, "left_usec",
			json_integer((json_int_t)(ro->alarm.usec - MIN(ro->alarm.usec, now))));
	return json;
}

void rollout_write(struct rollout *ro)
{
	struct roster *roster = ro->tree->ctx->roster;
	uint64_t alarm_usec = MIN(ro->alarm.usec, (uint64_t)INT64_MAX);
	int former = ro->row;
	json_t *json;

	if (!roster || ro->version == ro->written || ro->state == ROLLOUT_NONE)
		return;
	ro->written = ro->version;
	json = json_pack("{s:O, s:i, s:I, s:I, s:I, s:b}", "shown", ro->shown, "state", ro->state,
			 "since", (json_int_t)ro->since_usec, "alarm", (json_int_t)alarm_usec,
			 "before", (json_int_t)ro->before_usec, "to_apply", ro->to_apply);
	ro->row = memfd_create("rollout", MFD_CLOEXEC);
	if (ro->row >= 0 && json && json_dumpfd(json, ro->row, JSON_COMPACT) == 0)
		roster_enter_descriptor(roster, &ro->place, ro->row, 0, ROSTER_ROLLOUT);
	else
		roster_write(roster, &ro->place, NULL);
	json_decref(json);
	(void)fd_close(former);
}

static void rollout_take_json(struct rollout *ro, const json_t *json)
{
	json_t *step;
	size_t i;

	ro->shown = json_incref(json_object_get(json, "shown"));
	json_array_foreach (rollout_steps(ro), i, step)
		for (enum step_state k = 0; k < N_STEP_STATES; k++)
			if (strcmp(message_get_text(step, "state"), step_names[k]) == 0)
				(void)json_object_set(step, "state", ro->words[k]);
	ro->state = (enum rollout_state)MIN(message_get_number(json, "state", 0),
					    (uint64_t)N_ROLLOUT_STATES - 1);
	ro->since_usec = message_get_number(json, "since", 0);
	ro->before_usec = message_get_number(json, "before", 0);
	ro->begun_usec = clock_now_usec();
	ro->to_apply = message_get_bool(json, "to_apply", false);
	if (ro->state == ROLLOUT_UNCONFIRMED)
		alarm_set(&ro->tree->ctx->alarms, &ro->alarm, message_get_number(json, "alarm", 0));
}

void rollout_take_former(struct rollout *ro, struct config *before)
{
	int fd = roster_take_descriptor(ro->tree->ctx->roster, ROSTER_ROLLOUT, NULL);
	json_t *json = NULL;

	if (fd >= 0 && lseek(fd, 0, SEEK_SET) == 0)
		json = json_loadfd(fd, 0, NULL);
	(void)fd_close(fd);
	if (!json)
		return;
	rollout_use_before(ro, before);
	rollout_take_json(ro, json);
	ro->version++;
	rollout_write(ro);
	json_decref(json);
}
