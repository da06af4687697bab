#pragma once

/*
 * What /proc knows of processes.  Everything here may be missing (no /proc, a kernel without the
 * list of children, a process that is gone): the callers do with less then.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_info {
	pid_t parent, group, session;
	char state;    /* R, S, D, Z, … */
	char name[64]; /* of the executable, at most 15 bytes on most kernels */
};

/* Return: 0, -ENOENT for none such, or -errno. */
int proc_read(pid_t pid, struct proc_info *ret);

/* How long ago @pid was started, at least: to a tick of the kernel's.  Return: as proc_read(). */
int proc_age(pid_t pid, uint64_t *ret_usec);

/*
 * A descriptor that means the process @pid and no later one; readable when that is dead.
 * Return: it, or -errno.
 */
int proc_open(pid_t pid);

/*
 * Calls @each for the numbers in a piece of a list of processes, but for 0, a process that has none
 * here.  One may go on in the next piece: *rest, 0 before the first, is how far it has come.
 */
void proc_pids(const char *buf, size_t n, pid_t *rest, void (*each)(pid_t pid, void *arg),
	       void *arg);

/*
 * Has @pid the variable @name in the environment it was started with?  Its value is copied to @buf.
 * Return: 0; -ENOENT if not; -ENODATA if it has no environment at all, which is also how it seems
 * to be in the middle of an exec, or has executed while it was read; or -errno.
 */
int proc_environment(pid_t pid, const char *name, char *buf, size_t size);
