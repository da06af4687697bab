#pragma once

/* The state of the logger: its streams, helpers, sinks, readers, and replies to the daemon. */

#include "logger/file/helper.h"
#include "logger/out/view.h"

/* The kind of an event of epoll; the lower half of its data is the number of the stream or helper. */
enum watch {
	WATCH_CONTROL,
	WATCH_STREAM,
	WATCH_TICK,
	WATCH_HELPER,
	WATCH_VIEW,
	WATCH_SINK,
	WATCH_OLDER,
};

enum sink_kind { SINK_JOURNAL, SINK_SYSLOG, N_SINKS };

struct sink {
	int fd;		     /* or -1 */
	bool waiting;	     /* the program takes no more lines for now */
	struct list streams; /* streams with lines for this sink */
};

struct logger {
	int epoll;
	int control; /* the daemon; -1 after its end */
	struct area area;
	struct stream *streams[LOGGER_STREAMS];
	uint32_t n_used;   /* streams from this number on are NULL */
	uint32_t n_paused; /* streams with a pipe that is not read for now */

	struct list helpers;
	uint32_t n_helpers;  /* made so far */
	struct list retries; /* streams with a failed destination */
	struct list loud;    /* streams with much output lately, the one for longest first */
	uint32_t n_loud;
	struct list
		ticked; /* streams with a pipe that is read at each tick, instead of each write */
	int tick;	/* the timer of the next tick */
	int timer;	/* of LOGGER_TIMER, or -1, */
	uint64_t timer_usec; /* ... which is set anew from this time on */
	struct sink sinks[N_SINKS];
	struct list views;
	struct list replies; /* not yet sent: the socket of the daemon is full */
	struct list flushes;
	bool over;
	uint64_t now_usec; /* CLOCK_MONOTONIC, of this turn */
	uint64_t end_usec; /* helpers that hang are given up then; USEC_INFINITY: not yet */
};

/* Add, change and remove a descriptor of the epoll instance.  Return: 0 or -errno. */
int logger_watch(struct logger *logger, int fd, uint32_t events, enum watch watch, uint32_t number);
void logger_rewatch(struct logger *logger, int fd, uint32_t events, enum watch watch,
		    uint32_t number);
void logger_unwatch(struct logger *logger, int fd);

/*
 * Sets the timer of LOGGER_TIMER, in a turn with work: the kernel may keep the logger in a call, where a service
 * keeps its pipe locked (sys/ipc/passed.h).
 */
void logger_set_timer(struct logger *logger);
