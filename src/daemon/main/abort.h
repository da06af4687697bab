#pragma once

/*
 * The end by SIGABRT: of a watchdog, when the loop hangs, or of the C library, when memory is
 * corrupt.  Nothing that the daemon knows is used for it, as that may be what is wrong.
 */

/* From now on SIGABRT kills all our descendants, and then us. */
void daemon_catch_abort(void);
