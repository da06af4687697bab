#pragma once

/* The tree of a daemon of which nothing runs: no process, no control socket, no turns but the test's. */

#include "daemon/process.h"
#include "daemon/service.h"
#include "daemon/tree.h"

extern struct context ctx;
extern struct process_table processes;
extern struct tree tree;

/* What a file with @text says, without a mistake, and without users and groups. */
struct config *load(const char *text);

/* Makes the tree of @config, and takes the reference to that; until finish(). */
void begin_with(struct config *config);
void finish(void);

/* How many services each node counts below it, ready and settled ones, are those that are there. */
void check_counts(void);

/* It is there. */
struct node *find(const char *path);
struct service *service(const char *path);

/* It runs: wanted, with a guard, and ready, as a start and READY have it; but it has no process. */
void run_service(struct service *s);
