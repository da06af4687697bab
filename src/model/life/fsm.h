#pragma once

#include <stdbool.h>

/*
 * The life of one service, as a pure function.
 *
 * This module knows no process, timer or socket.  It is given a state and an event, and answers
 * with the next state and the actions that get there; daemon/service.c carries them out.  What an
 * exit means is decided before it comes here (model/policy.h): it arrives as DONE, RETRY or FAIL.
 *
 *            START         PASSED          READY         PASSED
 *   DOWN ─────────▶ (PREPARING) ─▶ STARTING ───▶ (READYING) ──▶ UP
 *    ▲                   │             │              │          │
 *    │                   └─────────────┴───────┬──────┴──────────┤
 *    │          DONE, RETRY, FAIL              │ HOLD            │ HOLD
 *    │    ┌────────────────────────────────────┤◀── TIMEOUT ─ (DRAINING)
 *    │    ▼                                    ▼
 *    │ (FINISHING)                           GATED ── RELEASE ─▶ (ASKING)
 *    │    │ DONE, RETRY, FAIL                                       │ PASSED, BROKEN
 *    │    ▼                                                         ▼
 *    │◀── DONE, BACKOFF, FAILED                                  STOPPING
 *    │       HOLD                                                   │ TIMEOUT, KILL
 *    │                                                              ▼
 *    └───────────── (CLOSING) ◀── DONE, RETRY, FAIL ───── STOPPING, KILLING
 *
 * A state in brackets is there for a part that not every service has (enum service_part), and is
 * passed through at once where that is missing or over.
 *
 * The processes of a service are its main process, the commands around it, and whatever these leave
 * behind.  An exit of the main process alone is ORPHANED; DONE, RETRY and FAIL say that nothing is
 * left.  On its way to BACKOFF, DONE or FAILED a service with leftovers, one that missed its
 * start-timeout, and one whose start-command or post-start failed, passes CLEANING, where they are
 * ended.
 *
 * A service that is UNWELL passes CLEANING, too; and so does one that says that it is ENDING, to be
 * ended if that takes too long.  RESET leads from BACKOFF, DONE and FAILED to DOWN.
 */

enum service_state {
	STATE_INVALID,	 /* 0: what an unwritten cell of the table says; never entered */
	STATE_DOWN,	 /* no process: not started yet, or stopped */
	STATE_PREPARING, /* its start-command runs */
	STATE_STARTING,	 /* a process, not ready */
	STATE_READYING,	 /* ready, and its post-start runs */
	STATE_UP,	 /* ready */
	STATE_DRAINING,	 /* stopped, but the signal waits for the drain-delay */
	STATE_GATED,	 /* stopped, but the signal waits for the dependents to be Complete */
	STATE_ASKING,	 /* its stop-command runs */
	STATE_STOPPING,	 /* signalled, or asked */
	STATE_KILLING,	 /* killed, on request or at the end of a budget */
	STATE_CLOSING,	 /* stopped, nothing is left, and its post-stop runs */
	STATE_CLEANING,	 /* the run is over, its remains are being ended */
	STATE_FINISHING, /* the run is over, nothing is left, and its post-stop runs */
	STATE_BACKOFF,	 /* no process: waiting to be started again */
	STATE_DONE,	 /* no process: ended well, and that is that */
	STATE_FAILED,	 /* no process: given up */
	N_STATES
};

enum service_event {
	EVENT_START,	/* the dependencies are ready */
	EVENT_PASSED,	/* the commands of the state have ended well */
	EVENT_BROKEN,	/* one of them has not, or there is none */
	EVENT_READY,	/* the process says, or the probe finds, that it is ready */
	EVENT_WORKED,	/* a oneshot has ended well, and there is more to it than that */
	EVENT_ENDING,	/* the process says that it ends by itself */
	EVENT_HOLD,	/* the stop is latched: no restart from here on */
	EVENT_RELEASE,	/* the signal may go out */
	EVENT_KILL,	/* a budget above is spent, or somebody forces */
	EVENT_ORPHANED, /* the main process is gone, other processes of the service are not */
	EVENT_DONE,	/* all is gone, and well */
	EVENT_RETRY,	/* all is gone or nothing came to be; to be started again later */
	EVENT_FAIL,	/* all is gone; not to be started again */
	EVENT_TIMEOUT,	/* of the state it is in */
	EVENT_UNWELL,	/* its watchdog expired, or a health check failed too often */
	EVENT_RESET,	/* a start asks for it, whatever its last run came to */
	N_EVENTS
};

enum service_action {
	ACT_SPAWN = 1 << 0,  /* take a guard and start the process */
	ACT_TERM = 1 << 1,   /* the stop signal, then SIGCONT, to whatever has not had it */
	ACT_KILL = 1 << 2,   /* SIGKILL to the group and all leftovers */
	ACT_ARM = 1 << 3,    /* start the timeout of the state entered */
	ACT_FORCED = 1 << 4, /* the stop did not do: remember and name it */
	ACT_HOOK = 1 << 5,   /* run the commands of the state entered */
};

/* What a service has that others do not, and what of it is not over yet in this run. */
enum service_part {
	PART_START_COMMAND = 1 << 0,
	PART_POST_START = 1 << 1,
	PART_DRAIN_DELAY = 1 << 2,
	PART_STOP_COMMAND = 1 << 3,
	PART_POST_STOP = 1 << 4,
	ALL_PARTS = (1 << 5) - 1
};

struct service_step {
	enum service_state to;
	unsigned actions; /* ACT_* */
};

/*
 * @parts, of enum service_part, are those that the service has and that are not over.  An event
 * that a state does not expect keeps the state and asks for nothing.
 */
struct service_step fsm_step(enum service_state state, enum service_event event, unsigned parts);

/* The part that the state is for, or 0. */
unsigned fsm_part(enum service_state state);

/* May a service in this state have processes, and so hold guards? */
bool fsm_has_process(enum service_state state);

/* On its way from a start to being ready. */
bool fsm_is_coming_up(enum service_state state);

/* On its way from a stop to being down. */
bool fsm_is_going_down(enum service_state state);

const char *fsm_state_name(enum service_state state);
const char *fsm_event_name(enum service_event event);

/* What has happened when an event leads out of a state, in words. */
const char *fsm_reason(enum service_state from, enum service_event event);
