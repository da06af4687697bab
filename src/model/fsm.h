#pragma once

#include <stdbool.h>

/*
 * The life of one service, as a pure function.
 *
 * This module knows no process, timer or socket.  It is given a state and an event, and answers
 * with the next state and the actions that get there; daemon/service.c carries them out.  What an
 * exit means is decided before it comes here (model/policy.h): it arrives as DONE, RETRY or FAIL.
 *
 *            START          READY         HOLD           RELEASE         DONE, RETRY, FAIL
 *   DOWN ──────────▶ STARTING ───▶ UP ─────────▶ GATED ─────────▶ STOPPING ───────────▶ DOWN
 *    ▲                  │           │                                │ TIMEOUT, KILL      ▲
 *    │                  └─────┬─────┘                                ▼                    │
 *    │                        │ DONE, RETRY, FAIL                 KILLING ────────────────┘
 *    │                        ▼
 *    └── HOLD ── DONE, BACKOFF, FAILED
 *
 * The processes of a service are its main process and whatever that leaves behind.  An exit of the
 * main process alone is ORPHANED; DONE, RETRY and FAIL say that nothing is left.  On its way to
 * BACKOFF, DONE or FAILED a service with leftovers, or one that missed its start-timeout or its
 * watchdog (the TIMEOUT of UP), passes CLEANING, where they are ended; and so does one that says that
 * it is ENDING, to be ended if that takes too long.
 */

enum service_state {
	STATE_INVALID,	/* 0: what an unwritten cell of the table says; never entered */
	STATE_DOWN,	/* no process: not started yet, or stopped */
	STATE_STARTING, /* a process, not ready */
	STATE_UP,	/* ready */
	STATE_GATED,	/* stopped, but the signal waits for the dependents to be Complete */
	STATE_STOPPING, /* signalled */
	STATE_KILLING,	/* killed, on request or at the end of a budget */
	STATE_CLEANING, /* the run is over, its remains are being ended */
	STATE_BACKOFF,	/* no process: waiting to be started again */
	STATE_DONE,	/* no process: ended well, and that is that */
	STATE_FAILED,	/* no process: given up */
	N_STATES
};

enum service_event {
	EVENT_START,	/* the dependencies are ready */
	EVENT_READY,	/* the process says, or the probe finds, that it is ready */
	EVENT_ENDING,	/* the process says that it ends by itself */
	EVENT_HOLD,	/* the stop is latched: no restart from here on */
	EVENT_RELEASE,	/* the signal may go out */
	EVENT_KILL,	/* a budget above is spent, or somebody forces */
	EVENT_ORPHANED, /* the main process is gone, other processes of the service are not */
	EVENT_DONE,	/* all is gone, and well */
	EVENT_RETRY,	/* all is gone or nothing came to be; to be started again later */
	EVENT_FAIL,	/* all is gone; not to be started again */
	EVENT_TIMEOUT,	/* of the state it is in */
	N_EVENTS
};

enum service_action {
	ACT_SPAWN = 1 << 0,  /* take a guard and start the process */
	ACT_TERM = 1 << 1,   /* the stop signal, then SIGCONT, to whatever has not had it */
	ACT_KILL = 1 << 2,   /* SIGKILL to the group and all leftovers */
	ACT_ARM = 1 << 3,    /* start the timeout of the state entered */
	ACT_FORCED = 1 << 4, /* the stop did not do: remember and name it */
};

struct service_step {
	enum service_state to;
	unsigned actions; /* ACT_* */
};

/* An event that a state does not expect keeps the state and asks for nothing. */
struct service_step fsm_step(enum service_state state, enum service_event event);

/* Does a service in this state have processes, and so hold guards? */
bool fsm_has_process(enum service_state state);

const char *fsm_state_name(enum service_state state);
const char *fsm_event_name(enum service_event event);
