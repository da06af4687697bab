#pragma once

/*
 * Points in time that come again, by the wall clock.  The words are those of systemd.time(7) and of
 * crontab(5):
 *
 *	daily, @daily, daily 03:00		minutely, hourly, daily, weekly, monthly, yearly
 *	Mon..Fri 08:30, Sat,Sun *-*-01 12:00	[WEEKDAYS] [*-MONTH-DAY] [HOUR:MINUTE[:SECOND]] [UTC]
 *	0/15:00, *:0/10				each part: *, N, A..B, a list with commas, .../STEP
 *	30 3 * * 1-5				minute, hour, day, month, weekday
 *
 * Times are those of the zone, or local without one, unless UTC is given.  Unless all hours are meant, a
 * time that the clock skips in spring comes when the clock jumps, and a time that comes twice in autumn
 * counts once.
 */

#include "base/std.h"

/* Sets of numbers, a bit for each. */
struct calendar {
	uint64_t seconds, minutes;
	uint32_t hours, days, weekdays; /* days from 1; weekdays: 0 is Sunday */
	uint32_t months;		/* from 1 */
	bool either; /* a match of days or of weekdays is enough, as in crontab(5) when both are restricted */
	bool utc;
	const char *zone; /* borrowed: "Europe/Berlin"; NULL: that of the process */
};

#define CALENDAR_ZONES	  "/usr/share/zoneinfo/" /* of the C library */
#define CALENDAR_ZONE_MAX 64			 /* bytes of a name */

/* Return: 0; -EINVAL: not of these words; -ERANGE: such a time never comes. */
int calendar_parse(const char *text, struct calendar *ret);

/*
 * The first time after @usec, both of CLOCK_REALTIME; USEC_INFINITY: none in thirty years.  No other thread may
 * use the environment or the zone of the process meanwhile: with a zone both are replaced until it returns.
 */
uint64_t calendar_next(const struct calendar *calendar, uint64_t usec);
