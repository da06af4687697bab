#pragma once

/* The history that a command is about. */

#include "ctl/session/session.h"
#include "proto/history/figures.h"

DEFINE_CLEANUP(struct history *, history_free)

/*
 * Loads the file of --history; else the file of the daemon, or the default one if no daemon runs.
 * *path, to be freed by free(), is its name.  The number of skipped lines is printed.
 *
 * Return: CTL_DONE, or the exit status of the error that was logged.
 */
int source_load(struct ctl *ctl, struct history **ret, char **path);

/* Returns true if one of @args, or no argument, means the node: as a glob, or as a node above it. */
bool source_is_asked_for(const char *node, int argc, char **argv);
