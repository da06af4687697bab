#pragma once

/* The nodes of the daemon, and which of them the arguments of a command mean. */

#include "ctl/session/session.h"

struct nodes {
	struct message_reply reply; /* owner of the strings */
	struct node_view *nodes;
	size_t n;
};

/*
 * Asks for the node and all below it; "" is the root.  @programs: after a look at the files that services execute.
 *
 * Return: CTL_DONE, or the exit status of the error that was logged.
 */
int nodes_fetch(struct ctl *ctl, const char *path, bool programs, struct nodes *ret);

void nodes_done(struct nodes *nodes);

/*
 * The paths that @args mean, each once: "/" is the root, a glob (fnmatch(3); a * stays between two
 * slashes) is all nodes below it that match, the name of a template is all of its instances, anything
 * else is a path, which the daemon knows or not.  No @args at all are the root.
 *
 * *ret is in one allocation, to be released by free(), and ends with NULL.
 *
 * Return: CTL_DONE; CTL_NO_NODE if a glob matches nothing; or the exit status of a logged error.
 */
int nodes_resolve(struct ctl *ctl, char *const *args, size_t n_args, char ***ret);
