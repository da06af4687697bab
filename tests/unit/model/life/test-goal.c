#include "model/life/goal.h"

#include "base/macro.h"
#include "tests/unit/fixtures/main.h"

/* Invariants over the whole table, rather than its cells once more. */
static void each(void (*check)(enum goal goal, enum goal_request request, enum goal next))
{
	for (enum goal goal = 0; goal < N_GOALS; goal++)
		for (enum goal_request request = 0; request < N_REQUESTS; request++)
			check(goal, request, goal_next(goal, request));
}

static void comes_back_by_its_section(enum goal goal, enum goal_request request, enum goal next)
{
	if (goal == GOAL_GONE)
		ck_assert((next == GOAL_GONE) == (request != REQUEST_ADD));
	else
		ck_assert((next == GOAL_GONE) == (request == REQUEST_REMOVE));
}

START_TEST(node_without_a_section_comes_back_by_a_section_only)
{
	each(comes_back_by_its_section);
}
END_TEST

static void is_raised_by_hand(enum goal goal, enum goal_request request, enum goal next)
{
	if (goal == GOAL_DOWN && next > GOAL_DOWN)
		ck_assert(request == REQUEST_START || request == REQUEST_RESTART ||
			  request == REQUEST_REST);
}

START_TEST(stopped_node_is_raised_by_hand_only)
{
	each(is_raised_by_hand);
}
END_TEST

static void is_lowered_by_a_stop(enum goal goal, enum goal_request request, enum goal next)
{
	if (request == REQUEST_STOP)
		ck_assert_int_eq(next, goal < GOAL_DOWN ? goal : GOAL_DOWN);
	if (request == REQUEST_START && goal != GOAL_GONE)
		ck_assert_int_eq(next, goal == GOAL_HANDOVER ? goal : GOAL_UP);
}

START_TEST(stop_lowers_and_start_raises_any_node)
{
	each(is_lowered_by_a_stop);
}
END_TEST

static void is_cycled_while_up(enum goal goal, enum goal_request request, enum goal next)
{
	if (request == REQUEST_CYCLE)
		ck_assert_int_eq(next, goal >= GOAL_UP ? GOAL_CYCLE : goal);
	if (request == REQUEST_COMPLETE)
		ck_assert_int_eq(next,
				 goal == GOAL_CYCLE || goal == GOAL_HANDOVER ? GOAL_UP : goal);
}

START_TEST(restart_with_another_applies_to_running_nodes)
{
	each(is_cycled_while_up);
}
END_TEST

static void is_handed_over(enum goal goal, enum goal_request request, enum goal next)
{
	if (request == REQUEST_HANDOVER)
		ck_assert_int_eq(next, goal == GOAL_UP ? GOAL_HANDOVER : goal);
	if (next == GOAL_HANDOVER && goal != next)
		ck_assert(goal == GOAL_UP && request == REQUEST_HANDOVER);
}

START_TEST(service_that_is_up_hands_over)
{
	each(is_handed_over);
}
END_TEST

static void is_settled(enum goal goal, enum goal_request request, enum goal next)
{
	/* A need raises an idle node; a removed node that is removed again stays removed. */
	if (request != REQUEST_COMPLETE && request != REQUEST_ADD)
		ck_assert_int_eq(goal_next(next, request), next);
	(void)goal;
}

START_TEST(repeated_request_changes_nothing)
{
	each(is_settled);
}
END_TEST

START_TEST(service_that_is_stopped_comes_down_from_each_state)
{
	for (enum service_state first = STATE_DOWN; first < N_STATES; first++) {
		enum service_state state = first;

		for (int n = 0; n < N_STATES && state != STATE_DOWN; n++) {
			enum service_event event = goal_event(state, true, false);

			/* On its way, its processes end. */
			state = fsm_step(state, event == N_EVENTS ? EVENT_DONE : event, ALL_PARTS)
					.to;
		}
		ck_assert_msg(state == STATE_DOWN, "%s", fsm_state_name(first));
		ck_assert_int_eq(goal_event(STATE_DOWN, true, false), N_EVENTS);
	}
}
END_TEST

START_TEST(service_that_is_wanted_starts_from_rest)
{
	for (enum service_state state = STATE_DOWN; state < N_STATES; state++) {
		enum service_event event = goal_event(state, false, true);

		ck_assert_int_eq(goal_event(state, false, false), N_EVENTS);
		if (state == STATE_DOWN || state == STATE_BACKOFF)
			ck_assert(fsm_is_coming_up(fsm_step(state, event, ALL_PARTS).to));
		else
			ck_assert_int_eq(event, N_EVENTS);
	}
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("goal");
	TCase *tc = tcase_create("table");

	tcase_add_test(tc, node_without_a_section_comes_back_by_a_section_only);
	tcase_add_test(tc, stopped_node_is_raised_by_hand_only);
	tcase_add_test(tc, stop_lowers_and_start_raises_any_node);
	tcase_add_test(tc, restart_with_another_applies_to_running_nodes);
	tcase_add_test(tc, service_that_is_up_hands_over);
	tcase_add_test(tc, repeated_request_changes_nothing);
	tcase_add_test(tc, service_that_is_stopped_comes_down_from_each_state);
	tcase_add_test(tc, service_that_is_wanted_starts_from_rest);
	suite_add_tcase(s, tc);
	return s;
}
