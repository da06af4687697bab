#pragma once

#include <stdint.h>

#define USEC_PER_MSEC UINT64_C(1000)
#define USEC_PER_SEC  UINT64_C(1000000)
#define USEC_INFINITY UINT64_MAX

/* CLOCK_MONOTONIC in microseconds: the only time to reckon with. */
uint64_t clock_now_usec(void);

/* CLOCK_REALTIME likewise: for people only. */
uint64_t clock_realtime_usec(void);

/* The time left until @deadline_usec for poll(2): rounded up, so that none spins at the end; or -1. */
int clock_left_msec(uint64_t deadline_usec);

/* @usec + @delta, without wrapping: beyond the end is USEC_INFINITY. */
static inline uint64_t clock_add(uint64_t usec, uint64_t delta)
{
	return delta > USEC_INFINITY - usec ? USEC_INFINITY : usec + delta;
}

/*
 * "4.2s", "350ms", "1min 30s", "infinity": for people, rounded to what is shown.  With more digits
 * below a minute, for what may be short: "0.3ms", "350ms", "4.20s".  Return @buf.
 */
#define CLOCK_TEXT_MAX 40
char *clock_text(char buf[static CLOCK_TEXT_MAX], uint64_t usec);
char *clock_text_fine(char buf[static CLOCK_TEXT_MAX], uint64_t usec);
