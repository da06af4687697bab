/*
 * The state of a node is gathered in struct node_view, which proto/node-view.c turns into JSON.  A walk
 * over a large tree is done in portions, as a reply of many messages: it remembers the next node.
 */
#include "daemon/describe/describe.h"

#include "daemon/service/health.h"
#include "daemon/node/agent.h"
#include "daemon/node/stop-order.h"
#include "daemon/tree/start-order.h"
#include "daemon/tree/timetable.h"
#include "model/keys/keys.h"
#include "model/types/schedule.h"
#include "daemon/service/notify.h"
#include "daemon/service/start.h"

/* Returns the files of its output: NULL if there are none or no memory. */
static json_t *describe_logs(const struct node_config *config)
{
	const char *last = NULL;
	json_t *logs = NULL;

	for (int fd = 1; fd <= 2; fd++) {
		const struct output *output = node_config_output(config, fd);

		if (output->kind != OUTPUT_FILE || (last && strcmp(last, output->path) == 0))
			continue;
		last = output->path;
		if (!logs)
			logs = json_array();
		(void)json_array_append_new(logs, message_string(last));
	}
	return logs;
}

/* Lines are FIELD_NONE without a stream; lost lines also if there are none. */
static void describe_lines(const struct service *s, struct service_view *view)
{
	view->log_lines = FIELD_NONE;
	view->lost_lines = view->lost_bytes = 0;

	for (enum logger_kind kind = 0; kind < LOGGER_KINDS; kind++) {
		const struct log_stream *stream = capture_stream(s->setup.launch.capture, kind);
		struct store_counts counts;
		const char *trouble = NULL;
		int r = stream ? log_stream_count(stream, &counts, &trouble) : -ENOENT;

		view->log_trouble = view->log_trouble ? view->log_trouble : trouble;
		if (r < 0)
			continue;
		view->log_lines = counts.written_lines +
				  (view->log_lines == FIELD_NONE ? 0 : view->log_lines);
		view->lost_lines += counts.lost_lines;
		view->lost_bytes += counts.lost_bytes;
	}
	if (view->lost_bytes == 0)
		view->lost_lines = view->lost_bytes = FIELD_NONE;
}

/* Returns how the last run has ended, or what keeps the program of this one from running; or NULL. */
static const char *describe_result(char buf[static OUTCOME_TEXT_MAX], const struct service *s)
{
	struct launch_failure step;

	if (service_awaits_program(s, &step)) {
		(void)snprintf(buf, OUTCOME_TEXT_MAX,
			       "its program does not run yet: waits to %s%s%.160s", step.step,
			       step.subject ? " " : "", step.subject ? step.subject : "");
		return buf;
	}
	if (s->run.outcome.kind == OUTCOME_NONE || s->main.alive)
		return NULL;
	return policy_outcome_text(buf, &s->run.outcome);
}

/* Returns texts such as "generation 3 is finishing: 2 guards, for 12s"; NULL: there are none. */
static json_t *describe_aside(const struct node *node, uint64_t now)
{
	json_t *texts = NULL;
	struct node *aside;

	node_for_each_aside (aside, node) {
		size_t guards = swansong_guard_count(aside->handle) + aside->program_guards;
		char age[CLOCK_TEXT_MAX];

		if (!texts)
			texts = json_array();
		(void)json_array_append_new(
			texts,
			json_sprintf("generation %u is %s: %zu guard%s, for %s", aside->generation,
				     node_is_stopped(aside) ? "finishing" : "starting", guards,
				     guards == 1 ? "" : "s",
				     clock_text(age, now - aside->since_usec)));
	}
	return texts;
}

/* Fills in all of the view; @waiting and @logs are borrowed. */
static struct service_view describe_view_service(struct service *s, char *result, json_t *waiting,
						 json_t *logs, uint64_t now)
{
	const struct service_messages *messages = s->setup.extras->messages;
	const struct health *health = s->setup.extras->health;
	struct service_view view = {
		/* Listening is no state of its life. */
		.state = service_awaits_connection(s) ? "listening" : fsm_state_name(s->state),
		.since_usec = now - s->since_usec,
		.pid = s->main.alive ? (uint64_t)s->main.pid : FIELD_NONE,
		.command = s->config->command,
		.ready = service_is_ready(s),
		.restarts = s->restarts,
		.result = describe_result(result, s),
		.waiting = waiting,
		.next_usec = s->timeout_usec > now ? clock_until(s->timeout_usec, now) : FIELD_NONE,
		.quiet_usec = s->calls && s->calls->arrivals.fd >= 0 ? now - s->calls->last_usec
								     : FIELD_NONE,
		.error = FIELD_NONE,
		.reloading_usec = FIELD_NONE,
		.watchdog_usec = s->watchdog ? watchdog_left(s->watchdog, now) : USEC_INFINITY,
		.stored = FIELD_NONE,
		.ended = s->state == STATE_DONE && !service_is_present(s),
		.stopped = node_is_stopped_by_request(s->node),
		.disabled = s->node->disabled,
		.outdated = service_is_outdated(s),
		.health_since_usec = FIELD_NONE,
		.scheduled_usec = FIELD_NONE,
		.ran_usec = FIELD_NONE,
		.logs = logs,
	};

	describe_lines(s, &view);
	if (s->node->timetable) {
		view.schedule = node_config_extras(s->node->config)->schedule->text;
		timetable_view(s->node->timetable, now, &view.scheduled_usec, &view.ran_usec);
	}
	if (s->setup.launch.activation && activation_fdstore(s->setup.launch.activation)->n)
		view.stored = activation_fdstore(s->setup.launch.activation)->n;
	if (health && health->on) {
		view.health = health_state_name(health->state);
		view.health_since_usec = now - health->since_usec;
		view.health_result = *health->why ? health->why : NULL;
	}
	if (messages) {
		view.status = *messages->status ? messages->status : NULL;
		view.error = messages->error ? (uint64_t)messages->error : FIELD_NONE;
		if (messages->reloading_usec)
			view.reloading_usec = now - messages->reloading_usec;
		view.ending = messages->stopping;
	}
	return view;
}

static json_t *describe_build_node(struct node *node, uint64_t now, bool files)
{
	cleanup(json_decrefp) json_t *waiting = NULL;
	cleanup(json_decrefp) json_t *logs = NULL;
	cleanup(json_decrefp) json_t *aside = NULL;
	char result[OUTCOME_TEXT_MAX], claim[CONFIG_NAME_MAX + 1];
	struct node_view view = {
		.path = node->path,
		.generation = node->generation,
		.state = !node_is_stopped(node) ? NODE_RUNNING
			 : node->complete	? NODE_COMPLETE
						: NODE_SHUTTING_DOWN,
		.since_usec = now - node->since_usec,
		.guards = swansong_guard_count(node->handle) + node->program_guards,
		.ready = node_is_ready(node),
		.forced = node->forced,
		.restarting = node_goal(node) == GOAL_CYCLE || node->goal == GOAL_HANDOVER,
		.deadline_usec = node->stop_usec && !node->complete
					 ? clock_until(node->kill_usec, now)
					 : FIELD_NONE,
		.held_usec = !node->parent && node->ctx->held_usec ? now - node->ctx->held_usec
								   : FIELD_NONE,
		.agent = node->agent ? agent_word_name(agent_word(node)) : NULL,
		.is_service = node->service,
	};

	if (node->service) {
		const struct service *s = node->service;
		const struct node *pacer = NULL;
		struct node *blocker = NULL;

		if (s->state == STATE_WAITING)
			blocker = stop_order_blocker(node);
		else if ((s->state == STATE_DOWN || s->state == STATE_BACKOFF) &&
			 service_is_wanted(s)) {
			blocker = start_order_blocker(s);
			pacer = blocker ? NULL : start_order_pacer(s);
		}
		waiting = blocker ? json_pack("[o]", message_string(node_name(blocker))) : NULL;
		logs = describe_logs(node->service->config);
		view.service = describe_view_service(node->service, result, waiting, logs, now);
		view.service.program = service_program(s, &view.service.replaced);
		view.service.outdated |= view.service.replaced != NULL;
		if (!files)
			view.service.replaced = NULL;
		view.service.turn = pacer ? node_name(pacer) : NULL;
		view.service.pressure = node_is_stopped_for(node, CAUSE_PRESSURE)
						? node_name(node_with_pressure_stop(node)) : NULL;
		if (s->group.generation)
			view.service.claim = control_group_claim(&s->group, claim);
		view.service.aside = aside = node_is_aside(node) ? NULL : describe_aside(node, now);
	}
	return node_view_build(&view);
}

json_t *describe_node(struct node *node)
{
	attach_count(node);
	return describe_build_node(node, clock_now_usec(), false);
}

void describe_begin(struct describe_walk *walk, struct node *top)
{
	attach_count(top);
	*walk = (struct describe_walk){ .top = top, .at = top, .now_usec = clock_now_usec() };
}

json_t *describe_nodes(struct describe_walk *walk, size_t max)
{
	cleanup(json_decrefp) json_t *nodes = json_array();

	for (; walk->at && max > 0; max--) {
		if (json_array_append_new(
			    nodes, describe_build_node(walk->at, walk->now_usec, walk->files)) < 0)
			return NULL;
		walk->at = node_next(walk->at, walk->top);
	}
	return take(nodes);
}

json_t *describe_dependencies(const struct tree *tree, const struct node *node)
{
	json_t *list = json_array();

	for (const struct node *n = tree->root; n; n = node_next(n, tree->root))
		for (enum edge edge = 0; edge < N_EDGES; edge++)
			for (struct node *const *to = node_edges(n, edge); to && *to; to++)
				(void)json_array_append_new(
					list, json_pack("{s:s, s:s, s:s}", "from", n->path, "to",
							(*to)->path, "kind",
							keys[key_of_edge(edge)].name));
	return json_pack("{s:s, s:o}", "node", node->path, "dependencies", list);
}
