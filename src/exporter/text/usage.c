/*
 * A scrape takes one snapshot of /proc for all services, and reads the control group of each where
 * it has one.  All is read before the first line is written, as the samples of a family stand
 * together.
 */
#include "exporter/text/usage.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "sys/process/usage.h"

struct used {
	struct usage usage;
	char *label; /* NULL: nothing is known */
};

/* Returns false if @view is no service with a process, or if nothing is known of that. */
static bool usage_read_service(const struct snapshot *snapshot, pid_t daemon,
			       const struct node_view *view, struct usage *ret)
{
	cleanup(freep) char *group = NULL;

	if (!view->is_service || view->service.pid > INT32_MAX)
		return false;
	group = node_view_group(view);
	return group && usage_of(snapshot, (pid_t)view->service.pid, daemon, group, ret) == 0;
}

static void usage_read_all(const struct metrics_source *source, pid_t daemon, struct used *used,
			   size_t n)
{
	cleanup(snapshot_done) struct snapshot snapshot = { .n = 0 };

	if (daemon <= 0 || snapshot_take(&snapshot) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		const struct node_view *view = &source->copy->nodes[i].view;

		if (usage_read_service(&snapshot, daemon, view, &used[i].usage))
			used[i].label = sample_label(view->path);
	}
}

static void usage_write_number(struct samples *samples, const struct used *used, uint64_t number)
{
	if (used->label && number != USAGE_UNKNOWN)
		sample_add(samples, used->label, NULL, NULL, number);
}

static void usage_write_all(struct samples *samples, const struct used *used, size_t n)
{
	samples_begin(samples, "swansong_service_cpu_seconds", "counter",
		      "Processor time of the processes of the service.");
	for (size_t i = 0; i < n; i++)
		if (used[i].label)
			sample_add_usec(samples, used[i].label, used[i].usage.cpu_usec);
	samples_begin(samples, "swansong_service_memory_bytes", "gauge",
		      "Memory of the processes of the service.");
	for (size_t i = 0; i < n; i++)
		usage_write_number(samples, &used[i], used[i].usage.memory);
	samples_begin(samples, "swansong_service_processes", "gauge", "Processes of the service.");
	for (size_t i = 0; i < n; i++)
		usage_write_number(samples, &used[i], used[i].usage.processes);
}

void usage_write(FILE *to, const struct metrics_source *source, pid_t daemon,
		 enum metrics_format format)
{
	size_t n = source->up ? MIN(source->copy->n, source->max_nodes) : 0;
	struct samples samples = { .to = to, .format = format };
	struct used *used = calloc(n + 1, sizeof(*used));

	if (used) {
		usage_read_all(source, daemon, used, n);
		usage_write_all(&samples, used, n);
	}
	samples_end(&samples);
	for (size_t i = 0; used && i < n; i++)
		free(used[i].label);
	free(used);
}
