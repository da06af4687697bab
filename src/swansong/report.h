#ifndef SWANSONG_REPORT_H
#define SWANSONG_REPORT_H

/*
 * The report lists the guards that are held, with their age and the place where they were taken: the
 * reasons why a shutdown does not end.
 *
 * The report is switched on for a whole tree; until then it is off and costs nothing.  While it is
 * on, each guard that is taken or dropped also takes a lock, shared only with guards on the same
 * processor; taking a guard reads the clock; and memory is kept for the highest number of guards
 * that were held at a time.
 *
 * Guards that were taken before, and guards for which there was no memory, are counted as unknown.
 *
 * All functions may be called from any thread.
 */

#include <stddef.h>
#include <stdint.h>

#include <swansong/declare.h>
#include <swansong/guard.h>
#include <swansong/node.h>

SWANSONG_BEGIN_DECLARATIONS

/* A place in the program, and the guards that were taken there. */
struct swansong_report_site {
	const char *file; /* these two are not copies: see swansong_guard_at() */
	const char *function;
	unsigned int line;
	uint64_t guards;
	uint64_t oldest; /* time for which the first of them has been held, in microseconds */
};

struct swansong_report {
	uint64_t guards; /* all, also the unknown */
	uint64_t unknown;
	size_t n;
	const struct swansong_report_site *sites; /* @n, the site with the oldest guard first */
};

/*
 * Switches the report on for the whole tree of @s, up to the root, until the tree ends.  A second
 * call does nothing.  Returns 0 or -ENOMEM.
 */
int swansong_report_enable(struct swansong *s);

/*
 * Reports which guards are held in the subtree of @s; drop the report by swansong_report_free().
 * It is exact when no guard is taken or dropped meanwhile; else it has each guard that was held all
 * the time.  If the report is not switched on, all guards are unknown.  Returns 0 or -ENOMEM.
 */
int swansong_report(struct swansong *s, struct swansong_report **ret);

/*
 * Writes a report as one line, to be freed with free(3).  Returns 0 or -ENOMEM.
 *
 * "3 outstanding guards: 2 x web.c:41 (oldest 42.3s), 1 x unknown"
 */
int swansong_report_text(const struct swansong_report *report, char **ret);

/* Frees the report, or does nothing for NULL.  Returns NULL. */
struct swansong_report *swansong_report_free(struct swansong_report *report);

/* For __attribute__((cleanup(swansong_report_freep))). */
static inline void swansong_report_freep(struct swansong_report **report)
{
	*report = swansong_report_free(*report);
}

SWANSONG_END_DECLARATIONS

#endif
