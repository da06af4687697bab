#pragma once

/*
 * The namespaces of a service.  Each function is a step, in this order; it does what the options of its key
 * ask for.  Return: 0, or -errno with the path at fault in *subject.
 */

#include "sandbox/options.h"

#define MOUNTS_KEPT_MAX (OPTION_WORDS_MAX + 4)

struct mounts {
	const struct options *options;
	const char *subject; /* or NULL */
	struct kept {
		char *path; /* without links */
		int tree;   /* as it was before */
	} kept[MOUNTS_KEPT_MAX];
	size_t n_kept;
};

/* Whether this process has CAP_SYS_ADMIN. */
bool mounts_has_right(void);

/* A network with a loopback of its own. */
int mounts_make_network(struct mounts *mounts);

/* A mount namespace, which mounts of the host reach. */
int mounts_enter(struct mounts *mounts);

/* Notes the trees that stay as they are when a later step covers them. */
int mounts_keep(struct mounts *mounts);
int mounts_make_read_only(struct mounts *mounts);

/* Covers the directories of a key. */
int mounts_cover(struct mounts *mounts, enum option option);

/* Puts the trees back. */
int mounts_restore(struct mounts *mounts);
