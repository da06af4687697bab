#pragma once

/*
 * How short memory is (key pressure-stop).  The kernel wakes the daemon while processes wait for memory: all processes
 * of the machine, or those of the control group in which the daemon was started.  See daemon/demand/relief.h.
 */

#include "daemon/node/node.h"

struct pressure {
	struct node *node;
	struct pressure_limit limit;
	struct pressure_file {
		struct pressure *pressure;
		sd_event_source *source;
		uint64_t begun_usec, seen_usec; /* beginning of the measured time; the last event */
		uint64_t begun_total;		/* for which processes had waited by then */
	} files[2];
	struct alarm calm; /* for the end of the pressure: set at each event */
	int percent;	   /* measured over that time, and above the limit; 0: it is not */
	bool over;	   /* the alarm has expired */
};

/*
 * Watches the pressure by the present key of @node: TASK_PRESSURES is noted when memory is short, and when that is
 * over.  Kernels and containers without such files are logged, and nothing is looked at.
 */
void pressure_use(struct node *node);

void pressure_free(struct node *node);
