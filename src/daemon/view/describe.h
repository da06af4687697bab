#pragma once

/* Nodes and guards as they are shown: for programs as JSON, for people as a line. */

#include <jansson.h>

#include "daemon/tree/tree.h"
#include "proto/view.h"

/* From @now to @usec, no less than 0; FIELD_NONE if that is USEC_INFINITY. */
uint64_t describe_left(uint64_t usec, uint64_t now);

/* A Node.  NULL without memory. */
json_t *describe_node(struct node *node);

/* The nodes at and below @top, parents first, of which @at is the next one. */
struct describe_walk {
	struct node *top, *at; /* NULL: there is none */
	uint64_t now_usec;
};

void describe_begin(struct describe_walk *walk, struct node *top);

/* The next Nodes, @max at most: an array.  NULL without memory. */
json_t *describe_nodes(struct describe_walk *walk, size_t max);

/* Calls @each for every guard on @node until it returns false; returns false then. */
typedef bool describe_guard(struct node *node, const struct guard_view *guard, void *arg);
bool describe_each_guard(struct node *node, uint64_t now, describe_guard *each, void *arg);

/* Does it hold up a stop: of its node as it is now, or of an earlier generation? */
bool describe_is_blocking(const struct node *node, const struct guard_view *guard);

/*
 * An array of Guard at and below @top; with @blocking those that hold up a stop.  NULL: no
 * memory.
 */
json_t *describe_guards(struct node *top, bool blocking);

/*
 * One line on the tree: "Running: 4 of 5 services ready", or
 * "ShuttingDown: 2 of 5 services: web/nginx (pid 812, 12s), guard pg_dump "nightly"; kill in 18s".
 * Returns @buf.
 */
#define DESCRIBE_LINE_MAX 512
char *describe_line(char buf[static DESCRIBE_LINE_MAX], const struct tree *tree);

/* Writes the whole tree to the log. */
void describe_to_log(const struct tree *tree);
