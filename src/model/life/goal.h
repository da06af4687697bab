#pragma once

/*
 * The goal of a node, as a pure function.  The goal is the intended state; the actual state of a
 * service is in model/life/fsm.h.  The update turn moves the state towards the goal.
 *
 * Every node has its own goal.  A command, a reload, a strategy or a failure is a request that
 * changes only goals.  The effective goal of a node is the lowest of its own goal and the goals of
 * the nodes above: a restart of a group is CYCLE at the group, and its members keep their goals.
 *
 *	GONE  ◀── REMOVE ── any        DOWN  ◀── STOP ── any but GONE
 *	                               CYCLE ◀── RESTART ── DOWN, IDLE, UP;  CYCLE ── UP
 *	                               UP    ◀── START ── DOWN, CYCLE, IDLE; NEED ── IDLE
 *	                               CYCLE ── COMPLETE ──▶ UP
 *	                               HANDOVER ◀── HANDOVER ── UP;  HANDOVER ── COMPLETE ──▶ UP
 *
 * A node is stopped if its effective goal is below IDLE.  A group never has the goal IDLE.
 */

#include "model/life/fsm.h"

enum goal {
	GOAL_GONE,  /* without a section: stopped, and freed when no process remains */
	GOAL_DOWN,  /* stopped until a request starts it */
	GOAL_CYCLE, /* stopped, and up again once it is Complete */
	GOAL_IDLE,  /* not stopped; started by a request, a dependent, a schedule, a connection */
	GOAL_UP,    /* to run */
	GOAL_HANDOVER, /* to run until its successor is ready */
	N_GOALS
};

enum goal_request {
	REQUEST_START,	  /* a start by hand, for the node and its requirements */
	REQUEST_NEED,	  /* a node that starts automatically requires or wants the node */
	REQUEST_REST,	  /* the group is started, but the node does not start with it */
	REQUEST_RESTART,  /* a restart of the node itself, by hand or for a reload */
	REQUEST_HANDOVER, /* the same, by hand-over */
	REQUEST_CYCLE,	  /* the node restarts with another node */
	REQUEST_COMPLETE, /* the stopped generation is Complete, or the hand-over has failed */
	REQUEST_STOP,	  /* a stop by hand, by a dependency or by a failure */
	REQUEST_REMOVE,	  /* the section was removed */
	REQUEST_ADD,	  /* the section was added again */
	N_REQUESTS
};

/* The cause of a goal; of two causes of the same goal, the later in this list is shown. */
enum goal_cause {
	CAUSE_CONFIGURATION,
	CAUSE_PRESSURE,
	CAUSE_SLEEP,
	CAUSE_DEPENDENCY,
	CAUSE_STRATEGY,
	CAUSE_RELOAD,
	CAUSE_FAILURE,
	CAUSE_OPERATOR,
	CAUSE_SHUTDOWN,
	N_CAUSES
};

enum goal goal_next(enum goal goal, enum goal_request request);

/* The goal of a new node, or of a node with a section that was added again. */
enum goal goal_initial(bool is_service, bool autostart);

/*
 * Returns the event that moves a service from @state towards its goal, or N_EVENTS.  @stopped: the
 * generation of its run is stopped.  @wanted: its effective goal is UP, and its node runs.
 * RELEASE, START and TIMEOUT wait until no dependency blocks them.
 */
enum service_event goal_event(enum service_state state, bool stopped, bool wanted);
