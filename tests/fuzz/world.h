#pragma once

/* The daemon's tree without processes: every start succeeds, with a pid that no process has. */

#include "daemon/main/update.h"
#include "daemon/reload/reload.h"

struct world {
	struct context ctx;
	struct process_table processes;
	struct tree tree;
	struct control *control; /* NULL: there is no socket */
	struct parent *parent;	 /* there is no parent manager */
	struct reload reload;
};

/* Begins a tree from a configuration, which is a file that can be read again. */
void world_begin(struct world *world, const char *text);
void world_end(struct world *world);

/* Takes events and turns until nothing is left to do at once. */
void world_run(struct world *world);
