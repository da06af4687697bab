#pragma once

/* Loading the configuration, the first time and again. */

#include <stdio.h>

#include "daemon/view/parent.h"
#include "daemon/reload/plan.h"
#include "daemon/tree/tree.h"
#include "model/config/config.h"

/*
 * Reads @paths, files of any user if @trust; mistakes are lines for @log and @mistakes, which may be
 * NULL.  Return: 0, -EINVAL or -ENOMEM.
 */
int reload_config(struct config **ret, const char *const *paths, size_t n_paths, bool trust,
		  struct log *log, FILE *mistakes);

/* Applies @config to the running tree.  Return: 0, or -errno and nothing has changed. */
int reload_apply(struct tree *tree, struct config *config);

struct reload {
	struct tree *tree;
	struct parent *parent;
	const char *const *paths;
	size_t n_paths; /* 0: there is no configuration, in front of a command */
	bool trust;	/* in files of any user */
};

/*
 * Reloads the configuration and reports the result to the log and the parent manager.  Return: 0
 * and the changes; or -errno without effect, with the reason in @reason.
 */
int reload_run(const struct reload *reload, FILE *reason, json_t **ret);

/* Says the same without doing it; nobody else hears of it. */
int reload_plan(const struct reload *reload, FILE *reason, json_t **ret);

/* The same, with the reason in the log. */
void reload_by_signal(const struct reload *reload);
