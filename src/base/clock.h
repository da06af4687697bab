#pragma once

#include <stdint.h>

#define USEC_PER_MSEC UINT64_C(1000)
#define USEC_PER_SEC  UINT64_C(1000000)
#define USEC_INFINITY UINT64_MAX

/* CLOCK_MONOTONIC in microseconds: for every calculation. */
uint64_t clock_now_usec(void);

/* CLOCK_REALTIME in microseconds: only to be shown. */
uint64_t clock_realtime_usec(void);

/* A random time below @limit_usec; 0 if that is 0, or without random numbers. */
uint64_t clock_random(uint64_t limit_usec);

/* Time left until @deadline_usec for poll(2), rounded up so that the last wait is not repeated; or -1. */
int clock_left_msec(uint64_t deadline_usec);

/* The time from @now to @usec, 0 if that is past; USEC_INFINITY if @usec is that. */
static inline uint64_t clock_until(uint64_t usec, uint64_t now)
{
	if (usec == USEC_INFINITY)
		return usec;
	return usec > now ? usec - now : 0;
}

/* @usec + @delta, or USEC_INFINITY if the sum overflows. */
static inline uint64_t clock_add(uint64_t usec, uint64_t delta)
{
	return delta > USEC_INFINITY - usec ? USEC_INFINITY : usec + delta;
}

/*
 * "4.2s", "350ms", "1min 30s", "infinity": for users, rounded to the last digit shown.  The precise
 * form has more digits below a minute: "0.3ms", "350ms", "4.20s".  Returns @buf.
 */
#define CLOCK_TEXT_MAX 40
char *clock_text(char buf[static CLOCK_TEXT_MAX], uint64_t usec);
char *clock_text_fine(char buf[static CLOCK_TEXT_MAX], uint64_t usec);

/* "2026-01-31T12:00:00.000250Z", of CLOCK_REALTIME.  Returns @buf. */
char *clock_utc_text(char buf[static CLOCK_TEXT_MAX], uint64_t usec);
