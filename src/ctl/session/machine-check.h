#pragma once

/* Checks a configuration against this machine; model/config knows only the files. */

#include "model/config/config.h"

/*
 * Adds a warning to @diag for each command whose program is not there or not executable, for each
 * directory that is missing, for each command that has signs which only a shell understands, and for
 * each stop-timeout that is longer than a budget; an error for each path that the daemon or the
 * logger would refuse to write at (sys/file/path.h).
 */
void machine_check(const struct config *config, struct diag *diag);
