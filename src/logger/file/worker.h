#pragma once

/* The inside of a helper process. */

#include <limits.h>
#include <stddef.h>

#include "logger/ring/format.h"

/* In memory that the logger and the helper share. */
struct helper_job {
	uint32_t reopen; /* all files are to be closed; the helper clears it */
	uint32_t stream;
	struct logger_rules rules;
	size_t size;
	struct store_progress next;
	char path[PATH_MAX];
	char data[FORMAT_SIZE];
};

enum worker_message_type { WORKER_WRITE, WORKER_REOPEN, WORKER_READY, WORKER_DONE };

/* One packet. */
struct worker_message {
	uint32_t type;
	int32_t result; /* of WORKER_DONE */
};

/*
 * Waits for the end of an earlier one, recovers what it left, and works until the logger ends.  @key is
 * its kind; @fd is to be written to, or -1: the files of the jobs.
 */
_Noreturn void worker_run(const struct area *area, struct helper_job *job, int socket,
			  const char *key, int fd);
