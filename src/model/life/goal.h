#pragma once

/*
 * The goal of a node, as a pure function: what a node is meant to be.  What a service is stands in
 * model/life/fsm.h; the update turn brings the two together.
 *
 * Every node has a goal of its own.  A command, a reload, a strategy or a failure is a request that
 * changes goals and nothing else.  What counts is the effective goal, the lowest of a node's own
 * goal and the goals of the nodes above it: a restart of a group is CYCLE at the group, and its
 * members keep their goals.
 *
 *	GONE  ◀── REMOVE ── any        DOWN  ◀── STOP ── any but GONE
 *	                               CYCLE ◀── RESTART ── DOWN, IDLE, UP;  CYCLE ── UP
 *	                               UP    ◀── START ── DOWN, CYCLE, IDLE; NEED ── IDLE
 *	                               CYCLE ── COMPLETE ──▶ UP
 *
 * A node whose effective goal is below IDLE is stopped.  A group has no use for IDLE.
 */

#include <stdbool.h>

#include "model/life/fsm.h"

enum goal {
	GOAL_GONE,  /* without a section: stopped, and freed when nothing of it is left */
	GOAL_DOWN,  /* stopped until it is asked for */
	GOAL_CYCLE, /* stopped, and up again once it is Complete */
	GOAL_IDLE,  /* not stopped, and not started before it is asked for or needed */
	GOAL_UP,    /* to run */
	N_GOALS
};

enum goal_request {
	REQUEST_START,	  /* of a start by hand, for what the start names or needs */
	REQUEST_NEED,	  /* what starts without being asked for requires or wants the node */
	REQUEST_REST,	  /* the group is started, and the node does not start with it */
	REQUEST_RESTART,  /* of a restart by hand, for what that names */
	REQUEST_CYCLE,	  /* the node restarts along with another, or for a reload */
	REQUEST_COMPLETE, /* the stopped generation is Complete */
	REQUEST_STOP,	  /* of a stop by hand, of a dependency or of a failure */
	REQUEST_REMOVE,	  /* the section is gone */
	REQUEST_ADD,	  /* there is a section again */
	N_REQUESTS
};

/* What a goal came by; the later one is shown where two ask for the same. */
enum goal_cause {
	CAUSE_CONFIGURATION,
	CAUSE_DEPENDENCY,
	CAUSE_STRATEGY,
	CAUSE_RELOAD,
	CAUSE_FAILURE,
	CAUSE_OPERATOR,
	CAUSE_SHUTDOWN,
	N_CAUSES
};

/* The goal that @goal becomes by @request. */
enum goal goal_next(enum goal goal, enum goal_request request);

/* The goal of a new node, or of one whose section has come back. */
enum goal goal_initial(bool is_service, bool autostart);

/*
 * The next event of a service in @state that is not what it is meant to be, or N_EVENTS if there is
 * none.  @stopped: the generation of its run is stopped.  @wanted: its effective goal is UP, and its
 * node runs.  RELEASE, START and TIMEOUT wait until no dependency blocks them.
 */
enum service_event goal_event(enum service_state state, bool stopped, bool wanted);

const char *goal_name(enum goal goal);
const char *goal_cause_name(enum goal_cause cause);
