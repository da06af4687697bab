#pragma once

/*
 * The report of a past shutdown (swansong-report(5)): read from the file, checked, and summed up
 * for each node.
 */

#include "ctl/session/session.h"
#include "proto/report.h"

struct past {
	json_t *root; /* which all else borrows from */
	struct report report;
	const char *path;
};

/*
 * Reads the file of --report, or the one in the default place, and shows it by @show, or prints it
 * with --json.  Return: the exit status.
 */
int past_run(struct ctl *ctl, int argc, char **argv,
	     int (*show)(struct ctl *ctl, const struct past *past, int argc, char **argv));

/* The time of the stop: "2026-05-01 12:00:03 +0200".  Returns @buf. */
#define PAST_WHEN_MAX 40
char *past_when(char buf[static PAST_WHEN_MAX], const struct report_view *view);

/* The time when a node was Complete, or the report was written. */
uint64_t past_end(const struct report *report, const struct report_lane *lane);

/* The length of state @i of a lane. */
uint64_t past_state_usec(const struct report *report, const struct report_lane *lane, size_t i);

/* The time a node took in all, and in @part. */
uint64_t past_total(const struct report *report, const struct report_lane *lane);
uint64_t past_spent(const struct report *report, const struct report_lane *lane,
		    enum report_part part);

/* Returns true if the node could hold up others: it is a service, or had guards. */
bool past_has_held(const struct report_lane *lane);

/* The guard as a view. */
struct guard_view past_guard(const struct report *report, const struct report_lane *lane,
			     const struct report_guard *guard);

/*
 * Finds the lane that the root waited for last, then the one that this lane waited for last, and so on.
 * Return: their number, at most @max.
 */
size_t past_chain(const struct past *past, const struct report_lane **ret, size_t max);
