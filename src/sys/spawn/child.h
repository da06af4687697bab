#pragma once

/*
 * The code of a new process between clone and exec.
 *
 * The child runs in the parent's memory while the parent is suspended (as after vfork): it makes
 * only async-signal-safe calls, allocates and logs nothing, and writes only to *failure and
 * pid_places.
 */

#include "sys/spawn/spec.h"

/* Ends with execve(), or writes *failure and exits with 127 or 126. */
_Noreturn void child_run(const struct spawn_spec *spec, struct spawn_failure *failure);
