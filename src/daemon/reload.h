#pragma once

/* Loading the configuration, the first time and again. */

#include <stdio.h>

#include "daemon/parent.h"
#include "daemon/plan.h"
#include "daemon/tree.h"
#include "model/config.h"

/*
 * Reads @paths; every mistake goes to @log, and to @mistakes, each if it is not NULL, a line each.
 * Return: 0, -EINVAL if there was one, -ENOMEM.
 */
int reload_config(struct config **ret, const char *const *paths, size_t n_paths, struct log *log,
		  FILE *mistakes);

/* Applies @config to the running tree.  Return: 0, or -errno and nothing has changed. */
int reload_apply(struct tree *tree, struct config *config);

struct reload {
	struct tree *tree;
	struct parent *parent;
	const char *const *paths;
	size_t n_paths; /* 0: there is no configuration, in front of a command */
};

/*
 * Reads the configuration again and applies it to the running tree (daemon/plan.h).  The log and
 * whoever supervises us hear what came of it.
 *
 * Return: 0 and what it did; or -errno: then nothing has changed, and @reason has been told why.
 */
int reload_run(const struct reload *reload, FILE *reason, json_t **ret);

/* Says the same without doing it; nobody else hears of it. */
int reload_plan(const struct reload *reload, FILE *reason, json_t **ret);

/* The same, with the reason in the log. */
void reload_by_signal(const struct reload *reload);
