#pragma once

/* The nodes of the daemon, and which of them the arguments of a command mean. */

#include "ctl/session.h"
#include "proto/view.h"

struct nodes {
	struct message_reply reply; /* what the strings belong to */
	struct node_view *nodes;
	size_t n;
};

/*
 * The node and all below it; "" is the root.
 *
 * Return: CTL_DONE, or the exit status for what was said.
 */
int nodes_fetch(struct ctl *ctl, const char *path, struct nodes *ret);

/*
 * Likewise with what node_columns_add() says of each, which is a lot cheaper when there are many.
 */
int nodes_overview(struct ctl *ctl, const char *path, struct nodes *ret);
void nodes_done(struct nodes *nodes);

/*
 * The paths that @args mean, each once: "/" is the root, a glob (fnmatch(3); a * stays between two
 * slashes) is all nodes below it that match, anything else is a path, which the daemon knows or
 * not.  No @args at all are the root.
 *
 * *ret is in one allocation, to be released by free(), and ends with NULL.
 *
 * Return: CTL_DONE; CTL_NO_NODE if a glob matches nothing; or the exit status for what was said.
 */
int nodes_resolve(struct ctl *ctl, char *const *args, size_t n_args, char ***ret);
