#pragma once

/*
 * The latest forced kills: processes that were killed and guards that were revoked because the
 * budget of a stop had expired.  The log has all of them.
 */

#include "model/base/settings.h"

#define FORCED_KILLS_MAX 32

struct forced_kill {
	uint64_t usec;
	char node[CONFIG_NAME_MAX + 1]; /* its path */
	char what[160]; /* "killed pid 812 (web), 3.0s after the stop"; may be cut */
};

struct forced_kills {
	uint64_t next;
	struct forced_kill latest[FORCED_KILLS_MAX]; /* a ring */
};

/* Adds an entry for the path @node; allocates nothing. */
void forced_kills_add(struct forced_kills *kills, const char *node, const char *format, ...)
	printf_like(3, 4);

/* Copies the latest entry but @i.  Returns false if there is none. */
bool forced_kills_get(const struct forced_kills *kills, size_t i, struct forced_kill *ret);
