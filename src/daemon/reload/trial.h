#pragma once

/*
 * A child process reads the configuration before the daemon does, and looks at each path in it that
 * the daemon itself opens: a file system that hangs holds up the child.
 */

#include "daemon/reload/reload.h"

#define TRIAL_TIMEOUT_USEC (5 * USEC_PER_SEC)
#define TRIAL_TIMEOUT_TEXT                                                              \
	"the configuration cannot be read: a file system does not answer, or the user " \
	"database"

struct trial {
	struct closer closer; /* to be ended by closer_done() */
	const struct reload *reload;
	struct config *
		config; /* its paths are looked at; NULL: those of the files.  For the child alone */
	unsigned number; /* of the last one */
	int result;	 /* -EINPROGRESS; 0: the files can be read; -ETIMEDOUT */
	bool by_signal;	 /* a reload without a request follows, with its result in the log */
};

void trial_init(struct trial *trial, struct context *ctx, const struct reload *reload);

/* Begins a trial of @config or, with NULL, of the files, unless one goes on.  Returns its number. */
unsigned trial_begin(struct trial *trial, struct config *config);

/* Returns the result of trial @number, or 0 if there was another one since. */
static inline int trial_result(const struct trial *trial, unsigned number)
{
	return trial->number == number ? trial->result : 0;
}
