#include "main.h"

#include <stdint.h>

#include "base/macro.h"
#include "model/fsm.h"

/*
 * What holds for the whole table, not for examples of it.  What a service can come to is explored:
 * a set of states is a word with a bit for each, and grows until the events add nothing.
 */

#define FIRST_STATE STATE_DOWN
#define BIT(state)  (UINT32_C(1) << (state))

static const enum service_event exits[] = { EVENT_DONE, EVENT_RETRY, EVENT_FAIL };

static bool is_exit(enum service_event event)
{
	return event == EVENT_DONE || event == EVENT_RETRY || event == EVENT_FAIL;
}

static bool has_timeout(enum service_state state)
{
	return BIT(state) & (BIT(STATE_STARTING) | BIT(STATE_STOPPING) | BIT(STATE_KILLING) |
			     BIT(STATE_CLEANING) | BIT(STATE_BACKOFF));
}

static bool is_stopped(enum service_state state)
{
	return BIT(state) &
	       (BIT(STATE_DOWN) | BIT(STATE_GATED) | BIT(STATE_STOPPING) | BIT(STATE_KILLING));
}

/* All that can be reached from @states without @never. */
static uint32_t reachable(uint32_t states, enum service_event never)
{
	uint32_t before;

	do {
		before = states;
		for (int state = FIRST_STATE; state < N_STATES; state++)
			for (int event = 0; event < N_EVENTS; event++)
				if ((before & BIT(state)) && event != (int)never)
					states |= BIT(fsm_step(state, event).to);
	} while (states != before);
	return states;
}

/* The looping tests: _i is the state. */

START_TEST(every_cell_is_written)
{
	for (int event = 0; event < N_EVENTS; event++) {
		enum service_state to = fsm_step(_i, event).to;

		ck_assert_msg(to != STATE_INVALID && to < N_STATES, "%s, %s", fsm_state_name(_i),
			      fsm_event_name(event));
	}
}
END_TEST

START_TEST(every_state_can_be_reached)
{
	ck_assert(reachable(BIT(STATE_DOWN), N_EVENTS) & BIT(_i));
}
END_TEST

START_TEST(after_a_hold_only_a_start_spawns)
{
	uint32_t states = reachable(BIT(fsm_step(_i, EVENT_HOLD).to), EVENT_START);

	for (int state = FIRST_STATE; state < N_STATES; state++) {
		if (!(states & BIT(state)))
			continue;
		ck_assert_msg(is_stopped(state), "%s after a hold in %s", fsm_state_name(state),
			      fsm_state_name(_i));
		for (int event = 0; event < N_EVENTS; event++) {
			unsigned actions = fsm_step(state, event).actions;

			if (event != EVENT_START)
				ck_assert_msg(!(actions & ACT_SPAWN), "%s, %s",
					      fsm_state_name(state), fsm_event_name(event));
		}
	}
}
END_TEST

START_TEST(a_process_is_never_started_beside_another)
{
	for (int event = 0; event < N_EVENTS; event++)
		if (fsm_step(_i, event).actions & ACT_SPAWN)
			ck_assert_msg(!fsm_has_process(_i), "%s, %s", fsm_state_name(_i),
				      fsm_event_name(event));
}
END_TEST

START_TEST(spawning_is_starting_and_nothing_else_is)
{
	for (int event = 0; event < N_EVENTS; event++) {
		struct service_step step = fsm_step(_i, event);
		bool begins = _i != STATE_STARTING && step.to == STATE_STARTING;

		ck_assert_int_eq(!!(step.actions & ACT_SPAWN), begins);
	}
}
END_TEST

/* Whatever a service is doing: a stop, the end of its budget, and one exit bring it down. */
START_TEST(every_state_can_be_stopped)
{
	for (size_t i = 0; i < ARRAY_SIZE(exits); i++) {
		enum service_state state = fsm_step(_i, EVENT_HOLD).to;

		state = fsm_step(state, EVENT_RELEASE).to;
		ck_assert_int_eq(fsm_step(state, exits[i]).to, STATE_DOWN);
		state = fsm_step(state, EVENT_TIMEOUT).to;
		ck_assert_int_eq(fsm_step(state, exits[i]).to, STATE_DOWN);
		ck_assert_int_eq(fsm_step(fsm_step(_i, EVENT_KILL).to, exits[i]).to, STATE_DOWN);
	}
}
END_TEST

START_TEST(the_signal_is_followed_by_the_kill)
{
	enum service_state state = fsm_step(fsm_step(_i, EVENT_HOLD).to, EVENT_RELEASE).to;
	struct service_step step = fsm_step(state, EVENT_TIMEOUT);

	ck_assert_int_eq(state == STATE_STOPPING || state == STATE_KILLING, fsm_has_process(_i));
	if (fsm_has_process(_i))
		ck_assert_uint_eq(step.actions & (ACT_KILL | ACT_ARM), ACT_KILL | ACT_ARM);
}
END_TEST

/* The guards are dropped when the last process is gone: so a state without one is left by an exit only. */
START_TEST(processes_are_gone_by_an_exit_only)
{
	for (int event = 0; event < N_EVENTS; event++) {
		enum service_state to = fsm_step(_i, event).to;

		if (fsm_has_process(_i))
			ck_assert_msg(fsm_has_process(to) == !is_exit(event), "%s, %s",
				      fsm_state_name(_i), fsm_event_name(event));
	}
}
END_TEST

START_TEST(only_processes_are_signalled)
{
	for (int event = 0; event < N_EVENTS; event++) {
		struct service_step step = fsm_step(_i, event);

		if (step.actions & (ACT_TERM | ACT_KILL | ACT_FORCED))
			ck_assert_msg(fsm_has_process(_i) && fsm_has_process(step.to) &&
					      !is_exit(event),
				      "%s, %s", fsm_state_name(_i), fsm_event_name(event));
	}
}
END_TEST

START_TEST(a_state_with_a_timeout_is_armed_as_it_is_entered)
{
	for (int event = 0; event < N_EVENTS; event++) {
		struct service_step step = fsm_step(_i, event);

		if (step.to != (enum service_state)_i)
			ck_assert_msg(!!(step.actions & ACT_ARM) == has_timeout(step.to), "%s, %s",
				      fsm_state_name(_i), fsm_event_name(event));
		else if (step.actions & ACT_ARM)
			ck_assert(has_timeout(_i));
	}
}
END_TEST

/* Otherwise a service would be stuck in it for good. */
START_TEST(a_timeout_leads_on_or_is_armed_again)
{
	struct service_step step = fsm_step(_i, EVENT_TIMEOUT);

	/* That of UP is the watchdog's, which is wound up by other means. */
	if (has_timeout(_i) || _i == STATE_UP)
		ck_assert(step.to != (enum service_state)_i || (step.actions & ACT_ARM));
	else
		ck_assert(step.to == (enum service_state)_i && step.actions == 0);
}
END_TEST

/* Nobody is asked to end who has begun to by himself; but there is an end to it. */
START_TEST(who_ends_by_himself_is_given_his_time)
{
	struct service_step step = fsm_step(_i, EVENT_ENDING);

	ck_assert(!(step.actions & (ACT_TERM | ACT_KILL)));
	if (_i != STATE_STARTING && _i != STATE_UP)
		ck_assert(step.to == (enum service_state)_i && step.actions == 0);
	else
		ck_assert(fsm_step(step.to, EVENT_TIMEOUT).actions & ACT_KILL);
}
END_TEST

/* ACT_TERM spares what has had it; so only an event that may bring new processes to light asks twice. */
START_TEST(a_second_stop_signals_nobody_again)
{
	enum service_state stopped = fsm_step(fsm_step(_i, EVENT_HOLD).to, EVENT_RELEASE).to;

	ck_assert_uint_eq(fsm_step(stopped, EVENT_HOLD).actions, 0);
	ck_assert_uint_eq(fsm_step(stopped, EVENT_RELEASE).actions, 0);
	ck_assert_int_eq(fsm_step(stopped, EVENT_HOLD).to, stopped);
	ck_assert_int_eq(fsm_step(stopped, EVENT_RELEASE).to, stopped);
	if (_i != STATE_CLEANING)
		ck_assert_uint_eq(fsm_step(_i, EVENT_HOLD).actions, 0);
}
END_TEST

/* It is counted once: at the first kill of a stop, and never for the cleaning of a run. */
START_TEST(forced_is_said_when_killing_begins)
{
	for (int event = 0; event < N_EVENTS; event++) {
		struct service_step step = fsm_step(_i, event);
		bool begins = _i != STATE_KILLING && step.to == STATE_KILLING;

		ck_assert_int_eq(!!(step.actions & ACT_FORCED), begins);
		if (begins)
			ck_assert(step.actions & ACT_KILL);
	}
}
END_TEST

/* Who stops is not brought back by news of before the stop. */
START_TEST(readiness_counts_while_starting_only)
{
	struct service_step step = fsm_step(_i, EVENT_READY);

	ck_assert_int_eq(step.to, _i == STATE_STARTING ? STATE_UP : _i);
	ck_assert_uint_eq(step.actions, 0);
}
END_TEST

START_TEST(a_start_is_for_what_is_at_rest)
{
	struct service_step step = fsm_step(_i, EVENT_START);

	if (fsm_has_process(_i))
		ck_assert(step.to == (enum service_state)_i && step.actions == 0);
	else
		ck_assert(step.to == STATE_STARTING && (step.actions & ACT_SPAWN));
}
END_TEST

START_TEST(a_run_ends_as_the_policy_says)
{
	if (_i != STATE_STARTING && _i != STATE_UP && _i != STATE_CLEANING)
		return;
	ck_assert_int_eq(fsm_step(_i, EVENT_DONE).to, STATE_DONE);
	ck_assert_int_eq(fsm_step(_i, EVENT_RETRY).to, STATE_BACKOFF);
	ck_assert_int_eq(fsm_step(_i, EVENT_FAIL).to, STATE_FAILED);
}
END_TEST

START_TEST(every_state_has_a_name_of_its_own)
{
	ck_assert_ptr_nonnull(fsm_state_name(_i));
	for (int other = STATE_INVALID; other < _i; other++)
		ck_assert_str_ne(fsm_state_name(_i), fsm_state_name(other));
}
END_TEST

START_TEST(every_event_has_a_name_of_its_own)
{
	ck_assert_ptr_nonnull(fsm_event_name(_i));
	for (int other = 0; other < _i; other++)
		ck_assert_str_ne(fsm_event_name(_i), fsm_event_name(other));
}
END_TEST

Suite *test_suite(void)
{
	const TTest *const of_each_state[] = {
		every_cell_is_written,
		every_state_can_be_reached,
		after_a_hold_only_a_start_spawns,
		a_process_is_never_started_beside_another,
		spawning_is_starting_and_nothing_else_is,
		every_state_can_be_stopped,
		the_signal_is_followed_by_the_kill,
		processes_are_gone_by_an_exit_only,
		only_processes_are_signalled,
		a_state_with_a_timeout_is_armed_as_it_is_entered,
		a_timeout_leads_on_or_is_armed_again,
		who_ends_by_himself_is_given_his_time,
		a_second_stop_signals_nobody_again,
		forced_is_said_when_killing_begins,
		readiness_counts_while_starting_only,
		a_start_is_for_what_is_at_rest,
		a_run_ends_as_the_policy_says,
		every_state_has_a_name_of_its_own,
	};
	Suite *s = suite_create("fsm");
	TCase *tc = tcase_create("fsm");

	for (size_t i = 0; i < ARRAY_SIZE(of_each_state); i++)
		tcase_add_loop_test(tc, of_each_state[i], FIRST_STATE, N_STATES);
	tcase_add_loop_test(tc, every_event_has_a_name_of_its_own, 0, N_EVENTS);
	suite_add_tcase(s, tc);
	return s;
}
