#pragma once

/*
 * Advice about a timeout, by the times of past ends: one half more than the 99th percentile, rounded up
 * to a duration that is easy to read.
 */

#include "proto/history/figures.h"

#define ADVICE_ENDS 20 /* from fewer nothing is advised */

enum advice_kind { ADVICE_NONE, ADVICE_RAISE, ADVICE_LOWER };

struct advice {
	enum advice_kind kind;
	size_t n, n_killed;
	uint64_t p99_usec;
	uint64_t present_usec, proposed_usec;
};

/*
 * Advises to raise a timeout that has expired in @n_killed of the ends, and to lower one that is more
 * than ten times too long.
 */
struct advice advice_give(const struct samples *samples, size_t n_killed, uint64_t present_usec);

/* Returns the shortest of 1s, 2s, 3s, 5s, … 1min, 90s, … 1h, 2h, … that is not below @usec. */
uint64_t advice_round(uint64_t usec);
