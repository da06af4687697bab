/*
 * A rollout is an object of the daemon, which goes on without this command: one call begins it, or acts on it,
 * and receives its progress.  Each reply has the whole rollout; what is new in it is printed.
 */
#include "ctl/commands/cmd.h"

struct watch {
	struct ctl *ctl;
	json_t *changes; /* NULL: none came yet */
	json_t *rollout; /* of the last reply; NULL: there was none */
	size_t n_ready;	 /* steps that were printed as ready */
};

static void rollout_watch_done(struct watch *watch)
{
	json_decref(watch->changes);
	json_decref(watch->rollout);
}

static bool rollout_is_state(const json_t *object, const char *state)
{
	return strcmp(message_get_text(object, "state"), state) == 0;
}

/* Returns the number of the client's services that are ready. */
static size_t rollout_count_ready(const json_t *rollout)
{
	size_t own = message_get_number(rollout, "own", 0), n = 0, i;
	const json_t *step;

	json_array_foreach (json_object_get(rollout, "steps"), i, step)
		n += i < own && rollout_is_state(step, "ready");
	return n;
}

static const json_t *rollout_find(const json_t *rollout, const char *path)
{
	const json_t *step;
	size_t i;

	json_array_foreach (json_object_get(rollout, "steps"), i, step)
		if (strcmp(message_get_text(step, "node"), path) == 0)
			return step;
	return NULL;
}

/* --- what is printed --- */

void rollout_print(struct ctl *ctl, const json_t *rollout)
{
	const char *reason = message_get_string(rollout, "reason", NULL);
	uint64_t left_usec = message_get_number(rollout, "left_usec", UINT64_MAX);
	char text[CLOCK_TEXT_MAX];

	if (left_usec != UINT64_MAX)
		ctl_print(ctl, "reload: goes back in %s, unless swansongctl confirm comes",
			  clock_text(text, left_usec));
	else if (rollout && !rollout_is_state(rollout, "done"))
		ctl_print(ctl, "rollout: %s, %zu of %zu are done%s%s; see: swansongctl rollout",
			  message_get_text(rollout, "state"), rollout_count_ready(rollout),
			  (size_t)message_get_number(rollout, "own", 0), reason ? ": " : "",
			  reason ? reason : "");
}

/* Prints what is new in @rollout. */
static void rollout_print_steps(struct watch *watch, const json_t *rollout)
{
	bool back = rollout_is_state(rollout, "undoing") || rollout_is_state(rollout, "undone");
	size_t own = message_get_number(rollout, "own", 0), i;
	const json_t *step;

	if (rollout_count_ready(rollout) == 0)
		watch->n_ready = 0;
	json_array_foreach (json_object_get(rollout, "steps"), i, step) {
		const char *path = message_get_text(step, "node"),
			   *with = message_get_string(step, "with", NULL);
		const json_t *last = rollout_find(watch->rollout, path);

		if (with && !json_object_get(last, "with"))
			ctl_print(watch->ctl, "%s: stopped with %s, which it requires", path, with);
		if (i < own && rollout_is_state(step, "ready") && !rollout_is_state(last, "ready"))
			ctl_print(watch->ctl, "%s: ready%s, %zu of %zu", path,
				  back ? " with its former settings" : "", ++watch->n_ready, own);
	}
}

static void rollout_print_dry_run(struct ctl *ctl, const json_t *rollout)
{
	const json_t *steps = json_object_get(rollout, "steps"), *other;
	size_t own = message_get_number(rollout, "own", 0), i, k;

	for (i = 0; i < own; i++) {
		const char *path = message_get_text(json_array_get(steps, i), "node");

		ctl_print(ctl, "%s: would be restarted, %zu of %zu", path, i + 1, own);
		json_array_foreach (steps, k, other)
			if (strcmp(message_get_text(other, "with"), path) == 0)
				ctl_print(ctl, "%s: would be restarted with %s, which it requires",
					  message_get_text(other, "node"), path);
	}
	ctl_print(ctl, "nothing was done: this is a dry run");
}

/* Names the services that the reload has left outdated and that were not restarted. */
static void rollout_print_outdated(const struct watch *watch)
{
	const json_t *change;
	size_t i;

	json_array_foreach (watch->changes, i, change) {
		const char *path = message_get_text(change, "node");

		if (json_is_true(json_object_get(change, "outdated")) &&
		    !rollout_find(watch->rollout, path))
			ctl_print(
				watch->ctl,
				"%s: keeps its former settings until it is restarted, or a reload",
				path);
	}
}

static int rollout_print_result(const struct watch *watch)
{
	const json_t *rollout = watch->rollout;
	const char *reason = message_get_string(rollout, "reason", NULL);
	bool failed = rollout_is_state(rollout, "failed");
	struct ctl *ctl = watch->ctl;
	int r = failed ? CTL_FAILED : CTL_DONE;

	if (ctl->options.json) {
		cleanup(json_decrefp) json_t *all =
			json_pack("{s:O, s:O*}", "rollout", rollout, "changes", watch->changes);

		(void)ctl_print_json(ctl, all);
	}
	if (rollout_is_state(rollout, "undone") && reason)
		r = CTL_UNDONE;
	if (reason)
		log_line(&ctl->log, r == CTL_DONE ? LOG_NOTICE : LOG_ERR, "%s", reason);
	if (failed || rollout_is_state(rollout, "paused"))
		log_line(&ctl->log, LOG_NOTICE,
			 "%zu of %zu are done; to go on: swansongctl rollout --continue; to go "
			 "back: swansongctl rollout --undo",
			 rollout_count_ready(rollout),
			 (size_t)message_get_number(rollout, "own", 0));
	else if (rollout_is_state(rollout, "undone"))
		ctl_print(ctl, "undone: the next reload or rollout reads the files again");
	else if (!rollout_is_state(rollout, "done"))
		rollout_print(ctl, rollout);
	else if (message_get_number(rollout, "own", 0) == 0)
		ctl_print(ctl, "nothing to restart");
	return r;
}

/* --- the call --- */

static json_t *rollout_parameters(const struct ctl *ctl, const char *action, char **paths)
{
	const struct options *o = &ctl->options;
	json_t *nodes = paths ? json_array() : NULL;

	for (; paths && *paths; paths++)
		(void)json_array_append_new(nodes, json_string(*paths));
	return json_pack("{s:s*, s:I, s:I, s:b, s:b, s:b, s:o*, s:o*, s:o*, s:o*}", "action", action,
			 "settle_usec", (json_int_t)o->settle_usec, "parallel",
			 (json_int_t)o->parallel, "or_undo", o->or_undo, "dry_run", o->dry_run,
			 "wait", !o->no_wait, "nodes", nodes, "outdated",
			 o->outdated ? json_true() : NULL, "min_ready",
			 message_number(o->min_ready), "pause_after",
			 message_number(o->pause_after));
}

/* Receives a reply, and prints what is new in it.  *continues: more replies follow.  Return: an exit status. */
static int rollout_take_reply(struct watch *watch, bool *continues)
{
	cleanup(message_reply_done) struct message_reply reply = {};
	struct ctl *ctl = watch->ctl;
	json_t *rollout;
	int r = session_receive(ctl, &reply);

	if (r != CTL_DONE)
		return r;
	*continues = reply.continues;
	rollout = json_object_get(reply.parameters, "rollout");
	if (!rollout)
		return ctl_fail(ctl, -EBADMSG);
	if (!watch->changes) {
		watch->changes = json_incref(json_object_get(reply.parameters, "changes"));
		r = reload_print(ctl, watch->changes);
	}
	if (!ctl->options.dry_run)
		rollout_print_steps(watch, rollout);
	json_decref(watch->rollout);
	watch->rollout = json_incref(rollout);
	return r;
}

int cmd_rollout(struct ctl *ctl, int argc, char **argv)
{
	const struct options *o = &ctl->options;
	const char *action = o->undo		       ? "undo"
			     : o->continues	       ? "continue"
			     : argc > 0 || o->outdated ? "begin"
						       : NULL;
	cleanup(rollout_watch_done) struct watch watch = { .ctl = ctl };
	cleanup(freep) char **paths = NULL;
	bool continues = true;
	int r = CTL_DONE;

	if (o->undo + o->continues + o->outdated > 1 || (o->continues && argc > 0) ||
	    (o->dry_run && (o->undo || (argc == 0 && !o->outdated))))
		return ctl_refuse(ctl, CTL_USAGE,
				  "--continue, --undo, --outdated: expected one of them; --continue: "
				  "expected no node; --dry-run: expected the nodes of a rollout");
	if (argc > 0)
		r = nodes_resolve(ctl, argv, (size_t)argc, &paths);
	ctl->ongoing = (struct ongoing){ .what = "rollout" };
	if (r == CTL_DONE)
		r = session_send(ctl, METHOD_ROLLOUT, rollout_parameters(ctl, action, paths),
				 MESSAGE_MORE);
	while (r == CTL_DONE && continues)
		r = rollout_take_reply(&watch, &continues);
	if (r != CTL_DONE)
		return r;
	rollout_print_outdated(&watch);
	if (!o->dry_run || o->json)
		return rollout_print_result(&watch);
	rollout_print_dry_run(ctl, watch.rollout);
	return CTL_DONE;
}
