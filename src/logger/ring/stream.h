#pragma once

/* A stream: its pipe, its ring, its rules, and its progress. */

#include "logger/ring/area.h"
#include "proto/logger-message.h"

/* Bytes of one read: other streams have their turn after them. */
#define STREAM_PORTION (128 * 1024)
/* More than any pipe holds. */
#define STREAM_PIPE_MAX (4 * 1024 * 1024)
/* A longer line is written in parts. */
#define STREAM_LINE_MAX LOGGER_LINE_MAX
/* Bytes that may wait to be written; two portions more are room for discarded lines. */
#define STREAM_WAITING_MAX (STORE_RING - 2 * STREAM_PORTION)

struct stream {
	struct area *area;
	struct store_record *record;
	struct area_slot slot; /* mapped when the first output comes */
	uint32_t id;
	int fd; /* of the pipe; -1 when it has ended */
	struct logger_rules rules;
	uint64_t rules_number; /* number of the message with these rules */
	char *name, *path;

	uint64_t end_at; /* everything up to here is written, even an unfinished line */
	bool opened;	 /* this destination has taken at least one portion */
	bool paused;	 /* the pipe is not read: the ring is full */
	bool stalled;	 /* the destination has taken nothing for long */
	uint64_t check_usec, check_progress; /* last look at the destination while paused */
	bool draining;			     /* a flush waits until the pipe is empty */
	bool reported;			     /* the daemon has got the last LOGGER_WATCH */
	uint64_t retry_usec;	    /* CLOCK_MONOTONIC: no attempt before; 0: none failed */
	unsigned caution;	    /* number of times that its next portion is halved, after a failure */
	struct store_counts counts; /* at the first failure */
	struct logger_seam seam;    /* as of the last moment without a working helper */
	struct list in_loud;	    /* streams with much output lately */
	uint64_t loud_usec;	    /* CLOCK_MONOTONIC: the end of its time in that list */
	struct list in_ticked;	    /* streams that are read at each tick */
	int pipe_size;		    /* the size of the pipe while the stream is not loud */
	struct list in_queue;	    /* the queue of its destination, or that of further attempts */
	void *outlet;		    /* the helper of its destination, or NULL */
	void *worker; /* the one that has a portion of it, or may have had one, and owns @record->now;
			 or NULL */
};

/* Takes @fd over.  Return: 0 or -errno. */
int stream_new(struct stream **ret, struct area *area, uint32_t id, int fd);
struct stream *stream_free(struct stream *stream);
DEFINE_CLEANUP(struct stream *, stream_free)

/* Return: 0 or -ENOMEM, without effect. */
int stream_set_rules(struct stream *stream, const struct logger_rules *rules, const char *name,
		     const char *path);

/*
 * Takes a portion that has come at @time_usec from the pipe.
 *
 * Return: bytes; 0: the end; -EAGAIN: nothing is there; -ENOBUFS: the ring is full, and the service is
 * to wait; -errno.
 */
ssize_t stream_take(struct stream *stream, uint64_t time_usec);

/* Takes all bytes that are in the pipe now.  Return: as stream_take(), of the last portion. */
ssize_t stream_take_pipe(struct stream *stream, uint64_t time_usec);

/*
 * Takes all bytes that are in the pipe now, and ends an unfinished line.  @draining stays set if the
 * ring is full before.
 */
void stream_take_all(struct stream *stream, uint64_t time_usec);

/* Lines are dropped if the destination fails or takes nothing; while it works the service waits. */
static inline bool stream_may_drop(const struct stream *s)
{
	return !(s->rules.flags & LOGGER_BLOCK) && (s->stalled || s->record->error);
}

/* After the end of the daemon the record still counts for another logger. */
static inline uint64_t stream_watched(const struct stream *s)
{
	return s->area->alone ? 0 : s->record->watched;
}

/* Returns true if nothing more is taken before the daemon has seen what is there. */
static inline bool stream_is_unseen(const struct stream *s)
{
	uint64_t watched = stream_watched(s);

	return watched && area_input(s->record)->taken + 1 > watched + STREAM_WAITING_MAX;
}

/* Returns true if the ring has room for a paused pipe: in any case if no line in the ring is too long. */
static inline bool stream_has_room(const struct stream *s)
{
	uint64_t waiting = area_input(s->record)->taken - s->record->now.position;

	if (stream_is_unseen(s))
		return false;
	if (stream_may_drop(s) && (!s->worker || waiting + STREAM_PORTION <= STORE_RING))
		return true;
	return waiting <= STREAM_LINE_MAX + STREAM_PORTION;
}

/* Drops the oldest lines that wait, at least a portion of them.  Not while a helper works. */
void stream_drop(struct stream *stream);

/* Frees the pages of lines older than those that are kept for readers. */
void stream_trim(struct stream *stream);

/* Returns true if there are such pages, enough to be worth it. */
bool stream_has_old(const struct stream *stream);

/* Returns the end of the last complete line, not before @from. */
uint64_t stream_line_end(const struct stream *stream, uint64_t from);

/* Returns the end of the lines that can be written now; @record->now.position if there is none. */
uint64_t stream_writable_end(const struct stream *stream);

/* Returns true if later rules are on their way that may apply to its output. */
static inline bool stream_awaits_rules(const struct stream *s)
{
	return __atomic_load_n(&s->record->rules, __ATOMIC_ACQUIRE) > s->rules_number;
}

/* Notes where the file of the stream ends.  Only while no helper works. */
void stream_note_seam(struct stream *stream);

/* Returns the bytes at a position between @record->kept and the end, in one piece. */
static inline const char *stream_at(const struct stream *s, uint64_t position)
{
	return s->slot.ring + position % STORE_RING;
}

static inline uint64_t stream_taken(const struct stream *s)
{
	return area_input(s->record)->taken;
}

/* Returns the mark for @position, or NULL; *next is the position of the following mark. */
const struct store_mark *stream_mark(const struct stream *stream, uint64_t position,
				     uint64_t *next);

uint64_t stream_count_lines(const char *text, uint64_t size);
