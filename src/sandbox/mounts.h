#pragma once

/*
 * The namespaces of a service.  Each function is a step, in this order; it does what the options of its key
 * ask for.  Return: 0, or -errno with the path at fault in *subject.
 */

#include "sandbox/options.h"

#define MOUNTS_KEPT_MAX (OPTION_WORDS_MAX + 24)

struct mounts {
	const struct options *options;
	const char *subject; /* or NULL */
	struct kept {
		char *path;   /* without links */
		int tree;     /* as it was before */
		char *target; /* of a link, instead of a tree; or NULL */
	} kept[MOUNTS_KEPT_MAX];
	size_t n_kept;
	bool has_users;
};

/* Whether an option asks for mounts. */
bool mounts_are_needed(const struct options *options);

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

/* Applies the words of protect to /proc, /sys and /dev. */
int mounts_protect_kernel(struct mounts *mounts);

/* Puts back the trees that no cover will hide: those above one, such as /run, are below it, then. */
int mounts_restore_above(struct mounts *mounts);

/* Puts the other trees back, after the covers. */
int mounts_restore(struct mounts *mounts);

/* A user namespace with no other user, unless this process is in one already. */
int mounts_make_users(struct mounts *mounts);
