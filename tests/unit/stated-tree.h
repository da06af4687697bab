#pragma once

/*
 * What comes between a stop and the next start, on a tree without processes: what a service would do
 * is said to it as its processes would.  Nothing here calls order_pump(), so no start is carried out.
 */

#include "main.h"
#include "tree-world.h"

/* A section; the last of a list has no path. */
struct stated {
	const char *path, *requires, *after, *wants, *term_after;
	bool essential;
};

/* "web" needs "db", and "log" comes after both. */
extern const struct stated three[];

/* Makes the tree of @sections, and ends it, with the counts as they should be. */
void setup_tree(const struct stated *sections);
void teardown(void);

/* Whose tests have the tree of three each. */
TCase *stated_case(const char *name);

void reload(const struct stated *sections);

/* One turn of daemon.c, as far as a stop goes; likewise. */
void turn(void);

/* It runs, without a process. */
void run(const char *path);
void run_all(void);

/* Its last process is gone. */
void end(const char *path);

TCase *retired_tests(void);
TCase *restart_tests(void);
