#pragma once

/* The lines of several outputs that are older than those that the logger remembers. */

#include "ctl/logs/files.h"
#include "proto/node-view.h"

struct older {
	const struct output_view *outputs;
	size_t n;
	struct older_file *files; /* of each output; shared with the children */
	int *results;		  /* 0; -ENOENT: there is none; -ETIMEDOUT: it hangs; -errno */
	struct log_past *pasts;
	uint64_t wait_usec;
};

/*
 * Looks at the files, before the logger is asked.  Each file system that does not answer takes @wait_usec,
 * here or in older_read().  Return: 0 or -errno.
 */
int older_init(struct older *older, const struct output_view *outputs, size_t n,
	       uint64_t wait_usec);
void older_done(struct older *older);

/* Adds the lines that are wanted by @older->pasts, those with a source.  Return: 0 or -errno. */
int older_read(struct older *older, struct log_lines *ret);
