#pragma once

/* Where a benchmark runs: apart from the machine, if it may, and with a folder of its own. */

#include <stdbool.h>

/*
 * As root: goes on as PID 1 of a new pid namespace with its own /proc, and ends it, with all
 * remaining processes, by its own end.  Otherwise, or where that is refused: goes on as it is.
 */
void world_enter(void);

/*
 * Control groups are not to be seen until world_show_groups(), by this process and its children.
 * Returns true if they are hidden.
 */
bool world_hide_groups(void);
void world_show_groups(void);

/* Makes a folder under $TMPDIR; ends the program if it cannot.  To be released by free(). */
char *world_make_folder(void);

/* Removes it with the files in it. */
void world_remove_folder(const char *folder);
