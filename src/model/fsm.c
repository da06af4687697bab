#include "model/fsm.h"

#include <stddef.h>

/*
 * The table knows of no missing parts: each of their states has, in "passes", the event by which it
 * is left where there is nothing to do in it.
 */

#define TO(state, actions)               \
	{                                \
		STATE_##state, (actions) \
	}
#define STAY(state) TO(state, 0)

/* clang-format off */
static const struct service_step table[N_STATES][N_EVENTS] = {
	[STATE_DOWN] = {
		[EVENT_START]    = TO(PREPARING, ACT_HOOK | ACT_ARM),
		[EVENT_PASSED]   = STAY(DOWN),
		[EVENT_BROKEN]   = STAY(DOWN),
		[EVENT_READY]    = STAY(DOWN),
		[EVENT_WORKED]   = STAY(DOWN),
		[EVENT_ENDING]   = STAY(DOWN),
		[EVENT_HOLD]     = STAY(DOWN),
		[EVENT_RELEASE]  = STAY(DOWN),
		[EVENT_KILL]     = STAY(DOWN),
		[EVENT_ORPHANED] = STAY(DOWN),
		[EVENT_DONE]     = STAY(DOWN),
		[EVENT_RETRY]    = STAY(DOWN),
		[EVENT_FAIL]     = STAY(DOWN),
		[EVENT_TIMEOUT]  = STAY(DOWN),
	},
	[STATE_PREPARING] = {
		[EVENT_START]    = STAY(PREPARING),
		[EVENT_PASSED]   = TO(STARTING, ACT_SPAWN | ACT_ARM),
		[EVENT_BROKEN]   = TO(CLEANING, ACT_TERM | ACT_ARM),
		[EVENT_READY]    = STAY(PREPARING),
		[EVENT_WORKED]   = STAY(PREPARING),
		[EVENT_ENDING]   = STAY(PREPARING),
		[EVENT_HOLD]     = TO(GATED, 0),
		[EVENT_RELEASE]  = TO(STOPPING, ACT_TERM | ACT_ARM),
		[EVENT_KILL]     = TO(KILLING, ACT_KILL | ACT_FORCED | ACT_ARM),
		[EVENT_ORPHANED] = TO(CLEANING, ACT_TERM | ACT_ARM),
		[EVENT_DONE]     = TO(FINISHING, ACT_HOOK | ACT_ARM),
		[EVENT_RETRY]    = TO(FINISHING, ACT_HOOK | ACT_ARM),
		[EVENT_FAIL]     = TO(FINISHING, ACT_HOOK | ACT_ARM),
		[EVENT_TIMEOUT]  = TO(CLEANING, ACT_TERM | ACT_ARM),
	},
	[STATE_STARTING] = {
		[EVENT_START]    = STAY(STARTING),
		[EVENT_PASSED]   = STAY(STARTING),
		[EVENT_BROKEN]   = STAY(STARTING),
		[EVENT_READY]    = TO(READYING, ACT_HOOK | ACT_ARM),
		[EVENT_WORKED]   = TO(READYING, ACT_HOOK | ACT_ARM),
		[EVENT_ENDING]   = TO(CLEANING, ACT_ARM),
		[EVENT_HOLD]     = TO(GATED, 0),
		[EVENT_RELEASE]  = TO(STOPPING, ACT_TERM | ACT_ARM),
		[EVENT_KILL]     = TO(KILLING, ACT_KILL | ACT_FORCED | ACT_ARM),
		[EVENT_ORPHANED] = TO(CLEANING, ACT_TERM | ACT_ARM),
		[EVENT_DONE]     = TO(FINISHING, ACT_HOOK | ACT_ARM),
		[EVENT_RETRY]    = TO(FINISHING, ACT_HOOK | ACT_ARM),
		[EVENT_FAIL]     = TO(FINISHING, ACT_HOOK | ACT_ARM),
		[EVENT_TIMEOUT]  = TO(CLEANING, ACT_TERM | ACT_ARM),
	},
	[STATE_READYING] = {
		[EVENT_START]    = STAY(READYING),
		[EVENT_PASSED]   = TO(UP, 0),
		[EVENT_BROKEN]   = TO(CLEANING, ACT_TERM | ACT_ARM),
		[EVENT_READY]    = STAY(READYING),
		[EVENT_WORKED]   = STAY(READYING),
		[EVENT_ENDING]   = TO(CLEANING, ACT_ARM),
		[EVENT_HOLD]     = TO(GATED, 0),
		[EVENT_RELEASE]  = TO(STOPPING, ACT_TERM | ACT_ARM),
		[EVENT_KILL]     = TO(KILLING, ACT_KILL | ACT_FORCED | ACT_ARM),
		[EVENT_ORPHANED] = TO(CLEANING, ACT_TERM | ACT_ARM),
		[EVENT_DONE]     = TO(FINISHING, ACT_HOOK | ACT_ARM),
		[EVENT_RETRY]    = TO(FINISHING, ACT_HOOK | ACT_ARM),
		[EVENT_FAIL]     = TO(FINISHING, ACT_HOOK | ACT_ARM),
		[EVENT_TIMEOUT]  = TO(CLEANING, ACT_TERM | ACT_ARM),
	},
	[STATE_UP] = {
		[EVENT_START]    = STAY(UP),
		[EVENT_PASSED]   = STAY(UP),
		[EVENT_BROKEN]   = STAY(UP),
		[EVENT_READY]    = STAY(UP),
		[EVENT_WORKED]   = STAY(UP),
		[EVENT_ENDING]   = TO(CLEANING, ACT_ARM),
		[EVENT_HOLD]     = TO(DRAINING, ACT_ARM),
		[EVENT_RELEASE]  = TO(ASKING, ACT_HOOK | ACT_ARM),
		[EVENT_KILL]     = TO(KILLING, ACT_KILL | ACT_FORCED | ACT_ARM),
		[EVENT_ORPHANED] = TO(CLEANING, ACT_TERM | ACT_ARM),
		[EVENT_DONE]     = TO(FINISHING, ACT_HOOK | ACT_ARM),
		[EVENT_RETRY]    = TO(FINISHING, ACT_HOOK | ACT_ARM),
		[EVENT_FAIL]     = TO(FINISHING, ACT_HOOK | ACT_ARM),
		[EVENT_TIMEOUT]  = TO(CLEANING, ACT_TERM | ACT_ARM),
	},
	[STATE_DRAINING] = {
		[EVENT_START]    = STAY(DRAINING),
		[EVENT_PASSED]   = STAY(DRAINING),
		[EVENT_BROKEN]   = STAY(DRAINING),
		[EVENT_READY]    = STAY(DRAINING),
		[EVENT_WORKED]   = STAY(DRAINING),
		[EVENT_ENDING]   = STAY(DRAINING),
		[EVENT_HOLD]     = STAY(DRAINING),
		[EVENT_RELEASE]  = TO(ASKING, ACT_HOOK | ACT_ARM),
		[EVENT_KILL]     = TO(KILLING, ACT_KILL | ACT_FORCED | ACT_ARM),
		[EVENT_ORPHANED] = TO(STOPPING, ACT_TERM | ACT_ARM),
		[EVENT_DONE]     = TO(CLOSING, ACT_HOOK | ACT_ARM),
		[EVENT_RETRY]    = TO(CLOSING, ACT_HOOK | ACT_ARM),
		[EVENT_FAIL]     = TO(CLOSING, ACT_HOOK | ACT_ARM),
		[EVENT_TIMEOUT]  = TO(GATED, 0),
	},
	[STATE_GATED] = {
		[EVENT_START]    = STAY(GATED),
		[EVENT_PASSED]   = STAY(GATED),
		[EVENT_BROKEN]   = STAY(GATED),
		[EVENT_READY]    = STAY(GATED),
		[EVENT_WORKED]   = STAY(GATED),
		[EVENT_ENDING]   = STAY(GATED),
		[EVENT_HOLD]     = STAY(GATED),
		[EVENT_RELEASE]  = TO(ASKING, ACT_HOOK | ACT_ARM),
		[EVENT_KILL]     = TO(KILLING, ACT_KILL | ACT_FORCED | ACT_ARM),
		[EVENT_ORPHANED] = TO(STOPPING, ACT_TERM | ACT_ARM),
		[EVENT_DONE]     = TO(CLOSING, ACT_HOOK | ACT_ARM),
		[EVENT_RETRY]    = TO(CLOSING, ACT_HOOK | ACT_ARM),
		[EVENT_FAIL]     = TO(CLOSING, ACT_HOOK | ACT_ARM),
		[EVENT_TIMEOUT]  = STAY(GATED),
	},
	[STATE_ASKING] = {
		[EVENT_START]    = STAY(ASKING),
		[EVENT_PASSED]   = TO(STOPPING, ACT_ARM),
		[EVENT_BROKEN]   = TO(STOPPING, ACT_TERM | ACT_ARM),
		[EVENT_READY]    = STAY(ASKING),
		[EVENT_WORKED]   = STAY(ASKING),
		[EVENT_ENDING]   = STAY(ASKING),
		[EVENT_HOLD]     = STAY(ASKING),
		[EVENT_RELEASE]  = STAY(ASKING),
		[EVENT_KILL]     = TO(KILLING, ACT_KILL | ACT_FORCED | ACT_ARM),
		[EVENT_ORPHANED] = TO(STOPPING, ACT_TERM | ACT_ARM),
		[EVENT_DONE]     = TO(CLOSING, ACT_HOOK | ACT_ARM),
		[EVENT_RETRY]    = TO(CLOSING, ACT_HOOK | ACT_ARM),
		[EVENT_FAIL]     = TO(CLOSING, ACT_HOOK | ACT_ARM),
		[EVENT_TIMEOUT]  = TO(KILLING, ACT_KILL | ACT_FORCED | ACT_ARM),
	},
	[STATE_STOPPING] = {
		[EVENT_START]    = STAY(STOPPING),
		[EVENT_PASSED]   = STAY(STOPPING),
		[EVENT_BROKEN]   = STAY(STOPPING),
		[EVENT_READY]    = STAY(STOPPING),
		[EVENT_WORKED]   = STAY(STOPPING),
		[EVENT_ENDING]   = STAY(STOPPING),
		[EVENT_HOLD]     = STAY(STOPPING),
		[EVENT_RELEASE]  = STAY(STOPPING),
		[EVENT_KILL]     = TO(KILLING, ACT_KILL | ACT_FORCED | ACT_ARM),
		[EVENT_ORPHANED] = TO(STOPPING, ACT_TERM | ACT_ARM),
		[EVENT_DONE]     = TO(CLOSING, ACT_HOOK | ACT_ARM),
		[EVENT_RETRY]    = TO(CLOSING, ACT_HOOK | ACT_ARM),
		[EVENT_FAIL]     = TO(CLOSING, ACT_HOOK | ACT_ARM),
		[EVENT_TIMEOUT]  = TO(KILLING, ACT_KILL | ACT_FORCED | ACT_ARM),
	},
	[STATE_KILLING] = {
		[EVENT_START]    = STAY(KILLING),
		[EVENT_PASSED]   = STAY(KILLING),
		[EVENT_BROKEN]   = STAY(KILLING),
		[EVENT_READY]    = STAY(KILLING),
		[EVENT_WORKED]   = STAY(KILLING),
		[EVENT_ENDING]   = STAY(KILLING),
		[EVENT_HOLD]     = STAY(KILLING),
		[EVENT_RELEASE]  = STAY(KILLING),
		[EVENT_KILL]     = TO(KILLING, ACT_KILL),
		[EVENT_ORPHANED] = TO(KILLING, ACT_KILL),
		[EVENT_DONE]     = TO(CLOSING, ACT_HOOK | ACT_ARM),
		[EVENT_RETRY]    = TO(CLOSING, ACT_HOOK | ACT_ARM),
		[EVENT_FAIL]     = TO(CLOSING, ACT_HOOK | ACT_ARM),
		[EVENT_TIMEOUT]  = TO(KILLING, ACT_KILL | ACT_ARM),
	},
	[STATE_CLOSING] = {
		[EVENT_START]    = STAY(CLOSING),
		[EVENT_PASSED]   = STAY(CLOSING),
		[EVENT_BROKEN]   = STAY(CLOSING),
		[EVENT_READY]    = STAY(CLOSING),
		[EVENT_WORKED]   = STAY(CLOSING),
		[EVENT_ENDING]   = STAY(CLOSING),
		[EVENT_HOLD]     = STAY(CLOSING),
		[EVENT_RELEASE]  = STAY(CLOSING),
		[EVENT_KILL]     = TO(KILLING, ACT_KILL | ACT_FORCED | ACT_ARM),
		[EVENT_ORPHANED] = TO(STOPPING, ACT_TERM | ACT_ARM),
		[EVENT_DONE]     = TO(DOWN, 0),
		[EVENT_RETRY]    = TO(DOWN, 0),
		[EVENT_FAIL]     = TO(DOWN, 0),
		[EVENT_TIMEOUT]  = TO(KILLING, ACT_KILL | ACT_FORCED | ACT_ARM),
	},
	[STATE_CLEANING] = {
		[EVENT_START]    = STAY(CLEANING),
		[EVENT_PASSED]   = STAY(CLEANING),
		[EVENT_BROKEN]   = STAY(CLEANING),
		[EVENT_READY]    = STAY(CLEANING),
		[EVENT_WORKED]   = TO(READYING, ACT_HOOK | ACT_ARM),
		[EVENT_ENDING]   = STAY(CLEANING),
		[EVENT_HOLD]     = TO(STOPPING, ACT_TERM | ACT_ARM),
		[EVENT_RELEASE]  = TO(STOPPING, ACT_TERM | ACT_ARM),
		[EVENT_KILL]     = TO(KILLING, ACT_KILL | ACT_FORCED | ACT_ARM),
		[EVENT_ORPHANED] = TO(CLEANING, ACT_TERM | ACT_ARM),
		[EVENT_DONE]     = TO(FINISHING, ACT_HOOK | ACT_ARM),
		[EVENT_RETRY]    = TO(FINISHING, ACT_HOOK | ACT_ARM),
		[EVENT_FAIL]     = TO(FINISHING, ACT_HOOK | ACT_ARM),
		[EVENT_TIMEOUT]  = TO(CLEANING, ACT_KILL | ACT_ARM),
	},
	[STATE_FINISHING] = {
		[EVENT_START]    = STAY(FINISHING),
		[EVENT_PASSED]   = STAY(FINISHING),
		[EVENT_BROKEN]   = STAY(FINISHING),
		[EVENT_READY]    = STAY(FINISHING),
		[EVENT_WORKED]   = STAY(FINISHING),
		[EVENT_ENDING]   = STAY(FINISHING),
		[EVENT_HOLD]     = TO(CLOSING, ACT_ARM),
		[EVENT_RELEASE]  = TO(CLOSING, ACT_ARM),
		[EVENT_KILL]     = TO(KILLING, ACT_KILL | ACT_FORCED | ACT_ARM),
		[EVENT_ORPHANED] = TO(CLEANING, ACT_TERM | ACT_ARM),
		[EVENT_DONE]     = TO(DONE, 0),
		[EVENT_RETRY]    = TO(BACKOFF, ACT_ARM),
		[EVENT_FAIL]     = TO(FAILED, 0),
		[EVENT_TIMEOUT]  = TO(CLEANING, ACT_KILL | ACT_ARM),
	},
	[STATE_BACKOFF] = {
		[EVENT_START]    = TO(PREPARING, ACT_HOOK | ACT_ARM),
		[EVENT_PASSED]   = STAY(BACKOFF),
		[EVENT_BROKEN]   = STAY(BACKOFF),
		[EVENT_READY]    = STAY(BACKOFF),
		[EVENT_WORKED]   = STAY(BACKOFF),
		[EVENT_ENDING]   = STAY(BACKOFF),
		[EVENT_HOLD]     = TO(DOWN, 0),
		[EVENT_RELEASE]  = TO(DOWN, 0),
		[EVENT_KILL]     = TO(DOWN, 0),
		[EVENT_ORPHANED] = STAY(BACKOFF),
		[EVENT_DONE]     = STAY(BACKOFF),
		[EVENT_RETRY]    = STAY(BACKOFF),
		[EVENT_FAIL]     = STAY(BACKOFF),
		[EVENT_TIMEOUT]  = TO(PREPARING, ACT_HOOK | ACT_ARM),
	},
	[STATE_DONE] = {
		[EVENT_START]    = TO(PREPARING, ACT_HOOK | ACT_ARM),
		[EVENT_PASSED]   = STAY(DONE),
		[EVENT_BROKEN]   = STAY(DONE),
		[EVENT_READY]    = STAY(DONE),
		[EVENT_WORKED]   = STAY(DONE),
		[EVENT_ENDING]   = STAY(DONE),
		[EVENT_HOLD]     = TO(DOWN, 0),
		[EVENT_RELEASE]  = TO(DOWN, 0),
		[EVENT_KILL]     = TO(DOWN, 0),
		[EVENT_ORPHANED] = STAY(DONE),
		[EVENT_DONE]     = STAY(DONE),
		[EVENT_RETRY]    = STAY(DONE),
		[EVENT_FAIL]     = STAY(DONE),
		[EVENT_TIMEOUT]  = STAY(DONE),
	},
	[STATE_FAILED] = {
		[EVENT_START]    = TO(PREPARING, ACT_HOOK | ACT_ARM),
		[EVENT_PASSED]   = STAY(FAILED),
		[EVENT_BROKEN]   = STAY(FAILED),
		[EVENT_READY]    = STAY(FAILED),
		[EVENT_WORKED]   = STAY(FAILED),
		[EVENT_ENDING]   = STAY(FAILED),
		[EVENT_HOLD]     = TO(DOWN, 0),
		[EVENT_RELEASE]  = TO(DOWN, 0),
		[EVENT_KILL]     = TO(DOWN, 0),
		[EVENT_ORPHANED] = STAY(FAILED),
		[EVENT_DONE]     = STAY(FAILED),
		[EVENT_RETRY]    = STAY(FAILED),
		[EVENT_FAIL]     = STAY(FAILED),
		[EVENT_TIMEOUT]  = STAY(FAILED),
	},
};
/* clang-format on */

static bool is_end(enum service_event event)
{
	return event == EVENT_DONE || event == EVENT_RETRY || event == EVENT_FAIL;
}

/* The event that leads on from @state when its part is missing; N_EVENTS: nothing does. */
static enum service_event passes(enum service_state state, enum service_event event)
{
	switch (state) {
	case STATE_PREPARING:
	case STATE_READYING:
		return EVENT_PASSED;
	case STATE_DRAINING:
		return EVENT_TIMEOUT;
	case STATE_ASKING:
		return EVENT_BROKEN;
	case STATE_CLOSING:
	case STATE_FINISHING:
		return is_end(event) ? event : N_EVENTS;
	default:
		return N_EVENTS;
	}
}

struct service_step fsm_step(enum service_state state, enum service_event event, unsigned parts)
{
	struct service_step step = table[state][event];

	while (step.to != state && fsm_part(step.to) & ~parts) {
		enum service_event next = passes(step.to, event);

		if (next == N_EVENTS)
			break;
		step = table[step.to][next];
	}
	return step;
}

unsigned fsm_part(enum service_state state)
{
	switch (state) {
	case STATE_PREPARING:
		return PART_START_COMMAND;
	case STATE_READYING:
		return PART_POST_START;
	case STATE_DRAINING:
		return PART_DRAIN_DELAY;
	case STATE_ASKING:
		return PART_STOP_COMMAND;
	case STATE_CLOSING:
	case STATE_FINISHING:
		return PART_POST_STOP;
	default:
		return 0;
	}
}

bool fsm_has_process(enum service_state state)
{
	switch (state) {
	case STATE_UP:
	case STATE_CLEANING:
	case STATE_FINISHING:
		return true;
	default:
		return fsm_is_coming_up(state) || fsm_is_going_down(state);
	}
}

bool fsm_is_coming_up(enum service_state state)
{
	return state == STATE_PREPARING || state == STATE_STARTING || state == STATE_READYING;
}

bool fsm_is_going_down(enum service_state state)
{
	switch (state) {
	case STATE_DRAINING:
	case STATE_GATED:
	case STATE_ASKING:
	case STATE_STOPPING:
	case STATE_KILLING:
	case STATE_CLOSING:
		return true;
	default:
		return false;
	}
}

const char *fsm_state_name(enum service_state state)
{
	static const char *const names[N_STATES] = {
		[STATE_INVALID] = "invalid",	 [STATE_DOWN] = "down",
		[STATE_PREPARING] = "preparing", [STATE_STARTING] = "starting",
		[STATE_READYING] = "readying",	 [STATE_UP] = "up",
		[STATE_DRAINING] = "draining",	 [STATE_GATED] = "gated",
		[STATE_ASKING] = "asking",	 [STATE_STOPPING] = "stopping",
		[STATE_KILLING] = "killing",	 [STATE_CLOSING] = "closing",
		[STATE_CLEANING] = "cleaning",	 [STATE_FINISHING] = "finishing",
		[STATE_BACKOFF] = "backoff",	 [STATE_DONE] = "done",
		[STATE_FAILED] = "failed",
	};

	return names[state];
}

const char *fsm_event_name(enum service_event event)
{
	static const char *const names[N_EVENTS] = {
		[EVENT_START] = "start",   [EVENT_PASSED] = "passed",
		[EVENT_BROKEN] = "broken", [EVENT_READY] = "ready",
		[EVENT_WORKED] = "worked", [EVENT_ENDING] = "ending",
		[EVENT_HOLD] = "hold",	   [EVENT_RELEASE] = "release",
		[EVENT_KILL] = "kill",	   [EVENT_ORPHANED] = "orphaned",
		[EVENT_DONE] = "done",	   [EVENT_RETRY] = "retry",
		[EVENT_FAIL] = "fail",	   [EVENT_TIMEOUT] = "timeout",
	};

	return names[event];
}

static const char *timeout_reason(enum service_state from)
{
	if (from == STATE_BACKOFF)
		return "restart-delay is over";
	if (from == STATE_DRAINING)
		return "drain-delay is over";
	return "its time is spent";
}

static const char *commands_reason(enum service_state from, bool well)
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
	switch (event) {
	case EVENT_START:
		return "may start";
	case EVENT_PASSED:
	case EVENT_BROKEN:
		return commands_reason(from, event == EVENT_PASSED);
	case EVENT_WORKED:
		return "its work is done";
	case EVENT_ENDING:
		return "says that it is stopping";
	case EVENT_HOLD:
		return "stopped";
	case EVENT_RELEASE:
		return "nobody needs it";
	case EVENT_KILL:
		return "to be killed";
	case EVENT_ORPHANED:
		return "its main process has ended";
	case EVENT_TIMEOUT:
		return timeout_reason(from);
	default:
		return fsm_event_name(event);
	}
}
