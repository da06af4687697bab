#pragma once

/*
 * The code of a new process between clone and exec.
 *
 * The child may run in the memory of its parent, which goes on meanwhile: it makes only system calls
 * of sys/spawn/raw.h, allocates and logs nothing, and reads and writes nothing but its block; for a
 * work, and to open its input, it has memory of its own.  All of its steps that another user or a file
 * system can hold up come after it has left the descriptors and the session of the parent.
 */

#include "sys/spawn/block.h"

/*
 * Ends with execve(), or the end of the work, which closes block->report; or writes a struct spawn_failure there and exits
 * with 127 or 126.  A struct with SPAWN_STEP_CGROUP is no end: the child goes on outside the group.
 */
_Noreturn void child_run(struct spawn_block *block);

/*
 * The same ends for a program that the child executes in front of the service's (spec.before).  child_execute()
 * returns -errno; child_report() is no end by itself.
 */
long child_execute(const struct spawn_block *block);
void child_report(const struct spawn_block *block, const struct spawn_failure *failure);
_Noreturn void child_exit(struct spawn_block *block, long error);
