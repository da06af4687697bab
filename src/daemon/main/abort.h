#pragma once

#include <sys/types.h>

/*
 * The end by SIGABRT: from a watchdog when the loop hangs, or from the C library when memory is
 * corrupt.  It uses no data of the daemon but one process ID, as the rest may be damaged.
 *
 * Makes SIGABRT kill all descendants but the logger, wait a second for what that has to write, and
 * kill the daemon.  @logger_pid stays valid; 0: there is none.
 */
void daemon_catch_abort(const pid_t *logger_pid);
