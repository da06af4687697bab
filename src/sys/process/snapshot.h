#pragma once

/* All processes that /proc shows, zombies too: one that looks dead may have threads that live. */

#include "sys/process/proc.h"

struct snapshot_entry {
	pid_t pid;
	bool marked; /* for the owner of the snapshot; false at first */
	struct proc_info info;
};

struct snapshot {
	struct snapshot_entry *entries; /* by pid */
	size_t n;
};

/* Return: 0 or -errno; the owner frees @ret in both cases by snapshot_done(). */
int snapshot_take(struct snapshot *ret);
int snapshot_take_line(struct snapshot *ret, pid_t pid); /* only @pid and its ancestors */
/* Adds the descendants of @pid, of which the snapshot is that line.  Return: 0; -ENOENT: the kernel does not list them. */
int snapshot_add_descendants(struct snapshot *s, pid_t pid);
void snapshot_done(struct snapshot *s);

/* Returns the entry of @pid or NULL. */
struct snapshot_entry *snapshot_find(const struct snapshot *s, pid_t pid);
