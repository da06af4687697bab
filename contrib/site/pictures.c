/*
 * pictures run|stop|goals: prints one of the tables of model/life as a graph for dot(1).
 *
 * The events from one node to another are one edge.  In the picture of a stop, states that a stop changes in the same
 * way are one node.  Events that restore a state after a fault of the daemon lead from down to any state: no picture.
 */
#include <assert.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "model/life/fsm.h"
#include "model/life/goal.h"

#define NAME(kind, name) [kind##_##name] = #name

static const char *const goals[N_GOALS] = {
	NAME(GOAL, GONE), NAME(GOAL, DOWN), NAME(GOAL, CYCLE),
	NAME(GOAL, IDLE), NAME(GOAL, UP),   NAME(GOAL, HANDOVER),
};

static const char *const requests[N_REQUESTS] = {
	NAME(REQUEST, START),	 NAME(REQUEST, NEED),	  NAME(REQUEST, REST),
	NAME(REQUEST, RESTART),	 NAME(REQUEST, HANDOVER), NAME(REQUEST, CYCLE),
	NAME(REQUEST, COMPLETE), NAME(REQUEST, STOP),	  NAME(REQUEST, REMOVE),
	NAME(REQUEST, ADD),
};

static void picture_begin(void)
{
	printf("digraph { bgcolor=transparent; ranksep=0.45; nodesep=0.3;\n"
	       "node [shape=box, style=rounded, margin=\"0.12,0.06\", height=0.3, fontname=\"sans-serif\", fontsize=13];\n"
	       "edge [fontname=\"sans-serif\", fontsize=11, arrowsize=0.6];\n");
}

static bool picture_has_event(bool is_stop, enum service_event event)
{
	return event < EVENT_FOUND && event != EVENT_RESET && event != EVENT_KILL &&
	       (is_stop || (event != EVENT_HOLD && event != EVENT_RELEASE));
}

/* Each state with a process is left by a kill in the same way: one edge. */
static void picture_draw_kill(void)
{
	for (enum service_state s = STATE_DOWN; s < N_STATES; s++)
		assert(!fsm_has_process(s) ||
		       fsm_step(s, EVENT_KILL, ALL_PARTS).to == STATE_KILLING);
	printf("any [class=\"process\", style=\"rounded,dashed\", label=\"any state\\nwith a process\"];\n"
	       "any -> %d [class=\"kill\", label=\"%s\"];\n",
	       STATE_KILLING, fsm_event_name(EVENT_KILL));
}

/* Returns the first state that a stop changes in the same way, of those before it. */
static enum service_state picture_twin(enum service_state state)
{
	for (enum service_state s = STATE_DOWN; s < state && !fsm_is_going_down(state); s++) {
		bool same = !fsm_is_going_down(s) && fsm_has_process(s);

		for (enum service_event e = EVENT_HOLD; e <= EVENT_KILL; e++)
			same = same &&
			       fsm_step(s, e, ALL_PARTS).to == fsm_step(state, e, ALL_PARTS).to;
		if (same)
			return s;
	}
	return state;
}

static bool picture_has_edge(bool is_stop, enum service_state from, enum service_state to)
{
	bool goes_down = fsm_is_going_down(from) || fsm_is_going_down(to);

	return to != from && (is_stop ? goes_down && picture_twin(from) == from : !goes_down);
}

static void picture_draw_states(bool is_stop)
{
	picture_begin();
	for (enum service_state from = STATE_DOWN; from < N_STATES; from++) {
		enum service_state twin = is_stop ? picture_twin(from) : from;

		if (twin == from && (is_stop ? fsm_has_process(from) || from == STATE_DOWN
					     : !fsm_is_going_down(from))) {
			printf("%d [class=\"%s\", label=\"%s", from,
			       fsm_has_process(from) ? "process" : "none", fsm_state_name(from));
			for (enum service_state s = from + 1; is_stop && s < N_STATES; s++)
				if (picture_twin(s) == from)
					printf("\\n%s", fsm_state_name(s));
			printf("\"];\n");
		}
		for (enum service_state to = STATE_DOWN; to < N_STATES; to++) {
			const char *separator = "";

			if (!picture_has_edge(is_stop, from, to))
				continue;
			for (enum service_event e = 0; e < N_EVENTS; e++) {
				if (!picture_has_event(is_stop, e) ||
				    fsm_step(from, e, ALL_PARTS).to != to)
					continue;
				if (!*separator)
					printf("%d -> %d [label=\"", from,
					       is_stop ? picture_twin(to) : to);
				printf("%s%s", separator, fsm_event_name(e));
				separator = "\\n";
			}
			if (*separator)
				printf("\"];\n");
		}
	}
	if (is_stop)
		picture_draw_kill();
	printf("}\n");
}

static void picture_print_lower(const char *text)
{
	while (*text)
		putchar(tolower((unsigned char)*text++));
}

static void picture_draw_goals(void)
{
	picture_begin();
	for (enum goal from = 0; from < N_GOALS; from++) {
		printf("%d [class=\"%s\", label=\"", from, from < GOAL_IDLE ? "none" : "process");
		picture_print_lower(goals[from]);
		printf("\"];\n");
		for (enum goal to = 0; to < N_GOALS; to++) {
			const char *separator = "";

			for (enum goal_request r = 0; r < N_REQUESTS; r++) {
				if (to == from || goal_next(from, r) != to)
					continue;
				if (!*separator)
					printf("%d -> %d [label=\"", from, to);
				printf("%s", separator);
				picture_print_lower(requests[r]);
				separator = "\\n";
			}
			if (*separator)
				printf("\"];\n");
		}
	}
	printf("}\n");
}

int main(int argc, char *argv[])
{
	const char *name = argc == 2 ? argv[1] : "";

	if (!strcmp(name, "run") || !strcmp(name, "stop"))
		picture_draw_states(!strcmp(name, "stop"));
	else if (!strcmp(name, "goals"))
		picture_draw_goals();
	else {
		fprintf(stderr, "usage: pictures run|stop|goals\n");
		return 1;
	}
	return fflush(stdout) ? 1 : 0;
}
