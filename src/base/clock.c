#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"

static uint64_t read_usec(clockid_t clock)
{
	struct timespec ts;

	(void)clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * USEC_PER_SEC + (uint64_t)ts.tv_nsec / 1000;
}

uint64_t clock_now_usec(void)
{
	return read_usec(CLOCK_MONOTONIC);
}

uint64_t clock_realtime_usec(void)
{
	return read_usec(CLOCK_REALTIME);
}

/* Two numbers and what follows each of them.  There are a lot of such texts in a list of services. */
static void write_text(char buf[static CLOCK_TEXT_MAX], uint64_t a, const char *after_a, uint64_t b,
		       const char *after_b)
{
	char number[TEXT_NUMBER_MAX];
	char *p = stpcpy(buf, text_number(number, a));

	p = stpcpy(p, after_a);
	p = stpcpy(p, text_number(number, b));
	(void)stpcpy(p, after_b);
}

char *clock_text(char buf[static CLOCK_TEXT_MAX], uint64_t usec)
{
	uint64_t sec = usec / USEC_PER_SEC;

	if (usec == USEC_INFINITY)
		(void)snprintf(buf, CLOCK_TEXT_MAX, "infinity");
	else if (sec == 0)
		(void)snprintf(buf, CLOCK_TEXT_MAX, "%" PRIu64 "ms", usec / USEC_PER_MSEC);
	else if (sec < 60)
		write_text(buf, sec, ".", usec % USEC_PER_SEC / (100 * USEC_PER_MSEC), "s");
	else if (sec < 3600)
		write_text(buf, sec / 60, "min ", sec % 60, "s");
	else if (sec < 86400)
		write_text(buf, sec / 3600, "h ", sec / 60 % 60, "min");
	else
		write_text(buf, sec / 86400, "d ", sec / 3600 % 24, "h");
	return buf;
}
