#pragma once

/* Past ends, from the history that the daemon writes. */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define PAST_SIZE_MAX (5 * 1024 * 1024) /* of files; the daemon keeps 4 MB of history */

struct past {
	const char *history_file; /* NULL: that of the daemon */
	/* The last file that was read, and its state then; or NULL. */
	char *path;
	struct stat st;
	uint64_t again_usec; /* not read again before, as nothing else is served meanwhile */
	struct history *history;
};

void past_done(struct past *past);

/*
 * Returns the object that swansongctl history --json prints for @node and all below it, "" for the
 * root.  @settings is the reply to Show that names the file, or NULL.
 *
 * If there is none, *ret_found is false, and the object is {"error", "file": if it is known}.  NULL:
 * out of memory.
 */
json_t *past_history(struct past *past, const json_t *settings, const char *node, bool *ret_found);
