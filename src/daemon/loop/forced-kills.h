#pragma once

/*
 * The latest processes that were killed, and guards that were revoked, because the budget of a stop
 * was spent.  The log has all of them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macro.h"
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

/* Allocates nothing. */
void forced_kills_add(struct forced_kills *kills, const char *node, const char *format, ...)
	printf_like(3, 4);

/* Copies the @i-th latest, from 0.  Returns false if there is none. */
bool forced_kills_get(const struct forced_kills *kills, size_t i, struct forced_kill *ret);
