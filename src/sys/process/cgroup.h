#pragma once

/*
 * Control groups of version 2.
 *
 * A group is named by the descriptor of a group above it and its path below that, so that nothing
 * here leaves the tree that was opened, and no descriptor is held for any single group.  Paths may
 * be "." for the group of the descriptor itself.  Only what is on a real cgroup2 is ever opened.
 */

#include <stdbool.h>
#include <sys/types.h>

#define CGROUP_PATH_MAX 4096

/* The group of @pid: "/system.slice/web.service".  Return: 0; -ENOENT without one; -errno. */
int cgroup_of(pid_t pid, char buf[static CGROUP_PATH_MAX]);

/*
 * Opens the directory of a group of cgroup_of().  A descriptor, -ENOENT if not mounted, or
 * -errno.
 */
int cgroup_open(const char *path);

/*
 * Is the group ours to divide?  A unit of systemd's is if it was delegated, everything else if it
 * can be written to.  @path is what cgroup_of() said.
 */
bool cgroup_is_delegated(int group, const char *path);

/* Is it the root of the whole machine's, which may have processes and groups side by side? */
bool cgroup_is_machine_root(int group);

/* Return: 0, also if it exists; or -errno, such as -ENOSPC, -EROFS, -EACCES. */
int cgroup_make(int top, const char *path);

/* For spawn() and for flock(2).  Return: a descriptor or -errno. */
int cgroup_open_below(int top, const char *path);

/* Removes the group and all below it.  Return: 0, also without one; -EBUSY: populated; -errno. */
int cgroup_remove(int top, const char *path);

/* Return: 1 if anybody is in it or below, 0 if not or if there is no such group, or -errno. */
int cgroup_is_populated(int top, const char *path);

/* Is @word one of those in @file? */
bool cgroup_lists(int top, const char *path, const char *file, const char *word);

/* Return: 0 or -errno. */
int cgroup_write(int top, const char *path, const char *file, const char *value);

/*
 * Calls @each for every process in this very group that we can see; what is made meanwhile may be
 * missing.  By then a pid may be another's: see cgroup_signal().  Return: 0 or -errno.
 */
int cgroup_processes(int top, const char *path, void (*each)(pid_t pid, void *arg), void *arg);

/* Calls @each for every group right below it; it may remove that.  Return: 0 or -errno. */
int cgroup_children(int top, void (*each)(const char *name, void *arg), void *arg);

/* To @pid if it is in the group @full_path of cgroup_of(), and to nobody else. */
void cgroup_signal(pid_t pid, const char *full_path, int signo);

/*
 * SIGKILL to everybody in it and below, frozen or not.  Before Linux 5.14 to those of this very
 * group that are found: then again, until it is empty.  Return: 0 or -errno.
 */
int cgroup_kill(int top, const char *path);
