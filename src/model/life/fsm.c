#include "model/life/fsm.h"

/*
 * The table is complete for a service with all parts.  A state of a missing part is left at once:
 * by the event in its member "passes".
 */

/* clang-format off */
/* The cells: the next state, and the actions that get there. */
#define KEEP     { N_STATES, 0 } /* the state stays */
#define PREPARE  { STATE_PREPARING, ACT_HOOK | ACT_ARM }
#define SPAWN    { STATE_STARTING, ACT_SPAWN | ACT_ARM }
#define MAKE_UP  { STATE_READYING, ACT_HOOK | ACT_ARM }
#define UP       { STATE_UP, 0 }
#define CLEAN    { STATE_CLEANING, ACT_TERM | ACT_ARM }
#define LINGER   { STATE_CLEANING, ACT_ARM } /* the service ends by itself */
#define WIPE     { STATE_CLEANING, ACT_KILL | ACT_ARM }
#define DRAIN    { STATE_DRAINING, ACT_ARM }
#define WAIT     { STATE_WAITING, 0 }
#define ASK      { STATE_ASKING, ACT_HOOK | ACT_ARM }
#define ASKED    { STATE_STOPPING, ACT_ARM } /* instead of the signal */
#define STOP     { STATE_STOPPING, ACT_TERM | ACT_ARM }
#define KILL     { STATE_KILLING, ACT_KILL | ACT_FORCED | ACT_ARM }
#define KILL_NEW { STATE_KILLING, ACT_KILL } /* a process that was forked meanwhile */
#define KILL_ON  { STATE_KILLING, ACT_KILL | ACT_ARM }
#define CLOSE    { STATE_CLOSING, ACT_HOOK | ACT_ARM }
#define CLOSE_ON { STATE_CLOSING, ACT_ARM } /* post-stop runs already */
#define FINISH   { STATE_FINISHING, ACT_HOOK | ACT_ARM }
#define DOWN     { STATE_DOWN, 0 }
#define BACKOFF  { STATE_BACKOFF, ACT_ARM }
#define DONE     { STATE_DONE, 0 }
#define FAILED   { STATE_FAILED, 0 }
/* The same in each row but that of DOWN. */
#define LEFT(state, next, actions)                                                                   \
	{ (state) == STATE_DOWN ? (next) : N_STATES, (state) == STATE_DOWN ? (actions) : 0 }

#define ROW(state, start, passed, broken, ready, worked, ending, hold, release, kill, orphaned,     \
	    done, retry, fail, timeout, unwell, reset)                                               \
	[STATE_##state] = {                                                                          \
		[EVENT_START] = start, [EVENT_PASSED] = passed, [EVENT_BROKEN] = broken,             \
		[EVENT_READY] = ready, [EVENT_WORKED] = worked, [EVENT_ENDING] = ending,             \
		[EVENT_HOLD] = hold, [EVENT_RELEASE] = release, [EVENT_KILL] = kill,                 \
		[EVENT_ORPHANED] = orphaned, [EVENT_DONE] = done, [EVENT_RETRY] = retry,             \
		[EVENT_FAIL] = fail, [EVENT_TIMEOUT] = timeout, [EVENT_UNWELL] = unwell,             \
		[EVENT_RESET] = reset, [EVENT_FOUND] = LEFT(STATE_##state, STATE_UP, 0),             \
		[EVENT_RESUMED] = LEFT(STATE_##state, STATE_STARTING, ACT_ARM),                      \
		[EVENT_WAS_BACKOFF] = LEFT(STATE_##state, STATE_BACKOFF, ACT_ARM),                   \
		[EVENT_WAS_DONE] = LEFT(STATE_##state, STATE_DONE, 0),                               \
		[EVENT_WAS_FAILED] = LEFT(STATE_##state, STATE_FAILED, 0),                           \
	}

static const struct service_step table[N_STATES][N_EVENTS] = {
	/*             START,    PASSED,   BROKEN,   READY,    WORKED,   ENDING,   HOLD,     RELEASE,
	 *             KILL,     ORPHANED, DONE,     RETRY,    FAIL,     TIMEOUT,  UNWELL,   RESET */
	ROW(DOWN,      PREPARE,  KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP,
	               KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP),
	ROW(PREPARING, KEEP,     SPAWN,    CLEAN,    KEEP,     KEEP,     KEEP,     WAIT,     STOP,
	               KILL,     CLEAN,    FINISH,   FINISH,   FINISH,   CLEAN,    KEEP,     KEEP),
	ROW(STARTING,  KEEP,     KEEP,     KEEP,     MAKE_UP,  MAKE_UP,  LINGER,   WAIT,     STOP,
	               KILL,     CLEAN,    FINISH,   FINISH,   FINISH,   CLEAN,    CLEAN,    KEEP),
	ROW(READYING,  KEEP,     UP,       CLEAN,    KEEP,     KEEP,     LINGER,   WAIT,     STOP,
	               KILL,     CLEAN,    FINISH,   FINISH,   FINISH,   CLEAN,    CLEAN,    KEEP),
	ROW(UP,        KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     LINGER,   DRAIN,    ASK,
	               KILL,     CLEAN,    FINISH,   FINISH,   FINISH,   CLEAN,    CLEAN,    KEEP),
	ROW(DRAINING,  KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     ASK,
	               KILL,     STOP,     CLOSE,    CLOSE,    CLOSE,    WAIT,     KEEP,     KEEP),
	ROW(WAITING,   KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     ASK,
	               KILL,     STOP,     CLOSE,    CLOSE,    CLOSE,    KEEP,     KEEP,     KEEP),
	ROW(ASKING,    KEEP,     ASKED,    STOP,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP,
	               KILL,     STOP,     CLOSE,    CLOSE,    CLOSE,    KILL,     KEEP,     KEEP),
	ROW(STOPPING,  KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP,
	               KILL,     STOP,     CLOSE,    CLOSE,    CLOSE,    KILL,     KEEP,     KEEP),
	ROW(KILLING,   KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP,
	               KILL_NEW, KILL_NEW, CLOSE,    CLOSE,    CLOSE,    KILL_ON,  KEEP,     KEEP),
	ROW(CLOSING,   KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP,
	               KILL,     STOP,     DOWN,     DOWN,     DOWN,     KILL,     KEEP,     KEEP),
	ROW(CLEANING,  KEEP,     KEEP,     KEEP,     KEEP,     MAKE_UP,  KEEP,     STOP,     STOP,
	               KILL,     CLEAN,    FINISH,   FINISH,   FINISH,   WIPE,     KEEP,     KEEP),
	ROW(FINISHING, KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     CLOSE_ON, CLOSE_ON,
	               KILL,     CLEAN,    DONE,     BACKOFF,  FAILED,   WIPE,     KEEP,     KEEP),
	ROW(BACKOFF,   PREPARE,  KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     DOWN,     DOWN,
	               DOWN,     KEEP,     KEEP,     KEEP,     KEEP,     PREPARE,  KEEP,     DOWN),
	ROW(DONE,      PREPARE,  KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     DOWN,     DOWN,
	               DOWN,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     DOWN),
	ROW(FAILED,    PREPARE,  KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     DOWN,     DOWN,
	               DOWN,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     DOWN),
};

enum kind { WITHOUT_PROCESS, WITH_PROCESS, COMING_UP, GOING_DOWN };

static const struct {
	const char *name;
	enum kind kind;
	unsigned part;
	enum service_event passes; /* if the part is missing; EVENT_DONE: the event that led here */
} states[N_STATES] = {
	[STATE_INVALID]   = { "invalid" },
	[STATE_DOWN]      = { "down" },
	[STATE_PREPARING] = { "preparing", COMING_UP, PART_START_COMMAND, EVENT_PASSED },
	[STATE_STARTING]  = { "starting", COMING_UP },
	[STATE_READYING]  = { "readying", COMING_UP, PART_POST_START, EVENT_PASSED },
	[STATE_UP]        = { "up", WITH_PROCESS },
	[STATE_DRAINING]  = { "draining", GOING_DOWN, PART_DRAIN_DELAY, EVENT_TIMEOUT },
	[STATE_WAITING]   = { "waiting", GOING_DOWN },
	[STATE_ASKING]    = { "asking", GOING_DOWN, PART_STOP_COMMAND, EVENT_BROKEN },
	[STATE_STOPPING]  = { "stopping", GOING_DOWN },
	[STATE_KILLING]   = { "killing", GOING_DOWN },
	[STATE_CLOSING]   = { "closing", GOING_DOWN, PART_POST_STOP, EVENT_DONE },
	[STATE_CLEANING]  = { "cleaning", WITH_PROCESS },
	[STATE_FINISHING] = { "finishing", WITH_PROCESS, PART_POST_STOP, EVENT_DONE },
	[STATE_BACKOFF]   = { "backoff" },
	[STATE_DONE]      = { "done" },
	[STATE_FAILED]    = { "failed" },
};

static const struct {
	const char *name, *reason;
} events[N_EVENTS] = {
	[EVENT_START]    = { "start", "may start" },
	[EVENT_PASSED]   = { "passed" },
	[EVENT_BROKEN]   = { "broken" },
	[EVENT_READY]    = { "ready", "ready" },
	[EVENT_WORKED]   = { "worked", "work done" },
	[EVENT_ENDING]   = { "ending", "service announced its end" },
	[EVENT_HOLD]     = { "hold", "stopped" },
	[EVENT_RELEASE]  = { "release", "no dependent needs the service" },
	[EVENT_KILL]     = { "kill", "to be killed" },
	[EVENT_ORPHANED] = { "orphaned", "main process has ended" },
	[EVENT_DONE]     = { "done", "done" },
	[EVENT_RETRY]    = { "retry", "retry" },
	[EVENT_FAIL]     = { "fail", "fail" },
	[EVENT_TIMEOUT]  = { "timeout", "timeout expired" },
	[EVENT_UNWELL]   = { "unwell", "unwell" },
	[EVENT_RESET]    = { "reset", "start requested" },
	[EVENT_FOUND]    = { "found", "left by an earlier swansongd" },
	[EVENT_RESUMED]  = { "resumed", "left by an earlier swansongd" },
	[EVENT_WAS_BACKOFF] = { "was-backoff", "as before a fault of swansongd" },
	[EVENT_WAS_DONE] = { "was-done", "as before a fault of swansongd" },
	[EVENT_WAS_FAILED] = { "was-failed", "as before a fault of swansongd" },
};
/* clang-format on */

/* The event that leaves @state if its part is missing, or N_EVENTS. */
static enum service_event fsm_skip_event(enum service_state state, enum service_event event)
{
	bool is_end = event == EVENT_DONE || event == EVENT_RETRY || event == EVENT_FAIL;

	if (states[state].passes != EVENT_DONE)
		return states[state].passes;
	return is_end ? event : N_EVENTS;
}

static struct service_step fsm_find_cell(enum service_state state, enum service_event event)
{
	struct service_step step = table[state][event];

	if (step.to == N_STATES)
		step.to = state;
	return step;
}

struct service_step fsm_step(enum service_state state, enum service_event event, unsigned parts)
{
	struct service_step step = fsm_find_cell(state, event);

	while (step.to != state && fsm_part(step.to) & ~parts) {
		enum service_event next = fsm_skip_event(step.to, event);

		if (next == N_EVENTS)
			break;
		step = fsm_find_cell(step.to, next);
	}
	return step;
}

unsigned fsm_part(enum service_state state)
{
	return states[state].part;
}

bool fsm_has_process(enum service_state state)
{
	return states[state].kind != WITHOUT_PROCESS;
}

bool fsm_is_coming_up(enum service_state state)
{
	return states[state].kind == COMING_UP;
}

bool fsm_is_going_down(enum service_state state)
{
	return states[state].kind == GOING_DOWN;
}

const char *fsm_state_name(enum service_state state)
{
	return states[state].name;
}

const char *fsm_event_name(enum service_event event)
{
	return events[event].name;
}

static const char *fsm_commands_reason(enum service_state from, bool well)
{
	switch (fsm_part(from)) {
	case PART_START_COMMAND:
		return well ? "start-command has ended" : "start-command has failed";
	case PART_POST_START:
		return well ? "post-start has ended" : "post-start has failed";
	default:
		return well ? "stop-command has ended" : "stop-command has failed";
	}
}

const char *fsm_reason(enum service_state from, enum service_event event)
{
	if (event == EVENT_PASSED || event == EVENT_BROKEN)
		return fsm_commands_reason(from, event == EVENT_PASSED);
	if (event == EVENT_TIMEOUT && from == STATE_BACKOFF)
		return "restart-delay is over";
	if (event == EVENT_TIMEOUT && from == STATE_DRAINING)
		return "drain-delay is over";
	return events[event].reason;
}
