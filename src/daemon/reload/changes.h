#pragma once

/*
 * The last configurations that were applied, as the texts of their files: each has a number, a time and its
 * cause.  They are kept in a file beside the state file and outlive the daemon; without a state file they do
 * not.
 */

#include "daemon/tree/tree.h"

#define CHANGES_MAX 10

struct change {
	uint64_t number;	/* 0: there is none */
	uint64_t realtime_usec; /* when it was applied */
	char cause[EVENT_CAUSE_MAX];
	int tape; /* of its configuration */
};

struct changes {
	struct tree *tree;
	size_t n_paths; /* of the configuration: a tape of another number of paths cannot be played */
	struct change kept[CHANGES_MAX]; /* by number */
	uint64_t last;			 /* the number of the latest one; 0: none */
	uint64_t writing; /* a child writes all up to this number; 0: there is no child; UINT64_MAX: none ever does */
	struct closer closer;
};

/*
 * Makes the object, with the configurations that lie beside the state file, and adds that of @tree unless it
 * is the latest of them.
 */
void changes_init(struct changes *changes, struct tree *tree, size_t n_paths);
void changes_done(struct changes *changes);

/*
 * Adds @config, which is applied now, with the present cause; a child process writes it.  A configuration without
 * texts is not added.  @changes may be NULL.
 */
void changes_add(struct changes *changes, const struct config *config);

/* Returns the tape of the change @number, or -ENOENT.  Likewise. */
int changes_find(const struct changes *changes, uint64_t number);

/* Returns an array of Configuration (proto/interface/types.h); NULL without memory. */
json_t *changes_json(const struct changes *changes);
