#pragma once

/*
 * What a service and an attached program share: the page, and the words that they exchange.
 *
 * For each run of a service with "attach = yes" the daemon makes a memfd, sealed against any change
 * of its size, and a pair of SOCK_SEQPACKET sockets.  The service inherits the memfd and one of the
 * sockets; PAGE_VARIABLE has their numbers, "5:6".  One process at a time is attached: the one that
 * has a write lock (fcntl(2), F_SETLK) on the first byte of the memfd.  The kernel drops that lock
 * when the process ends, and without it nothing that the page says counts: so the guards of a
 * program that crashes vanish by themselves.
 *
 * The program counts its guards in words that it alone writes, and the daemon only ever reads:
 *
 *	header	struct page, PAGE_HEADER bytes
 *	lanes	one for each of @n_lanes processors, PAGE_LANE bytes each.  Its first word is the
 *		guards taken less those dropped on that processor, plus PAGE_BIAS; 0, or with
 *		PAGE_VOID: nothing.  The rest of it keeps lanes out of each other's way.
 *
 * The guards held are the sum of all lanes and of @elsewhere.  As the lanes cannot be read at once,
 * the sum is near what it was, until the program is stopped: it then adds the lanes to @elsewhere,
 * sets @gathered, and from that on @elsewhere alone is the number, and exact.  A guard is in it
 * from before guard() returns until its drop begins.  A program with few threads may leave the
 * lanes alone, and have @gathered set from the beginning.  Who gets the lock makes all of this its
 * own: it begins with what a process before it has left.
 *
 * A sum below zero is zero.  The daemon believes none of it but to show it, and to wait for no
 * longer than it would by the configuration.  A process that was forked may hold the socket open
 * after the end of the one that is attached; it is the lock that tells.
 *
 * All numbers are native.  Messages, of PAGE_MESSAGE_MAX bytes at most and without a NUL, to the
 * program:
 *
 *	STOP			its node, or this run of it, is stopped: @stop is set, too
 *	REPORT			it is asked for a report
 *
 * and from it:
 *
 *	ATTACHED		it has the lock
 *	COMPLETE		it was stopped, and its last guard is gone
 *	REPORT\n		what guards are held, one line for each place where some were taken:
 *	GUARDS SINCE PLACE\n	their number, when the oldest was taken (CLOCK_MONOTONIC,
 *	...			microseconds), and where, for people ("web.c:41 serve")
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

/* What the page says, for which it must have room for @n_lanes; never below zero. */
static inline int64_t page_guards(const struct page *p, uint32_t n_lanes)
{
	uint64_t sum = 0, word;

	/* Acquire: that the lanes are in elsewhere. */
	if (__atomic_load_n(&p->gathered, __ATOMIC_ACQUIRE))
		n_lanes = 0;
	for (uint32_t i = 0; i < n_lanes; i++) {
		word = __atomic_load_n(&page_lanes(p)[i].count, __ATOMIC_RELAXED);
		if (word && !(word & PAGE_VOID))
			sum += word - PAGE_BIAS;
	}
	sum += (uint64_t)__atomic_load_n(&p->elsewhere, __ATOMIC_RELAXED);
	return (int64_t)sum > 0 ? (int64_t)sum : 0;
}
