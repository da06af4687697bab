/* The zone is that of Berlin, written out, so that no data base of zones is needed. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/macro.h"
#include "model/types/calendar.h"
#include "tests/unit/fixtures/main.h"

#define TEXT_MAX 40

static uint64_t usec_of(const char *text)
{
	struct tm tm = { .tm_isdst = -1 };

	ck_assert_ptr_nonnull(strptime(text, "%Y-%m-%d %H:%M:%S", &tm));
	tm.tm_isdst = -1;
	return (uint64_t)mktime(&tm) * USEC_PER_SEC;
}

static const char *text_of(char text[static TEXT_MAX], uint64_t usec)
{
	time_t t = (time_t)(usec / USEC_PER_SEC);
	struct tm tm;

	(void)localtime_r(&t, &tm);
	(void)strftime(text, TEXT_MAX, "%Y-%m-%d %H:%M:%S %Z", &tm);
	return text;
}

static void in_zone(const char *zone)
{
	(void)setenv("TZ", zone, 1);
	tzset();
}

static void in_berlin(void)
{
	in_zone("CET-1CEST,M3.5.0,M10.5.0/3");
}

/* 2026-11-23 is a Monday; the clock is changed on 2026-03-29 and 2026-10-25. */
static const struct {
	const char *calendar, *from, *next;
} times[] = {
	{ "minutely", "2026-11-23 10:00:00", "2026-11-23 10:01:00 CET" },
	{ "hourly", "2026-11-23 10:00:00", "2026-11-23 11:00:00 CET" },
	{ "daily", "2026-11-23 10:00:00", "2026-11-24 00:00:00 CET" },
	{ "@daily", "2026-12-31 10:00:00", "2027-01-01 00:00:00 CET" },
	{ "weekly", "2026-11-24 10:00:00", "2026-11-30 00:00:00 CET" },
	{ "monthly", "2026-11-24 10:00:00", "2026-12-01 00:00:00 CET" },
	{ "yearly", "2026-11-24 10:00:00", "2027-01-01 00:00:00 CET" },
	{ "daily 03:00", "2026-11-23 02:59:59", "2026-11-23 03:00:00 CET" },
	{ "daily 03:00", "2026-11-23 03:00:00", "2026-11-24 03:00:00 CET" },
	{ "daily 03:00 UTC", "2026-11-23 03:00:00", "2026-11-23 04:00:00 CET" },
	{ "08:30:15", "2026-11-23 08:30:14", "2026-11-23 08:30:15 CET" },
	{ "*:0/15", "2026-11-23 08:31:00", "2026-11-23 08:45:00 CET" },
	{ "Mon..Fri 08:30", "2026-11-27 09:00:00", "2026-11-30 08:30:00 CET" },
	{ "Fri..Mon 08:30", "2026-11-23 09:00:00", "2026-11-27 08:30:00 CET" },
	{ "Sat,Sun 12:00", "2026-11-23 09:00:00", "2026-11-28 12:00:00 CET" },
	{ "*-*-31 12:00", "2026-11-23 09:00:00", "2026-12-31 12:00:00 CET" },
	{ "02-29", "2026-11-23 09:00:00", "2028-02-29 00:00:00 CET" },
	{ "Fri *-*-13 00:00", "2026-11-23 09:00:00", "2027-08-13 00:00:00 CEST" },
	{ "*/10 * * * *", "2026-11-23 09:51:00", "2026-11-23 10:00:00 CET" },
	{ "30 3 * * 1-5", "2026-11-27 04:00:00", "2026-11-30 03:30:00 CET" },
	{ "30 3 * * 7", "2026-11-23 04:00:00", "2026-11-29 03:30:00 CET" },
	{ "0 0 1 * mon", "2026-11-23 04:00:00", "2026-11-30 00:00:00 CET" },
	{ "0 0 1 * mon", "2026-11-30 04:00:00", "2026-12-01 00:00:00 CET" },
	{ "0 0 1 jan *", "2026-11-30 04:00:00", "2027-01-01 00:00:00 CET" },
	/* The clock goes from 02:00 to 03:00. */
	{ "daily 02:30", "2026-03-28 10:00:00", "2026-03-29 03:00:00 CEST" },
	{ "daily 02:30", "2026-03-29 03:00:00", "2026-03-30 02:30:00 CEST" },
	{ "daily 03:00", "2026-03-28 10:00:00", "2026-03-29 03:00:00 CEST" },
	{ "*/30 * * * *", "2026-03-29 01:30:00", "2026-03-29 03:00:00 CEST" },
	/* The clock goes from 03:00 back to 02:00. */
	{ "daily 02:30", "2026-10-24 10:00:00", "2026-10-25 02:30:00 CEST" },
	{ "hourly", "2026-10-25 01:30:00", "2026-10-25 02:00:00 CEST" },
};

START_TEST(next_time_of_a_calendar)
{
	char text[TEXT_MAX];
	struct calendar c;

	in_berlin();
	ck_assert_msg(calendar_parse(times[_i].calendar, &c) == 0, "%s", times[_i].calendar);
	ck_assert_msg(strcmp(text_of(text, calendar_next(&c, usec_of(times[_i].from))),
			     times[_i].next) == 0,
		      "%s after %s: %s, not %s", times[_i].calendar, times[_i].from, text,
		      times[_i].next);
}
END_TEST

/* From the first to the third of a list of times that follow each other. */
START_TEST(time_that_comes_twice_counts_once_unless_all_hours_are_meant)
{
	static const struct {
		const char *calendar, *from, *next[3];
	} series[] = {
		{ "daily 02:30",
		  "2026-10-24 10:00:00",
		  { "2026-10-25 02:30:00 CEST", "2026-10-26 02:30:00 CET",
		    "2026-10-27 02:30:00 CET" } },
		{ "*/30 * * * *",
		  "2026-10-25 01:59:00",
		  { "2026-10-25 02:00:00 CEST", "2026-10-25 02:30:00 CEST",
		    "2026-10-25 02:00:00 CET" } },
	};
	char text[TEXT_MAX];
	struct calendar c;
	uint64_t usec;

	in_berlin();
	usec = usec_of(series[_i].from);
	ck_assert_int_eq(calendar_parse(series[_i].calendar, &c), 0);
	for (size_t k = 0; k < 3; k++) {
		usec = calendar_next(&c, usec);
		ck_assert_str_eq(text_of(text, usec), series[_i].next[k]);
	}
}
END_TEST

/* Of zones that change the clock near midnight, or by another time than an hour. */
#define NUUK	  "<-02>2<-01>,M3.5.0/-1,M10.5.0/0"
#define HAVANA	  "CST5CDT,M3.2.0/0,M11.1.0/1"
#define ST_JOHNS  "NST3:30NDT,M3.2.0/0:01,M11.1.0/0:01"
#define LORD_HOWE "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"
#define TROLL	  "<+00>0<+02>-2,M3.5.0/1,M10.5.0/3"
static const struct {
	const char *zone, *calendar, *from, *next;
} changes[] = {
	/* From 23:00 to 00:00. */
	{ NUUK, "daily 23:30", "2024-03-30 22:00:00", "2024-03-31 00:00:00 -01" },
	{ NUUK, "daily 23:30", "2024-03-31 00:00:00", "2024-03-31 23:30:00 -01" },
	{ NUUK, "Sat 23:30", "2024-03-30 10:00:00", "2024-03-31 00:00:00 -01" },
	{ NUUK, "*-03-30 23:59:59", "2024-03-01 10:00:00", "2024-03-31 00:00:00 -01" },
	{ NUUK, "Sun 23:30", "2024-03-30 10:00:00", "2024-03-31 23:30:00 -01" },
	/* From 00:00 back to 23:00. */
	{ NUUK, "daily 23:30", "2024-10-26 10:00:00", "2024-10-26 23:30:00 -01" },
	{ NUUK, "daily 23:30", "2024-10-26 23:30:00", "2024-10-27 23:30:00 -02" },
	/* From 00:00 to 01:00, and from 01:00 back to 00:00. */
	{ HAVANA, "Sun 00:30", "2026-03-07 10:00:00", "2026-03-08 01:00:00 CDT" },
	{ HAVANA, "Sat 00:30", "2026-03-07 10:00:00", "2026-03-14 00:30:00 CDT" },
	{ HAVANA, "Sun 00:30", "2026-10-31 10:00:00", "2026-11-01 00:30:00 CDT" },
	{ HAVANA, "Sun 00:30", "2026-11-01 00:45:00", "2026-11-08 00:30:00 CST" },
	/* From 00:01 to 01:01. */
	{ ST_JOHNS, "daily 00:30", "2010-03-13 10:00:00", "2010-03-14 01:01:00 NDT" },
	/* From 02:00 to 02:30. */
	{ LORD_HOWE, "daily 02:15", "2026-10-03 10:00:00", "2026-10-04 02:30:00 +11" },
	{ LORD_HOWE, "daily 01:45", "2026-04-04 10:00:00", "2026-04-05 01:45:00 +11" },
	/* From 03:00 back to 01:00. */
	{ TROLL, "daily 01:30", "2026-10-25 02:59:59", "2026-10-26 01:30:00 +00" },
	{ TROLL, "*-10-25 01,02:30", "2026-10-25 02:30:00", "2027-10-25 01:30:00 +02" },
};

START_TEST(clock_may_change_at_midnight_or_by_any_time)
{
	char text[TEXT_MAX];
	struct calendar c;

	in_zone(changes[_i].zone);
	ck_assert_int_eq(calendar_parse(changes[_i].calendar, &c), 0);
	ck_assert_msg(strcmp(text_of(text, calendar_next(&c, usec_of(changes[_i].from))),
			     changes[_i].next) == 0,
		      "%s after %s in %s: %s, not %s", changes[_i].calendar, changes[_i].from,
		      changes[_i].zone, text, changes[_i].next);
}
END_TEST

static const struct {
	const char *zone, *calendar, *from, *next;
} zones[] = {
	{ "Europe/Berlin", "daily 03:30", "2026-01-05 10:00:00", "2026-01-06 02:30:00 UTC" },
	{ "America/New_York", "daily 03:30", "2026-01-05 10:00:00", "2026-01-06 08:30:00 UTC" },
	{ "Asia/Tokyo", "daily 03:30", "2026-01-05 10:00:00", "2026-01-05 18:30:00 UTC" },
	{ "Asia/Tokyo", "daily 03:30 UTC", "2026-01-05 10:00:00", "2026-01-06 03:30:00 UTC" },
	/* A time that is skipped, and one that comes twice. */
	{ "Europe/Berlin", "daily 02:30", "2026-03-28 10:00:00", "2026-03-29 01:00:00 UTC" },
	{ "Europe/Berlin", "daily 02:30", "2026-10-25 00:00:00", "2026-10-25 00:30:00 UTC" },
	{ "Europe/Berlin", "daily 02:30", "2026-10-25 00:30:00", "2026-10-26 01:30:00 UTC" },
};

START_TEST(calendar_may_have_a_zone)
{
	char **before, text[TEXT_MAX];
	struct calendar c;

	in_zone("UTC");
	before = environ;
	if (access(CALENDAR_ZONES "Europe/Berlin", R_OK) < 0)
		return;
	ck_assert_int_eq(calendar_parse(zones[_i].calendar, &c), 0);
	c.zone = zones[_i].zone;
	ck_assert_str_eq(text_of(text, calendar_next(&c, usec_of(zones[_i].from))), zones[_i].next);
	/* Nothing else has another zone for it. */
	ck_assert_ptr_eq(environ, before);
	ck_assert_str_eq(getenv("TZ"), "UTC");
	ck_assert_str_eq(text_of(text, 0), "1970-01-01 00:00:00 UTC");
}
END_TEST

START_TEST(text_that_is_no_calendar_is_refused)
{
	static const char *const bad[] = {
		"",	      "sometimes",   "25:00",	  "12:60",
		"daily 3",    "daily daily", "* * * *",	  "* * * * * *",
		"60 * * * *", "*/0 * * * *", "Mon..Foo",  "Mon 08:30 Mon",
		"-1:00",      "1-0 * * * *", "*-13-01",	  "*-*-32 12:00",
		"UTC",	      "08:30:15:01", "0 0 * * 8", "2026-01-01 12:00",
	};
	struct calendar c;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(calendar_parse(bad[i], &c) == -EINVAL, "'%s'", bad[i]);
	ck_assert_int_eq(calendar_parse("02-30", &c), -ERANGE);
	ck_assert_int_eq(calendar_parse("0 0 31 2 *", &c), -ERANGE);
}
END_TEST

/* Of all calendars, at random times: the next one is later, and nothing fits between. */
START_TEST(next_time_is_later_and_none_is_left_out)
{
	unsigned seed = 1;

	in_berlin();
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		struct calendar c;

		ck_assert_int_eq(calendar_parse(times[i].calendar, &c), 0);
		for (int k = 0; k < 50; k++) {
			uint64_t from =
				(UINT64_C(1700000000) + (uint64_t)rand_r(&seed) % 200000000) *
				USEC_PER_SEC;
			uint64_t next = calendar_next(&c, from);

			ck_assert_uint_gt(next, from);
			ck_assert_uint_eq(calendar_next(&c, next - USEC_PER_SEC), next);
			ck_assert_uint_eq(calendar_next(&c, from + (next - from) / 2), next);
		}
	}
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("calendar");
	TCase *tc = tcase_create("calendar");

	tcase_add_loop_test(tc, next_time_of_a_calendar, 0, ARRAY_SIZE(times));
	tcase_add_loop_test(tc, time_that_comes_twice_counts_once_unless_all_hours_are_meant, 0, 2);
	tcase_add_loop_test(tc, clock_may_change_at_midnight_or_by_any_time, 0,
			    ARRAY_SIZE(changes));
	tcase_add_loop_test(tc, calendar_may_have_a_zone, 0, ARRAY_SIZE(zones));
	tcase_add_test(tc, text_that_is_no_calendar_is_refused);
	tcase_add_test(tc, next_time_is_later_and_none_is_left_out);
	suite_add_tcase(suite, tc);
	return suite;
}
