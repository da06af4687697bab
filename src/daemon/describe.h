#pragma once

/* What there is to see: of nodes, of guards, for programs as JSON and for people as a line. */

#include <jansson.h>

#include "daemon/tree.h"
#include "proto/view.h"
#include "proto/writer.h"

/* From @now to @usec, no less than 0; FIELD_NONE if that is USEC_INFINITY. */
uint64_t describe_left(uint64_t usec, uint64_t now);

/* A Node.  NULL without memory. */
json_t *describe_node(struct node *node);

/* A walk through the Nodes at and below @top, parents first. */
struct describe_walk {
	struct node *top, *at;
	uint64_t now_usec;
};

void describe_begin(struct describe_walk *walk, struct node *top);

/* Appends the next Node.  Return: 1; 0 at the end; -ENOMEM.  @walk is a struct describe_walk. */
int describe_next(struct writer *to, void *walk);

/* Appends the members of the Nodes at and below @top, which is a struct node. */
void describe_columns(struct writer *to, void *top);

/*
 * Every guard on @node itself, to @each, until it returns false.  Return: has it never?  The views
 * and their strings are valid during the call only.
 */
typedef bool describe_guard(struct node *node, const struct guard_view *guard, void *arg);
bool describe_each_guard(struct node *node, uint64_t now, describe_guard *each, void *arg);

/* Does it hold up a stop: of its node as it is now, or of an earlier generation? */
bool describe_is_blocking(const struct node *node, const struct guard_view *guard);

/*
 * The guards held on @top and below: an array of Guard; with @blocking only those that hold up a
 * stop.  NULL without memory.
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
