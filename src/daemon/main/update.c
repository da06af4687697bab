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

static void update_events(struct update *u)
{
	service_handle_posted(u->tree->ctx);
}

static void update_guards(struct update *u)
{
	service_update_guards(u->tree->ctx);
}

static void update_exits(struct update *u)
{
	if (!u->orphans || orphans_update(u->orphans))
		service_update_exits(u->tree->ctx);
}

static void update_schedules(struct update *u)
{
	timetables_process(u->tree);
}

static void update_demands(struct update *u)
{
	demands_process(u->tree);
}

static void update_failures(struct update *u)
{
	failures_process(u->tree);
}

static void update_ends(struct update *u)
{
	exit_update(u->tree);
}

static void update_deadlines(struct update *u)
{
	report_update(u->tree); /* first: it records the holders of guards that are revoked */
	deadline_update(u->tree->ctx);
}

static void update_stops(struct update *u)
{
	converge_stops(u->tree);
}

static void update_completions(struct update *u)
{
	if (completions_process(u->tree))
		agenda_note(&u->tree->ctx->agenda, TASK_REPORT);
}

static void update_renewals(struct update *u)
{
	converge_renewals(u->tree);
}

static void update_starts(struct update *u)
{
	converge_starts(u->tree);
	exit_update_last(u->tree);
}

static void update_logger(struct update *u)
{
	if (u->tree->ctx->logger)
		logging_update(u->tree->ctx->logger);
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

static void update_transient(struct update *u)
{
	transient_update(u->tree);
}

/* The order of enum task. */
static const struct {
	void (*run)(struct update *update);
	bool always; /* runs in each turn */
} tasks[N_TASKS] = {
	[TASK_EVENTS] = { update_events, false },
	[TASK_GUARDS] = { update_guards, false },
	[TASK_EXITS] = { update_exits, false },
	[TASK_SCHEDULES] = { update_schedules, false },
	[TASK_DEMANDS] = { update_demands, false },
	[TASK_FAILURES] = { update_failures, false },
	[TASK_ENDS] = { update_ends, false },
	[TASK_DEADLINES] = { update_deadlines, false },
	[TASK_STOPS] = { update_stops, true },
	[TASK_COMPLETIONS] = { update_completions, false },
	[TASK_RENEWALS] = { update_renewals, false },
	[TASK_STARTS] = { update_starts, true },
	[TASK_LOGGER] = { update_logger, false },
	[TASK_REPORT] = { update_report, true },
	[TASK_REQUESTS] = { update_requests, true },
	[TASK_PARENT] = { update_parent, true },
	[TASK_TRANSIENT] = { update_transient, false },
};

void update_turn(struct update *update)
{
	struct context *ctx = update->tree->ctx;

	agenda_begin_turn(&ctx->agenda);
	for (enum task task = 0; task < N_TASKS; task++)
		if (agenda_take(&ctx->agenda, task) || tasks[task].always)
			tasks[task].run(update);
}
