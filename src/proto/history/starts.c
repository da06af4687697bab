/*
 * An event that leaves a state without a process begins a lane; the next events of the service are its
 * states.  Events are in the order of their times, and of a start whose beginning is not remembered
 * there is no lane.
 */
#include "proto/history/starts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"

#define STATES_MAX 8 /* the commands before and after a start have one each */

struct start_event {
	uint64_t time_usec, generation;
	const char *kind, *node, *from, *to, *reason, *cause;
};

DEFINE_FIELD_TABLE(start_event, MUST(INT, time_usec), MUST(INT, generation), MUST(STRING, kind),
		   MUST(STRING, node), MUST(STRING, from), MUST(STRING, to), MAY(STRING, reason),
		   MAY(STRING, cause))

static bool starts_is_up(const char *state)
{
	return strcmp(state, "up") == 0 || strcmp(state, "done") == 0;
}

/* Returns true if the service is on its way from a start to being up. */
static bool starts_is_coming_up(const char *state)
{
	return report_part(state) == REPORT_RUNNING && !starts_is_up(state);
}

/* Returns the lane of a start that is not over; or NULL. */
static struct report_lane *starts_find_lane(const struct report *report, const char *path)
{
	for (size_t i = report->n; i > 0; i--) {
		struct report_lane *lane = &report->lanes[i - 1];

		if (strcmp(lane->node.path, path) == 0)
			return lane->node.complete_usec == FIELD_NONE ? lane : NULL;
	}
	return NULL;
}

static int starts_begin_lane(struct report *report, const struct start_event *event)
{
	struct report_lane *lane = &report->lanes[report->n];

	if (report->n == 0) {
		report->view.time_usec = event->time_usec;
		report->view.cause = event->cause;
	}
	*lane = (struct report_lane){
		.node = {
			.path = event->node,
			.is_service = true,
			.generation = event->generation,
			.complete_usec = FIELD_NONE,
			.late_usec = FIELD_NONE,
			.budget_usec = FIELD_NONE,
		},
		.states = calloc(STATES_MAX, sizeof(*lane->states)),
	};
	if (!lane->states)
		return -ENOMEM;
	report->n++;
	return 0;
}

/* The clock may have been set back: no event is before the first. */
static int starts_add_event(struct report *report, const struct start_event *event)
{
	bool begins = report_part(event->from) == REPORT_OVER && starts_is_coming_up(event->to);
	int r = begins ? starts_begin_lane(report, event) : 0;
	struct report_lane *lane = r == 0 ? starts_find_lane(report, event->node) : NULL;
	uint64_t begin = report->view.time_usec, at;

	if (!lane)
		return r;
	at = event->time_usec > begin ? MIN(event->time_usec - begin, (uint64_t)INT64_MAX) : 0;
	if (begins)
		lane->node.stop_usec = (int64_t)at;
	if (lane->n_states < STATES_MAX)
		lane->states[lane->n_states++] = (struct report_state){ event->to, (int64_t)at };
	if (!starts_is_coming_up(event->to)) {
		lane->node.complete_usec = at;
		lane->node.late_usec = starts_is_up(event->to) ? FIELD_NONE : at;
		report->view.forced |= !starts_is_up(event->to);
	}
	report->view.total_usec = MAX(report->view.total_usec, at);
	return 0;
}

int starts_report(const json_t *reply, const char *host, struct report *ret)
{
	cleanup(freep) struct start_event *events = NULL;
	struct report report = {
		.view = { .version = PACKAGE_VERSION,
			  .host = host,
			  .pid = FIELD_NONE,
			  .status = FIELD_NONE },
	};
	size_t n;
	int r = field_read_array(reply, "events", &start_event_table, &events, &n);

	if (r < 0)
		return r;
	report.lanes = calloc(n + 1, sizeof(*report.lanes));
	r = report.lanes ? 0 : -ENOMEM;
	for (size_t i = 0; i < n && r == 0; i++)
		if (strcmp(events[i].kind, "service") == 0)
			r = starts_add_event(&report, &events[i]);
	if (r < 0)
		report_done(&report);
	else
		*ret = report;
	return r;
}
