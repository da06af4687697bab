#pragma once

/*
 * Control groups of version 2.
 *
 * A group is named by the descriptor of a group above it and by the path below that group: no
 * function leaves the opened tree, and no group needs its own descriptor.  The path "." is the
 * group of the descriptor itself.  Only files of a real cgroup2 file system are opened.
 */

#include "base/std.h"

#define CGROUP_PATH_MAX 4096

/* The group of @pid: "/system.slice/web.service".  Return: 0; -ENOENT without one; -errno. */
int cgroup_of(pid_t pid, char buf[static CGROUP_PATH_MAX]);

/*
 * Opens the directory of a group by its path from cgroup_of().  Return: a descriptor; -ENOENT if no
 * cgroup2 is mounted; -errno.
 */
int cgroup_open(const char *path);

/*
 * Returns true if this process may create groups below @group: a unit of systemd must be delegated,
 * every other group must be writable.  @path is its path from cgroup_of().
 */
bool cgroup_is_delegated(int group, const char *path);

/* Returns true for the root group of the machine, which may have both processes and groups. */
bool cgroup_is_machine_root(int group);

/*
 * Creates the group.  Return: 0, also if it exists; -errno, for example -ENOSPC, -EROFS, -EACCES.
 */
int cgroup_make(int top, const char *path);

/* Opens the directory of the group, for spawn() and flock(2).  Return: a descriptor or -errno. */
int cgroup_open_below(int top, const char *path);

/* Removes the group and all below.  Return: 0, also if it is missing; -EBUSY: populated; -errno. */
int cgroup_remove(int top, const char *path);

/* Return: 1 if the group has processes, in it or below; 0 if not, or if it is missing; -errno. */
int cgroup_is_populated(int top, const char *path);

/* Returns true if @word is one of the words in @file. */
bool cgroup_lists(int top, const char *path, const char *file, const char *word);

/* The beginning of @file, with a NUL behind it.  Return: 0 or -errno. */
int cgroup_read(int top, const char *path, const char *file, char *buf, size_t size);

int cgroup_write(int top, const char *path, const char *file, const char *value);

/*
 * Calls @each for every visible process in the group, not below it; processes that are created
 * during the call may be missing.  A pid may have been reused by then: see cgroup_signal().
 * Return: 0 or -errno.
 */
int cgroup_processes(int top, const char *path, void (*each)(pid_t pid, void *arg), void *arg);

/* Calls @each for every group directly below @top; @each may remove it.  Return: 0 or -errno. */
int cgroup_children(int top, void (*each)(const char *name, void *arg), void *arg);

/* Sends @signo to @pid, but only if it is in the group @full_path of cgroup_of(). */
void cgroup_signal(pid_t pid, const char *full_path, int signo);

/*
 * Sends SIGKILL to every process in the group and below, also to frozen ones.  Before Linux 5.14
 * only to the processes found in the group itself: repeat until it is empty.  Return: 0 or -errno.
 */
int cgroup_kill(int top, const char *path);
