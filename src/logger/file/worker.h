#pragma once

/* The main loop of a helper process, and the packets between it and the logger. */

#include "logger/ring/format.h"

#define WORKER_REOPEN_ALL UINT32_MAX

/* Memory that the logger and the helper share. */
struct helper_job {
	/* Set by the logger: close the file of this stream, plus 1, or all; cleared by the helper. */
	uint32_t reopen;
	uint64_t writes; /* counted by the helper */
	uint32_t stream;
	struct logger_rules rules;
	bool in_ring; /* the bytes are in the ring, at the position of the stream; else in @data */
	size_t size;
	struct store_progress next;
	char path[PATH_MAX];
	char data[FORMAT_SIZE];
};

enum worker_message_type { WORKER_WRITE, WORKER_REOPEN, WORKER_READY, WORKER_DONE };

/* A packet between the logger and the helper. */
struct worker_message {
	uint32_t type;
	int32_t result; /* of WORKER_DONE */
};

/*
 * Runs the helper until the logger ends.  Waits first for the end of an earlier helper of the same
 * @key, and recovers the portion that this helper left unfinished.  Writes to @fd, or, if it is -1, to
 * the files of the jobs.
 */
_Noreturn void worker_run(const struct area *area, struct helper_job *job, int socket,
			  const char *key, int fd);
