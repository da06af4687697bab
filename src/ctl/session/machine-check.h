#pragma once

/* Checks a configuration against this machine; model/config knows only the files. */

#include "model/config/config.h"

/*
 * Adds a warning to @diag for each command whose program is not there or not executable, for each
 * directory that is missing, and for each command that has signs which only a shell understands; an
 * error for each log file that the logger would refuse to open.
 */
void machine_check(const struct config *config, struct diag *diag);
