/*
 * The turn is a table: its order is that of enum task, and each task calls one function of another
 * room.  Tasks of the agenda run when they are pending; some run in each turn, because any event
 * may concern them.
 */
#include "daemon/main/update.h"

#include "daemon/demand/demand.h"
#include "daemon/logger/logging.h"
#include "daemon/reap/exit.h"
#include "daemon/reload/transient.h"
#include "daemon/service/machine.h"
#include "daemon/service/timeout.h"
#include "daemon/tree/completion.h"
#include "daemon/tree/converge.h"
#include "daemon/tree/deadline.h"
#include "daemon/tree/exit.h"
#include "daemon/tree/failure.h"
#include "daemon/tree/timetable.h"
#include "daemon/describe/report.h"

static void update_exits(struct update *u)
{
	if (!u->orphans || orphans_update(u->orphans))
		service_update_exits(u->tree->ctx);
}

static void update_deadlines(struct update *u)
{
	report_update(u->tree); /* first: it records the holders of guards that are revoked */
	deadline_update(u->tree->ctx);
}

static void update_completions(struct update *u)
{
	if (completions_process(u->tree))
		agenda_note(&u->tree->ctx->agenda, TASK_REPORT);
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
	/* The effects of this turn are over; a reload in a request has its own in the next one. */
	events_because(u->tree->ctx->events, NULL);
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
	void (*run)(struct update *update);
	bool always; /* runs in each turn */
} tasks[N_TASKS] = {
	[TASK_EVENTS] = { .in_context = service_handle_posted },
	[TASK_GUARDS] = { .in_context = service_update_guards },
	[TASK_EXITS] = { .run = update_exits },
	[TASK_SCHEDULES] = { .in_tree = timetables_process },
	[TASK_DEMANDS] = { .in_tree = demands_process },
	[TASK_FAILURES] = { .in_tree = failures_process },
	[TASK_ENDS] = { .in_tree = exit_update },
	[TASK_DEADLINES] = { .run = update_deadlines },
	[TASK_STOPS] = { .in_tree = converge_stops, .always = true },
	[TASK_COMPLETIONS] = { .run = update_completions },
	[TASK_RENEWALS] = { .in_tree = converge_renewals },
	[TASK_STARTS] = { .run = update_starts, .always = true },
	[TASK_LOGGER] = { .in_context = logging_update },
	[TASK_REPORT] = { .run = update_report, .always = true },
	[TASK_REQUESTS] = { .run = update_requests, .always = true },
	[TASK_PARENT] = { .run = update_parent, .always = true },
	[TASK_TRANSIENT] = { .in_tree = transient_update },
};

void update_turn(struct update *update)
{
	struct context *ctx = update->tree->ctx;

	agenda_begin_turn(&ctx->agenda);
	for (enum task task = 0; task < N_TASKS; task++) {
		if (!agenda_take(&ctx->agenda, task) && !tasks[task].always)
			continue;
		if (tasks[task].in_context)
			tasks[task].in_context(ctx);
		else if (tasks[task].in_tree)
			tasks[task].in_tree(update->tree);
		else
			tasks[task].run(update);
	}
}
