#pragma once

/* What the logger knows. */

#include "base/list.h"
#include "logger/file/helper.h"
#include "logger/out/view.h"
#include "logger/ring/stream.h"

/* What an event of epoll is about; the lower half of its number is that of the thing. */
enum watch { WATCH_CONTROL, WATCH_STREAM, WATCH_HELPER, WATCH_VIEW, WATCH_SINK };

enum sink_kind { SINK_JOURNAL, SINK_SYSLOG, N_SINKS };

struct sink {
	int fd;		     /* or -1 */
	bool waiting;	     /* until it takes more */
	struct list streams; /* that have lines for it */
};

struct logger {
	int epoll;
	int control; /* the daemon; -1 after its end */
	struct area area;
	struct stream *streams[LOGGER_STREAMS];
	uint32_t n_used;   /* streams from this number on are NULL */
	uint32_t n_paused; /* streams whose pipe is not read for now */

	struct list helpers;
	uint32_t n_helpers;  /* ever */
	struct list retries; /* streams whose destination failed */
	struct sink sinks[N_SINKS];
	struct list views;
	struct list replies; /* that the daemon has not taken yet */
	struct list flushes;
	bool over;
	uint64_t now_usec; /* CLOCK_MONOTONIC, of this turn */
	uint64_t end_usec; /* then what hangs is given up; USEC_INFINITY: not yet */
};

/* Return: 0 or -errno. */
int logger_watch(struct logger *logger, int fd, uint32_t events, enum watch watch, uint32_t number);
void logger_rewatch(struct logger *logger, int fd, uint32_t events, enum watch watch,
		    uint32_t number);
void logger_unwatch(struct logger *logger, int fd);
