/*
 * A scrape takes one snapshot of /proc for all services, and reads the control group of each where
 * it has one.  All is read before the first line is written, as the samples of a family stand
 * together.
 */
#include "exporter/text/usage.h"

#include "sys/process/usage.h"

struct used {
	struct usage usage;
	char *label; /* NULL: nothing is known */
};

static void usage_write_number(struct samples *samples, const struct used *used, uint64_t number)
{
	if (used->label && number != USAGE_UNKNOWN)
		sample_add(samples, used->label, NULL, NULL, number);
}

void usage_write(FILE *to, const struct metrics_source *source, pid_t daemon,
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
			sample_add_usec(&samples, used[i].label, NULL, NULL, used[i].usage.cpu_usec);
	samples_begin(&samples, "swansong_service_memory_bytes", "gauge",
		      "Memory of the processes of the service.");
	for (size_t i = 0; i < n; i++)
		usage_write_number(&samples, &used[i], used[i].usage.memory);
	samples_begin(&samples, "swansong_service_processes", "gauge", "Processes of the service.");
	for (size_t i = 0; i < n; i++)
		usage_write_number(&samples, &used[i], used[i].usage.processes);
	samples_end(&samples);
	for (size_t i = 0; i < n; i++)
		free(used[i].label);
}
