/*
 * In each turn of a shutdown the touched traces are compared with the guards that exist.  The file
 * is written once, one node at a time, to a new file beside the old one, which replaces it at the
 * end.
 */
#include "daemon/describe/report.h"

#include "daemon/describe/describe.h"
#include "daemon/describe/history.h"
#include "model/life/budget.h"
#include "proto/history/report.h"
#include "sys/file/replace.h"

static const char *report_path_of(const struct config *config)
{
	return config->report && strcmp(config->report, "none") != 0 ? config->report : NULL;
}

void report_use(struct context *ctx, const struct config *config)
{
	history_use(ctx, config);
	traces_want(&ctx->traces, report_path_of(config) || ctx->history_log, ctx->history_log);
}

void report_use_all(struct tree *tree)
{
	bool wanted;

	report_use(tree->ctx, tree->config);
	wanted = tree->ctx->traces.wanted;
	for (struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		if (!wanted)
			n->trace = trace_free(n->trace);
		if (!wanted || n->trace)
			continue;
		if (trace_new(&n->trace, &n->ctx->traces, n, n->config->path) < 0)
			node_log(n, LOG_ERR, "missing in the report: out of memory");
		if (n->trace && n->stop_usec)
			trace_begin(n->trace, n->generation,
				    n->service ? fsm_state_name(n->service->state) : NULL,
				    n->stop_usec);
	}
}

/* --- collection --- */

static void report_scan_guard(struct node *node, const struct guard_view *guard, void *arg)
{
	trace_scan_guard(node->trace, guard, *(const uint64_t *)arg);
}

/* Names the end of guards that have ended without a reason of their own. */
static void report_name_ends(struct trace *trace, const struct service *s)
{
	struct trace_guard *g;

	list_for_each (g, &trace->guards, of_trace) {
		if (!g->gone_usec || g->end)
			continue;
		if (g->pid == FIELD_NONE || strcmp(g->kind, "lease") == 0)
			g->end = "dropped";
		else if (s && s->run.killed)
			g->end = "killed";
		else
			g->end = g->count == FIELD_NONE ? "ended" : "dropped";
	}
}

void report_update(struct tree *tree)
{
	uint64_t now = clock_now_usec();
	struct trace *trace;

	list_for_each_taken (trace, &tree->ctx->traces.touched, in_touched) {
		if (!trace->node)
			continue;
		trace_begin_scan(trace);
		describe_each_guard(trace->node, now, report_scan_guard, &now);
		trace_end_scan(trace, now);
		report_name_ends(trace, trace->node->service);
	}
	history_update(tree->ctx);
}

/* --- contents --- */

static int64_t report_since_stop(const struct traces *traces, uint64_t usec)
{
	return (int64_t)(usec - traces->stop_usec);
}

/* Returns the time since the stop, 0 if @usec was before it; FIELD_NONE if @usec is 0: not yet. */
static uint64_t report_optional_usec(const struct traces *traces, uint64_t usec)
{
	return usec > traces->stop_usec ? usec - traces->stop_usec : usec ? 0 : FIELD_NONE;
}

/* NULL without memory. */
static json_t *report_build_states(const struct trace *trace)
{
	cleanup(json_decrefp) json_t *states = json_array();

	for (unsigned i = 0; i < trace->n_states; i++) {
		struct report_state state = {
			.state = trace->states[i].state,
			.at_usec = report_since_stop(trace->traces, trace->states[i].usec),
		};

		if (json_array_append_new(states, report_state_build(&state)) < 0)
			return NULL;
	}
	return take(states);
}

/* NULL without memory. */
static json_t *report_build_guards(const struct trace *trace)
{
	cleanup(json_decrefp) json_t *guards = json_array();
	const struct trace_guard *g;

	list_for_each (g, &trace->guards, of_trace) {
		const char *why = g->text + g->why;
		struct report_guard guard = {
			.id = g->id,
			.kind = g->kind,
			.pid = g->pid,
			.uid = g->uid,
			.command = *g->text ? g->text : NULL,
			.why = *why ? why : NULL,
			.count = g->count,
			.taken_usec = report_since_stop(trace->traces, g->since_usec),
			.gone_usec = report_optional_usec(trace->traces, g->gone_usec),
			.end = g->end,
		};

		if (json_array_append_new(guards, report_guard_build(&guard)) < 0)
			return NULL;
	}
	return take(guards);
}

static void report_add_paths(json_t *paths, struct node *const *nodes)
{
	for (; nodes && *nodes; nodes++)
		(void)json_array_append_new(paths, message_string((*nodes)->path));
}

/*
 * Returns the paths of the nodes for which the stop signals in @node wait; NULL if there are none.
 */
static json_t *report_paths_after(const struct node *node)
{
	json_t *paths;

	if (!node || (!node_edges(node, LIST_DEPENDENTS) && !node_edges(node, EDGE_TERM_AFTER)))
		return NULL;
	paths = json_array();
	report_add_paths(paths, node_edges(node, LIST_DEPENDENTS));
	report_add_paths(paths, node_edges(node, EDGE_TERM_AFTER));
	return paths;
}

/* NULL without memory. */
static json_t *report_build_node(const struct trace *trace)
{
	cleanup(json_decrefp) json_t *after = report_paths_after(trace->node), *node = NULL;
	struct report_node view = {
		.path = trace->path,
		.is_service = trace->is_service,
		.generation = trace->generation,
		.stop_usec = report_since_stop(trace->traces, trace->stop_usec),
		.complete_usec = report_optional_usec(trace->traces, trace->complete_usec),
		.forced = trace->forced,
		.early = trace->early,
		.late_usec = report_optional_usec(trace->traces, trace->late_usec),
		.budget_usec =
			trace->budget_usec == USEC_INFINITY ? FIELD_NONE : trace->budget_usec,
		.after = after,
	};

	node = report_node_build(&view);
	if (json_object_set_new(node, "states", report_build_states(trace)) < 0 ||
	    json_object_set_new(node, "guards", report_build_guards(trace)) < 0)
		return NULL;
	return take(node);
}

/* Nodes that were Complete before and held no guards are left out. */
static bool report_has_part(const struct trace *trace)
{
	const struct traces *traces = trace->traces;

	return trace->stop_usec && (!trace->complete_usec || !list_is_empty(&trace->guards) ||
				    trace->complete_usec >= traces->stop_usec);
}

static json_t *report_build_head(const struct tree *tree, const struct report_end *end)
{
	const struct traces *traces = &tree->ctx->traces;
	uint64_t budget_usec = MIN(tree->root->config->shutdown_timeout_usec,
				   budget_of_grace(tree->ctx->grace_usec));
	char host[HOST_NAME_MAX + 1] = "", signal[SIGNAL_TEXT_MAX];
	struct report_view view = {
		.format = REPORT_FORMAT,
		.version = PACKAGE_VERSION,
		.host = host,
		.pid = (uint64_t)getpid(),
		.time_usec = traces->realtime_usec,
		.cause = traces->cause,
		.signal = end->signal ? parse_signal_text(signal, end->signal) : NULL,
		.forced = tree->root->forced,
		.status = (uint64_t)end->status,
		.total_usec = tree->root->since_usec - traces->stop_usec,
		.budget_usec = budget_usec == USEC_INFINITY ? FIELD_NONE : budget_usec,
		.lost = traces->lost,
	};

	(void)gethostname(host, sizeof(host) - 1);
	return report_view_build(&view);
}

/* --- file --- */

/*
 * Writes @value, without the braces around it if @flags has JSON_EMBED.  Takes its reference; NULL
 * means a lack of memory.
 */
static int report_dump(FILE *f, json_t *value, size_t flags)
{
	int r = 0;

	if (!value)
		return -ENOMEM;
	if (json_dumpf(value, f, JSON_COMPACT | flags) < 0)
		r = ferror(f) ? -errno : -ENOMEM;
	json_decref(value);
	return r;
}

/* The content of a report. */
struct content {
	const struct tree *tree;
	const struct report_end *end;
};

/* Writes a line for each node; only one node at a time exists as an object. */
static int report_dump_all(FILE *f, const void *arg)
{
	const struct content *content = arg;
	const char *before = "\n";
	const struct trace *trace;
	int r;

	(void)fputc('{', f);
	r = report_dump(f, report_build_head(content->tree, content->end), JSON_EMBED);
	(void)fputs(",\"nodes\":[", f);
	list_for_each (trace, &content->tree->ctx->traces.all, in_traces) {
		if (r < 0 || !report_has_part(trace))
			continue;
		(void)fputs(before, f);
		r = report_dump(f, report_build_node(trace), 0);
		before = ",\n";
	}
	(void)fputs("]}\n", f);
	return r;
}

/* At the very end, when nothing else is waited for. */
#define REPORT_MSEC 1000

static int report_replace(void *arg)
{
	const struct content *content = arg;

	return replace_file(report_path_of(content->tree->config), 0644, false, report_dump_all,
			    content);
}

void report_write(const struct tree *tree, const struct report_end *end)
{
	const char *path = report_path_of(tree->config);
	struct content content = { .tree = tree, .end = end };
	int r = path ? mount_call(path, REPORT_MSEC, report_replace, &content, sizeof(content)) : 0;

	if (r < 0)
		log_line(tree->ctx->log, LOG_WARNING, "cannot write the report %s: %s", path,
			 path_error_text(-r));
}
