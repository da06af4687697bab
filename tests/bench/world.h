#pragma once

/* Where a benchmark runs: apart from the machine, if it may, and with a folder of its own. */

/*
 * As root: goes on as PID 1 of a new pid namespace with its own /proc, and ends it, with whoever is
 * left in it, by its own end.  Otherwise, or where that is refused: goes on as it is.
 */
void world_enter(void);

/* Makes a folder under $TMPDIR; ends the program if it cannot.  To be released by free(). */
char *world_make_folder(void);

/* Removes it with the files in it. */
void world_remove_folder(const char *folder);
