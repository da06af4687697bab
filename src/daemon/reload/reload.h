#pragma once

/* Loads the configuration, at the start and by reloads. */

#include <stdio.h>

#include "daemon/describe/parent.h"
#include "daemon/reload/plan.h"
#include "daemon/tree/tree.h"
#include "model/config/config.h"

struct roster;

/*
 * Reads the configuration from @paths; with @trust from files of any user.  Mistakes are lines for
 * @log and @mistakes, which may both be NULL.
 *
 * With @roster, which may be NULL, the configuration has its texts for the next image of the daemon; and
 * if the former image has left the texts of its own, these are read instead of the files.
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int reload_config(struct config **ret, const char *const *paths, size_t n_paths, bool trust,
		  struct log *log, FILE *mistakes, struct roster *roster);

/* Applies @config to the running tree.  Return: 0, or -errno and nothing has changed. */
int reload_apply(struct tree *tree, struct config *config);

enum reload_mode {
	RELOAD,	      /* by the files; restarts services that need it */
	RELOAD_BEGIN, /* of a rollout: by the files; restarts nothing */
	RELOAD_UNDO,  /* by the configuration before the rollout; restarts nothing */
};

struct trial;
struct upgrade;

struct reload {
	struct tree *tree;
	struct parent *parent;
	const char *const *paths;
	size_t n_paths;	     /* 0: no configuration, in front of a command */
	bool trust;	     /* accepts files of any user */
	struct trial *trial; /* of a reload by a request; NULL: without one */
	struct upgrade *upgrade;
};

/*
 * Reloads the configuration and reports the result to the log and the parent manager.  Return: 0
 * with the changes in *ret; or -errno with the reason in @reason, and nothing has changed.
 *
 * A rollout that begins keeps the configuration before it for an undo, unless an earlier rollout is
 * not finished: a service that it has changed is outdated still, or not ready.  A reload that
 * restarts services ends all rollouts.
 */
int reload_run(const struct reload *reload, enum reload_mode mode, FILE *reason, json_t **ret);

/*
 * Like reload_run(), but only computes the changes; neither the log nor the parent manager gets a
 * report.
 */
int reload_plan(const struct reload *reload, enum reload_mode mode, FILE *reason, json_t **ret);

/* Like reload_run() with RELOAD, and the reason in the log. */
void reload_by_signal(const struct reload *reload);
