#pragma once

/* The state of the logger and of its streams, for the modules of this room only. */

#include "daemon/writer/child.h"
#include "daemon/logger/rules.h"
#include "proto/logger-store.h"

/* For the last lines of a run. */
struct capture_wait {
	struct alarm timer;
	uint64_t until_usec; /* 0: there is none */
	void (*fn)(void *arg);
	void *arg;
};

struct log_stream {
	struct logging *logger;
	struct list in_logger;
	struct list in_waiting; /* while it has wishes */
	unsigned refs;		/* 0: it is being removed */
	unsigned wishes;	/* messages to be sent, a bit of enum wish each */
	uint32_t number;	/* LOGGER_ALL: none yet */
	unsigned places[2];	/* of the rows of @fds in the roster */
	enum logger_kind kind : 8;
	bool prefixed : 1; /* its name is counted in @name_lengths */
	bool failing : 1;
	bool shared : 1; /* the end for processes: the last one that got it was not the first */
	bool kept : 1;	 /* a logger hangs in a read of its pipe: the pipe is left alone */
	uint64_t serial; /* rises with the order in which streams were made or got pipes */
	int fds[2];	 /* of the pipe, or -1 */
	struct logger_rules rules;
	uint64_t rules_number; /* rises with each change after the first process */
	struct store_run run;
	char *file;		 /* NULL: not used yet */
	uint64_t asked, flushed; /* cookies of the last LOGGER_FLUSH and LOGGER_FLUSHED */
	uint64_t until_usec; /* the end of the last hold; 0: none in this run */
	uint64_t missed;     /* position of the end of the output that was last logged as missing */
	struct capture *reader; /* of LOGGER_WATCH; or NULL */
	uint64_t line;		/* position of the first one that @reader has not compared */
	sd_event_source *drain; /* of the pipe, while there is no logger; or NULL */
	const struct capture_wait *wait; /* to be called when it is flushed; or NULL */
	struct list holds;
	char name[];
};

struct logging {
	struct context *ctx;
	struct logger_child child;
	struct dict by_name[LOGGER_KINDS];
	struct list streams, waiting;
	unsigned n_new; /* wishes since some were sent */
	struct log_stream *by_number[LOGGER_STREAMS];
	uint32_t next_number;
	uint64_t cookie;
	uint64_t serial; /* the last one of a stream */
	unsigned life;	 /* number of processes that were ready so far */
	struct log_sinks sinks;
	/* The streams with LOGGER_PREFIX by the length of their names, and the longest length. */
	unsigned name_lengths[CONFIG_NAME_MAX + 1];
	uint32_t name_width;
	bool begun;
	bool short_of_descriptors; /* which was logged */
	void (*on_state)(void *arg);
	void *arg;
};

/* Returns the record of @stream, which has a number. */
static inline const struct store_record *log_stream_record(const struct log_stream *stream)
{
	return store_record(stream->logger->child.mapped, stream->number);
}
