/*
 * A duration is shown in one or two units.  It is rounded to each unit first, and the rounded
 * number selects the form: 999.6ms becomes "1.0s", never "1000ms".
 */
#include "base/clock.h"

#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/text.h"

static uint64_t clock_read_usec(clockid_t clock)
{
	struct timespec ts;

	(void)clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * USEC_PER_SEC + (uint64_t)ts.tv_nsec / 1000;
}

uint64_t clock_now_usec(void)
{
	return clock_read_usec(CLOCK_MONOTONIC);
}

uint64_t clock_realtime_usec(void)
{
	return clock_read_usec(CLOCK_REALTIME);
}

uint64_t clock_random(uint64_t limit_usec)
{
	uint64_t number = 0;

	if (limit_usec == 0 || getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
		return 0;
	return number % limit_usec;
}

int clock_left_msec(uint64_t deadline_usec)
{
	uint64_t now = clock_now_usec();
	uint64_t msec;

	if (deadline_usec == USEC_INFINITY)
		return -1;
	if (deadline_usec <= now)
		return 0;
	msec = (deadline_usec - now - 1) / USEC_PER_MSEC + 1;
	return msec > INT32_MAX ? INT32_MAX : (int)msec;
}

/* Returns the end.  Not printf(): a list of services has many such texts. */
static char *clock_write_number(char *to, uint64_t number, const char *unit)
{
	char digits[TEXT_NUMBER_MAX];

	return stpcpy(stpcpy(to, text_number(digits, number)), unit);
}

/* @usec in units, rounded half up. */
static uint64_t clock_round(uint64_t usec, uint64_t unit)
{
	return usec / unit + (usec % unit >= unit - unit / 2);
}

char *clock_text(char buf[static CLOCK_TEXT_MAX], uint64_t usec)
{
	uint64_t msec = clock_round(usec, USEC_PER_MSEC),
		 tenths = clock_round(usec, USEC_PER_SEC / 10);
	uint64_t sec = clock_round(usec, USEC_PER_SEC), min = clock_round(usec, 60 * USEC_PER_SEC);
	uint64_t hours = clock_round(usec, 3600 * USEC_PER_SEC);

	if (usec == USEC_INFINITY)
		(void)snprintf(buf, CLOCK_TEXT_MAX, "infinity");
	else if (msec < 1000)
		(void)clock_write_number(buf, msec, "ms");
	else if (tenths < 600)
		(void)clock_write_number(clock_write_number(buf, tenths / 10, "."), tenths % 10,
					 "s");
	else if (sec < 3600)
		(void)clock_write_number(clock_write_number(buf, sec / 60, "min "), sec % 60, "s");
	else if (min < 1440)
		(void)clock_write_number(clock_write_number(buf, min / 60, "h "), min % 60, "min");
	else
		(void)clock_write_number(clock_write_number(buf, hours / 24, "d "), hours % 24,
					 "h");
	return buf;
}

char *clock_text_fine(char buf[static CLOCK_TEXT_MAX], uint64_t usec)
{
	uint64_t tenths = clock_round(usec, USEC_PER_MSEC / 10);
	uint64_t hundredths = clock_round(usec, USEC_PER_SEC / 100);

	if (tenths < 100)
		(void)snprintf(buf, CLOCK_TEXT_MAX, "%" PRIu64 ".%" PRIu64 "ms", tenths / 10,
			       tenths % 10);
	else if (clock_round(usec, USEC_PER_MSEC) >= 1000 && hundredths < 6000)
		(void)snprintf(buf, CLOCK_TEXT_MAX, "%" PRIu64 ".%02" PRIu64 "s", hundredths / 100,
			       hundredths % 100);
	else
		clock_text(buf, usec);
	return buf;
}

char *clock_utc_text(char buf[static CLOCK_TEXT_MAX], uint64_t usec)
{
	const time_t seconds = (time_t)(usec / USEC_PER_SEC);
	struct tm tm;
	size_t n = strftime(buf, CLOCK_TEXT_MAX, "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &tm));

	(void)snprintf(buf + n, CLOCK_TEXT_MAX - n, ".%06uZ", (unsigned)(usec % USEC_PER_SEC));
	return buf;
}
