#pragma once

/* Nodes and guards as they are shown: as JSON for programs, as a line for users. */

#include "daemon/tree/tree.h"

/* Returns a Node (proto/interface/types.h); NULL without memory. */
json_t *describe_node(struct node *node);

/* A walk over the subtree of @top, parents first. */
struct describe_walk {
	struct node *top, *at; /* @at is the next one, or NULL */
	uint64_t now_usec;
	bool files; /* shows replaced files: the client has the right to see them */
};

void describe_begin(struct describe_walk *walk, struct node *top);

/* Returns an array of the next Nodes, at most @max; NULL without memory. */
json_t *describe_nodes(struct describe_walk *walk, size_t max);

/* The edges between all nodes: the reply to Dependencies, for @node.  NULL without memory. */
json_t *describe_dependencies(const struct tree *tree, const struct node *node);

/* Calls @each for every guard on @node. */
typedef void describe_guard(struct node *node, const struct guard_view *guard, void *arg);
void describe_each_guard(struct node *node, uint64_t now, describe_guard *each, void *arg);

/*
 * Returns true if the guard holds up a stop, of the present generation of its node or an earlier
 * one.
 */
bool describe_is_blocking(const struct node *node, const struct guard_view *guard);

/*
 * Returns an array of Guard for the subtree of @top; with @blocking those that hold up a stop.
 * NULL without memory.
 */
json_t *describe_guards(struct node *top, bool blocking);

/*
 * Prints one line about the tree: "Running: 4 of 5 services ready", or "ShuttingDown: 2 of 5
 * services: web/nginx (pid 812, 12s), guard pg_dump "nightly"; kill in 18s".  Returns @buf.
 */
#define DESCRIBE_LINE_MAX 512
char *describe_line(char buf[static DESCRIBE_LINE_MAX], const struct tree *tree);
void describe_to_log(const struct tree *tree);
