/*
 * The data of a service, the queue of its events, and what follows from its state and goal.  The
 * nodes above a service have counts (struct counts) of their subtrees: a service remembers its own
 * share as struct tally, and adds the difference when the share changes.
 */
#include "daemon/service/object.h"

#include "daemon/logger/history-line.h"
#include "model/keys/diff.h"

void service_post(struct service *s, enum service_event event)
{
	for (unsigned i = 0; i < s->posted.n; i++)
		if (s->posted.events[i] == event)
			return;
	s->posted.events[s->posted.n++] = (uint8_t)event;
	node_add_task(s->node, TASK_EVENTS);
}

void service_forget_posted(struct service *s, enum service_event event)
{
	uint8_t kept = 0;

	for (unsigned i = 0; i < s->posted.n; i++)
		if (s->posted.events[i] != event)
			s->posted.events[kept++] = s->posted.events[i];
	s->posted.n = kept;
}

void service_check_exits(struct service *s)
{
	/* A control group lists its own processes: no scan is needed. */
	if (!s->group.exists)
		context_scan_orphans(s->ctx);
	node_add_task(s->node, TASK_EXITS);
}

static void service_on_hook_end(void *arg)
{
	service_check_exits(arg);
}

int service_make_hook(struct service *s, void (*on_limit)(struct alarm *timer), struct hook **ret)
{
	struct hook *hook = malloc(sizeof(*hook));

	if (!hook)
		return -ENOMEM;
	/* This launch belongs to the present setup; so does the hook whenever it runs. */
	hook_init(hook, s->ctx, &s->setup.launch, s, service_on_hook_end, s, on_limit);
	*ret = hook;
	return 0;
}

void service_update_soon(struct service *s)
{
	bool stopped = service_is_stopped(s);

	node_end_task(s->node, stopped ? TASK_STARTS : TASK_STOPS);
	node_add_task(s->node, stopped ? TASK_STOPS : TASK_STARTS);
}

void service_update_demand(struct service *s)
{
	if (s->calls)
		node_add_task(s->node, TASK_DEMANDS);
}

bool service_is_stopped(const struct service *s)
{
	return s->state != STATE_DOWN &&
	       (node_is_stopped(s->node) || s->run.generation != s->node->generation);
}

bool service_is_wanted(const struct service *s)
{
	return s->node->goal >= GOAL_UP && node_goal(s->node) == GOAL_UP &&
	       !node_is_stopped(s->node) && s->node->config->argv;
}

bool service_keeps_remaining(const struct service *s)
{
	return !s->config->kill_leftovers && !node_is_tree_stopped(s->node) &&
	       !node_is_aside(s->node);
}

bool service_is_on_demand(const struct service *s)
{
	return s->config->autostart == AUTOSTART_ON_DEMAND && !s->node->disabled &&
	       s->node->config->argv;
}

bool service_is_listening(const struct service *s)
{
	return service_is_on_demand(s) && s->state != STATE_FAILED &&
	       node_goal(s->node) >= GOAL_CYCLE &&
	       activation_is_listening(s->setup.launch.activation);
}

bool service_awaits_connection(const struct service *s)
{
	return (s->state == STATE_DOWN || s->state == STATE_DONE) &&
	       node_goal(s->node) == GOAL_IDLE && service_is_listening(s);
}

bool service_is_ready(const struct service *s)
{
	return s->state == STATE_UP || s->state == STATE_DONE || service_awaits_connection(s);
}

bool service_is_meant_to_run(const struct service *s)
{
	return (s->node->goal >= GOAL_UP || s->node->goal == GOAL_CYCLE) &&
	       node_goal(s->node) >= GOAL_CYCLE;
}

bool service_is_resolved(const struct service *s)
{
	if (s->state == STATE_DOWN || s->state == STATE_BACKOFF)
		return s->blocked || !service_is_meant_to_run(s);
	return service_is_ready(s) || s->state == STATE_FAILED;
}

bool service_is_skipped(const struct service *s)
{
	return s->state == STATE_DONE && s->run.outcome.kind == OUTCOME_CONDITION;
}

bool service_is_present(const struct service *s)
{
	return s->state == STATE_UP || service_is_listening(s) || service_is_skipped(s) ||
	       (s->state == STATE_DONE && s->config->type == TYPE_ONESHOT);
}

bool service_is_at_work(const struct service *s)
{
	return s->state == STATE_UP && !s->run.worked;
}

bool service_can_hand_over(const struct service *s)
{
	return s->config->handover && s->group.generation == s->run.generation &&
	       s->state == STATE_UP && service_is_wanted(s) && !node_is_aside(s->node);
}

const char *service_program(const struct service *s, const char **file)
{
	*file = NULL;
	if (!s->main.alive || !s->looked.of_run)
		return NULL;
	if (!s->looked.file)
		return "unknown";
	*file = *s->looked.file ? s->looked.file : NULL;
	return *file ? "replaced" : "current";
}

bool service_is_outdated(const struct service *s)
{
	return s->next_setup && (s->main.alive || fsm_is_coming_up(s->state)) &&
	       node_config_needs_restart(s->setup.launch.config, s->node->config);
}

struct service *busy_service(const struct node *node)
{
	while (node && !node->service)
		node = node->parent;
	return node ? node->service : NULL;
}

/* An attached program counts its guards itself. */
unsigned long busy_guards(const struct service *s)
{
	unsigned long n = s->setup.extras->attach ? attach_guards(s->setup.extras->attach) : 0;
	const struct lease *lease;

	for (const struct node *node = s->node; node; node = node_next(node, s->node)) {
		if (busy_service(node) != s)
			continue;
		/* A lease on its node from another generation does not concern this run. */
		list_for_each (lease, &node->leases, of_node)
			n += node != s->node || lease->generation == s->main.generation;
	}
	return n;
}

static struct tally service_make_tally(const struct service *s)
{
	bool listening = service_is_listening(s), present = service_is_present(s);
	bool member = (node_starts_by_itself(s->node, s->config) || service_is_on_demand(s)) &&
		      node_goal(s->node) != GOAL_GONE;
	bool resolved = service_is_resolved(s) || listening;
	bool excused = member && node_is_stopped_by_request(s->node);

	/* A oneshot may end remaining processes before its post-start. */
	bool coming_up =
		fsm_has_process(s->state) && !fsm_is_going_down(s->state) && !s->run.was_up;

	if (node_is_aside(s->node))
		return (struct tally){ .coming_up = coming_up };
	if (!member && s->state == STATE_DOWN && !service_is_meant_to_run(s))
		return (struct tally){ 0 };
	return (struct tally){
		.services = true,
		.ready = service_is_ready(s) || (listening && s->state != STATE_BACKOFF),
		.coming_up = coming_up,
		.resolved = resolved,
		.members = member && !excused,
		.present = member && !excused && present,
		.lost = member && !excused && resolved && !present,
		.excused = excused,
	};
}

/* --- outages --- */

/* Returns the cause for which @s is stopped: that of the nearest node with the lowest goal. */
static enum goal_cause service_stop_cause(const struct service *s)
{
	const struct node *n = s->node;

	while (n->goal != node_goal(s->node))
		n = n->parent;
	return n->cause;
}

/* Returns the outage of @s, which is not ready. */
static enum outage service_find_outage(const struct service *s)
{
	bool over = s->run.concluded && s->run.verdict == EVENT_DONE;
	enum goal_cause cause = service_stop_cause(s);

	if (!node_is_stopped(s->node)) {
		if (s->state == STATE_CLEANING || s->state == STATE_FINISHING ||
		    s->state == STATE_BACKOFF || s->state == STATE_FAILED)
			return over ? OUTAGE_PLANNED : OUTAGE_FAILURE;
		return s->outage == OUTAGE_OVER ? OUTAGE_PLANNED : s->outage;
	}
	if (cause == CAUSE_CONFIGURATION && s->outage == OUTAGE_NONE)
		return OUTAGE_UNKNOWN; /* found processes of an earlier daemon are being stopped */
	if (cause == CAUSE_DEPENDENCY || cause == CAUSE_STRATEGY || cause == CAUSE_FAILURE)
		return s->outage == OUTAGE_OVER ? OUTAGE_DEPENDENCY : s->outage;
	return s->outage == OUTAGE_NONE ||
			       (cause == CAUSE_CONFIGURATION && s->outage != OUTAGE_OVER)
		       ? s->outage
		       : OUTAGE_PLANNED;
}

static void service_enter_outage(struct service *s, enum outage outage)
{
	char outcome[OUTCOME_TEXT_MAX], cause[EVENT_CAUSE_MAX];
	struct history_line line = {
		.node = s->node->path,
		.generation = s->node->generation,
		.outage = outage,
		.total_usec = FIELD_NONE,
	};

	events_cause(s->ctx->events, cause);
	if (outage == OUTAGE_FAILURE)
		line.why = policy_outcome_text(outcome, &s->run.outcome);
	else if (outage != OUTAGE_OVER)
		line.why = cause;
	if (s->outage || outage != OUTAGE_OVER)
		node_add_event(s->node, "outage", history_outages[s->outage],
			       history_outages[outage], outage == OUTAGE_FAILURE ? line.why : "");
	s->outage = outage;
	history_write_line(s->ctx, &line);
}

void service_record_outage(struct service *s)
{
	bool ready = s->counted.ready && s->state != STATE_DONE;
	enum outage outage;

	if (!s->ctx->outages_on || s->config->type == TYPE_ONESHOT || s->node->timetable ||
	    s->node->transient)
		return;
	outage = ready ? OUTAGE_OVER : service_find_outage(s);
	if (outage != s->outage)
		service_enter_outage(s, outage);
}

static void service_set_tally(struct service *s, struct tally now)
{
	struct tally before = s->counted;

	s->counted = now;
	for (struct node *n = s->node; n; n = n->parent) {
		n->counts.services += now.services - before.services;
		n->counts.ready += now.ready - before.ready;
		n->counts.coming_up += now.coming_up - before.coming_up;
		n->counts.resolved += now.resolved - before.resolved;
		n->counts.members += now.members - before.members;
		n->counts.present += now.present - before.present;
		n->counts.lost += now.lost - before.lost;
		n->counts.excused += now.excused - before.excused;
	}
}

void service_recount(struct service *s)
{
	service_set_tally(s, service_make_tally(s));
	service_record_outage(s);
}

void service_note_goal(struct service *s)
{
	s->blocked = false; /* the update turn derives it anew */
	service_recount(s);
	service_update_soon(s);
	service_update_demand(s);
}

void service_discount(struct service *s)
{
	if (s->outage && !s->node->transient)
		service_enter_outage(s, OUTAGE_REMOVED);
	service_set_tally(s, (struct tally){ 0 });
}

static void service_enter_roster(struct service *s)
{
	const struct notify *notify = s->setup.extras->notify;
	bool alive = s->main.alive;
	struct roster_row row = roster_row(ROSTER_PROCESS, alive ? s->main.pid : 0, s->node->path,
					   notify && alive ? notify_address(notify) : "");

	struct service_row details = {
		.state = s->state,
		.since_usec = s->since_usec,
		.delay_usec = s->delay_usec,
		.restarts = s->restarts,
		.next_delay_usec = *policy_delay(s->policy),
		.began_usec = s->ending.began_usec,
		.idle_usec = s->ending.idle_usec,
		.extended_usec = s->ending.extended_usec,
		.signalled_usec = s->main.signalled_usec,
		.watchdog_usec = s->watchdog ? s->watchdog->interval_usec : 0,
		.start_limit_usec = s->start_limit_usec,
		.run = s->run,
	};

	details.run.refused = s->group.refused;
	details.run.numbered = s->group.generation;
	_Static_assert(sizeof(details) <= sizeof(row.detail), "there is room");
	_Static_assert(sizeof(void *) != 8 || sizeof(details) == 192,
		       "a change is a new kind of row");
	memcpy(row.detail, &details, sizeof(details));
	roster_write(s->ctx->roster, &s->place, &row);
}

void service_update_roster(struct service *s)
{
	bool is_at_work = s->config->type == TYPE_ONESHOT && s->state == STATE_STARTING;
	bool is_ending = s->run.outcome.kind != OUTCOME_NONE || fsm_is_going_down(s->state);
	bool goes_on = s->main.alive ? is_at_work || !fsm_is_coming_up(s->state) : is_ending;

	if (fsm_has_process(s->state) ? goes_on : s->state != STATE_DOWN)
		service_enter_roster(s);
	else
		roster_write(s->ctx->roster, &s->place, NULL);
}
