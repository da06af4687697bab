/*
 * Two tables: the goal after a request, by goal and request; and the event towards a goal, by
 * state.  Everything else follows from the numeric order of goals.
 */
#include "model/life/goal.h"

#define GONE  GOAL_GONE
#define DOWN  GOAL_DOWN
#define CYCLE GOAL_CYCLE
#define IDLE  GOAL_IDLE
#define UP    GOAL_UP
#define OVER  GOAL_HANDOVER

/* clang-format off */
static const enum goal table[N_GOALS][N_REQUESTS] = {
	/*          START  NEED   REST   RESTART HANDOVER CYCLE  COMPLETE STOP  REMOVE ADD */
	[GONE]  = { GONE,  GONE,  GONE,  GONE,   GONE,    GONE,  GONE,    GONE, GONE,  UP },
	[DOWN]  = { UP,    DOWN,  IDLE,  CYCLE,  DOWN,    DOWN,  DOWN,    DOWN, GONE,  DOWN },
	[CYCLE] = { UP,    CYCLE, IDLE,  CYCLE,  CYCLE,   CYCLE, UP,      DOWN, GONE,  CYCLE },
	[IDLE]  = { UP,    UP,    IDLE,  CYCLE,  IDLE,    IDLE,  IDLE,    DOWN, GONE,  IDLE },
	[UP]    = { UP,    UP,    IDLE,  CYCLE,  OVER,    CYCLE, UP,      DOWN, GONE,  UP },
	[OVER]  = { OVER,  OVER,  IDLE,  CYCLE,  OVER,    CYCLE, UP,      DOWN, GONE,  OVER },
};
/* clang-format on */

enum goal goal_next(enum goal goal, enum goal_request request)
{
	return table[goal][request];
}

enum goal goal_initial(bool is_service, bool autostart)
{
	return is_service && !autostart ? IDLE : UP;
}

/* A state that is missing here changes without a further event. */
static const struct {
	enum service_event stop, start; /* 0, which is START: none */
} events[N_STATES] = {
	[STATE_PREPARING] = { .stop = EVENT_HOLD },
	[STATE_STARTING] = { .stop = EVENT_HOLD },
	[STATE_READYING] = { .stop = EVENT_HOLD },
	[STATE_UP] = { .stop = EVENT_HOLD },
	[STATE_WAITING] = { .stop = EVENT_RELEASE },
	[STATE_CLEANING] = { .stop = EVENT_HOLD },
	[STATE_FINISHING] = { .stop = EVENT_HOLD },
	[STATE_BACKOFF] = { .stop = EVENT_HOLD, .start = EVENT_TIMEOUT },
	[STATE_DONE] = { .stop = EVENT_HOLD },
	[STATE_FAILED] = { .stop = EVENT_HOLD },
};

enum service_event goal_event(enum service_state state, bool stopped, bool wanted)
{
	if (stopped)
		return events[state].stop ? events[state].stop : N_EVENTS;
	if (!wanted)
		return N_EVENTS;
	if (state == STATE_DOWN)
		return EVENT_START;
	return events[state].start ? events[state].start : N_EVENTS;
}
