#include "tests/unit/fixtures/main.h"

#include <stdlib.h>

#include "base/macro.h"
#include "daemon/loop/alarm.h"

/* Most times are in the past, so that no test waits for them. */
#define MANY	 500
#define FAR_AWAY (clock_now_usec() + 3600 * USEC_PER_SEC)

static sd_event *event;
static struct alarms alarms;
static struct agenda agenda;
static struct log no_log = { .fd = -1, .level = LOG_EMERG, .name = "test" };

struct counted {
	struct alarm alarm;
	uint64_t usec; /* latest time; USEC_INFINITY: off */
	unsigned fired;
};

static struct counted counted[MANY];
static uint64_t latest;
static unsigned fired;

static void on_alarm(struct alarm *alarm)
{
	struct counted *c = container_of(alarm, struct counted, alarm);

	ck_assert_uint_ge(c->usec, latest);
	ck_assert_uint_eq(alarm->usec, USEC_INFINITY);
	latest = c->usec;
	c->usec = USEC_INFINITY;
	c->fired++;
	fired++;
}

static void set(struct counted *c, uint64_t usec)
{
	c->usec = usec;
	alarm_set(&alarms, &c->alarm, usec);
}

static void run(void)
{
	while (sd_event_run(event, 0) > 0 || alarms.due)
		alarms_run(&alarms);
}

static void setup(void)
{
	agenda_init(&agenda);
	ck_assert_int_ge(sd_event_new(&event), 0);
	ck_assert_int_eq(alarms_init(&alarms, event, &agenda, &no_log), 0);
	for (size_t i = 0; i < MANY; i++) {
		alarm_init(&counted[i].alarm, on_alarm);
		counted[i].usec = USEC_INFINITY;
		counted[i].fired = 0;
	}
	latest = fired = 0;
}

static void teardown(void)
{
	alarms_done(&alarms);
	sd_event_unref(event);
}

START_TEST(alarms_fire_in_order)
{
	unsigned seed = 1, expected = 0;

	for (unsigned i = 0; i < 20 * MANY; i++) {
		struct counted *c = &counted[(unsigned)rand_r(&seed) % MANY];

		set(c, rand_r(&seed) % 3 == 0 ? USEC_INFINITY : 1 + (unsigned)rand_r(&seed) % 300);
	}
	for (size_t i = 0; i < MANY; i++)
		expected += counted[i].usec != USEC_INFINITY;
	run();
	ck_assert_uint_eq(fired, expected);
	for (size_t i = 0; i < MANY; i++)
		ck_assert_uint_eq(counted[i].usec, USEC_INFINITY);
	ck_assert_ptr_null(alarms.first);
}
END_TEST

START_TEST(many_alarms_fire_in_portions)
{
	for (size_t i = 0; i < MANY; i++)
		set(&counted[i], 1 + i % 7);
	alarms_run(&alarms);
	ck_assert_uint_gt(fired, 0);
	ck_assert_uint_lt(fired, MANY);
	run();
	ck_assert_uint_eq(fired, MANY);
}
END_TEST

START_TEST(future_alarm_does_not_fire)
{
	set(&counted[0], FAR_AWAY);
	set(&counted[1], 1);
	set(&counted[2], FAR_AWAY);
	run();
	ck_assert_uint_eq(fired, 1);
	ck_assert_uint_eq(counted[1].fired, 1);
	set(&counted[0], 2);
	run();
	ck_assert_uint_eq(counted[0].fired, 1);
}
END_TEST

START_TEST(the_loop_is_woken_in_time)
{
	uint64_t usec = clock_now_usec() + 20 * USEC_PER_MSEC;

	set(&counted[0], usec);
	ck_assert(!alarms.due);
	ck_assert_int_gt(sd_event_run(event, 20 * USEC_PER_SEC), 0);
	ck_assert(alarms.due);
	alarms_run(&alarms);
	ck_assert_uint_eq(fired, 1);
	ck_assert_uint_ge(clock_now_usec(), usec);
}
END_TEST

START_TEST(loop_is_not_woken_for_a_stopped_alarm)
{
	set(&counted[0], 1);
	set(&counted[1], 2);
	set(&counted[0], USEC_INFINITY);
	set(&counted[1], USEC_INFINITY);
	ck_assert_int_eq(sd_event_run(event, 0), 0);
	ck_assert(!alarms.due);
}
END_TEST

static void on_again(struct alarm *alarm)
{
	struct counted *c = container_of(alarm, struct counted, alarm);

	if (++c->fired < 3)
		alarm_set(&alarms, alarm, 1);
	alarm_set(&alarms, &counted[1].alarm, USEC_INFINITY);
	alarm_set(&alarms, &counted[2].alarm, FAR_AWAY);
}

START_TEST(alarm_function_may_set_and_stop_any_alarm)
{
	alarm_init(&counted[0].alarm, on_again);
	set(&counted[0], 1);
	set(&counted[1], 2);
	set(&counted[2], 2);
	run();
	ck_assert_uint_eq(counted[0].fired, 3);
	ck_assert_uint_eq(fired, 0);
}
END_TEST

START_TEST(alarm_without_a_function_makes_a_turn_due)
{
	struct alarm alarm;

	alarm_init(&alarm, NULL);
	alarm_set(&alarms, &alarm, FAR_AWAY);
	run();
	ck_assert(!agenda_is_due(&agenda));
	alarm_set(&alarms, &alarm, 1);
	run();
	ck_assert(agenda_is_due(&agenda));
	ck_assert_uint_eq(alarm.usec, USEC_INFINITY);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("daemon-alarm");
	TCase *tc = tcase_create("alarm");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, alarms_fire_in_order);
	tcase_add_test(tc, many_alarms_fire_in_portions);
	tcase_add_test(tc, future_alarm_does_not_fire);
	tcase_add_test(tc, the_loop_is_woken_in_time);
	tcase_add_test(tc, loop_is_not_woken_for_a_stopped_alarm);
	tcase_add_test(tc, alarm_function_may_set_and_stop_any_alarm);
	tcase_add_test(tc, alarm_without_a_function_makes_a_turn_due);
	suite_add_tcase(s, tc);
	return s;
}
