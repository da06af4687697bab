#pragma once

/*
 * Usage of the processes of each service, as metrics.  Control groups and /proc are read by this
 * call, which takes about 0.1 ms of processor time for each service.
 */

#include "exporter/text/metrics.h"

/* The processes of services descend from @daemon.  Without it, or without /proc, no sample is written. */
void usage_write(FILE *to, const struct metrics_source *source, pid_t daemon,
		 enum metrics_format format);
