#pragma once

/*
 * Who was killed, and what was revoked, because the budget of a stop was spent: the latest, in
 * words, in a ring of fixed size.  The log has all of them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macro.h"

#define LOSSES_MAX 32

struct loss {
	uint64_t usec;
	const char *node; /* its path */
	const char *what; /* "killed pid 812 (web), 3.0s after the stop" */
};

struct losses;

/* Return: 0 or -ENOMEM. */
int losses_new(struct losses **ret);
struct losses *losses_free(struct losses *losses);

/* Allocates nothing.  @losses may be NULL. */
void losses_add(struct losses *losses, const char *node, const char *format, ...) printf_like(3, 4);

/* The one that is the @i-th latest, from 0.  Return: is it remembered? */
bool losses_get(const struct losses *losses, size_t i, struct loss *ret);
