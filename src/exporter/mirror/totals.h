#pragma once

/*
 * Counts and durations of each service, from the events since the exporter saw the node first.
 */

#include "exporter/mirror/copy.h"
#include "proto/history/line.h"

/* Upper bounds of the buckets in seconds; the last bucket has none. */
#define TOTALS_BOUNDS                                                        \
	{                                                                    \
		"0.01", "0.1", "1.0", "5.0", "10.0", "30.0", "60.0", "300.0" \
	}
#define TOTALS_BUCKETS 9

struct totals_durations {
	uint64_t buckets[TOTALS_BUCKETS]; /* each with the counts of those before it */
	uint64_t sum_usec;
};

enum totals_exit {
	EXIT_CLEAN,  /* with status 0 */
	EXIT_STATUS, /* with another status */
	EXIT_SIGNAL, /* by a signal */
	EXIT_OTHER,  /* a failed start, a timeout, a watchdog or a health check */
	N_TOTALS_EXITS
};

struct totals_node {
	char *path;
	struct totals_durations start, stop; /* until up; from the stop to the end */
	uint64_t drain_usec;
	uint64_t killed; /* stops that ended in SIGKILL */
	uint64_t exits[N_TOTALS_EXITS];
	uint64_t alerts[N_ALERTS];
	uint64_t outages[N_OUTAGES], outage_usec[N_OUTAGES]; /* times without the present one */
	unsigned outage;				     /* the present one, or OUTAGE_OVER */
	uint64_t outage_since_usec;
	uint64_t starting_usec, stopping_usec, draining_usec; /* since then; 0: not now */
};

struct totals {
	struct dict by_path;
	struct totals_node **nodes;
	size_t n;
};

void totals_init(struct totals *totals);
void totals_done(struct totals *totals);

/* Counts @events, an array of Event, each of which is new: see copy_take_events(). */
void totals_take(struct totals *totals, const json_t *events);

/* Forgets the nodes that are not in @copy any more. */
void totals_prune(struct totals *totals, const struct copy *copy);

/* Returns the time of outages by @cause, up to the present one at @now_usec. */
uint64_t totals_outage_usec(const struct totals_node *node, enum outage cause, uint64_t now_usec);

/* Returns the totals of the node; NULL: nothing has happened to it. */
const struct totals_node *totals_find(const struct totals *totals, const char *path);
