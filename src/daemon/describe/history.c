/*
 * A line has the phases of an end, which follow from the states of the service; the time after the stop
 * signal is divided by the last guard that kept the service busy.
 */
#include "daemon/describe/history.h"

#include "daemon/logger/history-line.h"
#include "daemon/logger/history-log.h"
#include "proto/history/report.h"

void history_use(struct context *ctx, const struct config *config)
{
	cleanup(freep) char *path = NULL;
	int r = history_path(&path, config->history, config->report);

	if (r >= 0 && (!path || !ctx->logger))
		ctx->history_log = history_log_free(ctx->history_log);
	else if (r >= 0)
		r = ctx->history_log ? history_log_use(ctx->history_log, path)
				     : history_log_new(&ctx->history_log, ctx, path);
	if (r < 0)
		log_line(ctx->log, LOG_ERR, "no history: %s", strerror(-r));
}

/* --- one end --- */

/* Returns how long the service was busy between @from and @to. */
static uint64_t history_busy_usec(const struct trace *trace, uint64_t from, uint64_t to)
{
	const struct trace_guard *g;
	uint64_t busy = 0;

	list_for_each (g, &trace->guards, of_trace) {
		uint64_t gone = g->gone_usec ? MIN(g->gone_usec, to) : to;

		if ((strcmp(g->kind, "lease") == 0 || strcmp(g->kind, "program") == 0) &&
		    gone > from)
			busy = MAX(busy, gone - from);
	}
	return busy;
}

static void history_add_state(struct history_phases *phases, const struct trace *trace, unsigned i)
{
	uint64_t end = i + 1 < trace->n_states ? trace->states[i + 1].usec : trace->complete_usec;
	uint64_t from = trace->states[i].usec, usec = end - from, busy;

	switch (report_part(trace->states[i].state)) {
	case REPORT_DRAINING:
		phases->delay_usec += usec;
		break;
	case REPORT_WAITING:
		phases->waiting_usec += usec;
		break;
	case REPORT_STOPPING:
		busy = history_busy_usec(trace, from, from + usec);
		phases->draining_usec += busy;
		phases->stopping_usec += usec - busy;
		break;
	case REPORT_KILLING:
		phases->killing_usec += usec;
		break;
	case REPORT_CLOSING:
	case REPORT_OVER:
		phases->closing_usec += usec;
		break;
	case REPORT_RUNNING:
	case N_REPORT_PARTS:
		break;
	}
}

/* Inserts @guard by its time.  The main process is no guard here: the phases show its time. */
static void history_add_holder(struct history_line *line, const struct trace *trace,
			       const struct trace_guard *guard)
{
	uint64_t gone = guard->gone_usec ? guard->gone_usec : trace->complete_usec;
	uint64_t from = MAX(guard->since_usec, trace->stop_usec);
	uint64_t usec = gone > from ? gone - from : 0;
	size_t i = line->n_held_by;

	if (usec < USEC_PER_MSEC || strcmp(guard->kind, "process") == 0)
		return;
	if (i == HISTORY_HOLDERS && line->held_by[--i].usec >= usec)
		return;
	for (; i > 0 && line->held_by[i - 1].usec < usec; i--)
		line->held_by[i] = line->held_by[i - 1];
	line->held_by[i] = (struct history_holder){
		.kind = guard->kind,
		.who = *guard->text ? guard->text : NULL,
		.why = guard->text[guard->why] ? guard->text + guard->why : NULL,
		.usec = usec,
	};
	line->n_held_by = MIN(line->n_held_by + 1, (size_t)HISTORY_HOLDERS);
}

/* A service that was down when it was stopped has no end. */
static bool history_is_an_end(const struct trace *trace)
{
	if (!trace->is_service)
		return !*trace->path;
	return trace->n_states > 0 && report_part(trace->states[0].state) != REPORT_OVER;
}

static void history_write(struct context *ctx, const struct trace *trace)
{
	struct history_line line;
	const struct trace_guard *g;

	if (!ctx->history_log || !history_is_an_end(trace))
		return;
	line = (struct history_line){
		.node = trace->path,
		.generation = trace->generation,
		.why = trace->why,
		.total_usec = trace->complete_usec - trace->stop_usec,
		.has_phases = trace->is_service,
		.forced = trace->forced,
	};
	for (unsigned i = 0; i < trace->n_states; i++)
		history_add_state(&line.phases, trace, i);
	list_for_each (g, &trace->guards, of_trace)
		history_add_holder(&line, trace, g);
	history_write_line(ctx, &line);
}

void history_update(struct context *ctx)
{
	struct trace *trace;

	list_for_each_taken (trace, &ctx->traces.ended, in_ended) {
		history_write(ctx, trace);
		trace_end(trace);
	}
}
