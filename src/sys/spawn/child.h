#pragma once

/*
 * What a new process does between clone and exec.
 *
 * It runs in the parent's memory while the parent is suspended (as after vfork): async-signal-safe
 * calls only, no allocation, no log, no write to anything but *failure and the pid_places.
 */

#include "sys/spawn/spec.h"

/* Ends in execve, or writes *failure and exits with 127 or 126. */
_Noreturn void child_run(const struct spawn_spec *spec, struct spawn_failure *failure);
