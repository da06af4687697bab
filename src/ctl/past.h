#pragma once

/*
 * The report of a shutdown that is over (swansong-report(5)), for people: read from the file,
 * checked, and asked what each node has to answer for.
 */

#include "base/clock.h"
#include "ctl/forest.h"
#include "ctl/session.h"
#include "proto/report.h"

struct past {
	json_t *root; /* which all else borrows from */
	struct report report;
	struct node_view *nodes; /* the paths only, for the forest */
	struct forest *forest;	 /* of the lanes of the report, by index */
};

/* Reads the file of --report, or the one there mostly is.  Return: CTL_DONE, or what was said. */
int past_load(struct ctl *ctl, struct past *ret);
void past_done(struct past *past);

/* When the stop was: "2026-05-01 12:00:03 +0200".  Returns @buf. */
#define PAST_WHEN_MAX 40
char *past_when(char buf[static PAST_WHEN_MAX], const struct report_view *view);

/* What a service was doing in the end. */
enum past_part {
	PAST_RUNNING,  /* up still, or whatever else it was before */
	PAST_DRAINING, /* stopped, and not signalled yet */
	PAST_GATED,    /* waiting for the completion of others */
	PAST_STOPPING, /* asked, or signalled */
	PAST_KILLING,
	PAST_CLOSING, /* nothing is left but its post-stop */
	PAST_OVER,
	N_PAST_PARTS
};
enum past_part past_part(const char *state);

/* When a node was Complete, or the report was written. */
uint64_t past_end(const struct report *report, const struct report_lane *lane);

/* When state @i of it was over, and how long it was. */
int64_t past_state_end(const struct report *report, const struct report_lane *lane, size_t i);
uint64_t past_state_usec(const struct report *report, const struct report_lane *lane, size_t i);

/* The sum of what a node took, and of that in @part. */
uint64_t past_total(const struct report *report, const struct report_lane *lane);
uint64_t past_spent(const struct report *report, const struct report_lane *lane,
		    enum past_part part);

/* Has it held anything up: is it a service, or had it guards? */
bool past_has_held(const struct report_lane *lane);

/* The guard as others show it. */
struct guard_view past_guard(const struct report *report, const struct report_lane *lane,
			     const struct report_guard *guard);

/*
 * What the end of the root waited for last, and what that waited for in turn, as lanes.  Return:
 * their number, at most @max.
 */
size_t past_chain(const struct past *past, const struct report_lane **ret, size_t max);
