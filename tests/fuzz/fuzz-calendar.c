/*
 * A zone, a moment near a change of its clock, and the text of a calendar.  The next time is the one
 * that a search through the days and times of the calendar finds, which maps each to real time by the
 * list of the changes.
 */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/macro.h"
#include "model/types/calendar.h"

#define MOMENT_MAX	 INT64_C(4000000000) /* in the year 2096 */
#define CHANGES_MAX	 512
#define DAY		 86400
#define QUARTER		 900
#define ALL_HOURS	 0xffffffu
#define YEARS		 30
#define PUT_BACK_MINUTES 240 /* at most, at once */
#define BEHIND		 3   /* days: a time may come later than one of the day after it */

/* From @since on, until the next period, the clock has this offset to UTC. */
struct period {
	int64_t since, offset;
};

struct zone {
	const char *name;
	struct period periods[CHANGES_MAX];
	size_t n;
};

static struct zone zones[] = {
	{ .name = "UTC" },
	{ .name = "Europe/Berlin" },
	{ .name = "America/Nuuk" },
	{ .name = "Australia/Lord_Howe" },
	{ .name = "Asia/Kathmandu" },
	{ .name = "Pacific/Apia" },
	{ .name = "America/Havana" },
	{ .name = "America/St_Johns" },
	{ .name = "Africa/Casablanca" },
	{ .name = "Antarctica/Troll" },
};

static int64_t offset_at(int64_t moment)
{
	time_t t = (time_t)moment;
	struct tm tm;

	FUZZ_CHECK(localtime_r(&t, &tm));
	return tm.tm_gmtoff;
}

static void scan_zone(struct zone *zone)
{
	zone->periods[zone->n++] = (struct period){ -DAY, offset_at(-DAY) };
	for (int64_t at = -DAY; at < MOMENT_MAX + YEARS * 366 * DAY; at += DAY) {
		int64_t low = at, high = at + DAY, offset = zone->periods[zone->n - 1].offset;

		if (offset_at(high) == offset)
			continue;
		while (low + 1 < high) {
			int64_t middle = (low + high) / 2;

			*(offset_at(middle) == offset ? &low : &high) = middle;
		}
		FUZZ_CHECK(zone->n < CHANGES_MAX);
		zone->periods[zone->n++] = (struct period){ high, offset_at(high) };
	}
}

static const struct zone *use_zone(unsigned choice)
{
	struct zone *zone = &zones[choice % ARRAY_SIZE(zones)];

	FUZZ_CHECK(setenv("TZ", zone->name, 1) == 0);
	tzset();
	if (zone->n == 0)
		scan_zone(zone);
	return zone;
}

/* --- the search --- */

struct search {
	const struct calendar *calendar;
	const struct zone *zone;
	int64_t from, found; /* @found is -1: not yet */
};

static void find(struct search *search, int64_t moment)
{
	if (moment > search->from && (search->found < 0 || moment < search->found))
		search->found = moment;
}

/* @local: the seconds that the clock shows, as of 1970. */
static void try_local(struct search *search, int64_t local)
{
	const struct period *periods = search->zone->periods;
	bool all_hours = search->calendar->hours == ALL_HOURS, shown = false;

	if (search->calendar->utc) {
		find(search, local);
		return;
	}
	for (size_t i = 0; i < search->zone->n; i++) {
		int64_t moment = local - periods[i].offset;
		bool last = i + 1 == search->zone->n;

		if (moment >= periods[i].since && (last || moment < periods[i + 1].since)) {
			if (!shown || all_hours)
				find(search, moment);
			shown = true;
		}
	}
	/* The clock shows less at the end of a period, and more at the beginning of the next one. */
	for (size_t i = 1; !shown && !all_hours && i < search->zone->n; i++)
		if (local >= periods[i].since + periods[i - 1].offset &&
		    local < periods[i].since + periods[i].offset)
			find(search, periods[i].since);
}

static bool has(uint64_t set, int64_t number)
{
	return set & UINT64_C(1) << number;
}

static bool day_fits(const struct calendar *c, int64_t day)
{
	time_t noon = (time_t)(day * DAY + DAY / 2);
	struct tm tm;
	bool by_day, by_weekday;

	FUZZ_CHECK(gmtime_r(&noon, &tm));
	by_day = has(c->days, tm.tm_mday);
	by_weekday = has(c->weekdays, (day % 7 + 7 + 4) % 7); /* 1970 began with a Thursday */
	return has(c->months, tm.tm_mon + 1) &&
	       (c->either ? by_day || by_weekday : by_day && by_weekday);
}

/*
 * No more minutes of a day than those that may have the next time: where the clock is put back, a later one may come
 * first.
 */
static void try_day(struct search *search, int64_t day)
{
	const struct calendar *c = search->calendar;
	int64_t best = 0;

	for (int64_t minute = 0; minute < DAY / 60; minute++) {
		int64_t before = search->found;

		if (!has(c->hours, minute / 60) || !has(c->minutes, minute % 60))
			continue;
		for (int64_t second = 0; second < 60; second++)
			if (has(c->seconds, second))
				try_local(search, day * DAY + minute * 60 + second);
		if (before != search->found)
			best = minute;
		if (search->found >= 0 && minute > best + PUT_BACK_MINUTES)
			break;
	}
}

static int64_t search_next(struct search *search)
{
	int64_t day = (search->from + offset_at(search->from)) / DAY - BEHIND;
	int64_t last = day + (int64_t)YEARS * 365;

	for (; day < last; day++) {
		if (search->found >= 0 && day * DAY > search->found + BEHIND * DAY)
			break;
		if (day_fits(search->calendar, day))
			try_day(search, day);
	}
	return search->found;
}

static int64_t read_moment(struct fuzz_input *input, const struct zone *zone)
{
	unsigned high = fuzz_byte(input), choice = high << 8 | fuzz_byte(input);
	int64_t quarters = (int8_t)fuzz_byte(input), seconds = (int8_t)fuzz_byte(input);
	int64_t at = (int64_t)choice * (MOMENT_MAX / 65536);

	/* All but the first are changes. */
	if (zone->n > 1 && high < 240)
		at = zone->periods[1 + choice % (zone->n - 1)].since;
	at += quarters * QUARTER + seconds;
	return at < 0 ? 0 : at > MOMENT_MAX ? MOMENT_MAX : at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	const struct zone *zone = use_zone(fuzz_byte(&input));
	struct calendar calendar;
	struct search search = {
		.calendar = &calendar,
		.zone = zone,
		.from = read_moment(&input, zone),
		.found = -1,
	};
	char text[256];
	uint64_t next;

	if (input.size >= sizeof(text))
		return 0;
	memcpy(text, input.data, input.size);
	text[input.size] = '\0';
	if (calendar_parse(text, &calendar) < 0)
		return 0;
	next = calendar_next(&calendar, (uint64_t)search.from * USEC_PER_SEC);
	if (search_next(&search) < 0) {
		/* The last days of thirty years are searched by one of both only. */
		FUZZ_CHECK(next > (uint64_t)(search.from + (YEARS * 365 - 2 * BEHIND) * DAY) *
					  USEC_PER_SEC);
		return 0;
	}
	FUZZ_CHECK(next == (uint64_t)search.found * USEC_PER_SEC);
	return 0;
}
