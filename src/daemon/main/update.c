/*
 * The turn is a table: its order is that of enum task, and each task calls one function of another
 * room, once or for each node on its list.  Tasks of the agenda run when they are pending; some run
 * in each turn, because any event may concern them.
 */
#include "daemon/main/update.h"

#include "daemon/demand/demand.h"
#include "daemon/demand/recycle.h"
#include "daemon/demand/relief.h"
#include "daemon/logger/logging.h"
#include "daemon/reap/exit.h"
#include "daemon/reload/steps.h"
#include "daemon/reload/transient.h"
#include "daemon/service/machine.h"
#include "daemon/service/timeout.h"
#include "daemon/succession/succession.h"
#include "daemon/tree/build.h"
#include "daemon/tree/converge.h"
#include "daemon/tree/deadline.h"
#include "daemon/tree/exit.h"
#include "daemon/tree/failure.h"
#include "daemon/tree/timetable.h"
#include "daemon/describe/report.h"

static void update_events(struct tree *tree, struct node *node)
{
	service_handle_posted(node->service);
}

/* The guards of a service decide on the end of its timeout. */
static void update_guards(struct tree *tree, struct node *node)
{
	struct service *s = busy_service(node);

	if (s)
		service_rearm(s);
}

static void update_exits(struct update *u)
{
	if (!u->orphans || orphans_update(u->orphans))
		service_update_exits(u->tree->ctx);
}

static void update_deadlines(struct update *u)
{
	struct node *node;

	report_update(u->tree); /* first: it records the holders of guards that are revoked */
	node_for_each_taken (node, u->tree->ctx, TASK_DEADLINES)
		deadline_process(node);
}

static void update_starts(struct update *u)
{
	converge_starts(u->tree);
	exit_update_last(u->tree);
}

static void update_report(struct update *u)
{
	report_update(u->tree);
	if (u->tree->root->complete && u->complete)
		u->complete(u->arg);
}

static void update_requests(struct update *u)
{
	/* The cause counts for all effects until here; those of a reload by a request come in the next turn. */
	events_because(u->tree->ctx->events, NULL);
	if (u->reload)
		steps_update(u->reload);
	if (u->control)
		control_update(u->control);
}

static void update_parent(struct update *u)
{
	if (u->parent)
		parent_update(u->parent);
}

/* The order of enum task.  A task is a function of another room, or of this file. */
static const struct {
	void (*in_context)(struct context *ctx);
	void (*in_tree)(struct tree *tree);
	void (*of_node)(struct tree *tree, struct node *node);
	void (*run)(struct update *update);
	bool always; /* runs in each turn; a node stays on the list, else it is taken off */
} tasks[N_TASKS] = {
	[TASK_EVENTS] = { .of_node = update_events },
	[TASK_GUARDS] = { .of_node = update_guards },
	[TASK_EXITS] = { .run = update_exits },
	[TASK_SCHEDULES] = { .of_node = timetable_process },
	[TASK_DEMANDS] = { .of_node = demand_process },
	[TASK_RECYCLES] = { .of_node = recycle_process },
	[TASK_PRESSURES] = { .of_node = relief_process },
	[TASK_FAILURES] = { .of_node = failure_process },
	[TASK_ENDS] = { .in_tree = exit_update },
	[TASK_SUCCESSIONS] = { .of_node = succession_process, .always = true },
	[TASK_DEADLINES] = { .run = update_deadlines },
	[TASK_STOPS] = { .of_node = converge_stop, .always = true },
	[TASK_COMPLETIONS] = { .of_node = tree_process_completion },
	[TASK_RENEWALS] = { .in_tree = converge_renewals },
	[TASK_STARTS] = { .run = update_starts, .always = true },
	[TASK_LOGGER] = { .in_context = logging_update },
	[TASK_REPORT] = { .run = update_report, .always = true },
	[TASK_REQUESTS] = { .run = update_requests, .always = true },
	[TASK_PARENT] = { .run = update_parent, .always = true },
	[TASK_TRANSIENT] = { .of_node = transient_update },
};

void update_turn(struct update *update)
{
	struct context *ctx = update->tree->ctx;
	struct node *node;

	agenda_begin_turn(&ctx->agenda);
	for (enum task task = 0; task < N_TASKS; task++) {
		if (!agenda_take(&ctx->agenda, task) && !tasks[task].always)
			continue;
		if (tasks[task].in_context)
			tasks[task].in_context(ctx);
		else if (tasks[task].in_tree)
			tasks[task].in_tree(update->tree);
		else if (tasks[task].run)
			tasks[task].run(update);
		else if (tasks[task].always)
			node_for_each_due (node, ctx, task)
				tasks[task].of_node(update->tree, node);
		else
			node_for_each_taken (node, ctx, task)
				tasks[task].of_node(update->tree, node);
	}
}
