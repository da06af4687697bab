#pragma once

/*
 * The daemon as a whole: it owns everything, starts it in order, and carries the signals, the
 * reload and the end.
 */

#include "daemon/main/options.h"

/* Runs to the end of the tree.  Return: the exit status. */
int daemon_run(const struct daemon_options *options);
