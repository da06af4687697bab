#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

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

char *clock_text(char buf[static CLOCK_TEXT_MAX], uint64_t usec)
{
	uint64_t sec = usec / USEC_PER_SEC;

	if (usec == USEC_INFINITY)
		(void)snprintf(buf, CLOCK_TEXT_MAX, "infinity");
	else if (sec == 0)
		(void)snprintf(buf, CLOCK_TEXT_MAX, "%" PRIu64 "ms", usec / USEC_PER_MSEC);
	else if (sec < 60)
		(void)snprintf(buf, CLOCK_TEXT_MAX, "%" PRIu64 ".%" PRIu64 "s", sec,
			       usec % USEC_PER_SEC / (100 * USEC_PER_MSEC));
	else if (sec < 3600)
		(void)snprintf(buf, CLOCK_TEXT_MAX, "%" PRIu64 "min %" PRIu64 "s", sec / 60,
			       sec % 60);
	else if (sec < 86400)
		(void)snprintf(buf, CLOCK_TEXT_MAX, "%" PRIu64 "h %" PRIu64 "min", sec / 3600,
			       sec / 60 % 60);
	else
		(void)snprintf(buf, CLOCK_TEXT_MAX, "%" PRIu64 "d %" PRIu64 "h", sec / 86400,
			       sec / 3600 % 24);
	return buf;
}
