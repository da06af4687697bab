/*
 * A rollout is a sequence of requests on one connection: the daemon reads its files and restarts
 * nothing, then services are restarted, some at a time, each part when the one before is ready and has
 * stayed so.  The state of an unfinished rollout is in the daemon: the runs that are outdated.
 *
 * The daemon decides which nodes restart along with a service, as they require it, and names them in
 * its reply; for a dry run it only names them.  A service of the rollout that has restarted in this
 * way is not restarted again.
 */
#include "ctl/commands/cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memstream.h"
#include "base/text.h"
#include "ctl/session/forced-kills.h"
#include "ctl/session/nodes.h"

struct step {
	const char *path;
	json_t *with; /* paths of nodes that restart with it, or NULL */
	bool taken;   /* restarted with an earlier step */
	bool done;
};

struct rollout {
	struct ctl *ctl;
	json_t *tops;		     /* paths of the nodes of the command line */
	struct message_reply reload; /* owner of @changes */
	const json_t *changes;
	struct nodes nodes; /* owner of the paths of @steps */
	struct step *steps;
	size_t n, n_done;
};

static void rollout_done(struct rollout *rollout)
{
	json_decref(rollout->tops);
	message_reply_done(&rollout->reload);
	nodes_done(&rollout->nodes);
	for (size_t i = 0; i < rollout->n; i++)
		json_decref(rollout->steps[i].with);
	free(rollout->steps);
}

/* --- which services --- */

/* Finds the full names of the nodes before anything changes. */
static int rollout_find_tops(struct rollout *rollout, char **argv)
{
	rollout->tops = json_array();
	for (; *argv; argv++) {
		cleanup(nodes_done) struct nodes nodes = {};
		int r = nodes_fetch(rollout->ctl, *argv, &nodes);

		if (r == CTL_DONE && nodes.n == 0)
			r = ctl_fail(rollout->ctl, -EBADMSG);
		if (r != CTL_DONE)
			return r;
		(void)json_array_append_new(rollout->tops, json_string(nodes.nodes[0].path));
	}
	return CTL_DONE;
}

static bool rollout_is_within_any(const char *path, const json_t *tops)
{
	const json_t *top;
	size_t i;

	json_array_foreach (tops, i, top)
		if (text_is_within(path, json_string_value(top)))
			return true;
	return false;
}

static const json_t *rollout_find_change(const struct rollout *rollout, const char *path)
{
	const json_t *change;
	size_t i;

	json_array_foreach (rollout->changes, i, change)
		if (strcmp(message_get_text(change, "node"), path) == 0)
			return change;
	return NULL;
}

/* Returns true if the service runs with the settings before the reload. */
static bool rollout_is_outdated(const json_t *change)
{
	return json_is_true(json_object_get(change, "outdated"));
}

/* Returns true if the reload itself has begun a run of the service. */
static bool rollout_is_fresh(const json_t *change)
{
	return strcmp(message_get_text(change, "kind"), "add") == 0 ||
	       json_is_true(json_object_get(change, "start")) ||
	       json_is_true(json_object_get(change, "restart"));
}

/* A service that waits for a connection has no process. */
static bool rollout_is_running(const struct service_view *s)
{
	return strcmp(s->state, "down") != 0 && strcmp(s->state, "done") != 0 &&
	       strcmp(s->state, "listening") != 0 && !s->stopped;
}

static bool rollout_is_chosen(const struct rollout *rollout, const struct node_view *node)
{
	const json_t *change;

	if (!node->is_service || !rollout_is_within_any(node->path, rollout->tops))
		return false;
	change = rollout_find_change(rollout, node->path);
	if (rollout->ctl->options.undo)
		return rollout_is_outdated(change);
	return rollout_is_running(&node->service) && !rollout_is_fresh(change);
}

static void rollout_add_steps(struct rollout *rollout, bool ready)
{
	for (size_t i = 0; i < rollout->nodes.n; i++) {
		const struct node_view *node = &rollout->nodes.nodes[i];

		if (rollout_is_chosen(rollout, node) && node->service.ready == ready)
			rollout->steps[rollout->n++].path = node->path;
	}
}

/* A service that is not ready comes first: if it stays so, the others are not touched. */
static int rollout_choose_steps(struct rollout *rollout)
{
	int r = nodes_fetch(rollout->ctl, "", &rollout->nodes);

	if (r != CTL_DONE)
		return r;
	rollout->steps = calloc(rollout->nodes.n, sizeof(*rollout->steps));
	if (!rollout->steps)
		return ctl_fail(rollout->ctl, -ENOMEM);
	rollout_add_steps(rollout, false);
	rollout_add_steps(rollout, true);
	return CTL_DONE;
}

/* --- the reload --- */

static int rollout_reload_config(struct rollout *rollout)
{
	struct ctl *ctl = rollout->ctl;
	json_t *parameters = json_pack("{s:s}", "rollout", ctl->options.undo ? "undo" : "begin");
	int r;

	if (ctl->options.dry_run)
		(void)json_object_set_new(parameters, "dry_run", json_true());
	r = session_call(ctl, METHOD_RELOAD, parameters, &rollout->reload);
	if (r != CTL_DONE)
		return r;
	rollout->changes = json_object_get(rollout->reload.parameters, "changes");
	if (!ctl->options.quiet && !ctl->options.json && json_array_size(rollout->changes) > 0)
		r = reload_print(ctl, rollout->changes);
	return r < 0 ? ctl_fail(ctl, r) : CTL_DONE;
}

/* --- the restarts --- */

/* Notes that the nodes of @with restart with @step, unless an earlier step has taken them. */
static void rollout_note_dependents(struct rollout *rollout, struct step *step, const json_t *with)
{
	const json_t *path;
	size_t i;

	step->with = json_array();
	json_array_foreach (with, i, path) {
		bool known = false;

		for (const struct step *s = rollout->steps; s < step && !known; s++)
			known = rollout->ctl->options.dry_run &&
				rollout_is_within_any(json_string_value(path), s->with);
		if (!known)
			(void)json_array_append(step->with, (json_t *)path);
	}
	for (struct step *s = step + 1; s < rollout->steps + rollout->n; s++)
		s->taken |= rollout_is_within_any(s->path, step->with);
}

static json_t *rollout_restart_parameters(const struct rollout *rollout, const struct step *step)
{
	return json_pack("{s:s, s:b, s:I}", "node", step->path, "wait", 0, "min_ready",
			 (json_int_t)rollout->ctl->options.min_ready);
}

static int rollout_restart_service(struct rollout *rollout, struct step *step)
{
	cleanup(json_decrefp) json_t *answer = json_object();
	struct ctl *ctl = rollout->ctl;
	int r;

	ctl->ongoing = (struct ongoing){ "restart", step->path, "ready" };
	r = session_do_with_losses(ctl, METHOD_RESTART, rollout_restart_parameters(rollout, step),
				   answer);
	if (r == CTL_DONE)
		rollout_note_dependents(rollout, step, json_object_get(answer, "with"));
	return r;
}

/* Asks for the dependents of @step.  The steps from @first to @step restart at the same time. */
static int rollout_foresee_service(struct rollout *rollout, const struct step *first,
				   struct step *step)
{
	cleanup(message_reply_done) struct message_reply reply = {};
	json_t *parameters = rollout_restart_parameters(rollout, step), *beside = json_array();
	int r;

	for (; first < step; first++)
		(void)json_array_append_new(beside, json_string(first->path));
	(void)json_object_set_new(parameters, "dry_run", json_true());
	(void)json_object_set_new(parameters, "beside", beside);
	r = session_call(rollout->ctl, METHOD_RESTART, parameters, &reply);
	if (r == CTL_DONE)
		rollout_note_dependents(rollout, step, json_object_get(reply.parameters, "with"));
	return r;
}

/* Waits until the service has stayed ready.  A forced stop is a failure: work was lost. */
static int rollout_await_ready(struct ctl *ctl, const char *path)
{
	cleanup(json_decrefp) json_t *losses = json_object();
	json_t *parameters =
		json_pack("{s:s, s:s, s:I, s:b}", "node", path, "until", "ready", "settle_usec",
			  (json_int_t)ctl->options.settle_usec, "stay", 1);
	int r;

	ctl->ongoing = (struct ongoing){ "restart", path, "ready" };
	r = session_do_with_losses(ctl, METHOD_WAIT, parameters, losses);
	return r == CTL_DONE && forced_kills_print(ctl, losses) ? CTL_FAILED : r;
}

static struct step *rollout_find_step(const struct rollout *rollout, const char *path)
{
	for (size_t i = 0; i < rollout->n; i++)
		if (strcmp(rollout->steps[i].path, path) == 0)
			return &rollout->steps[i];
	return NULL;
}

/* Waits for the service at @path, maybe a step.  *first gets the first failure. */
static int rollout_await_service(struct rollout *rollout, const char *path, int *first)
{
	struct step *step = rollout_find_step(rollout, path);
	int r = rollout_await_ready(rollout->ctl, path);

	if (*first == CTL_DONE)
		*first = r;
	if (r != CTL_DONE || !step)
		return r;
	step->done = true;
	ctl_print(rollout->ctl, "%s: ready, %zu of %zu", node_name(path), ++rollout->n_done,
		  rollout->n);
	return r;
}

/* Returns true if a step from @from to @to has restarted the service, which is not done yet. */
static bool rollout_is_taken(const struct rollout *rollout, const struct node_view *node,
			     size_t from, size_t to)
{
	const struct step *step;
	bool taken = false;

	for (size_t i = from; i < to && !taken; i++)
		taken = node->is_service && rollout_is_running(&node->service) &&
			rollout_is_within_any(node->path, rollout->steps[i].with);
	step = taken ? rollout_find_step(rollout, node->path) : NULL;
	return taken && !(step && step->done);
}

/*
 * Restarts the services from @from to @to.  Waits for each of them, and for their dependents, after
 * the last restart.
 */
static int rollout_restart_some(struct rollout *rollout, size_t from, size_t to)
{
	int r = CTL_DONE, first = CTL_DONE;

	for (size_t i = from; r == CTL_DONE && i < to; i++)
		if (!rollout->steps[i].taken)
			r = rollout_restart_service(rollout, &rollout->steps[i]);
	if (r != CTL_DONE)
		return r;
	for (size_t i = from; (r == CTL_DONE || r == CTL_FAILED) && i < to; i++)
		if (!rollout->steps[i].done)
			r = rollout_await_service(rollout, rollout->steps[i].path, &first);
	for (size_t i = 0; (r == CTL_DONE || r == CTL_FAILED) && i < rollout->nodes.n; i++) {
		const struct node_view *node = &rollout->nodes.nodes[i];

		if (rollout_is_taken(rollout, node, from, to))
			r = rollout_await_service(rollout, node->path, &first);
	}
	return first;
}

static int rollout_restart_all(struct rollout *rollout)
{
	size_t parallel = (size_t)rollout->ctl->options.parallel;
	int r = CTL_DONE;

	for (size_t i = 0, to; r == CTL_DONE && i < rollout->n; i = to) {
		to = rollout->n - i > parallel ? i + parallel : rollout->n;
		r = rollout_restart_some(rollout, i, to);
	}
	return r;
}

/* --- what is printed --- */

/* Prints how the rollout goes on, and how it goes back. */
static void rollout_print_stopped(const struct rollout *rollout)
{
	bool undo = rollout->ctl->options.undo;
	cleanup(freep) char *text = NULL;
	struct memstream m;

	if (memstream_open(&m) < 0)
		return;
	(void)fprintf(m.file, "swansongctl: %zu of %zu are done; to go on: swansongctl rollout%s",
		      rollout->n_done, rollout->n, undo ? " --undo" : "");
	for (size_t i = 0; i < rollout->n; i++)
		if (!rollout->steps[i].done)
			(void)fprintf(m.file, " %s", rollout->steps[i].path);
	if (!undo) {
		(void)fputs("; to go back: swansongctl rollout --undo", m.file);
		for (size_t i = 0; i < json_array_size(rollout->tops); i++) {
			const char *path = json_string_value(json_array_get(rollout->tops, i));

			(void)fprintf(m.file, " %s", *path ? path : "/");
		}
	}
	if (memstream_close(&m, &text) == 0)
		ctl_print_error(text);
}

/* Returns true if the service is restarted, as a step or with one. */
static bool rollout_restarts(const struct rollout *rollout, const char *path)
{
	bool restarts = rollout_find_step(rollout, path);

	for (size_t i = 0; i < rollout->n && !restarts; i++)
		restarts = rollout_is_within_any(path, rollout->steps[i].with);
	return restarts;
}

/* Names the services that the reload has left outdated and that were not restarted. */
static void rollout_print_outdated(const struct rollout *rollout)
{
	const json_t *change;
	size_t i;

	json_array_foreach (rollout->changes, i, change) {
		const char *path = message_get_text(change, "node");

		if (rollout_is_outdated(change) && !rollout_restarts(rollout, path))
			ctl_print(
				rollout->ctl,
				"%s: keeps its former settings until it is restarted, or a reload",
				path);
	}
}

static int rollout_print_json(const struct rollout *rollout)
{
	cleanup(json_decrefp) json_t *all = json_object();
	json_t *nodes = json_array(), *with = json_array();

	for (size_t i = 0; i < rollout->n; i++) {
		(void)json_array_append_new(nodes, json_string(rollout->steps[i].path));
		(void)json_array_extend(with, rollout->steps[i].with);
	}
	(void)json_object_set_new(all, "restarted", nodes);
	if (json_array_size(with) > 0)
		(void)json_object_set(all, "with", with);
	json_decref(with);
	(void)json_object_set(all, "changes", (json_t *)rollout->changes);
	return ctl_print_json(rollout->ctl, all);
}

static void rollout_print_steps(const struct rollout *rollout)
{
	for (size_t i = 0; i < rollout->n; i++) {
		const struct step *step = &rollout->steps[i];
		const char *name = node_name(step->path);
		const json_t *path;
		size_t k;

		ctl_print(rollout->ctl, "%s: would be restarted, %zu of %zu", name, i + 1,
			  rollout->n);
		json_array_foreach (step->with, k, path)
			ctl_print(rollout->ctl, "%s: would be restarted with %s, which it requires",
				  json_string_value(path), name);
	}
	ctl_print(rollout->ctl, "nothing was done: this is a dry run");
}

static int rollout_print_result(const struct rollout *rollout)
{
	struct ctl *ctl = rollout->ctl;

	rollout_print_outdated(rollout);
	if (ctl->options.json)
		return rollout_print_json(rollout);
	if (ctl->options.dry_run)
		rollout_print_steps(rollout);
	else if (rollout->n == 0)
		ctl_print(ctl, "nothing to restart");
	else if (ctl->options.undo)
		ctl_print(ctl, "undone: the next reload or rollout reads the files again");
	return CTL_DONE;
}

int cmd_rollout(struct ctl *ctl, int argc, char **argv)
{
	cleanup(rollout_done) struct rollout rollout = { .ctl = ctl };
	int r;

	if (ctl->options.no_wait)
		return ctl_refuse(ctl, CTL_USAGE, "--no-wait: a rollout waits for each service");
	r = rollout_find_tops(&rollout, argv);
	if (r == CTL_DONE)
		r = rollout_reload_config(&rollout);
	if (r == CTL_DONE)
		r = rollout_choose_steps(&rollout);
	if (r == CTL_DONE && ctl->options.dry_run) {
		size_t parallel = (size_t)ctl->options.parallel;

		for (size_t i = 0; r == CTL_DONE && i < rollout.n; i++)
			r = rollout_foresee_service(&rollout, &rollout.steps[i - i % parallel],
						    &rollout.steps[i]);
	} else if (r == CTL_DONE) {
		r = rollout_restart_all(&rollout);
		if (r != CTL_DONE)
			rollout_print_stopped(&rollout);
	}
	if (r == CTL_DONE)
		return rollout_print_result(&rollout);
	/* 75 is for a guard that can be tried again later. */
	return r == CTL_STOPPED ? CTL_FAILED : r;
}
