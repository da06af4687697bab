/*
 * A family is written at once, as both formats require: so the nodes are walked for each family.
 * The text of a label is escaped once for each node.
 */
#include "exporter/text/metrics.h"

#include "sys/process/usage.h"

struct writer {
	struct samples samples;
	const struct metrics_source *source;
	size_t n;		  /* nodes that have samples */
	char **labels;		  /* node="web/api" of each */
	struct guards_of *guards; /* of all nodes */
};

struct family {
	const char *name; /* a counter without _total */
	const char *type;
	const char *help;
	void (*write)(struct writer *w); /* or, for each node: */
	void (*write_node)(struct writer *w, size_t i);
};

/* The guards of one node, by kind. */
#define KINDS_MAX 6
struct guards_of {
	uint64_t n[KINDS_MAX];
	uint64_t oldest_usec;
};

static void metrics_add(struct writer *w, size_t i, uint64_t number)
{
	sample_add(&w->samples, w->labels[i], NULL, NULL, number);
}

static const struct node_view *metrics_node_of(const struct writer *w, size_t i)
{
	return &w->source->copy->nodes[i].view;
}

static const struct totals_node *metrics_totals_of(const struct writer *w, size_t i)
{
	return totals_find(w->source->totals, metrics_node_of(w, i)->path);
}

/* --- families --- */

static void metrics_write_up(struct writer *w)
{
	sample_add(&w->samples, NULL, NULL, NULL, w->source->up);
}

static void metrics_write_build(struct writer *w)
{
	sample_add(&w->samples, NULL, "version", PACKAGE_VERSION, 1);
}

static void metrics_write_nodes(struct writer *w)
{
	sample_add(&w->samples, NULL, NULL, NULL, w->source->copy->n);
}

static void metrics_write_deadline(struct writer *w)
{
	const struct copy *copy = w->source->copy;
	struct node_view root;

	if (copy->n == 0)
		return;
	root = copy_node_at(copy, &copy->nodes[0], w->source->now_usec);
	if (root.deadline_usec != FIELD_NONE)
		sample_add_usec(&w->samples, NULL, NULL, NULL,
				clock_add(clock_realtime_usec(), root.deadline_usec));
}

static void metrics_write_state(struct writer *w, size_t i)
{
	const struct node_view *view = metrics_node_of(w, i);
	const char *state = node_view_state_name(view);
	const char *const *states = view->is_service ? service_view_states : node_view_states;

	for (; *states; states++)
		sample_add(&w->samples, w->labels[i], "state", *states,
			   strcmp(*states, state) == 0);
}

static void metrics_write_ready(struct writer *w, size_t i)
{
	metrics_add(w, i, metrics_node_of(w, i)->ready);
}

static void metrics_write_healthy(struct writer *w, size_t i)
{
	const struct node_view *view = metrics_node_of(w, i);

	if (view->is_service && view->service.health &&
	    strcmp(view->service.health, "unknown") != 0)
		metrics_add(w, i, strcmp(view->service.health, "healthy") == 0);
}

static void metrics_write_restarts(struct writer *w, size_t i)
{
	if (metrics_node_of(w, i)->is_service)
		metrics_add(w, i, metrics_node_of(w, i)->service.restarts);
}

static void metrics_write_outdated(struct writer *w, size_t i)
{
	const struct node_view *view = metrics_node_of(w, i);
	const char *program = view->service.program;

	if (view->is_service && view->service.pid != FIELD_NONE &&
	    (!program || view->service.outdated || strcmp(program, "unknown") != 0))
		metrics_add(w, i, view->service.outdated);
}

static void metrics_write_exits(struct writer *w, size_t i)
{
	static const char *const names[N_TOTALS_EXITS] = {
		[EXIT_CLEAN] = "clean",
		[EXIT_STATUS] = "status",
		[EXIT_SIGNAL] = "signal",
		[EXIT_OTHER] = "other",
	};
	const struct totals_node *totals = metrics_totals_of(w, i);

	for (size_t k = 0; totals && k < N_TOTALS_EXITS; k++)
		if (totals->exits[k] > 0)
			sample_add(&w->samples, w->labels[i], "kind", names[k], totals->exits[k]);
}

static void metrics_write_durations(struct writer *w, size_t i,
				    const struct totals_durations *durations)
{
	static const char *const bounds[] = TOTALS_BOUNDS;
	uint64_t count = durations->buckets[TOTALS_BUCKETS - 1];

	if (count == 0)
		return;
	w->samples.suffix = "_bucket";
	for (size_t k = 0; k < TOTALS_BUCKETS; k++)
		sample_add(&w->samples, w->labels[i], "le",
			   k < ARRAY_SIZE(bounds) ? bounds[k] : "+Inf", durations->buckets[k]);
	w->samples.suffix = "_sum";
	sample_add_usec(&w->samples, w->labels[i], NULL, NULL, durations->sum_usec);
	w->samples.suffix = "_count";
	metrics_add(w, i, count);
}

static void metrics_write_starts(struct writer *w, size_t i)
{
	if (metrics_totals_of(w, i))
		metrics_write_durations(w, i, &metrics_totals_of(w, i)->start);
}

static void metrics_write_stops(struct writer *w, size_t i)
{
	if (metrics_totals_of(w, i))
		metrics_write_durations(w, i, &metrics_totals_of(w, i)->stop);
}

static void metrics_write_drain(struct writer *w, size_t i)
{
	const struct totals_node *totals = metrics_totals_of(w, i);

	if (totals && totals->drain_usec > 0)
		sample_add_usec(&w->samples, w->labels[i], NULL, NULL, totals->drain_usec);
}

static void metrics_write_alerts(struct writer *w, size_t i)
{
	const struct totals_node *totals = metrics_totals_of(w, i);

	for (enum alert_event k = 0; totals && k < N_ALERTS; k++)
		if (totals->alerts[k] > 0)
			sample_add(&w->samples, w->labels[i], "alert", alert_names[k],
				   totals->alerts[k]);
}

static void metrics_write_outages(struct writer *w, size_t i)
{
	const struct totals_node *totals = metrics_totals_of(w, i);

	for (enum outage k = OUTAGE_PLANNED; totals && k <= OUTAGE_UNKNOWN; k++)
		if (totals->outages[k] > 0)
			sample_add(&w->samples, w->labels[i], "cause", history_outages[k],
				   totals->outages[k]);
}

static void metrics_write_outage_usec(struct writer *w, size_t i)
{
	const struct totals_node *totals = metrics_totals_of(w, i);

	for (enum outage k = OUTAGE_PLANNED; totals && k <= OUTAGE_UNKNOWN; k++)
		if (totals->outages[k] > 0)
			sample_add_usec(&w->samples, w->labels[i], "cause", history_outages[k],
					totals_outage_usec(totals, k, clock_realtime_usec()));
}

static void metrics_write_killed(struct writer *w, size_t i)
{
	if (metrics_node_of(w, i)->is_service)
		metrics_add(w, i, metrics_totals_of(w, i) ? metrics_totals_of(w, i)->killed : 0);
}

static void metrics_write_guards(struct writer *w, size_t i)
{
	for (size_t k = 0; k < KINDS_MAX; k++)
		if (w->guards[i].n[k] > 0)
			sample_add(&w->samples, w->labels[i], "kind", guard_view_kinds[k],
				   w->guards[i].n[k]);
}

static void metrics_write_oldest(struct writer *w, size_t i)
{
	if (w->guards[i].oldest_usec > 0)
		sample_add_usec(&w->samples, w->labels[i], NULL, NULL, w->guards[i].oldest_usec);
}

static void metrics_write_lines(struct writer *w, size_t i)
{
	const struct node_view *view = metrics_node_of(w, i);

	if (view->is_service && view->service.log_lines != FIELD_NONE)
		metrics_add(w, i, view->service.log_lines);
}

static void metrics_write_lost_lines(struct writer *w, size_t i)
{
	const struct node_view *view = metrics_node_of(w, i);

	if (view->is_service)
		metrics_add(w, i,
			    view->service.lost_lines == FIELD_NONE ? 0 : view->service.lost_lines);
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

/* --- all --- */

static bool metrics_make_labels(struct writer *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		w->labels[i] = sample_label(metrics_node_of(w, i)->path);
		if (!w->labels[i])
			return false;
	}
	return true;
}

static void metrics_count_guards(struct writer *w)
{
	const struct copy *copy = w->source->copy;

	for (size_t i = 0; i < copy->n_guards; i++) {
		const struct guard_view guard =
			copy_guard_at(copy, &copy->guards[i], w->source->now_usec);
		const struct copy_node *node = copy_find(copy, guard.node);
		struct guards_of *of;
		size_t k = 0;

		if (!node)
			continue;
		of = &w->guards[node - copy->nodes];
		while (k < KINDS_MAX - 1 && strcmp(guard_view_kinds[k], guard.kind) != 0)
			k++;
		of->n[k] += guard.count == FIELD_NONE ? 1 : guard.count;
		if (strcmp(guard.kind, "program") == 0 || strcmp(guard.kind, "lease") == 0)
			of->oldest_usec = MAX(of->oldest_usec, guard.age_usec);
	}
}

void metrics_write(FILE *to, const struct metrics_source *source, enum metrics_format format)
{
	size_t n = source->up ? MIN(source->copy->n, source->max_nodes) : 0;
	struct writer w = {
		.samples = { .to = to, .format = format },
		.source = source,
		.labels = calloc(n + 1, sizeof(*w.labels)),
		.guards = calloc(source->copy->n + 1, sizeof(*w.guards)),
	};

	/* Without memory, the families of nodes are empty. */
	if (w.labels && w.guards && metrics_make_labels(&w, n)) {
		w.n = n;
		metrics_count_guards(&w);
	}
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		const struct family *f = &families[i];

		samples_begin(&w.samples, f->name, f->type, f->help);
		if (f->write)
			f->write(&w);
		for (size_t k = 0; f->write_node && k < w.n; k++)
			f->write_node(&w, k);
	}
	samples_end(&w.samples);
	for (size_t i = 0; w.labels && i < n; i++)
		free(w.labels[i]);
	free(w.labels);
	free(w.guards);
}

/* --- usage --- */

/*
 * A scrape takes one snapshot of /proc for all services, and reads the control group of each where
 * it has one.  All is read before the first line is written, as the samples of a family stand
 * together.
 */
struct used {
	struct usage usage;
	char *label; /* NULL: nothing is known */
};

static void metrics_write_used(struct samples *samples, const struct used *used, uint64_t number)
{
	if (used->label && number != USAGE_UNKNOWN)
		sample_add(samples, used->label, NULL, NULL, number);
}

void metrics_write_usage(FILE *to, const struct metrics_source *source, pid_t daemon,
			 enum metrics_format format)
{
	cleanup(snapshot_done) struct snapshot snapshot = { .n = 0 };
	size_t n = source->up ? MIN(source->copy->n, source->max_nodes) : 0;
	struct samples samples = { .to = to, .format = format };
	cleanup(freep) struct used *used = calloc(n + 1, sizeof(*used));

	if (!used || daemon <= 0 || snapshot_take(&snapshot) < 0)
		n = 0;
	for (size_t i = 0; i < n; i++) {
		const struct node_view *view = &source->copy->nodes[i].view;
		cleanup(freep) char *group = node_view_group(view);

		if (group && usage_of(&snapshot, (pid_t)view->service.pid, daemon, group,
				      &used[i].usage) == 0)
			used[i].label = sample_label(view->path);
	}
	samples_begin(&samples, "swansong_service_cpu_seconds", "counter",
		      "Processor time of the processes of the service.");
	for (size_t i = 0; i < n; i++)
		if (used[i].label)
			sample_add_usec(&samples, used[i].label, NULL, NULL,
					used[i].usage.cpu_usec);
	samples_begin(&samples, "swansong_service_memory_bytes", "gauge",
		      "Memory of the processes of the service.");
	for (size_t i = 0; i < n; i++)
		metrics_write_used(&samples, &used[i], used[i].usage.memory);
	samples_begin(&samples, "swansong_service_processes", "gauge", "Processes of the service.");
	for (size_t i = 0; i < n; i++)
		metrics_write_used(&samples, &used[i], used[i].usage.processes);
	samples_end(&samples);
	for (size_t i = 0; i < n; i++)
		free(used[i].label);
}
