#pragma once

/*
 * Changes of the services that are disabled, and of the numbers of instances, which prevail over the sections: see
 * daemon/loop/disabled.h.
 */

#include "daemon/tree/tree.h"

/* The state file as it is read for a reload. */
struct enable_reading {
	struct disabled before; /* the set until now */
	bool kept;		/* the file cannot be read, so that set stays */
	bool garbage;		/* it is not a state file: no service is disabled */
};

/*
 * Reads the state file of @config, for all nodes of @tree and those to come; mistakes go to @log
 * unless it is NULL.  One of the other two functions follows in the same turn.
 */
void enable_begin(struct enable_reading *reading, struct tree *tree, const struct config *config,
		  struct log *log);

/* The reload is refused, or was only planned: the former set counts again. */
void enable_cancel(struct enable_reading *reading, struct tree *tree);

/* The reload is done, and @tree has its configuration. */
void enable_commit(struct enable_reading *reading, struct tree *tree);

/*
 * Begins to enable or disable the services in @node, as change *number.  A child process writes the
 * state file; the change takes effect when that is on the disk.  No service starts or stops.
 *
 * Return: 0; -EBUSY if an earlier change is being written; -ENOENT if there is no state file; or
 * -errno, and nothing has changed.
 */
int enable_set(struct tree *tree, struct node *node, bool enabled, unsigned *number);

/*
 * The function reloads for the number of instances of @template in the set of the context, with the reason of a
 * failure in @reason, or the log if that is NULL.
 */
struct enable_scaling {
	int (*apply)(void *arg, const char *template, FILE *reason);
	void *arg;
};

/*
 * Sets the number of instances of @template, NULL for that of the files, by the function of @scaling, which must outlive
 * the change; then the file is written in the same way.  If that fails, the former number counts again.
 */
int enable_scale(struct tree *tree, const char *template, const uint64_t *instances,
		 const struct enable_scaling *scaling, FILE *reason, unsigned *number);

/* Returns true while a number of instances is being written: the file does not have it. */
bool enable_is_scaling(const struct context *ctx);

/*
 * Returns the result of change @number: 0; -EINPROGRESS while it is being written; or -errno, and
 * nothing has changed.  The result is there until the turn after its end.
 */
int enable_result(const struct tree *tree, unsigned number);

/* At the end of the daemon: a change that is being written is left to its process. */
void enable_done(struct context *ctx);
