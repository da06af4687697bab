/*
 * The number of a group is its place in the table.  Processes are counted in the group and in those above
 * it, whose paths are the beginnings of its own.
 */
#include "tests/sim/group.h"

#include <stdio.h>
#include <string.h>

static struct group groups[GROUPS_MAX];
static int last_watch;

void groups_init(bool present)
{
	memset(groups, 0, sizeof(groups));
	last_watch = 0;
	if (!present)
		return;
	(void)strcpy(groups[0].path, "/sim");
	groups_enter(0);
}

struct group *groups_at(int i)
{
	return i >= 0 && i < GROUPS_MAX && *groups[i].path ? &groups[i] : NULL;
}

int groups_find(const char *path)
{
	for (int i = 0; i < GROUPS_MAX; i++)
		if (*groups[i].path && strcmp(groups[i].path, path) == 0)
			return i;
	return -1;
}

int groups_make(const char *path)
{
	char above[GROUPS_PATH];
	int i = 0;

	(void)snprintf(above, sizeof(above), "%s", path);
	*strrchr(above, '/') = '\0';
	while (i < GROUPS_MAX && *groups[i].path)
		i++;
	if (i == GROUPS_MAX || groups_find(above) < 0)
		return -1;
	groups[i] = (struct group){ .processes = 0 };
	(void)snprintf(groups[i].path, sizeof(groups[i].path), "%s", path);
	return i;
}

void groups_remove(int i)
{
	groups[i] = (struct group){ .path = "" };
}

bool groups_is_within(int i, int top)
{
	size_t length = strlen(groups[top].path);

	return strncmp(groups[i].path, groups[top].path, length) == 0 &&
	       (!groups[i].path[length] || groups[i].path[length] == '/');
}

/* The kernel reports a group that has become empty, and one that was empty. */
static void groups_count(int i, unsigned change)
{
	for (int above = 0; i >= 0 && above < GROUPS_MAX; above++) {
		struct group *g = &groups[above];
		bool was_populated = g->processes > 0;

		if (!*g->path || !groups_is_within(i, above))
			continue;
		g->processes += change;
		g->changed |= g->watch > 0 && was_populated != (g->processes > 0);
	}
}

void groups_enter(int i)
{
	groups_count(i, 1);
}

void groups_leave(int i)
{
	groups_count(i, -1u);
}

int groups_watch(int i)
{
	if (groups[i].watch == 0)
		groups[i].watch = ++last_watch;
	return groups[i].watch;
}

void groups_unwatch(int watch)
{
	for (int i = 0; i < GROUPS_MAX; i++) {
		if (groups[i].watch != watch)
			continue;
		groups[i].watch = 0;
		groups[i].changed = false;
	}
}

bool groups_have_changed(void)
{
	for (int i = 0; i < GROUPS_MAX; i++)
		if (groups[i].changed)
			return true;
	return false;
}

int groups_next_change(void)
{
	for (int i = 0; i < GROUPS_MAX; i++) {
		if (!groups[i].changed)
			continue;
		groups[i].changed = false;
		return groups[i].watch;
	}
	return 0;
}
