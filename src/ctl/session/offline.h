#pragma once

/* Configurations that are read without a daemon. */

#include "ctl/session/session.h"
#include "model/config/config.h"

/* Takes an error or a warning, @text, with its place in front of it. */
struct offline_report {
	void (*add)(enum diag_level level, struct place place, const char *text, void *arg);
	void *arg;
};

/*
 * As config_load().  Errors and warnings go to standard error, a line each; with @report to its function
 * instead.  With @warnings, their number, there are also those
 * about this machine.
 *
 * Return: CTL_DONE; CTL_CONFIG if there are errors; or the exit status of a logged error.
 */
int offline_load(struct ctl *ctl, const char *const *paths, size_t n_paths,
		 const struct offline_report *report, size_t *warnings, struct config **ret);

/* Finds a node by its path; "/" and "root" are the root, as for the daemon.  NULL: not there. */
const struct node_config *offline_find(const struct config *config, const char *name);
