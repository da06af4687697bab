#pragma once

/*
 * The times of schedules that outlive the daemon: the modification times of empty files, one for each
 * service, in the directory STATE.runs beside the state file.  No file is ever incomplete.
 */

#include "base/log.h"
#include "base/std.h"

struct stamps {
	char *directory; /* NULL: none */
	bool failed;	 /* the last stamp could not be written, as was logged */
};

/* Uses the directory of the state file @state from now on; NULL or "none": there are no stamps. */
void stamps_use(struct stamps *stamps, const char *state, struct log *log);
void stamps_done(struct stamps *stamps);

/* Returns the time of the node @name, of CLOCK_REALTIME; 0: none. */
uint64_t stamps_read(const struct stamps *stamps, const char *name);

/* Sets it.  A failure is logged, but not again before a success. */
void stamps_write(struct stamps *stamps, const char *name, uint64_t usec, struct log *log);
