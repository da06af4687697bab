/*
 * Each promise has a name, by which a shorter history is recognized to fail in the same way.  The fields
 * of services and nodes that are read here are those that Status shows.
 */
#include "tests/sim/promises.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/reload/rollout.h"
#include "daemon/tree/start-order.h"
#include "tests/sim/client.h"
#include "tests/sim/files.h"
#include "tests/sim/run.h"
#include "tests/sim/short.h"

/* Calls for the time take a microsecond each. */
#define LATE_USEC (2 * USEC_PER_MSEC)

void promises_init(void)
{
	short_init();
}

static struct service *service_of(const struct row *row)
{
	const struct node *node = run_facts.tree ? tree_find(run_facts.tree, row->node) : NULL;

	return node ? node->service : NULL;
}

/* A process that a program has left is a main process when the service has it for one. */
static bool is_main(const struct row *row)
{
	const struct service *s = row->left ? service_of(row) : NULL;

	return row_is_alive(row) && row->program.role == ROLE_MAIN &&
	       (!row->left || (s && s->main.pid == row->pid));
}

static const struct row *find_main(const struct service *s)
{
	char claim[CONFIG_NAME_MAX + 1];

	(void)control_group_claim(&s->group, claim);
	for (size_t i = 0; i < kernel.n_rows; i++)
		if (is_main(&kernel.rows[i]) && strcmp(kernel.rows[i].node, claim) == 0)
			return &kernel.rows[i];
	return NULL;
}

/* --- after each turn --- */

static void check_one_main(size_t i)
{
	const struct row *row = &kernel.rows[i];

	/* Of processes that are kept beside a service, a fault leaves the choice. */
	if (run_facts.kept && run_facts.died)
		return;
	for (size_t k = i + 1; k < kernel.n_rows; k++)
		if (is_main(&kernel.rows[k]) && strcmp(kernel.rows[k].node, row->node) == 0)
			run_fail("one-main", "%s has two main processes, pids %d and %d", row->node,
				 row->pid, kernel.rows[k].pid);
}

/* A process that was not started by the command of the service belongs to it no less. */
static void check_alive(const struct row *row)
{
	const struct node *node = tree_find(run_facts.tree, row->node);
	const struct service *s = node ? node->service : NULL;

	if (row->program.role == ROLE_FINAL || row->program.role == ROLE_OTHER)
		return;
	if ((row->program.role == ROLE_CHILD || row->left || run_facts.died) &&
	    (!s || run_facts.kept))
		return;
	if (!node)
		run_fail("known", "pid %d runs, and its node %s is no more", row->pid, row->node);
	/* Without any descriptor a control group counts as empty, as a stop would never end. */
	if (run_facts.no_descriptors)
		return;
	/* It may be of an earlier generation, which ends by itself. */
	if (node->complete && list_is_empty(&node->earlier))
		run_fail("complete", "pid %d of %s runs, and the node is Complete", row->pid,
			 row->node);
}

/* The present run, one that begins, and those that end. */
static void check_runs(const struct service *s)
{
	unsigned n = 0, max = node_config_extras(s->config)->handover_max;

	if (!s->config->handover || node_is_aside(s->node))
		return;
	for (size_t i = 0; i < kernel.n_rows; i++)
		n += is_main(&kernel.rows[i]) && row_is_of(&kernel.rows[i], s->config->path);
	if (n > max + 1 && !run_facts.reloads)
		run_fail("runs", "%s has %u main processes, and may have %u predecessors",
			 s->config->path, n, max);
}

/* A run is stopped for a hand-over when its successor is ready, so one of the two always is. */
static void check_succession(const struct node *node)
{
	const struct node *present = tree_find(run_facts.tree, node->config->path);

	if (!node_is_aside(node) || node->stop_usec != kernel.now_usec || !present ||
	    node->generation > present->generation || node_is_stopped(node->parent) ||
	    run_facts.died)
		return;
	if (!present->service || !present->service->run.was_up)
		run_fail("handover", "%s is stopped, and its successor is not ready",
			 node_name(node));
}

static void check_budget(const struct row *row)
{
	const struct service *s = service_of(row);

	if (!s || !row->asked_usec || row->killed_usec || run_facts.guards || run_facts.faults ||
	    run_facts.prolonged ||
	    s->config->stop_timeout_usec == USEC_INFINITY)
		return;
	/* The service may have asked for more time. */
	if (kernel.now_usec > row->asked_usec + s->config->stop_timeout_usec + LATE_USEC &&
	    kernel.now_usec > s->ending.extended_usec + LATE_USEC && !run_facts.reloads)
		run_fail("stop-timeout", "pid %d of %s runs %" PRIu64 " ms after its stop signal",
			 row->pid, row->node, (kernel.now_usec - row->asked_usec) / USEC_PER_MSEC);
}

static void check_state(const struct node *node)
{
	const struct service *s = node->service;
	const struct row *row = find_main(s);

	if (!fsm_has_process(s->state) && row && !(run_facts.kept && run_facts.died))
		run_fail("status", "%s is %s, and its pid %d runs", s->config->path,
			 fsm_state_name(s->state), row->pid);
	if (s->main.alive && !kernel_find(s->main.pid))
		run_fail("status", "%s has pid %d, which does not exist", s->config->path,
			 s->main.pid);
}

/* "Number of services in this node, at any depth, that come up at the same time." */
static void check_parallel(const struct node *node)
{
	uint64_t most = node_config_extras(node->config)->start_parallel, n = 0;

	/* A reload may have lowered it, or brought services that come up. */
	if (most == 0 || run_facts.reloads)
		return;
	for (const struct node *i = node; i; i = node_next(i, node))
		n += i->service && fsm_is_coming_up(i->service->state);
	if (n > most)
		run_fail("parallel", "%" PRIu64 " services of %s come up, %" PRIu64 " may", n,
			 node_name(node), most);
}

static bool has_run_aside(const struct node *node)
{
	const struct node *n;

	if (node->parent)
		list_for_each (n, &node->parent->children, sibling)
			if (node_is_aside(n) && strcmp(n->config->path, node->path) == 0)
				return true;
	return false;
}

/* "The instances of a template are renewed one after another." */
static void check_renewed(const struct tree *tree)
{
	unsigned n = 0;

	if (run_facts.operations || run_facts.faults || node_is_stopped(tree->root))
		return;
	for (const struct node *i = tree->root; i; i = node_next(i, tree->root))
		n += strncmp(i->config->path, "v@", 2) == 0 && i->goal == GOAL_CYCLE;
	if (n > 1)
		run_fail("renewal", "%u instances of v@ are renewed at a time", n);
}

/* A rollout that has gone back has left no service with its settings. */
static void check_rollout(void)
{
	const struct rollout *rollout = run_facts.rollout;
	static const struct json_t *checked;

	if (!rollout || rollout->state != ROLLOUT_UNDONE) {
		checked = NULL;
		return;
	}
	if (checked == rollout->shown || json_object_get(rollout->shown, "nodes") ||
	    json_object_get(rollout->shown, "confirm_usec"))
		return;
	checked = rollout->shown;
	if (!run_facts.died && run_facts.tree->config != rollout->before)
		run_fail("undo", "the rollout is undone, and its settings are in use");
	for (const struct node *n = run_facts.tree->root; n; n = node_next(n, run_facts.tree->root))
		if (n->service && service_is_wanted(n->service) &&
		    rollout_has_renewed(rollout, n->service))
			run_fail("undo", "%s has settings of the rollout, which is undone",
				 n->config->path);
}

static void check_guards(void)
{
	for (unsigned i = 0; i < CLIENTS_MAX; i++) {
		struct client *c = client_at(i);
		const struct node *node;

		if (!*c->guarded || c->state != CLIENT_CONNECTED || c->waits)
			continue;
		node = tree_find(run_facts.tree, c->guarded);
		/* A predecessor keeps its guards. */
		c->beyond = node && node->complete && list_is_empty(&node->earlier) &&
					    !has_run_aside(node)
				    ? c->beyond + 1
				    : 0;
		/* The connection of a guard that was revoked is closed in the next turn. */
		if (c->beyond > 2)
			run_fail("guards", "a guard is held on %s, which is Complete", c->guarded);
	}
}

void promises_check_turn(void)
{
	const struct tree *tree = run_facts.tree;

	if (!tree || !tree->root)
		return;
	for (size_t i = 0; i < kernel.n_rows; i++) {
		if (!row_is_alive(&kernel.rows[i]))
			continue;
		if (is_main(&kernel.rows[i])) {
			check_one_main(i);
			check_budget(&kernel.rows[i]);
		}
		check_alive(&kernel.rows[i]);
	}
	for (struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		check_parallel(n);
		if (n->service) {
			check_state(n);
			check_runs(n->service);
			check_succession(n);
		}
	}
	short_check_turn();
	check_guards();
	check_renewed(tree);
	check_rollout();
}

void promises_note_fault(void)
{
	for (size_t i = 0; i < kernel.n_rows; i++) {
		const struct service *s = service_of(&kernel.rows[i]);

		if (s && fsm_has_process(s->state) && !s->main.alive)
			kernel.rows[i].asked_usec = 0;
	}
}

/* --- signals --- */

/* Returns true if @dependent, or a node above it, has an edge to @node or a node above it. */
static const struct node *find_edge_to(const struct node *dependent, const struct node *node)
{
	for (const struct node *from = dependent; from; from = from->parent)
		for (size_t kind = 0; kind < N_EDGES; kind++)
			for (struct node *const *to = node_edges(from, kind); to && *to; to++)
				if (kind != EDGE_TERM_AFTER && node_is_within(node, *to) &&
				    !node_is_within(dependent, *to))
					return from;
	return NULL;
}

/* A service that is stopped gets its signal when the stopped services that need it have ended. */
static void check_order(const struct row *row, const struct service *s)
{
	/* As check_one_main(). */
	if (run_facts.kept && run_facts.died)
		return;
	for (size_t i = 0; i < kernel.n_rows; i++) {
		const struct service *dependent = service_of(&kernel.rows[i]);

		if (!is_main(&kernel.rows[i]) || !dependent || dependent == s ||
		    !node_is_stopped(dependent->node) || !find_edge_to(dependent->node, s->node))
			continue;
		run_fail("order", "%s gets its stop signal, and pid %d of %s, which needs it, runs",
			 row->node, kernel.rows[i].pid, kernel.rows[i].node);
	}
}

/* Returns true if a budget of the node, or a request, ends the service now. */
static bool is_forced(const struct service *s)
{
	return run_facts.forced || s->kept_usec || s->node->deadline_usec != USEC_INFINITY;
}

static void check_kill(const struct row *row, const struct service *s)
{
	uint64_t usec = row->asked_usec + MIN(s->config->stop_timeout_usec,
					      service_next_config(s)->stop_timeout_usec);

	/* A start that was under way at a fault of the daemon is not awaited: its program does not run. */
	if (run_facts.died && row->state == ROW_STARTING)
		return;
	/* A stop-command comes instead of the signal. */
	if (is_forced(s) || run_facts.reloads ||
	    node_config_hook(s->setup.launch.config, HOOK_STOP_COMMAND)->n > 0)
		return;
	if (!row->asked_usec)
		run_fail("kill", "pid %d of %s is killed without a stop signal", row->pid,
			 row->node);
	if (kernel.now_usec + LATE_USEC < usec)
		run_fail("kill", "pid %d of %s is killed %" PRIu64 " ms after its stop signal",
			 row->pid, row->node, (kernel.now_usec - row->asked_usec) / USEC_PER_MSEC);
}

/* A run gets no signal for a hand-over before its successor is ready. */
static void check_present(const struct row *row, const struct service *s)
{
	if (s->node->goal == GOAL_HANDOVER && !node_is_stopped(s->node) && s->state == STATE_UP)
		run_fail("handover", "pid %d of %s gets a signal, and has no successor yet",
			 row->pid, row->node);
}

void promises_check_signal(struct row *row, int signo)
{
	const struct service *s = service_of(row);

	short_check_signal(row, signo);
	/* A service that ends by itself is killed when that takes too long, and waits for none. */
	if (!s || !is_main(row) || run_facts.ending)
		return;
	if (signo == s->stop_signal)
		check_present(row, s);
	if (signo == SIGKILL)
		check_kill(row, s);
	else if (signo == s->stop_signal && s->state == STATE_STOPPING && !is_forced(s) &&
		 node_config_hook(s->setup.launch.config, HOOK_STOP_COMMAND)->n == 0)
		check_order(row, s);
}

/* --- at rest --- */

static bool is_transitional(enum service_state state)
{
	return fsm_is_coming_up(state) || fsm_is_going_down(state) || state == STATE_CLEANING ||
	       state == STATE_FINISHING;
}

/*
 * The services of @top that a dependent needs: those that start by themselves, without those that were
 * stopped by hand or with a node that they require.  Returns true if one at least is needed, and all
 * that are needed have what a dependent needs of them.
 */
static bool is_there(struct node *top)
{
	size_t needed = 0;

	if (node_goal(top) <= GOAL_DOWN)
		return false;
	for (struct node *n = top; n; n = node_next(n, top)) {
		if (!n->service || (n != top && !node_starts_by_itself(n, n->config)))
			continue;
		if (node_is_stopped_by_request(n))
			continue;
		needed++;
		if (!service_is_present(n->service))
			return false;
	}
	return needed > 0;
}

static bool has_all_it_requires(const struct service *s)
{
	for (const struct node *n = s->node; n; n = n->parent)
		for (struct node *const *to = node_edges(n, EDGE_REQUIRES); to && *to; to++)
			if (!is_there(*to))
				return false;
	return true;
}

/* --- a reload and its reverse --- */

#define NOTES 64

static struct note {
	char path[KERNEL_NODE];
	enum service_state state;
	pid_t main;
	size_t edges;
	bool requires;	/* itself, or a node above it */
	bool untouched; /* by the configuration that goes back */
} notes[NOTES];
static size_t n_notes;

static struct note note_of(const struct node *node)
{
	const struct row *row = node->service ? find_main(node->service) : NULL;
	struct note note = {
		.state = node->service ? node->service->state : STATE_DOWN,
		.main = row ? row->pid : 0,
	};

	(void)snprintf(note.path, sizeof(note.path), "%s", node->config->path);
	for (size_t kind = 0; kind < N_EDGES; kind++)
		for (struct node *const *to = node_edges(node, kind); to && *to; to++)
			note.edges++;
	for (const struct node *n = node; n; n = n->parent)
	note.requires |= node_edges(n, EDGE_REQUIRES) && *node_edges(n, EDGE_REQUIRES);
	return note;
}

void promises_note(void)
{
	const struct tree *tree = run_facts.tree;

	n_notes = 0;
	for (struct node *n = tree->root; n && n_notes < NOTES; n = node_next(n, tree->root))
		notes[n_notes++] = note_of(n);
}

void promises_note_untouched(void)
{
	for (size_t i = 0; i < n_notes; i++) {
		const struct node *node = tree_find(run_facts.tree, notes[i].path);
		const struct note is = node ? note_of(node) : (struct note){ .main = 0 };

		/* A service restarts with one that it requires, by the one configuration or the other. */
		notes[i].untouched = is.main == notes[i].main && is.main > 0 &&
				     !notes[i].requires && !is.requires && !node->timetable;
	}
}

static void check_noted(const struct note *was, const struct node *node, bool same)
{
	const struct note is = note_of(node);

	if (is.edges != was->edges)
		run_fail("back", "%s has %zu edges, and had %zu", was->path, is.edges, was->edges);
	if (node->timetable || (node->service && node->service->recycle))
		return;
	/* Another one that was removed and added again has to be started by hand again. */
	if (was->state == STATE_UP && is.state != STATE_UP && has_all_it_requires(node->service) &&
	    node->config->type != TYPE_ONESHOT && node_starts_by_itself(node, node->config))
		run_fail("back", "%s was up, and is %s", was->path, fsm_state_name(is.state));
	if (was->untouched && !node->timetable && is.main != was->main)
		run_fail("back", "%s has pid %d, and had %d: the reload had not touched it",
			 was->path, is.main, was->main);
	if (same && is.main != was->main)
		run_fail("back", "%s has pid %d, and had %d", was->path, is.main, was->main);
}

/* A run by schedule starts what needs it, and what it needs, at any time. */
static bool has_schedule(void)
{
	const struct tree *tree = run_facts.tree;

	for (const struct node *n = tree->root; n; n = node_next(n, tree->root))
		if (n->timetable)
			return true;
	return false;
}

void promises_check_noted(bool same)
{
	same &= !has_schedule();
	for (size_t i = 0; i < n_notes; i++) {
		const struct node *node = tree_find(run_facts.tree, notes[i].path);

		if (!node)
			run_fail("back", "%s is no more", notes[i].path);
		check_noted(&notes[i], node, same);
	}
}

/* --- at rest: each service --- */

/* A run by schedule may have the place, at any time. */
static bool is_paced(const struct node *node)
{
	while (node && !node_config_extras(node->config)->start_parallel)
		node = node->parent;
	return node;
}

static void check_service_at_rest(const struct service *s)
{
	const char *path = s->config->path;
	uint64_t now = kernel.now_usec;

	if ((s->node->timetable || s->recycle) && s->since_usec + 60 * USEC_PER_SEC > now)
		return;
	if (is_transitional(s->state))
		run_fail("rest", "%s stays %s", path, fsm_state_name(s->state));
	if (s->state == STATE_UP && s->setup.launch.config->type != TYPE_ONESHOT && !find_main(s))
		run_fail("rest", "%s is up, and no process runs", path);
	if ((s->state == STATE_DOWN || (s->state == STATE_BACKOFF && s->timeout_usec < now)) &&
	    service_is_wanted(s) && has_all_it_requires(s) &&
	    !(has_schedule() && is_paced(s->node)))
		run_fail("rest", "%s is meant to run, has all that it requires, and is %s", path,
			 fsm_state_name(s->state));
}

static void check_node_at_rest(const struct node *node)
{
	if (node->service && node->service->recycle)
		return;
	if (node->draining > 0)
		run_fail("rest", "%s: %d generations are not Complete", node_name(node),
			 node->draining);
	if (node->goal == GOAL_CYCLE ||
	    (node->goal == GOAL_HANDOVER && has_all_it_requires(node->service)))
		run_fail("rest", "%s is not restarted", node_name(node));
	if (node->goal == GOAL_DOWN && node->cause == CAUSE_PRESSURE && !node_is_tree_stopped(node))
		run_fail("rest", "%s was stopped for memory, and does not start again",
			 node_name(node));
	if (node_is_stopped_for(node, CAUSE_SLEEP) && !node_is_tree_stopped(node))
		run_fail("rest", "%s was stopped before the host sleeps, and does not start again",
			 node_name(node));
	if (node_is_aside(node) && node->goal == GOAL_GONE)
		run_fail("rest", "%s is still there", node_name(node));
	if (!list_is_empty(&node->leases))
		run_fail("guards", "%s: guards of clients that left", node_name(node));
}

/* "A start of this node starts the named node." */
static void check_wanted(const struct service *s)
{
	static const unsigned kinds[] = { EDGE_REQUIRES, EDGE_WANTS };

	for (const struct node *n = s->node; n; n = n->parent)
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
			for (struct node *const *to = node_edges(n, kinds[i]); to && *to; to++)
				if ((*to)->goal == GOAL_IDLE && !run_facts.operations &&
				    !(*to)->timetable)
					run_fail("wanted",
						 "%s runs, and %s that it needs was not started",
						 s->config->path, node_name(*to));
}

/* "It stops when a service in the named node has ended by itself." */
static void check_bound(const struct service *s)
{
	for (const struct node *from = s->node; from && !run_facts.reloads; from = from->parent)
		for (struct node *const *to = node_edges(from, EDGE_BINDS_TO); to && *to; to++)
			for (struct node *n = *to; n; n = node_next(n, *to)) {
				const struct service *other = n->service;

				if (other && fsm_has_process(s->state) &&
				    other->since_usec > s->run.started_usec &&
				    (other->state == STATE_FAILED ||
				     other->state == STATE_BACKOFF ||
				     (other->state == STATE_DONE &&
				      other->config->type != TYPE_ONESHOT &&
				      !service_is_skipped(other))))
					run_fail("bound",
						 "%s is %s, and %s to which it is bound is %s",
						 s->config->path, fsm_state_name(s->state),
						 node_name(n), fsm_state_name(other->state));
			}
}

/* Returns true if a service that is restarted by the rollout is not ready yet: only that keeps it at work. */
static bool rollout_waits(const struct rollout *rollout)
{
	const json_t *step;
	size_t i;

	json_array_foreach (rollout_steps(rollout), i, step) {
		const struct node *node = tree_find(run_facts.tree, rollout_path_of(step));

		if (rollout_is_step(rollout, step, STEP_RESTARTING) && node && node->service &&
		    !service_is_ready(node->service))
			return true;
	}
	return false;
}

static void check_rollout_at_rest(const struct rollout *rollout)
{
	if (rollout_is_at_work(rollout) && (rollout->to_apply || !rollout_waits(rollout)))
		run_fail("rollout", "the rollout does not end");
	if (rollout->state == ROLLOUT_UNCONFIRMED && rollout->alarm.usec <= kernel.now_usec)
		run_fail("rollout", "a reload that is not confirmed does not go back");
}

static bool must_be_answered(const struct client *c)
{
	if (!c->waits || c->state != CLIENT_CONNECTED)
		return false;
	if (strncmp(c->call, "Rollout ", 8) == 0)
		return !rollout_is_at_work(run_facts.rollout);
	return strncmp(c->call, "Wait ", 5) != 0;
}

/* "Sets the number of instances of a template, also for later reloads and starts of the daemon." */
static void check_scaled(const struct tree *tree)
{
	const char *state = tree->config->state, *text, *line;
	unsigned n = 0, wanted = 0;

	text = state && strcmp(state, "none") != 0 ? files_text(state) : NULL;
	line = text ? strstr(text, "instances v@ ") : NULL;
	/* Its way back has the number of before, and a file that it was not given the turn to read has another. */
	if (run_facts.rollouts)
		return;
	/* A fault of the daemon between the file and its effect leaves the effect to the next reload. */
	if (!line || run_facts.faults || run_facts.died || run_facts.left ||
	    sscanf(line, "instances v@ %u", &wanted) != 1)
		return;
	for (const struct node *i = tree->root; i; i = node_next(i, tree->root))
		n += strncmp(i->config->path, "v@", 2) == 0 && i->goal != GOAL_GONE;
	/* Without any there is no such template in the files. */
	if (n > 0 && n != wanted)
		run_fail("scale", "v@ has %u instances, and is scaled to %u", n, wanted);
}

void promises_check_rest(void)
{
	const struct tree *tree = run_facts.tree;

	check_scaled(tree);

	for (struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		check_node_at_rest(n);
		if (!n->service)
			continue;
		check_service_at_rest(n->service);
		check_bound(n->service);
		if (n->service->state == STATE_UP)
			check_wanted(n->service);
	}
	check_rollout_at_rest(run_facts.rollout);
	for (unsigned i = 0; i < CLIENTS_MAX; i++)
		if (must_be_answered(client_at(i)))
			run_fail("answer", "%s waits without end", client_at(i)->call);
}
