#pragma once

/*
 * What a service and an attached program share: the page, and the words that they exchange.
 *
 * For each run of a service with "attach = yes" the daemon makes a memfd, sealed against any change of
 * its size, and a pair of SOCK_SEQPACKET sockets.  The service inherits the memfd and one of the
 * sockets; PAGE_VARIABLE has their numbers, "5:6".  One process at a time is attached: the one that
 * has a write lock (fcntl(2), F_SETLK) on the first byte of the memfd.  The kernel drops that lock when
 * the process ends, and without it nothing that the page says counts: so the guards of a program that
 * crashes vanish by themselves.
 *
 * The program counts its guards in words that it alone writes, and the daemon only ever reads:
 *
 *	header	struct page, PAGE_HEADER bytes
 *	lanes	one for each of @n_lanes processors, PAGE_LANE bytes each, with a word for each of the
 *		first PAGE_SLOTS nodes of the program: the guards taken less those dropped on that
 *		processor.  0, or with PAGE_VOID: nothing; else the number is the word less PAGE_BIAS.
 *
 * The guards held are the sum of all words and of @elsewhere.  While the program runs the sum is
 * read without any order, and is near what it was; from the stop on all guards are in @elsewhere alone,
 * and it is exact.  A sum below zero is zero.  The daemon believes none of it but to show it, and to
 * wait for no longer than it would by the configuration.
 *
 * All numbers are native.  Messages, of PAGE_MESSAGE_MAX bytes at most, to the program:
 *
 *	STOP			its node, or this run of it, is stopped: @stop is set, too
 *	REPORT			it is asked for a report
 *
 * and from it:
 *
 *	ATTACHED		it has the lock
 *	COMPLETE		it was stopped, and its last guard is gone
 *	REPORT\n		what guards are held, one line for each place where some were taken:
 *	GUARDS SINCE PLACE\n	their number, when the oldest was taken (CLOCK_MONOTONIC, microseconds),
 *	...			and where, for people ("web.c:41 serve")
 */

#include <stdint.h>

#define PAGE_VARIABLE	 "SWANSONG_ATTACH"
#define PAGE_MAGIC	 UINT64_C(0x676e6f736e617773) /* "swansong" */
#define PAGE_VERSION	 1
#define PAGE_HEADER	 4096
#define PAGE_LANE	 4096
#define PAGE_SLOTS	 (PAGE_LANE / 8)
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
};

_Static_assert(sizeof(struct page) <= PAGE_HEADER, "the header has its size");
