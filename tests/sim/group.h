#pragma once

/*
 * The control groups of the simulated world, if it has any: paths below "/sim", the group that the
 * daemon is started in.  A child begins in the group of its parent; a dead process is in none.
 */

#include <stdbool.h>
#include <stddef.h>

#define GROUPS_MAX  64
#define GROUPS_PATH 128

struct group {
	char path[GROUPS_PATH]; /* "": free */
	unsigned processes;	/* living ones, in it or below */
	bool spent;		/* killed: a process that starts in it dies */
	int watch;		/* a number of its own, as of inotify(7); 0: none */
	bool changed;		/* it became empty, or populated, under the watch */
};

/* Begins without any group, or with that of the daemon. */
void groups_init(bool present);

/* The group of the number, or NULL. */
struct group *groups_at(int i);

/* Returns the number of the group; -1: it does not exist. */
int groups_find(const char *path);

/* Return: the number; -1: the table is full, or the group above is missing. */
int groups_make(const char *path);

void groups_remove(int i);

/* Returns true if group @i is group @top, or below it. */
bool groups_is_within(int i, int top);

/* A process begins or ends in the group; @i of -1: none. */
void groups_enter(int i);
void groups_leave(int i);

/* Watches a group.  Return: the number of the watch. */
int groups_watch(int i);
void groups_unwatch(int watch);

/* Returns true if a watched group has changed. */
bool groups_have_changed(void);

/* Returns the number of a watch, whose group has changed, once; 0: there is none. */
int groups_next_change(void);
