#pragma once

/*
 * The store: a memfd that outlives every logger, created by the daemon.  The logger maps it; the
 * daemon maps its header and its records, to read counters.
 *
 *	struct store_header	STORE_HEADER bytes
 *	struct store_record	one for each stream, STORE_RECORD bytes each
 *	slots			one for each stream: the ring of bytes taken from the pipe, each at its
 *				position modulo STORE_RING; marks; and the path of the file
 *
 * Pages that were never written take no memory, so a stream without output costs nothing.
 *
 * A position is a number of bytes of a stream, from its beginning.
 *
 * No byte is lost or doubled when the logger is killed at any moment:
 *
 * Taking.  splice(2) moves bytes from the pipe to the ring, at the file offset of the store's open
 * file, which the daemon has, too: the kernel advances the offset with the bytes.  Before that, the
 * logger writes the stream and its position to the header.  A new logger finds them, and adds the
 * advance of the offset to the position of the stream.
 *
 * Writing.  Before a portion is appended to a file, the record gets the progress after it (@next),
 * the file, its size before, and the number of bytes.  A new logger finds the record: if the file
 * has grown by that number, the portion is written, and @next is copied to @now; else the file is
 * cut to its size before.  Copying @next may be repeated.  A terminal and a foreign pipe cannot be
 * cut: they may get a portion twice.
 */

#include "base/std.h"

#define STORE_MAGIC   UINT64_C(0x676f6c676e617773) /* "swanglog" */
#define STORE_VERSION 3
#define STORE_HEADER  65536
#define STORE_RECORD  512
#define STORE_RING    (UINT64_C(2) * 1024 * 1024)
#define STORE_MARKS   1920
#define STORE_PATH    4096

/*
 * The input from the pipe.  There are two structs and an index: a change writes the other struct,
 * and then the index.  @move_from marks a discard, which can be repeated: the bytes of the ring
 * from there on are copied to @move_to, and the bytes between are lost.
 */
struct store_input {
	uint64_t taken; /* position of the end of the bytes in the ring */
	uint64_t discarded_bytes, discarded_lines; /* bytes that were read, but not kept, as the ring was full */
	uint64_t gap;				   /* position where lines were discarded last */
	uint64_t move_from, move_to;		   /* positions; @move_from is 0: no discard */
	uint64_t move_lines;			   /* the number of lines it discards */
};

/* The output of a stream: @position = @written_bytes + @dropped_bytes. */
struct store_progress {
	uint64_t position;
	uint64_t written_bytes, written_lines;
	uint64_t dropped_bytes, dropped_lines;
	uint64_t logged_bytes, logged_lines; /* lost, and reported in the log */
	uint64_t parts;			     /* parts of the line at @position that are written */
};

enum store_step {
	STORE_IDLE,
	STORE_WRITING, /* @next is valid, and the write may have happened */
	STORE_WRITTEN, /* @next must be copied to @now */
};

/* The process and the generation of what comes from the pipe.  The daemon writes it. */
struct store_run {
	int64_t pid; /* 0: the process is being made */
	uint64_t generation;
};

struct store_record {
	struct store_input inputs[2];
	uint32_t input; /* index of the valid one */
	uint32_t step;	/* enum store_step */
	struct store_progress now, next;

	uint32_t writer;	/* the helper of the logger that writes */
	uint32_t foreign;	/* the write is to a descriptor that cannot be cut */
	uint64_t device, inode; /* the file of the write, */
	uint64_t offset;	/* its size before, */
	uint64_t bytes;		/* and the number of bytes appended */

	uint64_t marks; /* number of marks made, ever */
	uint64_t kept;	/* the ring has the bytes from this position on */
	struct store_run run;
	uint64_t rules; /* number of the latest rules, also before their message.  The daemon writes it. */

	/* For users. */
	int32_t error; /* errno of the destination, or 0 */
	uint32_t reserved;
	uint64_t unused;
	uint64_t file_bytes; /* size of the file of @inode, with all that was written of the stream */
	uint64_t unused_too;
	uint64_t last_usec; /* CLOCK_REALTIME of the last output */

	/*
	 * The end of the output that the daemon has seen, plus 1; 0: it does not watch the stream.  Later
	 * output stays in the ring; the service may have to wait.  The daemon writes it.
	 */
	uint64_t watched;
};

struct store_header {
	uint64_t magic;
	uint32_t version, n_streams;
	uint32_t n_used;      /* streams from this number on have never been added */
	uint32_t taking;      /* number of the stream being taken from, plus 1; or 0 */
	uint64_t taking_from; /* its position before */
};

/* From @position on output came at this time, from this process.  Mark n is at n % STORE_MARKS. */
struct store_mark {
	uint64_t position;
	uint64_t time_usec; /* CLOCK_REALTIME */
	struct store_run run;
};

#define STORE_SLOT (STORE_RING + STORE_MARKS * sizeof(struct store_mark) + STORE_PATH)

_Static_assert(sizeof(struct store_header) <= STORE_HEADER, "the header has its room");
_Static_assert(sizeof(struct store_record) <= STORE_RECORD, "a record has its room");
_Static_assert(STORE_SLOT % 65536 == 0, "a slot is made of pages of any size");

/* Counts of a stream, for users: input, output and loss; the difference is in the ring. */
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

/* Creates a store for LOGGER_STREAMS streams.  Return: a CLOEXEC descriptor or -errno. */
int store_new(void);

/* Opens the store @fd with a file offset of its own.  Return: likewise. */
int store_reopen(int fd);

/* Maps the header and the records of the store @fd with the @rights of mmap(2).  Return: 0 or -errno. */
int store_map(int fd, int rights, struct store_header **ret);
struct store_header *store_unmap(struct store_header *store);

/* Returns the record of @stream of a mapped store.  The other program may change its members at any time. */
struct store_record *store_record(struct store_header *store, uint32_t stream);

/*
 * A run of the service of @stream begins.  Every logger sees it at once, also before it gets the
 * stream.  Return: 0 or -errno.
 */
int store_set_run(int fd, uint32_t stream, const struct store_run *run);

/*
 * Further output of @stream is for the rules of this number, which follow in a message: the logger
 * writes nothing until it has them.  Return: 0 or -errno.
 */
int store_set_rules(int fd, uint32_t stream, uint64_t number);

/* Sets record.watched, also for the next logger.  Return: 0 or -errno. */
int store_set_watched(int fd, uint32_t stream, uint64_t watched);

/* Reads @size bytes of output at @position, which are in the ring.  Return: 0 or -errno. */
int store_read_ring(int fd, uint32_t stream, uint64_t position, char *data, size_t size);

/*
 * Returns the stream that is being taken from, or LOGGER_ALL.  The record of another stream that is read after has
 * all output that is not in the pipe.
 */
uint32_t store_taking(const struct store_header *store);

void store_count(const struct store_record *record, struct store_counts *ret);
