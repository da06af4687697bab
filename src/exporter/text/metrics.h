#pragma once

/*
 * The copy as metrics, in the text format of Prometheus or in OpenMetrics 1.0.  Each family has a
 * row in a table; a sample of a node has the label node.
 */

#include "exporter/mirror/totals.h"

#define METRICS_NODES_DEFAULT 2000

struct metrics_source {
	const struct copy *copy;
	const struct totals *totals;
	bool up;	  /* otherwise there are no samples of nodes */
	size_t max_nodes; /* further nodes are only counted */
	uint64_t now_usec;
};

enum metrics_format { METRICS_PROMETHEUS, METRICS_OPENMETRICS };

/* The format that a client asks for by its header Accept, or NULL. */
enum metrics_format metrics_accepted(const char *accept);

/* "text/plain; version=0.0.4; charset=utf-8" */
const char *metrics_type(enum metrics_format format);

void metrics_write(FILE *to, const struct metrics_source *source, enum metrics_format format);

/*
 * Writes the usage of the processes of each service, which descend from @daemon.  Control groups and /proc
 * are read by this call, which takes about 0.1 ms of processor time for each service.  Without the daemon, or
 * without /proc, no sample is written.
 */
void metrics_write_usage(FILE *to, const struct metrics_source *source, pid_t daemon,
			 enum metrics_format format);
