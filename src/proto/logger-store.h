#pragma once

/*
 * The store: a memfd that outlives every logger, made and kept by the daemon.  The logger maps it; the
 * daemon reads counters from it.
 *
 *	struct store_header	STORE_HEADER bytes
 *	struct store_record	one for each stream, STORE_RECORD bytes each
 *	slots			one for each stream: the ring, which has what was taken from the pipe, at
 *				its position modulo STORE_RING; marks; and the path of the file
 *
 * Pages that were never written take no memory, so a stream without output costs nothing.
 *
 * A position is a number of bytes of a stream, from its beginning.
 *
 * No byte is lost or doubled when the logger is killed at any moment:
 *
 * Taking.  splice(2) moves bytes from the pipe to the ring at the file offset of the store's open file,
 * which the daemon has, too: the kernel moves the offset with the bytes.  The logger first notes in
 * the header the stream and the position from which it takes.  A new logger finds the note, and adds
 * what the offset says to the position of the stream.
 *
 * Writing.  Before a portion is appended to a file the record gets what the progress will be (@next),
 * and the file, its size before, and the bytes to be appended.  A new logger finds that: if the file
 * has grown by as much, the portion is written, and @next is copied to @now; else the file is cut to
 * its size before.  @next may be copied again and again.  A terminal and a foreign pipe cannot be cut:
 * there a portion may come twice.
 */

#include <stdbool.h>
#include <stdint.h>

#define STORE_MAGIC   UINT64_C(0x676f6c676e617773) /* "swanglog" */
#define STORE_VERSION 1
#define STORE_HEADER  65536
#define STORE_RECORD  512
#define STORE_RING    (UINT64_C(2) * 1024 * 1024)
#define STORE_MARKS   1920
#define STORE_PATH    4096

/*
 * What came from the pipe.  There are two, and an index: a change is a new one, and then the index.
 * With @move_from a discard is under way, which can be done again: what is in the ring from there on
 * is copied to @move_to, and what was in between is gone.
 */
struct store_input {
	uint64_t taken;				   /* position of the end of what is in the ring */
	uint64_t discarded_bytes, discarded_lines; /* read, but not kept: the ring was full */
	uint64_t gap;				   /* position where lines were discarded last */
	uint64_t move_from, move_to;		   /* positions; @move_from is 0: no discard */
	uint64_t move_lines;			   /* that it discards */
};

/* What has become of it: @position = @written_bytes + @dropped_bytes. */
struct store_progress {
	uint64_t position;
	uint64_t written_bytes, written_lines;
	uint64_t dropped_bytes, dropped_lines;
	uint64_t told_bytes, told_lines; /* of those lost, already told in the log */
	uint64_t parts;			 /* of the line at @position, written already */
};

enum store_step {
	STORE_IDLE,
	STORE_WRITING, /* @next is valid, and the write may have happened */
	STORE_WRITTEN, /* @next is to become @now */
};

struct store_record {
	struct store_input inputs[2];
	uint32_t input; /* index of the valid one */
	uint32_t step;	/* enum store_step */
	struct store_progress now, next;

	uint32_t writer;	/* which helper of the logger writes */
	uint32_t foreign;	/* the write is to a descriptor that cannot be cut */
	uint64_t device, inode; /* the file of the write, */
	uint64_t offset;	/* its size before, */
	uint64_t bytes;		/* and what is appended */

	uint64_t marks; /* number of marks made, ever */
	uint64_t kept;	/* the ring has what is from this position on */
	int64_t pid;	/* of the present run */
	uint64_t generation;

	/* For people. */
	int32_t error; /* errno of the destination, or 0 */
	uint32_t reserved;
	uint64_t error_usec; /* CLOCK_REALTIME, since when */
	uint64_t
		file_bytes; /* size of the file of @inode, with all that was written of the stream */
	uint64_t rotations;
	uint64_t last_usec; /* CLOCK_REALTIME of the last output */
};

struct store_header {
	uint64_t magic;
	uint32_t version, n_streams;
	uint32_t n_used;      /* streams from this number on have never been added */
	uint32_t taking;      /* number of the stream that is taken from, plus 1; or 0 */
	uint64_t taking_from; /* its position before */
};

/* From @position on output came at this time, from this process.  Mark n is at n % STORE_MARKS. */
struct store_mark {
	uint64_t position;
	uint64_t time_usec; /* CLOCK_REALTIME */
	int64_t pid;
	uint64_t generation;
};

#define STORE_SLOT (STORE_RING + STORE_MARKS * sizeof(struct store_mark) + STORE_PATH)

_Static_assert(sizeof(struct store_header) <= STORE_HEADER, "the header has its room");
_Static_assert(sizeof(struct store_record) <= STORE_RECORD, "a record has its room");
_Static_assert(STORE_SLOT % 65536 == 0, "a slot is made of pages of any size");

/* Of one stream, for people: bytes and lines came, were written, were lost; the rest is in the ring. */
struct store_counts {
	uint64_t came_bytes;
	uint64_t written_bytes, written_lines;
	uint64_t lost_bytes, lost_lines;
	uint64_t waiting_bytes;
};

static inline uint64_t store_record_offset(uint32_t stream)
{
	return STORE_HEADER + (uint64_t)stream * STORE_RECORD;
}

static inline uint64_t store_slot_offset(uint32_t n_streams, uint32_t stream)
{
	return store_record_offset(n_streams) + stream * STORE_SLOT;
}

/* A new store for LOGGER_STREAMS streams.  Return: CLOEXEC, or -errno. */
int store_new(void);

/* The record of @stream, as it is now; for the daemon.  Return: 0 or -errno. */
int store_read(int fd, uint32_t stream, struct store_record *ret);

/*
 * Returns true if output of @stream is on its way from the pipe to the ring, or if that is not known:
 * what is not in the pipe is in the record that is read after this has returned false.
 */
bool store_is_taking(int fd, uint32_t stream);

/* What the record says in sum. */
void store_count(const struct store_record *record, struct store_counts *ret);
