/*
 * The present timeout is raised if ends were killed by it, and lowered if it is more than TOO_LONG_BY times as long as
 * the advice and none was killed.
 */
#include "proto/history/advice.h"

#define MINUTE	    (60 * USEC_PER_SEC)
#define HOUR	    (60 * MINUTE)
#define TOO_LONG_BY 10

uint64_t advice_round(uint64_t usec)
{
	static const uint64_t steps[] = {
		1 * USEC_PER_SEC,  2 * USEC_PER_SEC,  3 * USEC_PER_SEC,	 5 * USEC_PER_SEC,
		10 * USEC_PER_SEC, 15 * USEC_PER_SEC, 20 * USEC_PER_SEC, 30 * USEC_PER_SEC,
		45 * USEC_PER_SEC, 1 * MINUTE,	      90 * USEC_PER_SEC, 2 * MINUTE,
		3 * MINUTE,	   5 * MINUTE,	      10 * MINUTE,	 15 * MINUTE,
		20 * MINUTE,	   30 * MINUTE,	      45 * MINUTE,
	};

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if (usec <= steps[i])
			return steps[i];
	if (usec > USEC_INFINITY - HOUR)
		return USEC_INFINITY;
	return (usec + HOUR - 1) / HOUR * HOUR;
}

struct advice advice_give(const struct samples *samples, size_t n_killed, uint64_t present_usec)
{
	struct advice advice = {
		.n = samples->n,
		.n_killed = n_killed,
		.p99_usec = samples_percentile(samples, 990),
		.present_usec = present_usec,
	};

	if (samples->n < ADVICE_ENDS)
		return advice;
	advice.proposed_usec = advice_round(clock_add(advice.p99_usec, advice.p99_usec / 2));
	if (n_killed > 0 && advice.proposed_usec > present_usec)
		advice.kind = ADVICE_RAISE;
	else if (n_killed == 0 && advice.proposed_usec < present_usec / TOO_LONG_BY)
		advice.kind = ADVICE_LOWER;
	return advice;
}
