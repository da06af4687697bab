#pragma once

/* Changing the attributes of processes that run. */

#include "base/attributes.h"
#include "base/std.h"

/*
 * Changes the nice value, the class of input and output, and the OOM score of @pid from those of @from to those
 * of @to, where these differ: the first two of all threads of its process group.  An attribute that is kept is
 * that of this process.
 *
 * Return: 0; -ESRCH: no such process; or -errno with the key in *key.
 */
int adjust_process(pid_t pid, const struct attributes *from, const struct attributes *to,
		   const char **key);
