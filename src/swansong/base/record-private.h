#pragma once

/* The guards that are held, since when and from where, for a tree with its report switched on. */

#include <pthread.h>

#include "base/std.h"

struct record {
	struct swansong *node; /* NULL if the record is free */
	const char *file, *function;
	uint64_t since_usec;
	pthread_t taker; /* the thread that took the guard; set by records_add() */
	unsigned int line;
	uint32_t next_free;
};

/* Returns NULL if there is no memory. */
struct records *records_new(void);
struct records *records_free(struct records *r);

/* Returns the number for records_remove(), or 0 if there is no memory for the record. */
uint32_t records_add(struct records *r, const struct record *record);

/*
 * Removes the record of a guard on @node, before the guard itself is dropped.  Returns false if the
 * guard is no longer recorded: a copy of it was dropped before.
 */
bool records_remove(struct records *r, uint32_t number, const struct swansong *node);

/* Around a fork: hold and release all locks, so that no other thread is inside one. */
void records_hold(struct records *r);
void records_release(struct records *r);

/* Makes this thread the taker of the guard, which is held. */
void records_adopt(struct records *r, uint32_t number);

/*
 * Copies the records for which @wanted returns true.  During that call the guard of the record is
 * held, and so are the node and all nodes above.  The caller frees *@ret.  Returns 0 or -ENOMEM.
 */
int records_copy(struct records *r, bool (*wanted)(const struct record *record, const void *arg),
		 const void *arg, struct record **ret, size_t *n_ret);
