#pragma once

/* Which guards are held, since when and from where: for a tree whose report is switched on. */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct swansong;

struct record {
	struct swansong *node; /* NULL if this is free */
	const char *file, *function;
	uint64_t since_usec;
	pthread_t taker; /* the thread that took it; set by records_add() */
	unsigned int line;
	uint32_t next_free;
};

struct records;

/* NULL without memory. */
struct records *records_new(void);
struct records *records_free(struct records *r);

/* Returns the number to remove it by, or 0 if there is no memory for it. */
uint32_t records_add(struct records *r, const struct record *record);

/*
 * Before the guard itself, which is one on @node, is dropped.  False if it is not recorded any
 * more: a copy of it was dropped before.
 */
bool records_remove(struct records *r, uint32_t number, const struct swansong *node);

/* Around a fork: all locks, so that no other thread is within one. */
void records_hold(struct records *r);
void records_release(struct records *r);

/* The guard, which is held, is this thread's from now on. */
void records_adopt(struct records *r, uint32_t number);

/*
 * Copies those records that are @wanted: while it is asked, the guard of the record is held, and
 * with it the node and all nodes above.  @ret is to be freed.  0 or -ENOMEM.
 */
int records_copy(struct records *r, bool (*wanted)(const struct record *record, const void *arg),
		 const void *arg, struct record **ret, size_t *n_ret);
