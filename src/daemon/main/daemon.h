#pragma once

/* The daemon as a whole: it owns all objects and starts them in order. */

#include "daemon/main/options.h"

/* Runs until the end of the tree.  Returns the exit status. */
int daemon_run(const struct daemon_options *options);
