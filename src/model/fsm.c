#include "model/fsm.h"

#include <stddef.h>

#define TO(state, actions)               \
	{                                \
		STATE_##state, (actions) \
	}
#define STAY(state) TO(state, 0)

/* clang-format off */
static const struct service_step table[N_STATES][N_EVENTS] = {
	[STATE_DOWN] = {
		[EVENT_START]    = TO(STARTING, ACT_SPAWN | ACT_ARM),
		[EVENT_READY]    = STAY(DOWN),
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
	[STATE_STARTING] = {
		[EVENT_START]    = STAY(STARTING),
		[EVENT_READY]    = TO(UP, 0),
		[EVENT_ENDING]   = TO(CLEANING, ACT_ARM),
		[EVENT_HOLD]     = TO(GATED, 0),
		[EVENT_RELEASE]  = TO(STOPPING, ACT_TERM | ACT_ARM),
		[EVENT_KILL]     = TO(KILLING, ACT_KILL | ACT_FORCED | ACT_ARM),
		[EVENT_ORPHANED] = TO(CLEANING, ACT_TERM | ACT_ARM),
		[EVENT_DONE]     = TO(DONE, 0),
		[EVENT_RETRY]    = TO(BACKOFF, ACT_ARM),
		[EVENT_FAIL]     = TO(FAILED, 0),
		[EVENT_TIMEOUT]  = TO(CLEANING, ACT_TERM | ACT_ARM),
	},
	[STATE_UP] = {
		[EVENT_START]    = STAY(UP),
		[EVENT_READY]    = STAY(UP),
		[EVENT_ENDING]   = TO(CLEANING, ACT_ARM),
		[EVENT_HOLD]     = TO(GATED, 0),
		[EVENT_RELEASE]  = TO(STOPPING, ACT_TERM | ACT_ARM),
		[EVENT_KILL]     = TO(KILLING, ACT_KILL | ACT_FORCED | ACT_ARM),
		[EVENT_ORPHANED] = TO(CLEANING, ACT_TERM | ACT_ARM),
		[EVENT_DONE]     = TO(DONE, 0),
		[EVENT_RETRY]    = TO(BACKOFF, ACT_ARM),
		[EVENT_FAIL]     = TO(FAILED, 0),
		[EVENT_TIMEOUT]  = TO(CLEANING, ACT_TERM | ACT_ARM),
	},
	[STATE_GATED] = {
		[EVENT_START]    = STAY(GATED),
		[EVENT_READY]    = STAY(GATED),
		[EVENT_ENDING]   = STAY(GATED),
		[EVENT_HOLD]     = STAY(GATED),
		[EVENT_RELEASE]  = TO(STOPPING, ACT_TERM | ACT_ARM),
		[EVENT_KILL]     = TO(KILLING, ACT_KILL | ACT_FORCED | ACT_ARM),
		[EVENT_ORPHANED] = TO(STOPPING, ACT_TERM | ACT_ARM),
		[EVENT_DONE]     = TO(DOWN, 0),
		[EVENT_RETRY]    = TO(DOWN, 0),
		[EVENT_FAIL]     = TO(DOWN, 0),
		[EVENT_TIMEOUT]  = STAY(GATED),
	},
	[STATE_STOPPING] = {
		[EVENT_START]    = STAY(STOPPING),
		[EVENT_READY]    = STAY(STOPPING),
		[EVENT_ENDING]   = STAY(STOPPING),
		[EVENT_HOLD]     = STAY(STOPPING),
		[EVENT_RELEASE]  = STAY(STOPPING),
		[EVENT_KILL]     = TO(KILLING, ACT_KILL | ACT_FORCED | ACT_ARM),
		[EVENT_ORPHANED] = TO(STOPPING, ACT_TERM | ACT_ARM),
		[EVENT_DONE]     = TO(DOWN, 0),
		[EVENT_RETRY]    = TO(DOWN, 0),
		[EVENT_FAIL]     = TO(DOWN, 0),
		[EVENT_TIMEOUT]  = TO(KILLING, ACT_KILL | ACT_FORCED | ACT_ARM),
	},
	[STATE_KILLING] = {
		[EVENT_START]    = STAY(KILLING),
		[EVENT_READY]    = STAY(KILLING),
		[EVENT_ENDING]   = STAY(KILLING),
		[EVENT_HOLD]     = STAY(KILLING),
		[EVENT_RELEASE]  = STAY(KILLING),
		[EVENT_KILL]     = TO(KILLING, ACT_KILL),
		[EVENT_ORPHANED] = TO(KILLING, ACT_KILL),
		[EVENT_DONE]     = TO(DOWN, 0),
		[EVENT_RETRY]    = TO(DOWN, 0),
		[EVENT_FAIL]     = TO(DOWN, 0),
		[EVENT_TIMEOUT]  = TO(KILLING, ACT_KILL | ACT_ARM),
	},
	[STATE_CLEANING] = {
		[EVENT_START]    = STAY(CLEANING),
		[EVENT_READY]    = STAY(CLEANING),
		[EVENT_ENDING]   = STAY(CLEANING),
		[EVENT_HOLD]     = TO(STOPPING, ACT_TERM | ACT_ARM),
		[EVENT_RELEASE]  = TO(STOPPING, ACT_TERM | ACT_ARM),
		[EVENT_KILL]     = TO(KILLING, ACT_KILL | ACT_FORCED | ACT_ARM),
		[EVENT_ORPHANED] = TO(CLEANING, ACT_TERM | ACT_ARM),
		[EVENT_DONE]     = TO(DONE, 0),
		[EVENT_RETRY]    = TO(BACKOFF, ACT_ARM),
		[EVENT_FAIL]     = TO(FAILED, 0),
		[EVENT_TIMEOUT]  = TO(CLEANING, ACT_KILL | ACT_ARM),
	},
	[STATE_BACKOFF] = {
		[EVENT_START]    = TO(STARTING, ACT_SPAWN | ACT_ARM),
		[EVENT_READY]    = STAY(BACKOFF),
		[EVENT_ENDING]   = STAY(BACKOFF),
		[EVENT_HOLD]     = TO(DOWN, 0),
		[EVENT_RELEASE]  = TO(DOWN, 0),
		[EVENT_KILL]     = TO(DOWN, 0),
		[EVENT_ORPHANED] = STAY(BACKOFF),
		[EVENT_DONE]     = STAY(BACKOFF),
		[EVENT_RETRY]    = STAY(BACKOFF),
		[EVENT_FAIL]     = STAY(BACKOFF),
		[EVENT_TIMEOUT]  = TO(STARTING, ACT_SPAWN | ACT_ARM),
	},
	[STATE_DONE] = {
		[EVENT_START]    = TO(STARTING, ACT_SPAWN | ACT_ARM),
		[EVENT_READY]    = STAY(DONE),
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
		[EVENT_START]    = TO(STARTING, ACT_SPAWN | ACT_ARM),
		[EVENT_READY]    = STAY(FAILED),
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

struct service_step fsm_step(enum service_state state, enum service_event event)
{
	return table[state][event];
}

bool fsm_has_process(enum service_state state)
{
	switch (state) {
	case STATE_STARTING:
	case STATE_UP:
	case STATE_GATED:
	case STATE_STOPPING:
	case STATE_KILLING:
	case STATE_CLEANING:
		return true;
	default:
		return false;
	}
}

const char *fsm_state_name(enum service_state state)
{
	static const char *const names[N_STATES] = {
		[STATE_INVALID] = "invalid",   [STATE_DOWN] = "down",
		[STATE_STARTING] = "starting", [STATE_UP] = "up",
		[STATE_GATED] = "gated",       [STATE_STOPPING] = "stopping",
		[STATE_KILLING] = "killing",   [STATE_CLEANING] = "cleaning",
		[STATE_BACKOFF] = "backoff",   [STATE_DONE] = "done",
		[STATE_FAILED] = "failed",
	};

	return names[state];
}

const char *fsm_event_name(enum service_event event)
{
	static const char *const names[N_EVENTS] = {
		[EVENT_START] = "start", [EVENT_READY] = "ready",	[EVENT_ENDING] = "ending",
		[EVENT_HOLD] = "hold",	 [EVENT_RELEASE] = "release",	[EVENT_KILL] = "kill",
		[EVENT_DONE] = "done",	 [EVENT_ORPHANED] = "orphaned", [EVENT_RETRY] = "retry",
		[EVENT_FAIL] = "fail",	 [EVENT_TIMEOUT] = "timeout",
	};

	return names[event];
}
