#pragma once

/*
 * The ledger of availability: when each service of a history was not ready, and why.  It begins with
 * the first line of the service.  After an end of the daemon without a stop, the services that were
 * ready are unknown from the line before on.
 */

#include "proto/history/line.h"

#define LEDGER_USEC \
	(30 * UINT64_C(86400) * 1000 * 1000) /* the time that is shown, unless a request has another one */

/* Times are since the epoch. */
struct ledger_span {
	uint64_t from_usec, until_usec; /* FIELD_NONE: it goes on */
	enum outage cause;
};

struct ledger {
	uint64_t since_usec, until_usec; /* the section was removed then; FIELD_NONE: it was not */
	struct ledger_span *spans;	 /* in their order */
	size_t n;
};

/* Adds a line of the service.  The ledger is empty, or has the lines before.  Return: 0 or -ENOMEM. */
int ledger_add(struct ledger *ledger, enum outage outage, uint64_t usec);

/* A daemon that has written no end was killed after the line at @usec.  Return: 0 or -ENOMEM. */
int ledger_add_unknown(struct ledger *ledger, uint64_t usec);

/* Returns true if the ledger has a line. */
static inline bool ledger_is_kept(const struct ledger *ledger)
{
	return ledger->since_usec;
}

struct ledger_sum {
	uint64_t since_usec, until_usec; /* the part of the asked time that the ledger has */
	uint64_t known_usec, ready_usec; /* of that part: the known time, and that in which it was ready */
	struct {
		size_t n;
		uint64_t usec, longest_usec;
	} causes[N_OUTAGES];
};

/* Adds up @ledger from @since_usec to @until_usec. */
void ledger_add_up(const struct ledger *ledger, uint64_t since_usec, uint64_t until_usec,
		   struct ledger_sum *ret);

/* Creates the object that swansongctl availability --json prints for a node; NULL: out of memory. */
json_t *ledger_build(const struct ledger *ledger, const char *node, uint64_t since_usec,
		     uint64_t until_usec);
