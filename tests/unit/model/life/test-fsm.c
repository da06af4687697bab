#include "tests/unit/fixtures/main.h"

#include <stdint.h>

#include "base/macro.h"
#include "model/life/fsm.h"

/*
 * Invariants of the whole table, for every set of parts.  Reachable states are explored: a set of
 * states is a word with a bit for each, and grows until no event adds a state.
 */

#define FIRST_STATE STATE_DOWN
#define BIT(state)  (UINT32_C(1) << (state))

static const enum service_event exits[] = { EVENT_DONE, EVENT_RETRY, EVENT_FAIL };

#define for_each_part_set(parts) for (unsigned parts = 0; parts <= ALL_PARTS; parts++)

static bool is_exit(enum service_event event)
{
	return event == EVENT_DONE || event == EVENT_RETRY || event == EVENT_FAIL;
}

static bool has_timeout(enum service_state state)
{
	return fsm_has_process(state) ? state != STATE_UP && state != STATE_WAITING
				      : state == STATE_BACKOFF;
}

static bool is_stopped(enum service_state state)
{
	return state == STATE_DOWN || fsm_is_going_down(state);
}

/* The states in which only a post-stop remains. */
static bool is_epilogue(enum service_state state)
{
	return state == STATE_CLOSING || state == STATE_FINISHING;
}

/* Returns true if the state is entered with these parts while its part is not over. */
static bool is_there(enum service_state state, unsigned parts)
{
	return !(fsm_part(state) & ~parts);
}

/* FOUND and the later ones come at the start of the daemon only. */
static bool is_of_former_daemon(enum service_event event)
{
	return event >= EVENT_FOUND;
}

/* All that can be reached from @states without @never. */
static uint32_t reachable(uint32_t states, enum service_event never, unsigned parts)
{
	uint32_t before;

	do {
		before = states;
		for (int state = FIRST_STATE; state < N_STATES; state++)
			for (int event = 0; event < N_EVENTS; event++)
				if ((before & BIT(state)) && event != (int)never &&
				    !is_of_former_daemon(event))
					states |= BIT(fsm_step(state, event, parts).to);
	} while (states != before);
	return states;
}

/* An exit, and the post-stop that may follow. */
static enum service_state after_exit(enum service_state state, enum service_event exit,
				     unsigned parts)
{
	state = fsm_step(state, exit, parts).to;
	return is_epilogue(state) ? fsm_step(state, exit, parts & ~(unsigned)PART_POST_STOP).to
				  : state;
}

/* A stop, and all that may come before the signal. */
static enum service_state after_stop(enum service_state state, unsigned parts)
{
	state = fsm_step(state, EVENT_HOLD, parts).to;
	if (state == STATE_DRAINING)
		state = fsm_step(state, EVENT_TIMEOUT, parts).to;
	return fsm_step(state, EVENT_RELEASE, parts).to;
}

/* The looping tests: _i is the state. */

START_TEST(every_cell_is_written)
{
	for_each_part_set(parts) for (int event = 0; event < N_EVENTS; event++)
	{
		enum service_state to = fsm_step(_i, event, parts).to;

		ck_assert_msg(to != STATE_INVALID && to < N_STATES, "%s, %s", fsm_state_name(_i),
			      fsm_event_name(event));
	}
}
END_TEST

START_TEST(a_state_can_be_reached_if_its_part_is_there)
{
	for_each_part_set(parts)
	{
		uint32_t states = reachable(BIT(STATE_DOWN), N_EVENTS, parts);

		/* Only a hold in FINISHING leads to a state with a part that may be over. */
		ck_assert_int_eq(!!(states & BIT(_i)), is_there(_i, parts));
	}
}
END_TEST

START_TEST(after_a_hold_only_a_start_starts_processes)
{
	for_each_part_set(parts)
	{
		uint32_t states =
			reachable(BIT(fsm_step(_i, EVENT_HOLD, parts).to), EVENT_START, parts);

		for (int state = FIRST_STATE; state < N_STATES; state++) {
			if (!(states & BIT(state)))
				continue;
			ck_assert_msg(is_stopped(state), "%s after a hold in %s",
				      fsm_state_name(state), fsm_state_name(_i));
			for (int event = 0; event < N_EVENTS; event++) {
				struct service_step step = fsm_step(state, event, parts);

				if (event == EVENT_START)
					continue;
				ck_assert_msg(!(step.actions & ACT_SPAWN), "%s, %s",
					      fsm_state_name(state), fsm_event_name(event));
				if (step.actions & ACT_HOOK)
					ck_assert(step.to == STATE_ASKING ||
						  step.to == STATE_CLOSING);
			}
		}
	}
}
END_TEST

START_TEST(a_process_never_starts_beside_another)
{
	for_each_part_set(parts) for (int event = 0; event < N_EVENTS;
				      event++) if (fsm_step(_i, event, parts).actions & ACT_SPAWN)
		ck_assert_msg(!fsm_has_process(_i) ||
				      (_i == STATE_PREPARING && event == EVENT_PASSED),
			      "%s, %s", fsm_state_name(_i), fsm_event_name(event));
}
END_TEST

START_TEST(only_starting_spawns)
{
	for_each_part_set(parts) for (int event = 0; event < N_EVENTS; event++)
	{
		struct service_step step = fsm_step(_i, event, parts);
		bool begins = _i != STATE_STARTING && step.to == STATE_STARTING &&
			      event != EVENT_RESUMED; /* its process is there */

		ck_assert_int_eq(!!(step.actions & ACT_SPAWN), begins);
	}
}
END_TEST

/* A service that is stopped in FINISHING continues its commands: they do not start again. */
START_TEST(the_commands_of_a_state_begin_when_it_is_entered)
{
	for_each_part_set(parts) for (int event = 0; event < N_EVENTS; event++)
	{
		struct service_step step = fsm_step(_i, event, parts);
		bool has_commands = fsm_part(step.to) && step.to != STATE_DRAINING;
		bool begins = has_commands && step.to != (enum service_state)_i &&
			      !(is_epilogue(_i) && is_epilogue(step.to));

		ck_assert_msg(!!(step.actions & ACT_HOOK) == begins, "%s, %s", fsm_state_name(_i),
			      fsm_event_name(event));
		if (begins)
			ck_assert(fsm_part(step.to) & parts);
	}
}
END_TEST

/* Without any part it is the life that has no commands; each part adds its states and no other. */
START_TEST(a_missing_part_is_passed_through)
{
	for_each_part_set(parts) for (int event = 0; event < N_EVENTS; event++)
	{
		enum service_state to = fsm_step(_i, event, parts).to;

		if (to != (enum service_state)_i && !is_epilogue(_i))
			ck_assert_msg(is_there(to, parts), "%s, %s -> %s", fsm_state_name(_i),
				      fsm_event_name(event), fsm_state_name(to));
	}
}
END_TEST

/* From every state, a stop, the end of the budget, and an exit lead to DOWN. */
START_TEST(every_state_can_be_stopped)
{
	for_each_part_set(parts) for (size_t i = 0; i < ARRAY_SIZE(exits); i++)
	{
		enum service_state state = after_stop(_i, parts);

		ck_assert_int_eq(after_exit(state, exits[i], parts), STATE_DOWN);
		state = fsm_step(state, EVENT_TIMEOUT, parts).to;
		ck_assert_int_eq(after_exit(state, exits[i], parts), STATE_DOWN);
		state = fsm_step(_i, EVENT_KILL, parts).to;
		ck_assert_int_eq(after_exit(state, exits[i], parts), STATE_DOWN);
	}
}
END_TEST

START_TEST(the_signal_is_followed_by_the_kill)
{
	for_each_part_set(parts)
	{
		enum service_state state = after_stop(_i, parts);
		struct service_step step = fsm_step(state, EVENT_TIMEOUT, parts);

		ck_assert_int_eq(fsm_has_process(state), fsm_has_process(_i));
		if (fsm_has_process(_i))
			ck_assert_uint_eq(step.actions & (ACT_KILL | ACT_ARM), ACT_KILL | ACT_ARM);
	}
}
END_TEST

/* After a failed stop-command, or without one, the service is signalled. */
START_TEST(a_successful_stop_command_replaces_the_signal)
{
	struct service_step step = fsm_step(STATE_ASKING, EVENT_PASSED, ALL_PARTS);

	ck_assert(step.to == STATE_STOPPING && !(step.actions & ACT_TERM));
	step = fsm_step(STATE_ASKING, EVENT_BROKEN, ALL_PARTS);
	ck_assert(step.to == STATE_STOPPING && (step.actions & ACT_TERM));
	step = fsm_step(STATE_WAITING, EVENT_RELEASE, 0);
	ck_assert(step.to == STATE_STOPPING && (step.actions & ACT_TERM));
}
END_TEST

/*
 * The guards are dropped when the last process is gone: so a state without one is left by an exit
 * only.
 */
START_TEST(only_an_exit_ends_processes)
{
	for_each_part_set(parts) for (int event = 0; event < N_EVENTS; event++)
	{
		enum service_state to = fsm_step(_i, event, parts).to;

		if (!fsm_has_process(_i))
			continue;
		ck_assert_msg(fsm_has_process(to) || is_exit(event), "%s, %s", fsm_state_name(_i),
			      fsm_event_name(event));
		if (is_exit(event) && fsm_has_process(to))
			ck_assert_msg(is_epilogue(to) && (parts & PART_POST_STOP), "%s, %s",
				      fsm_state_name(_i), fsm_event_name(event));
	}
}
END_TEST

START_TEST(only_processes_are_signalled)
{
	for_each_part_set(parts) for (int event = 0; event < N_EVENTS; event++)
	{
		struct service_step step = fsm_step(_i, event, parts);

		if (step.actions & (ACT_TERM | ACT_KILL | ACT_FORCED))
			ck_assert_msg(fsm_has_process(_i) && fsm_has_process(step.to) &&
					      !is_exit(event),
				      "%s, %s", fsm_state_name(_i), fsm_event_name(event));
	}
}
END_TEST

START_TEST(a_state_with_a_timeout_is_armed_as_it_is_entered)
{
	for_each_part_set(parts) for (int event = 0; event < N_EVENTS; event++)
	{
		struct service_step step = fsm_step(_i, event, parts);

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
	for_each_part_set(parts)
	{
		struct service_step step = fsm_step(_i, EVENT_TIMEOUT, parts);

		/* The timeout of UP is the watchdog's, which is armed elsewhere. */
		if (has_timeout(_i) || _i == STATE_UP)
			ck_assert(step.to != (enum service_state)_i || (step.actions & ACT_ARM));
		else
			ck_assert(step.to == (enum service_state)_i && step.actions == 0);
	}
}
END_TEST

/* A command that hangs is ended by its bound; one that helps to start is asked to end before. */
START_TEST(a_timeout_ends_the_commands)
{
	struct service_step step = fsm_step(_i, EVENT_TIMEOUT, ALL_PARTS);

	if (!fsm_part(_i) || _i == STATE_DRAINING)
		return;
	ck_assert(step.actions & (fsm_is_coming_up(_i) ? ACT_TERM : ACT_KILL));
}
END_TEST

/* A service that ends by itself gets no stop signal, but its time is limited. */
START_TEST(a_service_that_ends_by_itself_gets_time)
{
	struct service_step step = fsm_step(_i, EVENT_ENDING, ALL_PARTS);

	ck_assert(!(step.actions & (ACT_TERM | ACT_KILL)));
	if (_i != STATE_STARTING && _i != STATE_READYING && _i != STATE_UP)
		ck_assert(step.to == (enum service_state)_i && step.actions == 0);
	else
		ck_assert(fsm_step(step.to, EVENT_TIMEOUT, ALL_PARTS).actions & ACT_KILL);
}
END_TEST

/*
 * ACT_TERM skips processes that had it; so only an event that may reveal new processes asks
 * twice.
 */
START_TEST(a_second_stop_signals_no_process_again)
{
	for_each_part_set(parts)
	{
		enum service_state stopped = after_stop(_i, parts);
		unsigned first = fsm_step(_i, EVENT_HOLD, parts).actions;

		ck_assert_uint_eq(fsm_step(stopped, EVENT_HOLD, parts).actions, 0);
		ck_assert_uint_eq(fsm_step(stopped, EVENT_RELEASE, parts).actions, 0);
		ck_assert_int_eq(fsm_step(stopped, EVENT_HOLD, parts).to, stopped);
		ck_assert_int_eq(fsm_step(stopped, EVENT_RELEASE, parts).to, stopped);
		if (_i != STATE_CLEANING)
			ck_assert_uint_eq(first & ~(unsigned)ACT_ARM, 0);
	}
}
END_TEST

/* Forced is set once: at the first kill of a stop, and never in CLEANING. */
START_TEST(forced_is_set_when_killing_begins)
{
	for_each_part_set(parts) for (int event = 0; event < N_EVENTS; event++)
	{
		struct service_step step = fsm_step(_i, event, parts);
		bool begins = _i != STATE_KILLING && step.to == STATE_KILLING;

		ck_assert_int_eq(!!(step.actions & ACT_FORCED), begins);
		if (begins)
			ck_assert(step.actions & ACT_KILL);
	}
}
END_TEST

/* A service that stops is not moved back by an event from before the stop. */
START_TEST(readiness_counts_only_while_starting)
{
	for_each_part_set(parts)
	{
		struct service_step step = fsm_step(_i, EVENT_READY, parts);

		if (_i != STATE_STARTING)
			ck_assert(step.to == (enum service_state)_i && step.actions == 0);
		else
			ck_assert_int_eq(step.to,
					 parts & PART_POST_START ? STATE_READYING : STATE_UP);
	}
}
END_TEST

START_TEST(a_start_applies_to_services_at_rest)
{
	for_each_part_set(parts)
	{
		struct service_step step = fsm_step(_i, EVENT_START, parts);

		if (fsm_has_process(_i))
			ck_assert(step.to == (enum service_state)_i && step.actions == 0);
		else if (parts & PART_START_COMMAND)
			ck_assert(step.to == STATE_PREPARING && (step.actions & ACT_HOOK));
		else
			ck_assert(step.to == STATE_STARTING && (step.actions & ACT_SPAWN));
	}
}
END_TEST

START_TEST(a_broken_start_command_prevents_the_start)
{
	for_each_part_set(parts)
	{
		if (!fsm_is_coming_up(_i) || !fsm_part(_i))
			continue;
		ck_assert_int_eq(fsm_step(_i, EVENT_BROKEN, parts).to, STATE_CLEANING);
		ck_assert_int_eq(after_exit(STATE_CLEANING, EVENT_FAIL, parts), STATE_FAILED);
	}
}
END_TEST

START_TEST(a_run_ends_as_the_policy_decides)
{
	for_each_part_set(parts)
	{
		if (!fsm_has_process(_i) || is_stopped(_i))
			continue;
		ck_assert_int_eq(after_exit(_i, EVENT_DONE, parts), STATE_DONE);
		ck_assert_int_eq(after_exit(_i, EVENT_RETRY, parts), STATE_BACKOFF);
		ck_assert_int_eq(after_exit(_i, EVENT_FAIL, parts), STATE_FAILED);
	}
}
END_TEST

/* Once: a post-stop that is over at the exit does not start again. */
START_TEST(a_post_stop_follows_every_end)
{
	for (size_t i = 0; i < ARRAY_SIZE(exits); i++) {
		enum service_state to = fsm_step(_i, exits[i], PART_POST_STOP).to;

		if (fsm_has_process(_i) && !is_epilogue(_i))
			ck_assert_int_eq(to, is_stopped(_i) ? STATE_CLOSING : STATE_FINISHING);
		ck_assert(!is_epilogue(fsm_step(_i, exits[i], 0).to));
	}
}
END_TEST

/* Nothing starts, and no state but that of a new service is left. */
START_TEST(a_rest_goes_on_after_a_fault)
{
	static const enum service_state rests[] = { STATE_BACKOFF, STATE_DONE, STATE_FAILED };

	for_each_part_set(parts) for (int i = 0; i < (int)ARRAY_SIZE(rests); i++)
	{
		struct service_step step = fsm_step(_i, EVENT_WAS_BACKOFF + i, parts);

		ck_assert_int_eq(step.to, _i == STATE_DOWN ? (int)rests[i] : _i);
		ck_assert_uint_eq(step.actions & ~(unsigned)ACT_ARM, 0);
	}
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

START_TEST(every_change_of_state_has_a_reason)
{
	for (enum service_event event = 0; event < N_EVENTS; event++)
		if ((int)fsm_step(_i, event, ALL_PARTS).to != _i)
			ck_assert_msg(*fsm_reason(_i, event), "%s, %s", fsm_state_name(_i),
				      fsm_event_name(event));
}
END_TEST

Suite *test_suite(void)
{
	const TTest *const of_each_state[] = {
		every_cell_is_written,
		a_state_can_be_reached_if_its_part_is_there,
		after_a_hold_only_a_start_starts_processes,
		a_process_never_starts_beside_another,
		only_starting_spawns,
		the_commands_of_a_state_begin_when_it_is_entered,
		a_missing_part_is_passed_through,
		every_state_can_be_stopped,
		the_signal_is_followed_by_the_kill,
		only_an_exit_ends_processes,
		only_processes_are_signalled,
		a_state_with_a_timeout_is_armed_as_it_is_entered,
		a_timeout_leads_on_or_is_armed_again,
		a_timeout_ends_the_commands,
		a_service_that_ends_by_itself_gets_time,
		a_second_stop_signals_no_process_again,
		forced_is_set_when_killing_begins,
		readiness_counts_only_while_starting,
		a_start_applies_to_services_at_rest,
		a_broken_start_command_prevents_the_start,
		a_run_ends_as_the_policy_decides,
		a_post_stop_follows_every_end,
		a_rest_goes_on_after_a_fault,
		every_state_has_a_name_of_its_own,
	};
	Suite *s = suite_create("fsm");
	TCase *tc = tcase_create("fsm");

	for (size_t i = 0; i < ARRAY_SIZE(of_each_state); i++)
		tcase_add_loop_test(tc, of_each_state[i], FIRST_STATE, N_STATES);
	tcase_add_test(tc, a_successful_stop_command_replaces_the_signal);
	tcase_add_loop_test(tc, every_change_of_state_has_a_reason, STATE_INVALID + 1, N_STATES);
	tcase_add_loop_test(tc, every_event_has_a_name_of_its_own, 0, N_EVENTS);
	suite_add_tcase(s, tc);
	return s;
}
