#pragma once

/* The time that a shutdown is expected to take, by the past ends of its services. */

#include "ctl/session/session.h"
#include "proto/history/figures.h"
#include "proto/node-view.h"

#define EXPECT_DRAWS 1000

struct expectation {
	uint64_t p50_usec, p99_usec;
	size_t n_fitting; /* draws within the grace, of EXPECT_DRAWS */
	size_t n;	  /* entries of the plan */
	size_t n_unknown; /* entries with too few ends: they take as long as in the worst case */
};

/* Returns the past ends of the service of @entry, or NULL if they are too few. */
const struct samples *expect_samples(const struct history *history,
				     const struct plan_entry_view *entry);

/*
 * Draws the shutdown of the @n entries of a plan EXPECT_DRAWS times: each service takes as long as one
 * of its past ends, and none takes longer than @worst_usec in all.  The same history gives the same
 * result.
 *
 * Return: 0 or -ENOMEM.
 */
int expect_plan(const struct history *history, const struct plan_entry_view *entries, size_t n,
		uint64_t worst_usec, uint64_t grace_usec, struct expectation *ret);

/* Prints it as a line; @grace_usec is USEC_INFINITY without a grace. */
void expect_print(struct ctl *ctl, const struct expectation *expected, uint64_t grace_usec);

/* Returns it as an object; NULL: out of memory. */
json_t *expect_json(const struct expectation *expected);
