/*
 * The search goes on in real time, from the second after the given one, and skips what cannot fit: to
 * the next month, day, hour, minute or second, as far away as they are while the clock is not changed.
 * It stops at each change of the clock, which the offset to UTC shows, so each local time is met as
 * often as the clock shows it.
 *
 * The C library knows one zone at a time, that of TZ.  For another one it finds an environment with nothing else:
 * setenv(3) would allocate a string for each change, and not free it.
 */
#include "model/types/calendar.h"

#include <strings.h>

#define YEARS	  30
#define DAY	  86400 /* seconds */
#define TOKENS	  5
#define TOKEN_MAX 64
#define ALL_HOURS 0xffffffu

/* --- reading --- */

struct part {
	unsigned min, max;
	const char *const *names; /* names of @min and the numbers after it; NULL: none */
	unsigned n_names;
	const char *range; /* between the two ends of a range */
};

static const char *const weekday_names[] = { "Sunday",	 "Monday", "Tuesday", "Wednesday",
					     "Thursday", "Friday", "Saturday" };
static const char *const month_names[] = { "January",	"February", "March",	"April",
					   "May",	"June",	    "July",	"August",
					   "September", "October",  "November", "December" };

#define NAMES(names) names, ARRAY_SIZE(names)

static const struct part second_part = { 0, 59, NULL, 0, ".." };
static const struct part hour_part = { 0, 23, NULL, 0, ".." };
static const struct part day_part = { 1, 31, NULL, 0, ".." };
static const struct part month_part = { 1, 12, NAMES(month_names), ".." };
static const struct part weekday_part = { 0, 6, NAMES(weekday_names), ".." };
static const struct part cron_parts[TOKENS] = {
	{ 0, 59, NULL, 0, "-" },
	{ 0, 23, NULL, 0, "-" },
	{ 1, 31, NULL, 0, "-" },
	{ 1, 12, NAMES(month_names), "-" },
	{ 0, 7, NAMES(weekday_names), "-" },
};

/* A number, or a name or its first three letters. */
static int calendar_read_value(const struct part *part, const char *text, unsigned *ret)
{
	uint64_t number;

	for (unsigned i = 0; i < part->n_names; i++) {
		if (strcasecmp(text, part->names[i]) == 0 ||
		    (strlen(text) == 3 && strncasecmp(text, part->names[i], 3) == 0)) {
			*ret = part->min + i;
			return 0;
		}
	}
	if (*text == '0' && text[1])
		text++; /* 08 */
	if (parse_uint(text, part->max, &number) < 0 || number < part->min)
		return -EINVAL;
	*ret = (unsigned)number;
	return 0;
}

/* "*", "5", "1..5", "0/15": one of a list. */
static int calendar_read_item(const struct part *part, char *text, uint64_t *set)
{
	char *step = strchr(text, '/'), *range;
	unsigned first = part->min, last = part->max, by = 1;
	uint64_t number;

	if (step) {
		*step++ = '\0';
		if (parse_uint(step, part->max, &number) < 0 || number == 0)
			return -EINVAL;
		by = (unsigned)number;
	}
	range = strstr(text, part->range);
	if (range) {
		*range = '\0';
		if (calendar_read_value(part, range + strlen(part->range), &last) < 0)
			return -EINVAL;
	}
	if (strcmp(text, "*") != 0) {
		if (calendar_read_value(part, text, &first) < 0)
			return -EINVAL;
		last = range ? last : step ? part->max : first;
	}
	/* Fri..Mon goes over the end of the week. */
	if (last < first && part->n_names == ARRAY_SIZE(weekday_names))
		last += 7;
	if (last < first)
		return -EINVAL;
	for (unsigned n = first; n <= last; n += by)
		*set |= UINT64_C(1) << n;
	return 0;
}

static int calendar_read_set(const struct part *part, const char *text, uint64_t *ret)
{
	char copy[TOKEN_MAX], *rest = copy, *item;
	uint64_t set = 0;

	if (strlen(text) >= sizeof(copy))
		return -EINVAL;
	strcpy(copy, text);
	while ((item = strsep(&rest, ","))) {
		if (calendar_read_item(part, item, &set) < 0)
			return -EINVAL;
	}
	if (part->n_names == ARRAY_SIZE(weekday_names))
		set = (set | set >> 7) & 0x7f; /* 7 is Sunday, too */
	*ret = set;
	return 0;
}

static int calendar_read_cron(char *const tokens[TOKENS], struct calendar *ret)
{
	uint64_t set[TOKENS];

	for (size_t i = 0; i < TOKENS; i++) {
		if (calendar_read_set(&cron_parts[i], tokens[i], &set[i]) < 0)
			return -EINVAL;
	}
	*ret = (struct calendar){
		.seconds = 1,
		.minutes = set[0],
		.hours = (uint32_t)set[1],
		.days = (uint32_t)set[2],
		.months = (uint32_t)set[3],
		.weekdays = (uint32_t)set[4],
		.either = *tokens[2] != '*' && *tokens[4] != '*',
	};
	return 0;
}

/* HOUR:MINUTE[:SECOND] */
static int calendar_read_time(char *text, struct calendar *c)
{
	char *minute = strchr(text, ':'), *second;
	uint64_t hours;

	*minute++ = '\0';
	second = strchr(minute, ':');
	if (second)
		*second++ = '\0';
	if (calendar_read_set(&hour_part, text, &hours) < 0 ||
	    calendar_read_set(&second_part, minute, &c->minutes) < 0 ||
	    calendar_read_set(&second_part, second ? second : "0", &c->seconds) < 0)
		return -EINVAL;
	c->hours = (uint32_t)hours;
	return 0;
}

/* *-MONTH-DAY or MONTH-DAY */
static int calendar_read_date(char *text, struct calendar *c)
{
	char *day;
	uint64_t months, days;

	if (strncmp(text, "*-", 2) == 0 && strchr(text + 2, '-'))
		text += 2;
	day = strchr(text, '-');
	if (!day)
		return -EINVAL;
	*day++ = '\0';
	if (calendar_read_set(&month_part, text, &months) < 0 ||
	    calendar_read_set(&day_part, day, &days) < 0)
		return -EINVAL;
	c->months = (uint32_t)months;
	c->days = (uint32_t)days;
	return 0;
}

#define EVERY_DAY .days = 0xfffffffe, .weekdays = 0x7f, .months = 0x1ffe

/* Returns false if @word is none of the names. */
static bool calendar_read_name(const char *word, struct calendar *c)
{
	static const struct {
		const char *name;
		struct calendar calendar;
	} names[] = {
		{ "minutely",
		  { .seconds = 1, .minutes = ~UINT64_C(0), .hours = ALL_HOURS, EVERY_DAY } },
		{ "hourly", { .seconds = 1, .minutes = 1, .hours = ALL_HOURS, EVERY_DAY } },
		{ "daily", { .seconds = 1, .minutes = 1, .hours = 1, EVERY_DAY } },
		{ "weekly", { 1, 1, 1, .days = 0xfffffffe, .weekdays = 1 << 1, .months = 0x1ffe } },
		{ "monthly", { 1, 1, 1, .days = 1 << 1, .weekdays = 0x7f, .months = 0x1ffe } },
		{ "yearly", { 1, 1, 1, .days = 1 << 1, .weekdays = 0x7f, .months = 1 << 1 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(word, names[i].name) == 0) {
			*c = names[i].calendar;
			return true;
		}
	}
	return false;
}

/* Each part at most once, in this order. */
static int calendar_read_words(char *tokens[], size_t n, struct calendar *ret)
{
	uint64_t weekdays;
	struct calendar c;
	size_t i = 0;

	(void)calendar_read_name("daily", &c);
	weekdays = c.weekdays;
	if (n > 0 && strcmp(tokens[n - 1], "UTC") == 0) {
		c.utc = true;
		n--;
	}
	if (n == 0)
		return -EINVAL;
	*ret = c;
	if (calendar_read_name(*tokens[0] == '@' ? tokens[0] + 1 : tokens[0], ret)) {
		ret->utc = c.utc;
		i = 1;
	} else {
		if (!strchr(tokens[i], ':') && !strchr(tokens[i], '-') &&
		    calendar_read_set(&weekday_part, tokens[i++], &weekdays) < 0)
			return -EINVAL;
		ret->weekdays = (uint32_t)weekdays;
		if (i < n && strchr(tokens[i], '-') && calendar_read_date(tokens[i++], ret) < 0)
			return -EINVAL;
	}
	if (i < n && strchr(tokens[i], ':') && calendar_read_time(tokens[i++], ret) < 0)
		return -EINVAL;
	return i == n ? 0 : -EINVAL;
}

int calendar_parse(const char *text, struct calendar *ret)
{
	char copy[2 * TOKEN_MAX], *rest = copy, *token, *tokens[TOKENS];
	struct calendar calendar;
	size_t n = 0;
	int r;

	if (strlen(text) >= sizeof(copy))
		return -EINVAL;
	strcpy(copy, text);
	while ((token = strsep(&rest, " \t"))) {
		if (!*token)
			continue;
		if (n == TOKENS)
			return -EINVAL;
		tokens[n++] = token;
	}
	r = n == TOKENS ? calendar_read_cron(tokens, &calendar)
			: calendar_read_words(tokens, n, &calendar);
	if (r < 0)
		return r;
	if (calendar_next(&calendar, 0) == USEC_INFINITY)
		return -ERANGE;
	*ret = calendar;
	return 0;
}

/* --- the next time --- */

static bool calendar_is_in(uint64_t set, int number)
{
	return set >> number & 1;
}

static void calendar_split_time(const struct calendar *c, time_t t, struct tm *ret)
{
	if (c->utc)
		(void)gmtime_r(&t, ret);
	else
		(void)localtime_r(&t, ret);
}

/* Returns the seconds to the beginning of the next day, or with @month of the next month. */
static time_t calendar_seconds_to_midnight(time_t t, const struct tm *tm, bool month)
{
	struct tm at = {
		.tm_year = tm->tm_year,
		.tm_mon = tm->tm_mon + month,
		.tm_mday = month ? 1 : tm->tm_mday + 1,
	};

	return timegm(&at) - (t + tm->tm_gmtoff);
}

static bool calendar_fits_day(const struct calendar *c, const struct tm *tm)
{
	bool day = calendar_is_in(c->days, tm->tm_mday),
	     weekday = calendar_is_in(c->weekdays, tm->tm_wday);

	return c->either ? day || weekday : day && weekday;
}

static bool calendar_fits(const struct calendar *c, const struct tm *tm)
{
	return calendar_is_in(c->months, tm->tm_mon + 1) && calendar_fits_day(c, tm) &&
	       calendar_is_in(c->hours, tm->tm_hour) && calendar_is_in(c->minutes, tm->tm_min) &&
	       calendar_is_in(c->seconds, tm->tm_sec);
}

/* Returns true if the clock has just jumped over a time of the calendar, be it of the day before. */
static bool calendar_has_skipped(const struct calendar *c, time_t t, const struct tm *tm)
{
	struct tm before, at;

	calendar_split_time(c, t - 1, &before);
	for (time_t n = before.tm_gmtoff - tm->tm_gmtoff; n < 0; n++) {
		time_t skipped = t + tm->tm_gmtoff + n;

		(void)gmtime_r(&skipped, &at);
		if (calendar_fits(c, &at))
			return true;
	}
	return false;
}

/* Returns true if the clock has shown this time before, as it was put back within the last day. */
static bool calendar_is_repeated(const struct calendar *c, time_t t, const struct tm *tm)
{
	struct tm yesterday, first;

	calendar_split_time(c, t - DAY, &yesterday);
	if (yesterday.tm_gmtoff <= tm->tm_gmtoff)
		return false;
	calendar_split_time(c, t - (yesterday.tm_gmtoff - tm->tm_gmtoff), &first);
	return first.tm_gmtoff == yesterday.tm_gmtoff;
}

/* Returns the seconds from @t to the next candidate, if the clock is not changed; 0: @t matches. */
static time_t calendar_seconds_to_next(const struct calendar *c, time_t t, const struct tm *tm)
{
	bool all_hours = c->hours == ALL_HOURS;

	if (!all_hours && calendar_has_skipped(c, t, tm))
		return 0;
	if (!calendar_is_in(c->months, tm->tm_mon + 1))
		return calendar_seconds_to_midnight(t, tm, true);
	if (!calendar_fits_day(c, tm))
		return calendar_seconds_to_midnight(t, tm, false);
	if (!calendar_is_in(c->hours, tm->tm_hour))
		return 3600 - tm->tm_min * 60 - tm->tm_sec;
	if (!calendar_is_in(c->minutes, tm->tm_min) ||
	    (!all_hours && calendar_is_repeated(c, t, tm)))
		return 60 - tm->tm_sec;
	return calendar_is_in(c->seconds, tm->tm_sec) ? 0 : 1;
}

/* Moves @to, whose local time is *after, back to the change of the clock after @from, if there is one. */
static time_t calendar_stop_at_change(const struct calendar *c, time_t from, const struct tm *tm,
				      time_t to, struct tm *after)
{
	while (after->tm_gmtoff != tm->tm_gmtoff && from + 1 < to) {
		time_t middle = from + (to - from) / 2;
		struct tm at;

		calendar_split_time(c, middle, &at);
		if (at.tm_gmtoff == tm->tm_gmtoff) {
			from = middle;
		} else {
			to = middle;
			*after = at;
		}
	}
	return to;
}

static uint64_t calendar_search(const struct calendar *c, uint64_t usec)
{
	time_t t = (time_t)(usec / USEC_PER_SEC) + 1;
	struct tm tm, after;
	int last_year;

	calendar_split_time(c, t, &tm);
	for (last_year = tm.tm_year + YEARS; tm.tm_year <= last_year; tm = after) {
		time_t seconds = calendar_seconds_to_next(c, t, &tm);

		if (seconds == 0)
			return (uint64_t)t * USEC_PER_SEC;
		calendar_split_time(c, t + seconds, &after);
		t = calendar_stop_at_change(c, t, &tm, t + seconds, &after);
	}
	return USEC_INFINITY;
}

uint64_t calendar_next(const struct calendar *c, uint64_t usec)
{
	char zone[sizeof("TZ=") + CALENDAR_ZONE_MAX], *only[] = { zone, NULL }, **own = environ;
	uint64_t next;

	if (c->zone) {
		(void)snprintf(zone, sizeof(zone), "TZ=%s", c->zone);
		environ = only;
	}
	tzset();
	next = calendar_search(c, usec);
	environ = own;
	if (c->zone)
		tzset();
	return next;
}
