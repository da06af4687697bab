#ifndef SWANSONG_REPORT_H
#define SWANSONG_REPORT_H

/*
 * Which guards are held, since when, and where they were taken: the answer to why a shutdown does
 * not end.
 *
 * It is switched on for a whole tree, and off until then, when it costs nothing.  Switched on, each
 * guard that is taken or dropped also takes a lock that it shares with guards on the same processor
 * only, taking one reads the clock, and memory is kept for as many as were held at a time.
 *
 * Guards that were taken before, and those for which there was no memory, are counted as unknown.
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
	uint64_t oldest; /* how long the first of them has been held, in microseconds */
};

struct swansong_report {
	uint64_t guards; /* all, also the unknown */
	uint64_t unknown;
	size_t n;
	const struct swansong_report_site *sites; /* @n, the one with the oldest guard first */
};

/**
 * swansong_report_enable() - switch the report on
 * @s:	any node of the tree
 *
 * For the whole tree of @s, up to the root, and until its end.  Doing it again does nothing.
 *
 * Return: 0 or -ENOMEM.
 */
int swansong_report_enable(struct swansong *s);

/**
 * swansong_report() - tell which guards are held
 * @s:		the node; its whole subtree is reported on
 * @ret:	the report, owned by the caller, to be dropped by swansong_report_free()
 *
 * Exact when no guard is taken or dropped meanwhile; else each guard is there that was held all the
 * time.  If the report is not switched on, all are unknown.
 *
 * Return: 0 or -ENOMEM.
 */
int swansong_report(struct swansong *s, struct swansong_report **ret);

/**
 * swansong_report_text() - say it in a line
 * @report:	the report
 * @ret:	the text, to be freed with free(3)
 *
 * "3 outstanding guards: 2 x web.c:41 (oldest 42.3s), 1 x unknown"
 *
 * Return: 0 or -ENOMEM.
 */
int swansong_report_text(const struct swansong_report *report, char **ret);

/* Takes NULL; returns NULL. */
struct swansong_report *swansong_report_free(struct swansong_report *report);

/* For __attribute__((cleanup(swansong_report_freep))). */
static inline void swansong_report_freep(struct swansong_report **report)
{
	*report = swansong_report_free(*report);
}

SWANSONG_END_DECLARATIONS

#endif
