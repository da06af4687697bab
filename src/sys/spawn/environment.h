#pragma once

/*
 * Reads variables of other processes.  A process can hold the lock of its own memory for ever, by
 * the mmap of a file on a file system without answers; no reader gets its environment meanwhile.  So
 * a child reads, and the caller waits for a moment only.
 */

#include "base/std.h"

/*
 * Reads the variable @name of the environment that @pid started with.  A value that does not fit
 * into @size bytes counts as none.
 *
 * Return: 0; -ENOENT: there is none; -ENODATA: no environment at all, also seen during an exec;
 * -ETIMEDOUT: the process keeps its memory from being read; or -errno.
 */
int environment_read(pid_t pid, const char *name, char *buf, size_t size);
