#pragma once

/*
 * The past, from the files that the daemon writes.  A function returns a new object.  If there is none,
 * *ret_found is false, and the object is {"error", "file": if it is known}.  NULL: out of memory.
 *
 * @settings is the reply to Show that names the files, or NULL.
 */

#include <jansson.h>

#include "base/std.h"

#define PAST_SIZE_MAX (5 * 1024 * 1024) /* of the files; the daemon keeps 4 MB */

struct past {
	const char *history_file; /* NULL: that of the daemon */
	/* The last reading of a history, and the state of the file then; or NULL. */
	char *path;
	struct stat st;
	uint64_t again_usec; /* not read again before this time, as a reading holds up all clients */
	int error;
	struct history *history; /* NULL: it could not be read, for @error */
};

void past_done(struct past *past);

/*
 * Returns the object that swansongctl history --json prints for @node and all below it, "" for the
 * root.
 */
json_t *past_history(struct past *past, const json_t *settings, const char *node, bool *ret_found);

/*
 * Returns {"ends": those of @node, as figures_build_last(), "availability": its ledger of the last 30 days
 * up to @until_usec, since the epoch, or to the last line if that is 0, as ledger_build()}, each if there
 * is any.
 */
json_t *past_of(struct past *past, const json_t *settings, const char *node, uint64_t until_usec);
