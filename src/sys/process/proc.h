#pragma once

/* Facts about processes from /proc, any of which may be missing. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_info {
	pid_t parent, group, session;
	char state;    /* R, S, D, Z, … */
	char name[64]; /* of the executable, at most 15 bytes on most kernels */
};

/* The beginning of a file of @pid.  Return: 0, -ENOENT without such a process, or -errno. */
int proc_read_text(pid_t pid, const char *file, char *buf, size_t size);

/* Return: as proc_read_text(). */
int proc_read(pid_t pid, struct proc_info *ret);

/* The real uid of @pid, which sends by that unless it says otherwise.  Return: as proc_read(). */
int proc_uid(pid_t pid, uid_t *ret);

/* How long ago @pid was started, at least: to a tick of the kernel's.  Return: as proc_read(). */
int proc_age(pid_t pid, uint64_t *ret_usec);

/* A pidfd of @pid, readable when that is dead.  Return: it, or -errno. */
int proc_open(pid_t pid);

/*
 * Calls @each for the pids but 0 in a piece of a list.  *rest, 0 at first, carries a cut number
 * on.
 */
void proc_pids(const char *buf, size_t n, pid_t *rest, void (*each)(pid_t pid, void *arg),
	       void *arg);

/*
 * Has @pid the variable @name in the environment it was started with?  Its value is copied to @buf.
 * Return: 0; -ENOENT if not; -ENODATA if it has no environment at all, which is also how it seems
 * to be in the middle of an exec, or has executed while it was read; or -errno.
 */
int proc_environment(pid_t pid, const char *name, char *buf, size_t size);
