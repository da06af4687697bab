#pragma once

/* For programs that race for a while: $STRESS_SECONDS, or a short time. */

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

static inline uint64_t stress_end_usec(void)
{
	const char *env = getenv("STRESS_SECONDS");

	return clock_now_usec() + (env ? strtoull(env, NULL, 10) : 3) * USEC_PER_SEC;
}

/* The next of a sequence that looks random enough; the same for the same start. */
static inline uint32_t stress_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Reports the counts of the @n @faults by TAP.  Returns the exit status. */
static inline int stress_report(const char *const names[], const _Atomic unsigned long faults[],
				unsigned int n)
{
	int status = EXIT_SUCCESS;

	for (unsigned int i = 0; i < n; i++) {
		printf("%s %u - %s\n", faults[i] ? "not ok" : "ok", i + 1, names[i]);
		if (faults[i]) {
			printf("# %lu times\n", faults[i]);
			status = EXIT_FAILURE;
		}
	}
	return status;
}
