#pragma once

/* The daemon's tree without processes: every start succeeds, with a pid that no process has. */

#include "daemon/main/update.h"
#include "daemon/reload/reload.h"
#include "daemon/reload/rollout.h"

struct world {
	struct context ctx;
	struct process_table processes;
	struct tree tree;
	struct control *control; /* NULL: there is no socket */
	struct parent *parent;	 /* there is no parent manager */
	struct reload reload;
	struct rollout rollout;
	const char *paths[1];
};

/* Begins a tree from a configuration, which is a file that can be read again. */
void world_begin(struct world *world, const char *text);

/* The same from the file @path.  Returns false if the configuration is refused; there is no world then. */
bool world_begin_at(struct world *world, const char *path);

/* The same, from a text, in an image that finds what @roster has; it stays with the caller. */
bool world_begin_after(struct world *world, const char *text, struct roster *roster,
		       enum crash_reason reason);
void world_end(struct world *world);

/* Takes events and turns until nothing is left to do at once. */
void world_run(struct world *world);

/* Ends each process that has been asked to end, and all commands and probes; then world_run(). */
void world_end_processes(struct world *world);

/* Lets time pass for the daemon, and runs alarms that expire; then world_run(). */
void world_pass(struct world *world, uint64_t usec);
