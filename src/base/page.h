#pragma once

/*
 * The interface between the daemon and an attached program: a shared page, and messages.
 *
 * For each run of a service with "attach = yes" the daemon makes a memfd, sealed against any change
 * of its size, and a pair of SOCK_SEQPACKET sockets.  The service inherits the memfd and one of the
 * sockets; PAGE_VARIABLE has their numbers, "5:6".  One process at a time is attached: the one that
 * has a write lock (fcntl(2), F_SETLK) on the first byte of the memfd.  The kernel drops that lock
 * when the process ends, and the page counts only under the lock: so the guards of a program that
 * crashes are released without further action.
 *
 * The program counts its guards in words that only it writes; the daemon only reads them:
 *
 *	header	struct page, PAGE_HEADER bytes
 *	lanes	one for each of @n_lanes processors, PAGE_LANE bytes each.  Its first word is the
 *		guards taken less those dropped on that processor, plus PAGE_BIAS; a word of 0 or
 *		with PAGE_VOID counts nothing.  The rest of a lane is padding between cache lines.
 *
 * The number of guards held is the sum of all lanes and of @elsewhere.  The lanes cannot be read in
 * one step, so the sum is an approximation until the program is stopped.  The program then adds the
 * lanes to @elsewhere and sets @gathered; from then on @elsewhere alone is the exact number.  A
 * guard is counted from before guard() returns until its drop begins.  A program with few threads
 * may leave the lanes unused and set @gathered from the beginning.  A process that gets the lock
 * initialises the page: it finds the counts of the process before it.
 *
 * A sum below zero counts as zero.  The daemon does not trust the page: it shows the numbers, and
 * never waits longer than the configuration allows.  A forked process may hold the socket open
 * after the end of the attached process; only the lock proves that a process is attached.
 *
 * All numbers are native.  Messages, of PAGE_MESSAGE_MAX bytes at most and without a NUL, to the
 * program:
 *
 *	STOP			its node, or this run of it, is stopped: @stop is set, too
 *	REPORT			a request for a report
 *
 * and from it:
 *
 *	ATTACHED		it has the lock
 *	COMPLETE		it was stopped, and its last guard is gone
 *	REPORT\n		the guards held, one line for each place in the code that took some:
 *	GUARDS SINCE PLACE\n	their number, the time of the oldest (CLOCK_MONOTONIC,
 *	...			microseconds), and the place, for users ("web.c:41 serve")
 */

#include <stdint.h>

#define PAGE_VARIABLE	 "SWANSONG_ATTACH"
#define PAGE_MAGIC	 UINT64_C(0x676e6f736e617773) /* "swansong" */
#define PAGE_VERSION	 1
#define PAGE_HEADER	 4096
#define PAGE_LANE	 128 /* two cache lines, as some processors fetch them in pairs */
#define PAGE_VOID	 (UINT64_C(1) << 63)
#define PAGE_BIAS	 (UINT64_C(1) << 62)
#define PAGE_MESSAGE_MAX 4096

struct page {
	/* Constant. */
	uint64_t magic;
	uint32_t version;
	uint32_t n_lanes;
	/* The daemon's: 0, or from the stop on 1. */
	uint32_t stop;

	/* The program's. */
	_Alignas(64) int64_t elsewhere; /* guards that are in no lane */
	uint32_t gathered;		/* 0, or 1: no guard is in a lane any more */
};

struct page_lane {
	_Alignas(PAGE_LANE) uint64_t count;
};

_Static_assert(sizeof(struct page) <= PAGE_HEADER, "the header has its size");

static inline struct page_lane *page_lanes(const struct page *p)
{
	return (void *)((char *)(uintptr_t)p + PAGE_HEADER);
}
