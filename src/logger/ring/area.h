#pragma once

/*
 * The store (proto/logger-store.h) as the logger has it in memory.  The kernel gives the pages of a
 * ring twice, one after the other, so that a line that wraps around is in one piece.
 */

#include "proto/logger-store.h"

struct area {
	int fd;
	struct store_header *header; /* and the records */
	uint64_t offset;	     /* file offset of @fd; UINT64_MAX: not known */
	bool alone;		     /* the daemon has ended */
};

/* The memory of one stream; @ring is 2 * STORE_RING long. */
struct area_slot {
	char *ring; /* NULL: not mapped */
	struct store_mark *marks;
};

/* Maps the store of @fd, and ends a take that was interrupted.  Return: 0, -EPROTO, or -errno. */
int area_open(struct area *area, int fd);
void area_close(struct area *area);

struct store_record *area_record(const struct area *area, uint32_t stream);

int area_map(const struct area *area, uint32_t stream, struct area_slot *ret);
void area_unmap(struct area_slot *slot);

/* Empties the memory of a stream that is over. */
void area_clear(const struct area *area, uint32_t stream);

/* Gives the pages of the ring between two positions back. */
void area_punch(const struct area *area, uint32_t stream, uint64_t from, uint64_t to);

/*
 * Moves at most @size bytes from the pipe to the ring at the position @from.  The caller sets the
 * record's input and calls area_taken().
 *
 * Return: bytes; 0: the end; -EAGAIN; -errno.
 */
ssize_t area_take(struct area *area, uint32_t stream, int pipe, uint64_t from, size_t size);
void area_taken(struct area *area);

/*
 * Calls fcntl() for the pipe, which a service may keep locked (sys/ipc/passed.h): the daemon finds the stream in the
 * header.
 */
int area_control_pipe(struct area *area, uint32_t stream, int pipe, int command, int value);

/* The path of the file that a stream was written to last; for recovery. */
int area_set_path(const struct area *area, uint32_t stream, const char *path);
int area_path(const struct area *area, uint32_t stream, char path[static STORE_PATH]);

static inline struct store_input *area_input(struct store_record *record)
{
	return &record->inputs[record->input & 1];
}

/* Replaces the input in one step. */
static inline void area_set_input(struct store_record *record, const struct store_input *input)
{
	uint32_t other = !(record->input & 1);

	record->inputs[other] = *input;
	/* Release: the index is written after the copy, however the process ends. */
	__atomic_store_n(&record->input, other, __ATOMIC_RELEASE);
}

static inline void area_set_step(struct store_record *record, enum store_step step)
{
	/* Release: as above, for @next and the facts of the write. */
	__atomic_store_n(&record->step, (uint32_t)step, __ATOMIC_RELEASE);
}

/* Replaces the progress in one step, also from STORE_WRITTEN on. */
static inline void area_commit(struct store_record *record)
{
	area_set_step(record, STORE_WRITTEN);
	record->now = record->next;
	area_set_step(record, STORE_IDLE);
}
