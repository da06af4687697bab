#pragma once

/*
 * Figures of a history for each node: the number of its ends, their times and their reasons; and the
 * ledger of availability.
 */

#include "base/dict.h"
#include "proto/history/ledger.h"

/* Times of ends; sorted in a history that is complete. */
struct samples {
	uint64_t *usec;
	size_t n;
};

void samples_sort(const struct samples *samples);

/*
 * Returns the smallest sample that is not exceeded by @permille of all, by the method of the nearest
 * rank; 0 if there are none.
 */
uint64_t samples_percentile(const struct samples *samples, unsigned permille);

/* Returns the number of samples that do not exceed @usec. */
size_t samples_count(const struct samples *samples, uint64_t usec);

struct figures_reason {
	char *text;
	size_t n;
};

struct figures_end {
	uint64_t time_usec, total_usec;
	bool forced;
	const char *why; /* the text of a reason */
};
#define FIGURES_LAST ((size_t)20)

struct figures {
	const char *node; /* "" is the root */
	size_t n;	  /* ends */
	size_t n_forced;
	uint64_t first_usec, last_usec; /* the times of the first and of the last end */
	struct samples total;		/* of all ends */
	/* Of ends in which a service had a process: */
	struct samples own;	 /* without the time it waited for other nodes */
	struct samples stopping; /* from when it was not busy any more; and the number of kills then */
	struct samples draining; /* if it was busy; and the number of kills while it was */
	size_t n_stopping_killed, n_draining_killed;
	struct figures_reason *reasons; /* the most frequent first */
	size_t n_reasons;
	struct ledger ledger; /* of a service; the node may have no ends then */
	struct figures_end
		last[FIGURES_LAST]; /* a ring: the end number i, from 0, is at i % FIGURES_LAST */
};

struct history {
	struct figures **nodes; /* by their paths */
	size_t n;
	uint64_t skipped; /* lines that are none */
	struct dict by_path;
	uint64_t last_usec; /* the time of the last line */
};

/* Reads the file at @path as history_read().  *ret is to be freed by history_free(). */
int history_load(struct history **ret, const char *path, uint64_t size_max);
struct history *history_free(struct history *history);

/* Creates the object that swansongctl history --json prints for a node; NULL: out of memory. */
json_t *figures_build(const struct figures *figures);

/* Creates the array of the last ends, the oldest first: [{"time_usec", "total_usec", "forced", "why"}]. */
json_t *figures_build_last(const struct figures *figures);

/* Returns the figures of the node, or NULL if it has no line. */
const struct figures *history_find(const struct history *history, const char *node);
