#pragma once

/* The nodes of the daemon, and which of them the arguments of a command mean. */

#include "ctl/session/session.h"
#include "proto/node-view.h"

struct nodes {
	struct message_reply reply; /* owner of the strings */
	struct node_view *nodes;
	size_t n;
};

/*
 * Asks for the node and all below it; "" is the root.
 *
 * Return: CTL_DONE, or the exit status of the error that was logged.
 */
int nodes_fetch(struct ctl *ctl, const char *path, struct nodes *ret);

void nodes_done(struct nodes *nodes);

/* The same nodes, one after the other.  Those of one reply are in memory at a time. */
struct nodes_walk {
	struct nodes part; /* of one reply */
	size_t next;	   /* in it */
};

/* Return: CTL_DONE, or the exit status of the error that was logged. */
int nodes_walk(struct ctl *ctl, const char *path, struct nodes_walk *ret);

/* *ret and its strings are there until the next call; NULL at the end.  Return: as nodes_walk(). */
int nodes_walk_next(struct ctl *ctl, struct nodes_walk *walk, const struct node_view **ret);
void nodes_walk_done(struct nodes_walk *walk);

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
