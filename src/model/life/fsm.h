#pragma once

/*
 * The life of a service, as a pure function.
 *
 * The module has no process, timer or socket.  A state and an event give the next state and the
 * actions of the transition; daemon/service/machine.c carries them out.  The meaning of an exit is
 * decided before (model/life/policy.h): it arrives as DONE, RETRY or FAIL.
 *
 *            START         PASSED          READY         PASSED
 *   DOWN ─────────▶ (PREPARING) ─▶ STARTING ───▶ (READYING) ──▶ UP
 *    ▲                   │             │              │          │
 *    │                   └─────────────┴───────┬──────┴──────────┤
 *    │          DONE, RETRY, FAIL              │ HOLD            │ HOLD
 *    │    ┌────────────────────────────────────┤◀── TIMEOUT ─ (DRAINING)
 *    │    ▼                                    ▼
 *    │ (FINISHING)                           WAITING ─ RELEASE ─▶ (ASKING)
 *    │    │ DONE, RETRY, FAIL                                       │ PASSED, BROKEN
 *    │    ▼                                                         ▼
 *    │◀── DONE, BACKOFF, FAILED                                  STOPPING
 *    │       HOLD                                                   │ TIMEOUT, KILL
 *    │                                                              ▼
 *    └───────────── (CLOSING) ◀── DONE, RETRY, FAIL ───── STOPPING, KILLING
 *
 * A state in brackets belongs to a part that not every service has (enum service_part); without the
 * part, or after it, the state is left at once.
 *
 * The processes of a service are its main process, the commands around it, and their remaining
 * processes.  An exit of the main process alone is ORPHANED; after DONE, RETRY and FAIL no process
 * remains.  State CLEANING ends processes on the way to BACKOFF, DONE or FAILED: remaining ones,
 * and those of a service that exceeded its start-timeout, or had a failed start-command or
 * post-start.
 *
 * A service that is UNWELL passes CLEANING, too.  So does a service that has announced that it is
 * ENDING: it is killed if its end takes too long.  RESET leads from BACKOFF, DONE and FAILED to
 * DOWN.  FOUND leads from DOWN to UP: processes that an earlier daemon has left are a run, which
 * goes on or is stopped.  WAS_BACKOFF, WAS_DONE and WAS_FAILED lead from DOWN to these states.
 */

#include "base/std.h"

enum service_state {
	STATE_INVALID,	 /* 0: an empty cell of the table; never entered */
	STATE_DOWN,	 /* no process: not started yet, or stopped */
	STATE_PREPARING, /* its start-command runs */
	STATE_STARTING,	 /* a process, not ready */
	STATE_READYING,	 /* ready, and its post-start runs */
	STATE_UP,	 /* ready */
	STATE_DRAINING,	 /* stopped, but the signal waits for the drain-delay */
	STATE_WAITING,	 /* stopped, but the signal waits until the dependents are Complete */
	STATE_ASKING,	 /* its stop-command runs */
	STATE_STOPPING,	 /* signalled, or its stop-command has ended */
	STATE_KILLING,	 /* killed, on request or at the end of a budget */
	STATE_CLOSING,	 /* stopped, no process remains, and its post-stop runs */
	STATE_CLEANING,	 /* the run is over, its remaining processes are being ended */
	STATE_FINISHING, /* the run is over, no process remains, and its post-stop runs */
	STATE_BACKOFF,	 /* no process: waiting to be started again */
	STATE_DONE,	 /* no process: succeeded, and will not be restarted */
	STATE_FAILED,	 /* no process: failed for good */
	N_STATES
};

enum service_event {
	EVENT_START,	/* the dependencies are ready */
	EVENT_PASSED,	/* the commands of the state have succeeded */
	EVENT_BROKEN,	/* a command of the state has failed, or there is none */
	EVENT_READY,	/* the service is ready, by its message or by a probe */
	EVENT_WORKED,	/* a oneshot has succeeded, and has further commands */
	EVENT_ENDING,	/* the service has announced that it ends by itself */
	EVENT_HOLD,	/* the service is stopped: no restart from now on */
	EVENT_RELEASE,	/* the stop signal may be sent */
	EVENT_KILL,	/* a budget above is spent, or a request forces the stop */
	EVENT_ORPHANED, /* the main process has ended, other processes have not */
	EVENT_DONE,	/* no process remains: success */
	EVENT_RETRY,	/* no process remains, or none was created: to be restarted later */
	EVENT_FAIL,	/* no process remains: not to be restarted */
	EVENT_TIMEOUT,	/* the timeout of the state has expired */
	EVENT_UNWELL,	/* its watchdog expired, or a health check failed too often */
	EVENT_RESET,	/* a start is requested, whatever the result of the last run */
	EVENT_FOUND,	/* an earlier daemon has left processes of the service */
	EVENT_RESUMED,	/* the same, of a oneshot that is at work */
	EVENT_WAS_BACKOFF, /* the service had this state before a fault, without a process */
	EVENT_WAS_DONE,
	EVENT_WAS_FAILED,
	N_EVENTS
};

enum service_action {
	ACT_SPAWN = 1 << 0,  /* take a guard and start the process */
	ACT_TERM = 1 << 1,   /* the stop signal, then SIGCONT, to each process not signalled yet */
	ACT_KILL = 1 << 2,   /* SIGKILL to the group and all remaining processes */
	ACT_ARM = 1 << 3,    /* start the timeout of the state entered */
	ACT_FORCED = 1 << 4, /* the stop was not enough: record and log the forced kill */
	ACT_HOOK = 1 << 5,   /* run the commands of the state entered */
};

/* Parts that only some services have; a set has those that are not over yet in this run. */
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
 * @parts is a set of enum service_part: the parts of the service that are not over.  An event that
 * the state does not expect keeps the state, without actions.
 */
struct service_step fsm_step(enum service_state state, enum service_event event, unsigned parts);

/* The part that the state is for, or 0. */
unsigned fsm_part(enum service_state state);

/* Returns true if a service in this state may have processes, and so hold guards. */
bool fsm_has_process(enum service_state state);

/* On its way from a start to being ready. */
bool fsm_is_coming_up(enum service_state state);

/* On its way from a stop to being down. */
bool fsm_is_going_down(enum service_state state);

const char *fsm_state_name(enum service_state state);
const char *fsm_event_name(enum service_event event);

/* The reason, in words, for leaving a state by an event. */
const char *fsm_reason(enum service_state from, enum service_event event);
