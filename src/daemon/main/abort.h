#pragma once

/*
 * The end by SIGABRT: of a watchdog, when the loop hangs, or of the C library, when memory is
 * corrupt.  Nothing that the daemon knows is used for it, as that may be what is wrong; but for one
 * process ID.
 */

#include <sys/types.h>

/*
 * From now on SIGABRT kills all our descendants but the logger, waits a second for what that has to
 * write, and kills us.  @logger_pid stays valid; 0: there is none.
 */
void daemon_catch_abort(const pid_t *logger_pid);
