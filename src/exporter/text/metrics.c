/*
 * A family is written at once, as both formats require: so the nodes are walked for each family.
 * The text of a label is escaped once for each node.  The formats differ in the types and suffixes of the
 * head of a family, and in the mark of the end.
 */
#include "exporter/text/metrics.h"

#include "sys/process/usage.h"

#define KINDS_MAX 6 /* of guards */

/* A node that has samples. */
struct row {
	const struct node_view *view;
	const struct totals_node *totals; /* of zeroes if nothing has happened to it */
	char *label;			  /* node="web/api" */
	uint64_t guards[KINDS_MAX];	  /* on the node itself, by kind */
	uint64_t oldest_usec;		  /* of a guard of a program, or a lease */
	struct usage usage;
};

struct writer {
	FILE *to;
	enum metrics_format format;
	const char *family; /* the name; of a counter, without _total */
	const char *suffix; /* of its samples; those of a histogram set it */
	const struct metrics_source *source;
	struct row *rows;
	size_t n;
};

struct family {
	const char *name; /* a counter without _total */
	const char *type; /* as in OpenMetrics: "gauge", "counter", "histogram" or "info" */
	const char *help;
	void (*write)(struct writer *w); /* or, for each node: */
	void (*write_node)(struct writer *w, const struct row *row);
};

/* --- samples --- */

enum metrics_format metrics_accepted(const char *accept)
{
	return accept && strstr(accept, "application/openmetrics-text") ? METRICS_OPENMETRICS
									: METRICS_PROMETHEUS;
}

const char *metrics_type(enum metrics_format format)
{
	return format == METRICS_OPENMETRICS
		       ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
		       : "text/plain; version=0.0.4; charset=utf-8";
}

/* Prometheus has no infos, and names a counter with its suffix. */
static void metrics_begin_family(struct writer *w, const struct family *f)
{
	bool plain = w->format == METRICS_PROMETHEUS, is_info = strcmp(f->type, "info") == 0;
	const char *suffix;

	w->family = f->name;
	w->suffix = is_info ? "_info" : strcmp(f->type, "counter") == 0 ? "_total" : "";
	suffix = plain ? w->suffix : "";
	(void)fprintf(w->to, "# HELP %s%s %s\n# TYPE %s%s %s\n", f->name, suffix, f->help, f->name,
		      suffix, plain && is_info ? "gauge" : f->type);
}

static void metrics_write_name(const struct writer *w, const char *labels, const char *label,
			       const char *value)
{
	(void)fputs(w->family, w->to);
	(void)fputs(w->suffix, w->to);
	if (!labels && !label)
		return;
	(void)fputc('{', w->to);
	(void)fputs(labels ? labels : "", w->to);
	if (label)
		(void)fprintf(w->to, "%s%s=\"%s\"", labels ? "," : "", label, value);
	(void)fputc('}', w->to);
}

/* Writes a sample, with the labels in @labels and @label, unless they are NULL. */
static void metrics_sample(struct writer *w, const char *labels, const char *label,
			   const char *value, uint64_t number)
{
	char digits[TEXT_NUMBER_MAX];

	metrics_write_name(w, labels, label, value);
	(void)fputc(' ', w->to);
	(void)fputs(text_number(digits, number), w->to);
	(void)fputc('\n', w->to);
}

/* The same of seconds. */
static void metrics_sample_usec(struct writer *w, const char *labels, const char *label,
				const char *value, uint64_t usec)
{
	metrics_write_name(w, labels, label, value);
	(void)fprintf(w->to, " %" PRIu64 ".%06" PRIu64 "\n", usec / USEC_PER_SEC,
		      usec % USEC_PER_SEC);
}

/* Returns the label node="PATH", to be freed by free(); NULL: out of memory. */
static char *metrics_label(const char *path)
{
	char *text = malloc(2 * strlen(path) + sizeof("node=\"\"")), *at;

	if (!text)
		return NULL;
	at = stpcpy(text, "node=\"");
	for (; *path; path++) {
		if (*path == '\\' || *path == '"' || *path == '\n')
			*at++ = '\\';
		*at++ = *path == '\n' ? 'n' : *path;
	}
	(void)strcpy(at, "\"");
	return text;
}

static void metrics_add(struct writer *w, const struct row *row, uint64_t number)
{
	metrics_sample(w, row->label, NULL, NULL, number);
}

static void metrics_add_usec(struct writer *w, const struct row *row, uint64_t usec)
{
	metrics_sample_usec(w, row->label, NULL, NULL, usec);
}

/* A sample for each of @n numbers that is not 0, with its name. */
static void metrics_add_each(struct writer *w, const struct row *row, const char *label,
			     const char *const *names, const uint64_t *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (numbers[i] > 0)
			metrics_sample(w, row->label, label, names[i], numbers[i]);
}

/* --- families --- */

static void metrics_write_up(struct writer *w)
{
	metrics_sample(w, NULL, NULL, NULL, w->source->up);
}

static void metrics_write_build(struct writer *w)
{
	metrics_sample(w, NULL, "version", PACKAGE_VERSION, 1);
}

static void metrics_write_nodes(struct writer *w)
{
	metrics_sample(w, NULL, NULL, NULL, w->source->copy->n);
}

static void metrics_write_deadline(struct writer *w)
{
	const struct copy *copy = w->source->copy;
	struct node_view root;

	if (copy->n == 0)
		return;
	root = copy_node_at(copy, &copy->nodes[0], w->source->now_usec);
	if (root.deadline_usec != FIELD_NONE)
		metrics_sample_usec(w, NULL, NULL, NULL,
				    clock_add(clock_realtime_usec(), root.deadline_usec));
}

static void metrics_write_state(struct writer *w, const struct row *row)
{
	const char *state = node_view_state_name(row->view);
	const char *const *states = row->view->is_service ? service_view_states : node_view_states;

	for (; *states; states++)
		metrics_sample(w, row->label, "state", *states, strcmp(*states, state) == 0);
}

static void metrics_write_healthy(struct writer *w, const struct row *row)
{
	const char *health = row->view->is_service ? row->view->service.health : NULL;

	if (health && strcmp(health, "unknown") != 0)
		metrics_add(w, row, strcmp(health, "healthy") == 0);
}

static void metrics_write_outdated(struct writer *w, const struct row *row)
{
	const struct service_view *s = &row->view->service;

	if (row->view->is_service && s->pid != FIELD_NONE &&
	    (!s->program || s->outdated || strcmp(s->program, "unknown") != 0))
		metrics_add(w, row, s->outdated);
}

static void metrics_write_exits(struct writer *w, const struct row *row)
{
	static const char *const names[N_TOTALS_EXITS] = {
		[EXIT_CLEAN] = "clean",
		[EXIT_STATUS] = "status",
		[EXIT_SIGNAL] = "signal",
		[EXIT_OTHER] = "other",
	};

	metrics_add_each(w, row, "kind", names, row->totals->exits, N_TOTALS_EXITS);
}

static void metrics_write_durations(struct writer *w, const struct row *row,
				    const struct totals_durations *durations)
{
	static const char *const bounds[] = TOTALS_BOUNDS;
	uint64_t count = durations->buckets[TOTALS_BUCKETS - 1];

	if (count == 0)
		return;
	w->suffix = "_bucket";
	for (size_t k = 0; k < TOTALS_BUCKETS; k++)
		metrics_sample(w, row->label, "le", k < ARRAY_SIZE(bounds) ? bounds[k] : "+Inf",
			       durations->buckets[k]);
	w->suffix = "_sum";
	metrics_add_usec(w, row, durations->sum_usec);
	w->suffix = "_count";
	metrics_add(w, row, count);
}

static void metrics_write_outages(struct writer *w, const struct row *row)
{
	metrics_add_each(w, row, "cause", &history_outages[OUTAGE_PLANNED],
			 &row->totals->outages[OUTAGE_PLANNED],
			 OUTAGE_UNKNOWN - OUTAGE_PLANNED + 1);
}

static void metrics_write_outage_usec(struct writer *w, const struct row *row)
{
	for (enum outage k = OUTAGE_PLANNED; k <= OUTAGE_UNKNOWN; k++)
		if (row->totals->outages[k] > 0)
			metrics_sample_usec(
				w, row->label, "cause", history_outages[k],
				totals_outage_usec(row->totals, k, clock_realtime_usec()));
}

/* Writes a family of a node by one call, if @when. */
#define WRITE(fn, when, ...)                                                    \
	static void metrics_write_##fn(struct writer *w, const struct row *row) \
	{                                                                       \
		if (when)                                                       \
			__VA_ARGS__;                                            \
	}
#define WRITE_OF_SERVICE(fn, when, member) \
	WRITE(fn, row->view->is_service && (when), metrics_add(w, row, row->member))
#define WRITE_USAGE(fn, add, member) \
	WRITE(fn, row->usage.member != USAGE_UNKNOWN, add(w, row, row->usage.member))

WRITE(ready, true, metrics_add(w, row, row->view->ready))
WRITE_OF_SERVICE(restarts, true, view->service.restarts)
WRITE(starts, true, metrics_write_durations(w, row, &row->totals->start))
WRITE(stops, true, metrics_write_durations(w, row, &row->totals->stop))
WRITE(drain, row->totals->drain_usec > 0, metrics_add_usec(w, row, row->totals->drain_usec))
WRITE(alerts, true, metrics_add_each(w, row, "alert", alert_names, row->totals->alerts, N_ALERTS))
WRITE_OF_SERVICE(killed, true, totals->killed)
WRITE(guards, true, metrics_add_each(w, row, "kind", guard_view_kinds, row->guards, KINDS_MAX))
WRITE(oldest, row->oldest_usec > 0, metrics_add_usec(w, row, row->oldest_usec))
WRITE_OF_SERVICE(lines, row->view->service.log_lines != FIELD_NONE, view->service.log_lines)
WRITE_USAGE(cpu, metrics_add_usec, cpu_usec)
WRITE_USAGE(memory, metrics_add, memory)
WRITE_USAGE(processes, metrics_add, processes)

static void metrics_write_lost_lines(struct writer *w, const struct row *row)
{
	uint64_t lost = row->view->service.lost_lines;

	if (row->view->is_service)
		metrics_add(w, row, lost == FIELD_NONE ? 0 : lost);
}

/* Families of the whole tree, and of each node. */
#define WHOLE(name, type, help, fn)                                    \
	{                                                              \
		"swansong_" name, type, help, metrics_write_##fn, NULL \
	}
#define NODES(name, type, help, fn)                                    \
	{                                                              \
		"swansong_" name, type, help, NULL, metrics_write_##fn \
	}

static const struct family families[] = {
	WHOLE("up", "gauge", "Whether the daemon answers.", up),
	WHOLE("build", "info", "The version of the exporter.", build),
	WHOLE("nodes", "gauge", "Nodes of the tree, with those that have no samples.", nodes),
	WHOLE("shutdown_deadline_timestamp_seconds", "gauge",
	      "When the budget of the shutdown ends.", deadline),
	NODES("node_state", "gauge", "1 for the present state of a service or group.", state),
	NODES("node_ready", "gauge",
	      "Whether all services at and below the node that are meant to run are ready.", ready),
	NODES("service_healthy", "gauge", "The result of the health probes.", healthy),
	NODES("service_restarts", "counter", "Restarts of the service.", restarts),
	NODES("service_outdated", "gauge",
	      "Whether the service runs with former settings, or executes replaced files.",
	      outdated),
	NODES("service_exits", "counter", "Ends of the main process, by kind.", exits),
	NODES("service_start_seconds", "histogram", "Time of a start, until up.", starts),
	NODES("service_stop_seconds", "histogram", "Time of a stop, until no process is left.",
	      stops),
	NODES("node_drain_seconds", "counter", "Time in the state draining.", drain),
	NODES("alerts", "counter", "Events of the service for on-event-command, by alert.", alerts),
	NODES("outages", "counter", "Times in which the service was not ready, by cause.", outages),
	NODES("outage_seconds", "counter", "Time in which it was not ready, by cause.",
	      outage_usec),
	NODES("forced_kills", "counter", "Stops that ended in SIGKILL.", killed),
	NODES("guards", "gauge", "Guards on the node itself, by kind.", guards),
	NODES("guard_oldest_seconds", "gauge",
	      "Age of the oldest guard of a program or lease on the node itself.", oldest),
	NODES("log_lines", "counter", "Lines of output that the logger has written.", lines),
	NODES("log_dropped", "counter", "Lines that the log files could not take.", lost_lines),
};

static const struct family usages[] = {
	NODES("service_cpu_seconds", "counter", "Processor time of the processes of the service.",
	      cpu),
	NODES("service_memory_bytes", "gauge", "Memory of the processes of the service.", memory),
	NODES("service_processes", "gauge", "Processes of the service.", processes),
};

/* --- all --- */

/* Without memory there are no rows: the families of nodes are empty then. */
static void metrics_begin(struct writer *w, FILE *to, const struct metrics_source *source,
			  enum metrics_format format)
{
	static const struct totals_node nothing;
	size_t n = source->up ? MIN(source->copy->n, source->max_nodes) : 0;

	*w = (struct writer){
		.to = to,
		.format = format,
		.source = source,
		.rows = calloc(n + 1, sizeof(*w->rows)),
	};
	for (; w->rows && w->n < n; w->n++) {
		struct row *row = &w->rows[w->n];

		row->view = &source->copy->nodes[w->n].view;
		row->totals = totals_find(source->totals, row->view->path);
		row->totals = row->totals ? row->totals : &nothing;
		row->label = metrics_label(row->view->path);
		if (!row->label)
			break;
	}
	w->n = w->n < n ? 0 : n;
}

static void metrics_end(struct writer *w, const struct family *all, size_t n)
{
	for (const struct family *f = all; f < all + n; f++) {
		metrics_begin_family(w, f);
		if (f->write)
			f->write(w);
		for (size_t i = 0; f->write_node && i < w->n; i++)
			f->write_node(w, &w->rows[i]);
	}
	if (w->format == METRICS_OPENMETRICS)
		(void)fputs("# EOF\n", w->to);
	for (struct row *row = w->rows; row && row->label; row++)
		free(row->label);
	free(w->rows);
}

static void metrics_count_guards(struct writer *w)
{
	const struct copy *copy = w->source->copy;

	for (size_t i = 0; i < copy->n_guards; i++) {
		const struct guard_view guard =
			copy_guard_at(copy, &copy->guards[i], w->source->now_usec);
		const struct copy_node *node = copy_find(copy, guard.node);
		struct row *row;
		size_t k = 0;

		if (!node || (size_t)(node - copy->nodes) >= w->n)
			continue;
		row = &w->rows[node - copy->nodes];
		while (k < KINDS_MAX - 1 && strcmp(guard_view_kinds[k], guard.kind) != 0)
			k++;
		row->guards[k] += guard.count == FIELD_NONE ? 1 : guard.count;
		if (strcmp(guard.kind, "program") == 0 || strcmp(guard.kind, "lease") == 0)
			row->oldest_usec = MAX(row->oldest_usec, guard.age_usec);
	}
}

void metrics_write(FILE *to, const struct metrics_source *source, enum metrics_format format)
{
	struct writer w;

	metrics_begin(&w, to, source, format);
	metrics_count_guards(&w);
	metrics_end(&w, families, ARRAY_SIZE(families));
}

/*
 * A scrape takes one snapshot of /proc for all services, and reads the control group of each where it has one.
 * All is read before the first line is written, as the samples of a family stand together.
 */
void metrics_write_usage(FILE *to, const struct metrics_source *source, pid_t daemon,
			 enum metrics_format format)
{
	cleanup(snapshot_done) struct snapshot snapshot = { .n = 0 };
	bool is_known = daemon > 0 && snapshot_take(&snapshot) == 0;
	struct writer w;

	metrics_begin(&w, to, source, format);
	for (struct row *row = w.rows; row < w.rows + w.n; row++) {
		cleanup(freep) char *group = node_view_group(row->view);

		if (!is_known || !group ||
		    usage_of(&snapshot, (pid_t)row->view->service.pid, daemon, group, &row->usage) <
			    0)
			row->usage = (struct usage){ USAGE_UNKNOWN, USAGE_UNKNOWN, USAGE_UNKNOWN,
						     USAGE_UNKNOWN };
	}
	metrics_end(&w, usages, ARRAY_SIZE(usages));
}
