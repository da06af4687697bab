#pragma once

/* Facts about processes from /proc.  Any file may be missing. */

#include "base/dict.h"
#include "base/std.h"

/* The name of a keeper (sys/spawn/keeper.h). */
#define PROC_KEEPER "swansong-keeper"

struct proc_info {
	pid_t parent, group, session;
	char state;	       /* R, S, D, …; Z: dead */
	bool executed;	       /* a program, since it was forked */
	char name[64];	       /* of the executable, at most 15 bytes on most kernels */
	uint64_t cpu_usec;     /* of processor time so far, with that of its waited-for children */
	uint64_t memory;       /* resident bytes */
	uint64_t started_usec; /* since the boot, at most a tick of the kernel too late */
};

/*
 * Calls @each for each process that /proc shows, until it returns another value than 0.  Return:
 * this value, 0, or -errno if /proc cannot be read.
 */
int proc_each(int (*each)(pid_t pid, void *arg), void *arg);

/* The same for the descriptors of @pid: @name in @dir is the link to the file of one. */
int proc_each_descriptor(pid_t pid, int (*each)(int dir, const char *name, void *arg), void *arg);

/* Reads the beginning of a file of @pid.  Return: 0; -ENOENT: no such process; -errno. */
int proc_read_text(pid_t pid, const char *file, char *buf, size_t size);

/* Return: as proc_read_text(). */
int proc_read(pid_t pid, struct proc_info *ret);

/*
 * The same for a child of this process that leads its group, dead or alive: fills in only @parent and @group,
 * at a small part of the cost.  Return: 0, or -ECHILD for any other process.
 */
int proc_read_child(pid_t pid, struct proc_info *ret);

/* The real uid of @pid: its messages carry it by default.  Return: as proc_read(). */
int proc_uid(pid_t pid, uid_t *ret);

/*
 * Returns true if @signo would end or stop @pid: it neither catches, ignores nor blocks it, and the
 * default action is not to ignore it.  False if /proc does not show that.
 */
bool proc_would_end(pid_t pid, int signo);

/* The age of @pid, rounded down to a tick of the kernel.  Return: as proc_read(). */
int proc_age(pid_t pid, uint64_t *ret_usec);

/* Opens a pidfd of @pid, readable when @pid is dead.  Return: a descriptor or -errno. */
int proc_open(pid_t pid);

/* Calls @each for each pid except 0 in the list that is the file @fd, up to its end.  Return: 0 or -errno. */
int proc_read_pids(int fd, void (*each)(pid_t pid, void *arg), void *arg);

/* The same for the children of all threads of @pid; -ENOENT as well on a kernel that does not list them. */
int proc_each_child(pid_t pid, void (*each)(pid_t pid, void *arg), void *arg);

/* The path of the program of @pid, even if another file is there now.  Return: 0 or -errno. */
int proc_program(pid_t pid, char ret[static PATH_MAX]);

/*
 * The paths of files that processes execute, as one look has found them: most processes have the same ones.  All 0 at
 * first; it is never freed.
 */
struct proc_files {
	char namespace[32]; /* the mount namespace of this process, where the paths are */
	struct dict by_path;
};

/*
 * Looks for a file that @pid executes, its program or a library, and that was replaced on disk since: its path leads to
 * another file; or to none, of a program or a library (".so" in its name) that was in no memory file, nor in a folder for
 * temporary files.  The kernel may wait for the process, and for file systems: only for a caller that may be killed.
 *
 * Return: 1, with the path of the first one in *ret, to be freed by free(); 0: there is none; -ENOENT: no such
 * process; -errno.
 */
int proc_find_replaced(struct proc_files *files, pid_t pid, char **ret);
